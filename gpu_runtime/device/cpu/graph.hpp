// Graphs of the CPU device: the list of what was asked for while a stream was captured.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "device/cpu/compiler.hpp"
#include "device/cpu/run_launch.hpp"
#include "device/cpu/stream.hpp"
#include "device/device.hpp"
#include "device/timed_graph.hpp"

namespace xcuda::device::cpu {

struct KeptLaunch {
    std::shared_ptr<const Kernel> kernel;
    Shape shape;
    PackedArguments arguments;
};

class RecordedGraph : public TimedGraph, public std::enable_shared_from_this<RecordedGraph> {
public:
    std::vector<std::variant<Task, KeptLaunch>> steps;

    std::shared_ptr<Device::Launch> replay(Stream* stream,
                                           std::vector<std::shared_ptr<Device::Launch>> each) override;
};

class CaptureStream : public Stream {
public:
    CaptureStream() : Stream(true) {}
    std::shared_ptr<RecordedGraph> graph = std::make_shared<RecordedGraph>();
};

/// The capture that a stream is, null for a plain one. Throws a ValueError where it has ended.
RecordedGraph* capture_of(Stream* stream);
[[noreturn]] void refuse_in_capture(const char* what, const char* instead);

}  // namespace xcuda::device::cpu

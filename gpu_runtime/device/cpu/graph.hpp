// Graphs of the CPU device: the list of what was asked for while a stream was captured.
#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "device/cpu/compiler.hpp"
#include "device/cpu/run_launch.hpp"
#include "device/cpu/stream.hpp"
#include "device/device.hpp"

namespace xcuda::device::cpu {

struct KeptLaunch {
    std::shared_ptr<const Kernel> kernel;
    Shape shape;
    PackedArguments arguments;
};

class RecordedGraph : public Graph {
public:
    std::vector<std::variant<Task, KeptLaunch>> steps;
};

class CaptureStream : public Stream {
public:
    CaptureStream() : Stream(true) {}
    std::shared_ptr<RecordedGraph> graph = std::make_shared<RecordedGraph>();
};

/// The capture that a stream is, null for a plain one. Throws a ValueError where it has ended.
RecordedGraph* capture_of(Stream* stream);
[[noreturn]] void refuse_in_capture(const char* what, const char* instead);

/// Runs all of it in order on the calling thread and the pool, and sets `launch` done. `asked` as run_launch has it.
void run_graph(const RecordedGraph& graph, std::uint64_t asked, Device::Launch& launch);

}  // namespace xcuda::device::cpu

// Runs of kernels whose text tells a listener in this process what it does: one after the other.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "emit/watched.hpp"
#include "launch/arguments.hpp"
#include "launch/fault.hpp"

namespace xcuda::launch {

/// Throws where none is built in; `what`: "traced", "checked".
XCUDA_API std::shared_ptr<device::Device> listening_device(const char* what);

/// A kernel whose text tells a listener what it does, for any number of runs.
struct Telling {
    ir::Module module;
    emit::WatchedPoints points;  // none of a trace
    device::Shape shape;
    std::shared_ptr<device::Device> device;
    std::shared_ptr<device::Function> function;
};

struct Listened {
    std::optional<Error> fault;
    device::FaultKind kind = device::FaultKind::none;
};

/// Runs it to its end over arguments that its device reaches; the listener's address is its last argument. `one_at_a_time`: such a
/// text has one listener. `as_meant`: renames the place of a fault where blocks stand for others.
Listened run_listened(const Telling& kernel, std::span<const Argument> arguments, const void* listener,
                      std::mutex& one_at_a_time,
                      const std::function<void(device::FaultRecord&)>& as_meant = {});

}  // namespace xcuda::launch

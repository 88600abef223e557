// Graphs: launches and copies that were captured in a stream, to be started together again and again.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "_runtime_stream.hpp"
#include "launch/bound.hpp"

namespace xcuda::python {

/// Guarded by the GIL.
struct Graph {
    std::shared_ptr<device::Device> device;
    std::shared_ptr<device::Stream> capture;  // null once it has ended
    std::shared_ptr<device::Graph> made;      // null until then
    std::vector<launch::Bound> launches;
    std::vector<std::shared_ptr<void>> keeps;  // arguments and arrays; released with the GIL held
    std::size_t copies = 0;
    // What the log has of launches like one another: as they were captured, and as replays have it.
    std::map<std::shared_ptr<const launch::Event>, std::shared_ptr<const launch::Event>> replayed;

    std::shared_ptr<const launch::Event> replay;  // of them all; made by the first replay

    /// Which of its launches a replay's fault is of; null where there is none.
    const launch::Bound* launch_of(const device::Device::Launch& replay) const;
    std::optional<Error> error(const device::Device::Launch& replay) const;
};

void bind_graph(nb::module_& module);

}  // namespace xcuda::python

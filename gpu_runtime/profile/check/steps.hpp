// One thread of a kernel, statement by statement: the values that its own machine code had.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/watch.hpp"

namespace xcuda::profile::check {

struct StepEvent {
    launch::Watcher::What what;  // step, saw, at, stored
    std::int32_t id;
    std::array<std::uint64_t, 2> bits;
};

struct Steps {
    std::vector<passes::Step> points;
    std::vector<ir::Var> variables;
    std::vector<StepEvent> events;
    bool cut = false;
    device::Shape shape;
    std::optional<Error> fault;
    // Of the first thread that came to a breakpoint(): linear block and thread.
    std::optional<std::pair<std::int64_t, std::uint32_t>> at_breakpoint;
};

/// Runs the block of that thread (all blocks where the whole grid meets) on the CPU device and writes its steps down;
/// block -1: all blocks, and only the first thread at a breakpoint() is looked for. `arguments` are written to.
XCUDA_API Steps follow(const launch::Lowered& lowered, std::span<const launch::Argument> arguments,
                       const device::Shape& shape, std::int64_t block, std::uint32_t thread,
                       std::size_t most);

}  // namespace xcuda::profile::check

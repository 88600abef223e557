// Which elements each thread of a small launch reads and writes, in order: what cuda.draw shows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/watch.hpp"

namespace xcuda::profile::check {

struct TouchedArray {
    std::string name;
    bool shared = false;
    std::vector<std::int64_t> extents;
};

struct Touch {
    launch::Watcher::What what;  // read, write, atomic
    std::int64_t block;          // linear, x fastest
    std::uint32_t thread;        // linear in its block
    std::int32_t array;          // index into Accesses::arrays
    std::int64_t element;        // counted in C order
    std::int32_t line;           // of the user's source
    std::int32_t phase;          // barriers that the thread has passed
};

struct Accesses {
    std::vector<TouchedArray> arrays;  // the parameters that are arrays, then shared ones as they are met
    std::vector<Touch> touches;        // those of local arrays are left out: nobody else sees them
    bool cut = false;                  // there were more than `most`
    device::Shape shape;
    std::optional<Error> fault;
};

/// Runs one block (-1: all) on the CPU device, thread after thread up to each barrier. `arguments` are written to; where
/// `to_the_end` is false the launch ends with the block in which `most` are reached.
XCUDA_API Accesses accesses(const launch::Lowered& lowered, std::span<const launch::Argument> arguments,
                            const device::Shape& shape, std::int64_t block, std::size_t most,
                            bool to_the_end);

}  // namespace xcuda::profile::check

// An analysis from a kernel and arguments to its findings: which launch is traced, and which of its blocks.
#pragma once

#include <optional>
#include <vector>

#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {

struct Advised {
    device::Shape shape;  // that was looked at
    bool automatic = false;
    std::vector<std::int64_t> blocks;
    std::size_t records = 0;
    bool cut = false;  // a block did more than was written down
    std::vector<Finding> findings;
    std::string not_compiled;  // why there are no figures of a GPU's compiler; empty: there are
    device::Image image;       // what that compiler made, where there was one
};

/// The GPU that a kernel is looked at for; it need not be here.
struct Gpu {
    std::string architecture;  // "sm_90"
    int multiprocessors = 0;   // 0: no one GPU is meant, and nothing is said of the grid's size
    bool real_grid = true;     // false: arrays stand in for others, the grid means nothing
};

/// `arguments` lie in host memory and are written to: give copies. Without `shape` the launch is the one that a call
/// without [grid, block] makes on a GPU. An inner block and the first are traced; the last one for what leaves its array.
/// Registers and occupancy are those of the kernel compiled for `gpu`, where its compiler is here.
XCUDA_API Advised advise(const launch::Program& program, const launch::Lowered& lowered,
                         std::span<const launch::Argument> arguments,
                         const std::optional<device::Shape>& shape, const std::string& kernel,
                         const Gpu& gpu);

}  // namespace xcuda::profile::analysis

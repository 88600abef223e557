// How often the branches of a kernel are taken, from a traced run of blocks spread over its grid.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/program.hpp"

namespace xcuda::profile::analysis {

struct BranchCount {
    Place place;
    std::int64_t threads = 0, taken = 0;    // that came there; that took it
    std::int64_t warps = 0, divergent = 0;  // that came there; whose threads parted
};

/// `arguments` lie in host memory and are written to: give copies. Without `shape`, the one that a call chooses.
XCUDA_API std::vector<BranchCount> count_branches(const launch::Program& program,
                                                  const launch::Lowered& lowered,
                                                  std::span<const launch::Argument> arguments,
                                                  const std::optional<device::Shape>& shape,
                                                  const std::string& kernel);

}  // namespace xcuda::profile::analysis

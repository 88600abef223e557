// Tile kernels' way into the launch path.
#pragma once

#include <memory>
#include <string>

#include "launch/front_door.hpp"
#include "tiles/plan.hpp"

namespace xcuda::tiles {

/// `as_target`: every device gets the plan of this one, "sm_80" or "cpu"; empty: its own.
XCUDA_API std::shared_ptr<const launch::FrontDoor> front_door(const std::string& as_target = {},
                                                              const std::string& hints = {});

/// The plan of front_door's kernels for such arguments, as JSON: hardware tile, threads, stages, shared memory,
/// instructions, and how tiles lie over threads.
XCUDA_API std::string described(const launch::FrontDoor& door, const frontend::Source& source,
                                const std::vector<ir::Type>& types, const launch::PlanKey& key);

}  // namespace xcuda::tiles

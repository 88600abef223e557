// Tile kernels' way into the launch path.
#pragma once

#include <memory>
#include <string>

#include "launch/front_door.hpp"

namespace xcuda::tiles {

/// `as_target`: every device gets the plan of this one, "sm_80" or "cpu"; empty: its own.
XCUDA_API std::shared_ptr<const launch::FrontDoor> front_door(const std::string& as_target = {});

}  // namespace xcuda::tiles

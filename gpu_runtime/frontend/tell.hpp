// Which numbers a fault takes along, for its message.
#pragma once

#include "ir/module.hpp"

namespace xcuda::frontend {

/// Gives each `assert` and `raise` the first two names of numbers in the condition that it stands under, as far as they do
/// not follow from the thread's place: what they hold is told with the fault (device::FaultRecord::value).
void tell_conditions(ir::Function& function, const std::vector<ir::Site>& sites);

}  // namespace xcuda::frontend

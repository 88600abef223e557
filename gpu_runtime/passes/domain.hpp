// The index space a kernel covers, read from its guard (`i < C.shape[0] and j < C.shape[1]`) or its written array.
#pragma once

#include <vector>

#include "ir/module.hpp"

namespace xcuda::passes {

/// One expression an axis of the grid (axis 0 is x), over parameters and their shapes only, so that the host can
/// evaluate it for the arguments of a launch. Empty: the kernel does not tell (then the caller asks for [grid, block]).
XCUDA_API std::vector<ir::ExprP> launch_domain(const ir::Module& module);

/// Array parameters that the kernel may write, and may read, by index into Function::params.
struct ParameterUse {
    bool read = false, written = false;
};
XCUDA_API std::vector<ParameterUse> parameter_uses(const ir::Module& module);

}  // namespace xcuda::passes

// Arguments that are known while a kernel is compiled: reads of them become constants. Types stay as they are.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/module.hpp"

namespace xcuda::passes {

struct Known {
    int parameter;
    int axis;            // of an array: the axis whose length is known; -1: a scalar's value
    std::uint64_t bits;  // the value's own bits, or the length
};

/// Gives, one for one, whether the kernel reads it: what it assigns to itself is left as it is.
XCUDA_API std::vector<bool> fix_arguments(ir::Module& module, const std::vector<Known>& known);

}  // namespace xcuda::passes

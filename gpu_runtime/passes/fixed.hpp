// Arguments that are known while a kernel is compiled: numbers become constants, lengths are written into the text.
// Types stay as they are.
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

/// Gives, one for one, whether the kernel uses it.
XCUDA_API std::vector<bool> fix_arguments(ir::Module& module, const std::vector<Known>& known);

}  // namespace xcuda::passes

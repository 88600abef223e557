// How a kernel's arguments lie in memory: one packed struct, the same for every device and layout.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/module.hpp"

namespace xcuda::emit {

/// Array: address, then ndim lengths, then ndim strides in elements (Layout::bytes: in bytes), 8 bytes each. Scalar: one
/// 8-byte slot holding the value of the parameter's dtype in its low bytes; two for a complex128.
struct ArgumentSlot {
    std::size_t offset = 0;  // of the address or the value
    int ndim = -1;           // -1: scalar
};

struct ArgumentLayout {
    std::vector<ArgumentSlot> slots;  // one a parameter
    std::size_t bytes = 0;
};

XCUDA_API ArgumentLayout argument_layout(const ir::Function& kernel);

}  // namespace xcuda::emit

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

/// A tensor map after the arguments, at a multiple of its alignment.
struct MapSlot {
    static constexpr std::size_t bytes = 128, alignment = 64;
    std::size_t offset = 0;
    std::size_t parameter = 0;
    std::vector<std::int64_t> box;  // elements along each axis
};

struct ArgumentLayout {
    std::vector<ArgumentSlot> slots;  // one a parameter
    std::vector<MapSlot> maps;
    std::size_t bytes = 0;
};

/// Of the parameters alone.
std::size_t argument_bytes(const ir::Function& kernel);
XCUDA_API ArgumentLayout argument_layout(const ir::Module& module);

}  // namespace xcuda::emit

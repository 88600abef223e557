// What may be decided of a kernel beyond its types: a launch's layout, and arguments that are taken to be constant.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "launch/signature.hpp"
#include "passes/measured.hpp"

namespace xcuda::launch {

/// One figure of a call that a compiled version takes to be constant.
struct Fixed {
    int parameter = 0;
    int axis = -1;           // of an array: the axis whose length it is; -1: the value of a scalar
    std::uint64_t bits = 0;  // as in Argument::bits, or the length
    bool operator==(const Fixed&) const = default;
};

/// Whether a call has these figures.
inline bool holds(std::span<const Fixed> fixed, std::span<const Argument> arguments) {
    for (const Fixed& f : fixed) {
        const Argument& a = arguments[static_cast<std::size_t>(f.parameter)];
        const std::uint64_t met =
            f.axis < 0 ? a.bits : static_cast<std::uint64_t>(a.lengths[static_cast<std::size_t>(f.axis)]);
        if (met != f.bits) return false;
    }
    return true;
}

struct Tuning {
    bool adaptive =
        false;  // integers and small lengths that stay the same become constants, see launch/steady
    std::vector<Fixed> fixed;  // constants from the start: the caller sees to it that every call has them
    // Of launches whose shape is ours; absent: the compiler's choice.
    std::optional<device::Dim3> block;
    std::optional<std::array<int, 3>> order;  // which of x, y, z each axis of cuda.grid becomes (GPU)
    std::optional<int> elements;              // neighbours of a vector, 1: none (GPU)
    std::optional<int> rows;             // of a thread's tile of elements, where the kernel allows one (GPU)
    std::vector<passes::Likely> likely;  // which way branches mostly go
    int staged = 0;  // turns of a loop whose rows a block fetches into shared memory at a time (GPU); 0: none
    int turns = 0;   // of the innermost loops, written out at once (GPU); 0: the compiler's choice
    bool operator==(const Tuning&) const = default;
};

}  // namespace xcuda::launch

// What a run was seen to do, told to the compiler: which way branches mostly go; and how many turns of loops it writes out.
#pragma once

#include <cstdint>
#include <span>

#include "ir/module.hpp"

namespace xcuda::passes {

/// A branch by its line, counted from the kernel's own.
struct Likely {
    int line = 0;
    bool taken = true;  // its condition mostly holds; false: mostly does not
    bool operator==(const Likely&) const = default;
};

/// Marks the kernel's branches, and its loops without a loop inside (`turns` > 1: so many at once, on CUDA).
XCUDA_API void mark_measured(ir::Module& module, std::span<const Likely> likely, int turns);

/// How many loops `turns` would be said of.
XCUDA_API int innermost_loops(const ir::Module& module);

}  // namespace xcuda::passes

// Element-wise functions for given dtypes: NumPy's inner loops, as typed IR made of the kernel language's operations and
// its one table of functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr.hpp"

namespace xcuda::arrays {

struct Loop {
    int id = 0;        // its place in all loops met so far
    std::string name;  // NumPy's: "add"; "astype" for a cast, "copy" for none
    std::vector<DType> in;
    DType out;
    int weight = 1;          // of an element, against one addition
    std::string_view infix;  // "+"; empty: written as a call
    ir::ExprP (*build)(const Loop& loop, std::span<const ir::ExprP> args) = nullptr;
    bool copies = false;  // "astype" and "copy"
};

/// The loop of that name and those dtypes; null where there is none. The same question gives the same loop.
XCUDA_API const Loop* find_loop(std::string_view name, std::span<const DType> in, DType out);
XCUDA_API const Loop& loop_of(int id);
/// The value as another dtype, as NumPy's astype has it.
XCUDA_API const Loop& cast_loop(DType from, DType to);
/// The names that find_loop knows for some dtypes, as NumPy has them.
XCUDA_API std::vector<std::string> loop_names();

}  // namespace xcuda::arrays

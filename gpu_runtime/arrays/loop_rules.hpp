// Loops that are operators, or made of several operations of the kernel language.
#pragma once

#include "arrays/loops.hpp"

namespace xcuda::arrays {

struct Rule {
    std::string_view name;
    std::string_view infix;
    int weight;
    bool (*takes)(std::span<const DType> in, DType out);
    ir::ExprP (*build)(const Loop& loop, std::span<const ir::ExprP> args);
};

/// Null where no rule takes these dtypes.
const Rule* rule_for(std::string_view name, std::span<const DType> in, DType out);
std::vector<std::string> rule_names();

/// A number as another dtype, as NumPy's astype has it: of a complex number the real part, as a bool whether it is not 0.
ir::ExprP cast_as_numpy(const ir::ExprP& number, DType to);

}  // namespace xcuda::arrays

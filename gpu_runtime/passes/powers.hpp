// Variables that are powers of two, as the steps of a tree are: what follows from a number being a multiple of one.
#pragma once

#include "ir/module.hpp"
#include "passes/interval.hpp"

namespace xcuda::passes {

/// Wherever the variable is positive, it is a power of two: it starts as one, and is only doubled and halved from there.
XCUDA_API bool is_power(const ir::Function& function, ir::VarId v);

/// A variable times a power of two; factor 0: it is something else.
struct Scaled {
    Whole factor = 0;
    ir::VarId of = -1;
};
XCUDA_API Scaled scaled(const ir::ExprP& e);

/// A remainder of 0 says: `value` is a multiple of `by`. Null where it is no remainder.
struct Multiple {
    ir::ExprP value;
    Scaled by;
};
XCUDA_API Multiple multiple(const ir::ExprP& remainder);

/// The most that a + inner * s can be, where a, one of `value`, is a multiple of outer * s, and s, one of `step`, is a
/// power of two. At most `all`, where nothing more is known.
XCUDA_API Whole most_within(const Interval& value, const Interval& step, Whole inner, Whole outer, Whole all);

}  // namespace xcuda::passes

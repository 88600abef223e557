// An integer as a sum: base + coefficient * each axis' coordinate + coefficient * each loop's variable, and the range
// of such a sum over a box of threads. Indices of this form are checked once for the box instead of at each access.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "ir/module.hpp"

namespace xcuda::passes {

struct Linear {
    ir::ExprP base;                         // uniform; never null
    std::array<ir::ExprP, 3> coefficients;  // by axis; null: 0
    std::map<ir::VarId, ir::ExprP> loops;   // by loop variable

    bool uniform() const { return !coefficients[0] && !coefficients[1] && !coefficients[2] && loops.empty(); }
};

/// A half-open range of each axis: [low, high).
struct Box {
    std::array<ir::ExprP, 3> low, high;
};

struct LoopRange {
    ir::ExprP start, stop, step;  // as the loop_range has them
};

/// What the analysis may take as fixed while a body runs.
struct LinearScope {
    const ir::Function& function;
    const std::vector<bool>& assigned;  // variables that the body assigns: not fixed
    const std::map<ir::VarId, LoopRange>* loops =
        nullptr;                 // open loops, if their variables may stand in the sum
    bool threads_fixed = false;  // one thread's view: its coordinates are fixed values, not axes
    bool bounds_tested = false;  // an index into a view is taken as it is: the asker tests it (each_bound)
};

XCUDA_API std::optional<Linear> linear(const ir::ExprP& e, const LinearScope& scope);

struct Range {
    ir::ExprP least, greatest;  // inclusive
};
/// Over all threads of the box and all iterations of the open loops; none where a bound is not linear itself.
XCUDA_API std::optional<Range> range_over(const Linear& sum, const Box& box, const LinearScope& scope);

}  // namespace xcuda::passes

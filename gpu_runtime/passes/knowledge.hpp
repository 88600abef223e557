// What is known of integers at one place of a function, what an expression can then be, and what a condition or an access
// adds to it.
#pragma once

#include <array>
#include <vector>

#include "ir/module.hpp"
#include "passes/interval.hpp"

namespace xcuda::passes {

struct Fact {
    ir::ExprP value;  // neither a variable nor anything that reads memory
    Interval range;
};

struct Knowledge {
    bool reached = true;
    std::vector<Interval> vars;  // by VarId, of integers and bools; empty: not assigned yet
    std::vector<Fact> facts;
};

struct RangeOptions {
    bool narrow = false;       // every array has fewer than 2^31 elements, and axes as short
    bool narrow_grid = false;  // so has the grid threads along each axis
    std::array<std::int64_t, 3> most_threads{1024, 1024, 1024};  // of a block along each axis
};

bool is_discrete(DType dtype);  // an integer or a bool
/// The numbers of a type that leave room for a step beyond them in 32 bits: what a `small` argument can be.
Interval small_numbers(DType dtype);
inline Knowledge unreached(Knowledge k) {
    k.reached = false;
    return k;
}
void forget(Knowledge& k, ir::VarId v);  // what is known of expressions that read it
bool assigns(const ir::Stmt& s, ir::VarId v);
/// Means the same until a variable that it reads is assigned to; and is no choice, whose own condition would be asked for
/// what is known of it.
bool lasting(const ir::Expr& e);

struct Query {
    const ir::Function& f;
    const RangeOptions& options;

    Interval range(const ir::ExprP& e, const Knowledge& k) const;
    void assume(Knowledge& k, const ir::ExprP& condition, bool holds) const;
    /// The value is in `to`.
    void refine(Knowledge& k, const ir::ExprP& e, const Interval& to) const;
    /// What is evaluated whole has not faulted.
    void learn_accesses(Knowledge& k, const ir::ExprP& e) const;
    void learn_access(Knowledge& k, const ir::ExprP& array, const ir::ExprP* indices,
                      const ir::Access& access) const;
    Knowledge joined(const Knowledge& a, const Knowledge& b) const;
    bool same_facts(const Knowledge& a, const Knowledge& b) const;
    /// Of an array's axis.
    Interval length(const ir::Expr& array, int axis) const;

private:
    Interval of_node(const ir::ExprP& e, const Knowledge& k) const;
    Interval of_call(const ir::ExprP& e, const Knowledge& k) const;
    Whole most_of_sum(const ir::ExprP& e, const Knowledge& k, Whole all) const;
};

}  // namespace xcuda::passes

#include "passes/cpu_tile_plan.hpp"

#include <algorithm>
#include <cmath>

#include "ir/walk.hpp"
#include "passes/build.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr std::size_t most_lane_arguments = 3;  // of a function taken lane by lane: the prelude's xc_each

constexpr int accumulator_registers = 16;  // of 32 vector registers; the rest hold operands
constexpr int most_rows = 8;

AxisMask bit(int axis) { return static_cast<AxisMask>(1u << axis); }

struct Check {
    const Function& function;
    TilePlan& plan;
    std::map<VarId, LoopRange> loops{};
    bool single_row = false;  // a branch or a loop goes its own way in each row
    int accumulators = 0;
    bool loads_in_loop = false;
    int depth = 0;
    std::size_t widest = 1;

    bool vector(const Expr& e) const { return plan.vary.of(e) & bit(plan.vector_axis); }
    bool row(const Expr& e) const { return plan.vary.of(e) & bit(plan.row_axis); }

    LinearScope scope() const { return {function, plan.assigned, &loops, false, true}; }

    bool indices(std::span<const ExprP> list, bool asked) {
        bool any_vector = false;
        for (const ExprP& i : list) any_vector |= vector(*i);
        if (!any_vector) {
            return std::all_of(list.begin(), list.end(),
                               [&](const ExprP& i) { return expr(*i, false, asked); });
        }
        return std::all_of(list.begin(), list.end(),
                           [&](const ExprP& i) { return linear(i, scope()).has_value(); });
    }

    // One for all lanes, and perhaps not asked for by any: the box must be testable for what it needs.
    bool testable(const Expr& e, std::span<const ExprP> needed) {
        plan.unasked.insert(&e);
        return std::all_of(needed.begin(), needed.end(),
                           [&](const ExprP& n) { return linear(n, scope()).has_value(); });
    }

    bool divides(const Expr& e) {
        if (integer_of(e.args[1]).value_or(0) != 0) return true;
        const auto divisor = linear(e.args[1], scope());
        if (!divisor || !divisor->uniform()) return false;
        plan.unasked.insert(&e);
        return true;
    }

    // `asked`: some lane asks for it wherever a tile computes it.
    bool expr(const Expr& e, bool value, bool asked) {
        const bool in_lanes =
            !is_complex(e.type.dtype) && e.type.dtype != DType::bf16 && !is_float8(e.type.dtype);
        if (e.type.is_scalar() && !in_lanes) return false;  // structs in the device's C++
        if (value && vector(e)) widest = std::max(widest, info(e.type.dtype).size);
        const bool alone = !asked && !vector(e);
        switch (e.op) {
            case Op::invoke:
            case Op::print:
            case Op::atomic: return false;
            case Op::call:
                if (effect_of(e) != Effect::none || e.args.size() > most_lane_arguments) return false;
                break;
            case Op::bound:
                if (vector(e)) return false;  // outside an index
                if (alone && !testable(e, e.args)) return false;
                break;
            case Op::dim: return true;
            case Op::load: {
                if (e.args[0]->type.space == Space::local || e.args[0]->type.layout == Layout::bytes)
                    return false;
                loads_in_loop |= depth > 0;
                const auto list = std::span(e.args).subspan(1);
                return indices(list, asked) && (!alone || testable(e, list));
            }
            case Op::floordiv:
            case Op::mod:
                if (vector(e) && std::holds_alternative<Access>(e.payload) && access_of(e).checked)
                    return false;
                if (alone && is_integer(e.type.dtype) && !divides(e)) return false;
                break;
            default: break;
        }
        const bool compares = e.op >= Op::lt && e.op <= Op::ne && is_floating(e.args[0]->type.dtype);
        const bool chooses =
            vector(e) && (e.op == Op::select || e.op == Op::logic_and || e.op == Op::logic_or);
        for (std::size_t a = 0; a < e.args.size(); ++a) {
            const bool of_value = compares || (value && e.type.dtype != DType::b1);
            if (!e.args[a]->type.is_array() && !expr(*e.args[a], of_value, asked && !(chooses && a > 0)))
                return false;
        }
        return true;
    }

    // `masked`: inside a branch that the lanes of a vector may take differently.
    bool body(const Body& b, bool masked) {
        return std::all_of(b.begin(), b.end(), [&](const Stmt& s) { return stmt(s, masked); });
    }

    bool stmt(const Stmt& s, bool masked) {
        switch (s.kind) {
            case Stmt::Kind::poll: return true;
            case Stmt::Kind::assign: {
                if (!function.vars[s.var].type.is_scalar()) return false;
                const AxisMask mask = plan.vary.vars[s.var];
                if (depth > 0 && (mask & bit(plan.vector_axis))) ++accumulators;
                return expr(*s.exprs[0], true, !masked);
            }
            case Stmt::Kind::store: {
                const Expr& array = *s.exprs[0];
                if (array.type.space == Space::local || array.type.layout == Layout::bytes) return false;
                const auto list = std::span(s.exprs).subspan(1, static_cast<std::size_t>(array.type.ndim));
                const bool moves =
                    std::any_of(list.begin(), list.end(), [&](const ExprP& i) { return vector(*i); });
                widest = std::max(widest, info(array.type.dtype).size);
                return moves && indices(list, !masked) && expr(*s.exprs.back(), true, !masked);
            }
            case Stmt::Kind::branch: {
                if (!expr(*s.exprs[0], true, !masked)) return false;
                const bool parts = vector(*s.exprs[0]);
                if (!parts && row(*s.exprs[0])) single_row = true;
                return body(s.body, masked || parts) && body(s.orelse, masked || parts);
            }
            case Stmt::Kind::loop_range: {
                for (const ExprP& e : s.exprs) {
                    if (vector(*e) || !expr(*e, true, !masked)) return false;
                    single_row |= row(*e);
                }
                if ((plan.vary.vars[s.var] & bit(plan.vector_axis)) || !s.orelse.empty()) return false;
                const bool named = plan.counts[s.var] == 1;
                if (named) loops[s.var] = {s.exprs[0], s.exprs[1], s.exprs[2]};
                ++depth;
                const bool fits = body(s.body, masked);
                --depth;
                if (named) loops.erase(s.var);
                return fits;
            }
            case Stmt::Kind::loop_while: {
                if (masked || vector(*s.exprs[0]) || !expr(*s.exprs[0], true, true) || !s.orelse.empty())
                    return false;
                single_row |= row(*s.exprs[0]);
                ++depth;
                const bool fits = body(s.body, masked);
                --depth;
                return fits;
            }
            case Stmt::Kind::break_loop:
            case Stmt::Kind::continue_loop: single_row = true; return !masked;
            default: return false;
        }
    }
};

int lowest_power_of_two_at_least(std::int64_t n) {
    int p = 1;
    while (p < n) p *= 2;
    return p;
}

}  // namespace

int best_vector_axis(const Function& function, const Body& body) {
    const std::vector<bool> assigned = assigned_vars(function, body);
    const std::vector<int> counts = assignment_counts(function, body);
    std::array<double, 3> score{};
    std::array<bool, 3> used{};
    each_access(function, body, assigned, counts, [&](const AccessSeen& seen) {
        for (int axis = 0; axis < 3; ++axis) {
            bool last = false, other = false;
            LinearScope scope = seen.scope;
            scope.bounds_tested = true;
            for (std::size_t d = 0; d < seen.indices.size(); ++d) {
                const auto sum = linear(seen.indices[d], scope);
                if (!sum || !sum->coefficients[axis]) continue;
                const bool step_one = integer_of(sum->coefficients[axis]) == 1;
                if (d + 1 == seen.indices.size() && step_one && unit_stride(seen.array->type.layout))
                    last = true;
                else
                    other = true;
            }
            used[axis] |= last || other;
            const double weight = std::pow(8.0, std::min(seen.depth, 4)) * (seen.writes ? 2 : 1);
            score[axis] += weight * (other ? -3 : last ? 3 : 0);
        }
    });
    int best = 0;
    for (int axis = 0; axis < 3; ++axis)
        if (used[axis] && (!used[best] || score[axis] > score[best])) best = axis;
    return best;
}

std::optional<TilePlan> plan_tiles(const Function& function, const Body& body, int vector_axis,
                                   int vector_bytes,
                                   const std::array<std::optional<std::int64_t>, 3>& extents) {
    TilePlan plan;
    plan.vector_axis = vector_axis;
    plan.row_axis = vector_axis == 0 ? 1 : 0;
    plan.vary = varying(function, body);
    plan.assigned = assigned_vars(function, body);
    plan.counts = assignment_counts(function, body);

    Check check{function, plan};
    if (!check.body(body, false)) return std::nullopt;

    bool row_used = false;
    each_expr(body, [&](const Expr& e) {
        row_used |= e.op == Op::coord && (plan.vary.of(e) & bit(plan.row_axis));
        plan.calls |= e.op == Op::call;
    });
    each_stmt(body, [&](const Stmt& s) {
        plan.loops |= s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
    });
    plan.lanes = std::clamp(vector_bytes / static_cast<int>(check.widest), 1, 64);
    if (const auto extent = extents[vector_axis])
        plan.lanes = std::min(plan.lanes, lowest_power_of_two_at_least(*extent));
    if (plan.lanes < 2) return std::nullopt;
    if (row_used && !check.single_row && check.loads_in_loop && check.accumulators > 0) {
        const int room = std::max(1, accumulator_registers / check.accumulators);
        plan.columns = room >= 4 ? 2 : 1;
        if (const auto extent = extents[vector_axis]; extent && *extent < 2 * plan.lanes) plan.columns = 1;
        plan.rows = std::clamp(room / plan.columns, 1, most_rows);
        if (const auto extent = extents[plan.row_axis])
            while (plan.rows > 1 && *extent % plan.rows != 0) plan.rows /= 2;
    }
    return plan;
}

std::optional<Range> tested_range(const ExprP& index, bool moves_along_vector, const Box& box,
                                  const LinearScope& scope) {
    const auto sum = linear(index, scope);
    if (!sum || (sum->uniform() && !moves_along_vector)) return std::nullopt;
    return range_over(*sum, box, scope);
}

ExprP box_test(const Function& function, const Body& body, const TilePlan& plan, const Box& box) {
    ExprP test;
    bool covered = true;
    std::vector<ExprP> seen_tests;
    const auto require = [&](ExprP condition) {
        if (condition->op == Op::constant) {
            covered &= number_of(*condition) == Number(true);
            return;
        }
        for (const ExprP& old : seen_tests)
            if (same(*old, *condition)) return;
        seen_tests.push_back(condition);
        test = both(test, std::move(condition));
    };
    const auto require_within = [&](const ExprP& index, const ExprP& length, bool wraps, LinearScope scope) {
        scope.bounds_tested = true;
        const auto sum = linear(index, scope);
        const auto range = sum ? range_over(*sum, box, scope) : std::nullopt;
        if (!range) {
            covered = false;
            return;
        }
        const auto least = integer_of(range->least);
        if (least ? *least < 0 : is_signed(range->least->type.dtype))
            require(compare(Op::ge, range->least, wraps ? sub(int_constant(0), length) : int_constant(0)));
        require(compare(Op::lt, range->greatest, length));
    };
    each_access(function, body, plan.assigned, plan.counts, [&](const AccessSeen& seen) {
        bool any_vector = false;
        for (const ExprP& i : seen.indices) any_vector |= (plan.vary.of(*i) & bit(plan.vector_axis)) != 0;
        if (plan.unasked.contains(seen.load)) {
            for (std::size_t d = 0; d < seen.indices.size(); ++d)
                require_within(seen.indices[d], dim(seen.array, static_cast<int>(d)),
                               seen.access.wrap >> d & 1, seen.scope);
            return;
        }
        for (std::size_t d = 0; d < seen.indices.size(); ++d) {
            const bool wraps = seen.access.wrap >> d & 1;
            const bool checked = (seen.access.checked >> d & 1) || (seen.perhaps && any_vector);
            if (!checked && !wraps) continue;
            LinearScope scope = seen.scope;
            scope.bounds_tested = true;
            const auto range = tested_range(seen.indices[d], any_vector, box, scope);
            if (!range) {
                covered &= !any_vector;  // a scalar access keeps its own test
                continue;
            }
            const auto least = integer_of(range->least);
            if (!least || *least < 0) require(compare(Op::ge, range->least, int_constant(0)));
            if (checked) require(compare(Op::lt, range->greatest, dim(seen.array, static_cast<int>(d))));
        }
    });
    each_bound(function, body, plan.assigned, plan.counts, [&](const Expr& bound, const LinearScope& scope) {
        if (plan.unasked.contains(&bound))
            require_within(bound.args[0], bound.args[1], access_of(bound).wrap, scope);
        else if (const auto range = bound_range(bound, box, scope))
            require_bound(bound, *range, require);
        else
            covered &= (plan.vary.of(bound) & bit(plan.vector_axis)) == 0;
    });
    for (const Expr* e : plan.unasked) {
        if (e->op != Op::floordiv && e->op != Op::mod) continue;
        const auto divisor = linear(e->args[1], {function, plan.assigned});
        covered &= divisor.has_value();
        if (divisor) require(compare(Op::ne, divisor->base, constant(std::int64_t{0}, divisor->base->type)));
    }
    if (!covered) return constant(false, scalar(DType::b1));
    return test;
}

}  // namespace xcuda::passes

#include "passes/guard.hpp"

#include "passes/build.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

void conjuncts(const ExprP& condition, std::vector<ExprP>& out) {
    if (condition->op == Op::logic_and) {
        conjuncts(condition->args[0], out);
        conjuncts(condition->args[1], out);
    } else if (condition->op == Op::logic_not && condition->args[0]->op == Op::logic_or) {
        conjuncts(negate(condition->args[0]), out);
    } else if (condition->op == Op::logic_not) {
        out.push_back(negate(condition->args[0]));
    } else {
        out.push_back(condition);
    }
}

// The smaller of a bound, null where there is none yet, and another one.
ExprP least(const ExprP& high, ExprP bound) { return high ? minimum(high, std::move(bound)) : bound; }

// a < b, a <= b, a == b, ... with a - b = base + axis (coefficient 1 or -1): a bound of that axis.
bool solve(const Expr& c, const LinearScope& scope, Box& box) {
    if (c.op != Op::lt && c.op != Op::le && c.op != Op::gt && c.op != Op::ge && c.op != Op::eq) return false;
    if (!is_integer(c.args[0]->type.dtype) || c.args[0]->type.dtype == DType::u64) return false;
    const auto a = linear(c.args[0], scope), b = linear(c.args[1], scope);
    if (!a || !b) return false;
    int axis = -1;
    for (int i = 0; i < 3; ++i) {
        if (!a->coefficients[i] && !b->coefficients[i]) continue;
        if (axis >= 0 || (a->coefficients[i] && b->coefficients[i])) return false;
        axis = i;
    }
    if (axis < 0) return false;
    const bool left = a->coefficients[axis] != nullptr;
    const auto factor = integer_of(left ? a->coefficients[axis] : b->coefficients[axis]);
    if (!factor || (*factor != 1 && *factor != -1)) return false;
    // factor * x + mine  OP  other
    const ExprP mine = left ? a->base : b->base, other = left ? b->base : a->base;
    bool less = (c.op == Op::lt || c.op == Op::le) == left;  // factor*x + mine below other
    const bool strict = c.op == Op::lt || c.op == Op::gt;
    ExprP bound = sub(other, mine);
    if (*factor == -1) {  // -x < bound  is  x > -bound
        bound = sub(int_constant(0), bound);
        less = !less;
    }
    if (c.op == Op::eq) {
        box.low[axis] = maximum(box.low[axis], bound);
        box.high[axis] = least(box.high[axis], add(bound, int_constant(1)));
    } else if (less)
        box.high[axis] = least(box.high[axis], strict ? bound : add(bound, int_constant(1)));
    else
        box.low[axis] = maximum(box.low[axis], strict ? add(bound, int_constant(1)) : bound);
    return true;
}

}  // namespace

Box whole_grid() {
    const ExprP first = int_constant(0);
    return {{first, first, first}, {}};
}

void strip_guard(const Function& function, Body& body, Box& box) {
    while (body.size() == 1 && body[0].kind == Stmt::Kind::branch && body[0].orelse.empty()) {
        const std::vector<bool> assigned = assigned_vars(function, body);
        const LinearScope scope{function, assigned};
        std::vector<ExprP> parts;
        conjuncts(body[0].exprs[0], parts);
        ExprP left;
        for (const ExprP& part : parts)
            if (left || !solve(*part, scope, box))
                left = both(left, part);  // keep the order after an unsolved one
        if (left) {
            body[0].exprs[0] = left;
            return;
        }
        Body inner = std::move(body[0].body);
        body = std::move(inner);
    }
}

}  // namespace xcuda::passes

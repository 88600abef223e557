#include <fmt/format.h>

#include <set>

#include "ir/walk.hpp"
#include "passes/cost.hpp"
#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {

using namespace ir;

namespace {

std::size_t widest_float(const Module& module) {
    std::size_t widest = 0;
    const Function& kernel = module.kernel();
    for (const VarId p : kernel.params) {
        const Type& t = kernel.vars[static_cast<std::size_t>(p)].type;
        if (t.is_array() && is_floating(t.dtype)) widest = std::max<std::size_t>(widest, info(t.dtype).size);
    }
    return widest;
}

// What made it float64, as far as the operands tell.
std::string cause(const Expr& e) {
    for (const ExprP& a : e.args) {
        const Expr& inner = a->op == Op::cast ? *a->args[0] : *a;
        if (is_integer(inner.type.dtype) && inner.op != Op::constant)
            return fmt::format("an operand is {}", info(inner.type.dtype).name);
        if (inner.op == Op::constant && a->type.dtype == DType::f64 && !inner.type.weak)
            return "a float64 constant";
    }
    return "an operand is float64";
}

template <class Visit>
void in_loops(const Body& body, bool inside, const Visit& visit) {
    for (const Stmt& s : body) {
        const bool loop = s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
        if (inside || s.kind == Stmt::Kind::loop_while)
            for (const ExprP& e : s.exprs) each_expr(e, [&](const Expr& node) { visit(node, s.place); });
        in_loops(s.body, inside || loop, visit);
        in_loops(s.orelse, inside, visit);
    }
}

}  // namespace

void float64_arithmetic(const Subject& subject, std::vector<Finding>& found) {
    const std::size_t widest = widest_float(subject.typed);
    if (widest == 0 || widest >= 8) return;
    std::set<int> lines;
    for (const Function& f : subject.typed.functions)
        each_stmt(f.body, [&](const Stmt& s) {
            for (const ExprP& whole : s.exprs)
                each_expr(whole, [&](const Expr& e) {
                    if (e.type.is_array() || e.type.weak || e.type.dtype != DType::f64 ||
                        !passes::is_arithmetic(e.op))
                        return;
                    const Place& place = e.place.known() ? e.place : s.place;
                    if (!lines.insert(place.line).second) return;
                    found.push_back(
                        {{},
                         place,
                         fmt::format("float64 arithmetic in a kernel whose arrays are float{} ({})",
                                     8 * widest, cause(e)),
                         fmt::format("write np.float{0}(...) round the operand, so that the line stays "
                                     "float{0}: float64 runs at half the speed on data-centre GPUs and at a "
                                     "64th on others",
                                     8 * widest),
                         2.0});
                });
        });
}

void integer_division(const Subject& subject, std::vector<Finding>& found) {
    std::set<int> lines;
    for (const Function& f : subject.typed.functions)
        in_loops(f.body, false, [&](const Expr& e, const Place& statement) {
            if ((e.op != Op::floordiv && e.op != Op::mod) || !is_integer(e.type.dtype)) return;
            if (e.args[1]->op == Op::constant) return;  // a multiplication and a shift
            const Place& place = e.place.known() ? e.place : statement;
            if (!lines.insert(place.line).second) return;
            found.push_back(
                {{},
                 place,
                 fmt::format("{} of {} by a number that is known only at run time, in a loop: some 20 to 40 "
                             "instructions each time",
                             e.op == Op::mod ? "%" : "//", info(e.type.dtype).name),
                 "count along instead (add, and start again at the end), divide once before the loop, or "
                 "make "
                 "the divisor a constant",
                 std::nullopt});
        });
}

}  // namespace xcuda::profile::analysis

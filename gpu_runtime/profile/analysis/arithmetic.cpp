#include <fmt/format.h>

#include <set>

#include "ir/walk.hpp"
#include "passes/cost.hpp"
#include "profile/analysis/finding.hpp"

namespace xcuda::profile::analysis {

using namespace ir;

namespace {

using What = launch::TraceRecord::What;

struct Widths {
    std::size_t all = 0, written = 0;  // bytes of the widest floats of arrays, and of arrays that are written
    std::string widest;                // the array
};

Widths widths_of(const Subject& subject) {
    Widths made;
    const Function& kernel = subject.typed.kernel();
    for (const VarId p : kernel.params) {
        const Var& v = kernel.vars[static_cast<std::size_t>(p)];
        if (!v.type.is_array() || !is_floating(v.type.dtype) || info(v.type.dtype).size <= made.all) continue;
        made.all = info(v.type.dtype).size;
        made.widest = v.name;
    }
    for (const auto& [site, blocks] : places(subject.seen, What::write)) {
        const Var* array = array_of(subject, site);
        if (array && array->type.space == Space::global && is_floating(array->type.dtype))
            made.written = std::max<std::size_t>(made.written, info(array->type.dtype).size);
    }
    return made;
}

/// What the kernel is: of narrower floats than float64, wherever its results go.
std::string kind_of(const Widths& widths, std::size_t width) {
    return widths.all < 8 ? fmt::format("a kernel whose arrays are float{}", 8 * width)
                          : fmt::format("a kernel that writes float{}", 8 * width);
}

std::string instead_of(const Widths& widths, std::size_t width) {
    const std::string why = ": float64 runs at half the speed on data-centre GPUs and at a 64th on others";
    if (widths.all < 8)
        return fmt::format("write np.float{0}(...) round the operand, so that the line stays float{0}{1}",
                           8 * width, why);
    return fmt::format(
        "give {0} as float{1}, or write np.float{1}(...) round what is read of it, where its last "
        "digits do not matter{2}",
        widths.widest, 8 * width, why);
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
    const Widths widths = widths_of(subject);
    const std::size_t width = widths.all < 8 ? widths.all : widths.written;
    if (width == 0 || width >= 8) return;
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
                         fmt::format("float64 arithmetic in {} ({})", kind_of(widths, width), cause(e)),
                         instead_of(widths, width),
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

#include "passes/cuda_moves.hpp"

#include <fmt/format.h>

#include "ir/walk.hpp"
#include "passes/build.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

// The index in the loop's first turn.
ExprP first(const ExprP& index, VarId turn) {
    return rewrite(index, [turn](const ExprP& e) -> ExprP {
        if (e->op == Op::var && var_of(*e) == turn) return cast(int_constant(0), e->type);
        return e->op == Op::add ? add(e->args[0], e->args[1]) : e;
    });
}

ExprP address(const ExprP* array, std::size_t ndim, DType dtype, VarId turn) {
    std::vector<ExprP> args{array[0]};
    for (std::size_t i = 1; i <= ndim; ++i) args.push_back(first(array[i], turn));
    Expr e = *make(Op::address, scalar(dtype), std::move(args));
    e.payload = Access{};
    return std::make_shared<const Expr>(std::move(e));
}

bool moved(Stmt& loop) {
    const auto low = integer_of(loop.exprs[0]), high = integer_of(loop.exprs[1]),
               step = integer_of(loop.exprs[2]);
    if (low != 0 || !high || step != 1 || loop.body.size() != 1 || !loop.orelse.empty()) return false;
    const Stmt& copy = loop.body[0];
    if (copy.kind != Stmt::Kind::store) return false;
    const Type to = copy.exprs[0]->type;
    const auto ndim = static_cast<std::size_t>(to.ndim);
    const ExprP& value = copy.exprs[ndim + 1];
    if (value->op != Op::load || value->type.dtype != to.dtype || copy.access.checked ||
        access_of(*value).checked)
        return false;
    const Type from = value->args[0]->type;
    if ((to.space == Space::local) == (from.space == Space::local)) return false;
    Stmt s = simple(Stmt::Kind::machine, loop.place);
    s.text = fmt::format("{}<{}>", to.space == Space::local ? "xc_take" : "xc_give", *high);
    s.exprs = {address(copy.exprs.data(), ndim, to.dtype, loop.var),
               address(value->args.data(), static_cast<std::size_t>(from.ndim), to.dtype, loop.var)};
    loop = std::move(s);
    return true;
}

}  // namespace

void move_neighbours(Body& body) {
    for (Stmt& s : body) {
        if (s.kind == Stmt::Kind::loop_range && s.hint == Stmt::Hint::neighbours && moved(s)) continue;
        move_neighbours(s.body);
        move_neighbours(s.orelse);
    }
}

}  // namespace xcuda::passes

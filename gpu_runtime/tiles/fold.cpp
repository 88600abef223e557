#include "tiles/fold.hpp"

#include <cmath>
#include <limits>

#include "frontend/functions.hpp"
#include "ir/walk.hpp"

namespace xcuda::tiles {

using namespace ir;
using Fold = TileOp::Fold;

namespace {

ExprP called(const char* spelling, ExprP x, ExprP y) {
    const frontend::KernelFunction& function = *frontend::find_function(spelling);
    const DType dtype = x->type.dtype;
    for (int i = 0; i < function.overloads; ++i) {
        const int id = function.first_overload + i;
        const frontend::Overload& o = frontend::all_overloads()[static_cast<std::size_t>(id)];
        if (o.in.size() != 2 || o.in[0] != dtype || o.in[1] != dtype) continue;
        Expr e = *make(Op::call, scalar(o.out), {std::move(x), std::move(y)});
        e.payload = OverloadId{id};
        return std::make_shared<const Expr>(std::move(e));
    }
    throw bug("no " + std::string(spelling) + " of " + std::string(info(dtype).name));
}

ExprP compared(Op op, const ExprP& x, const ExprP& y) { return make(op, scalar(DType::b1), {x, y}); }

}  // namespace

Folding folding_of(const Stmt& s) {
    if (s.tile.fold != Fold::custom) return {s.tile.fold, {}, {}, -1, -1};
    return {s.tile.fold, s.exprs[1], s.exprs[2], var_of(*s.exprs[3]), var_of(*s.exprs[4])};
}

ExprP folded(const Folding& folding, ExprP x, ExprP y) {
    const Fold fold = folding.fold;
    if (fold == Fold::custom)
        return rewrite(folding.combine, [&](const ExprP& n) {
            const VarId v = n->op == Op::var ? var_of(*n) : -1;
            return v >= 0 && v == folding.left ? x : v >= 0 && v == folding.right ? y : n;
        });
    const Type type = scalar(x->type.dtype);
    if (fold == Fold::sum || fold == Fold::prod)
        return make(fold == Fold::sum ? Op::add : Op::mul, type, {std::move(x), std::move(y)});
    if (type.dtype == DType::b1)
        return make(fold == Fold::max ? Op::bit_or : Op::bit_and, type, {std::move(x), std::move(y)});
    return called(fold == Fold::max ? "numpy.maximum" : "numpy.minimum", std::move(x), std::move(y));
}

ExprP takes_over(Fold fold, const ExprP& x, const ExprP& y) {
    const ExprP better = compared(fold == Fold::argmax ? Op::gt : Op::lt, y, x);
    if (!is_floating(x->type.dtype)) return better;
    // The first nan is the place that NumPy gives.
    const Type b = scalar(DType::b1);
    const ExprP y_nan = compared(Op::ne, y, y), x_nan = compared(Op::ne, x, x);
    return make(Op::logic_or, b, {better, make(Op::logic_and, b, {y_nan, make(Op::logic_not, b, {x_nan})})});
}

ExprP identity(const Folding& folding, DType d) {
    const Fold fold = folding.fold;
    if (fold == Fold::custom) return folding.start;
    const Type type = scalar(d);
    const bool greatest = fold == Fold::min || fold == Fold::argmin;
    if (fold == Fold::sum || fold == Fold::prod) {
        const std::int64_t n = fold == Fold::sum ? 0 : 1;
        if (is_complex(d)) return constant(std::complex<double>(static_cast<double>(n), 0.0), type);
        return is_floating(d) ? constant(static_cast<double>(n), type) : constant(n, type);
    }
    if (d == DType::b1) return constant(greatest, type);
    if (is_floating(d)) {
        const double infinity = std::numeric_limits<double>::infinity();
        return constant(greatest ? infinity : -infinity, type);
    }
    const int bits = static_cast<int>(info(d).size) * 8;
    if (!is_signed(d)) {
        const std::uint64_t top = bits == 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
        return greatest ? constant(top, type) : constant(std::int64_t{0}, type);
    }
    const std::int64_t top = bits == 64 ? INT64_MAX : (std::int64_t{1} << (bits - 1)) - 1;
    return constant(greatest ? top : -top - 1, type);
}

}  // namespace xcuda::tiles

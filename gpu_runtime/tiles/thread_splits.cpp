// A product along whose inner dimension several blocks share: they form a cluster (sm_90), each sums its part of the steps,
// and the first adds the others' sums to its own out of their shared memory, in order, so that each run gives the same bits.
#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "tiles/threads.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::add;
using passes::div_floor;
using passes::integer_of;
using passes::mul;
using passes::sub;

namespace {

// The loop at the kernel's top that holds its only product, which sums in place from zero; the body's size where there is none.
std::size_t loop_of_product(const Body& body) {
    int products = 0;
    bool fits = true;
    each_stmt(body, [&](const Stmt& s) {
        products += is_product(s);
        fits &= s.kind != Stmt::Kind::leave && !(s.kind == Stmt::Kind::tile && s.tile.atomic);
        for (const ExprP& e : s.exprs)
            each_expr(e, [&](const Expr& n) {
                fits &= n.op != Op::coord || coord_of(n).kind != Coord::Kind::block || coord_of(n).axis < 2;
            });
    });
    if (!fits || products != 1) return body.size();
    const auto at = std::find_if(body.begin(), body.end(), [](const Stmt& s) {
        return s.kind == Stmt::Kind::loop_range && s.orelse.empty() &&
               std::any_of(s.body.begin(), s.body.end(), is_product);
    });
    if (at == body.end()) return body.size();
    const Stmt& product = *std::find_if(at->body.begin(), at->body.end(), is_product);
    const ExprP& sum = product.exprs[2];
    const auto step = integer_of(at->exprs[2]);
    const bool in_place =
        sum->op == Op::element && sum->args.size() == 1 && var_of(*sum->args[0]) == product.var;
    if (!in_place || !step || *step <= 0 || integer_of(at->exprs[0]) != 0 ||
        !begins_at_zero(Body(body.begin(), at), product.var))
        return body.size();
    return static_cast<std::size_t>(at - body.begin());
}

}  // namespace

bool begins_at_zero(const Body& before, VarId sum) {
    bool zero = false;
    for (const Stmt& s : before)
        if (s.var == sum) {
            const ExprP& e = s.exprs[0];
            const ExprP& value = e->op == Op::spread ? e->args[0] : e;
            zero = s.kind == Stmt::Kind::assign && value->op == Op::constant &&
                   real_of(number_of(*value)) == 0.0;
        }
    return zero;
}

bool Threads::splits(const Module& of) const {
    return plan.split >= 2 && !plan.acted && of.programs && of.programs->grid.size() <= 2 &&
           loop_of_product(f.body) != f.body.size();
}

// The first block's sums and the others', out of their memory of operands, which all have been read; it alone goes on.
void Threads::sum_of_cluster(Body& body, Module& of, const Stmt& product, VarId share, const ExprP& rank,
                             Body rest) {
    const Type type = type_of(share);
    Stmt sum = simple(Stmt::Kind::machine, product.place);
    sum.text = fmt::format("xc_tile_split_sum<{}, {}, {}, {}>", plan.split,
                           layout(type_of(product.var).extents).slots, plan.threads,
                           elements(type.extents) * static_cast<std::int64_t>(info(type.dtype).size));
    sum.exprs = {address(registers_of(product.var), c(0)), address(share, c(0)), thread_id()};
    body.push_back(std::move(sum));
    body.push_back(branch(passes::compare(Op::eq, rank, c(0)), std::move(rest), {}, product.place));
    of.together = plan.split;
}

std::optional<Body> Threads::split(Module& module) {
    if (!splits(module)) return std::nullopt;
    const std::size_t at = loop_of_product(f.body);
    Stmt loop = f.body[at];
    const Stmt product = *std::find_if(loop.body.begin(), loop.body.end(), is_product);
    const ExprP& a = product.exprs[0];
    if (a->op != Op::element || !operands.count(var_of(*a->args[0]))) return std::nullopt;
    const Type index = scalar(DType::i64, true);
    const VarId first = scalar_var(index, "first"), stop = scalar_var(index, "stop");
    const ExprP rank = cast(coord(Coord::Kind::block, 2), index);
    const std::int64_t step = *integer_of(loop.exprs[2]);
    // Whole steps, the same number for each block but the last ones.
    const ExprP steps = div_floor(add(passes::maximum(loop.exprs[1], c(0)), c(step - 1)), c(step));
    const ExprP part = mul(div_floor(add(steps, c(plan.split - 1)), c(plan.split)), c(step));
    Body out = lower(Body(f.body.begin(), f.body.begin() + static_cast<std::ptrdiff_t>(at)));
    out.push_back(assign(first, mul(rank, part)));
    out.push_back(assign(stop, passes::minimum(add(read(first), part), loop.exprs[1])));
    multiples[first] = step;
    loop.hint = Stmt::Hint::together;  // a block that is stopped can't be read any more
    loop.exprs[0] = read(first);
    loop.exprs[1] = read(stop);
    append(out, lower(Body{loop}));

    sum_of_cluster(out, module, product, share_of(var_of(*a->args[0])), rank,
                   lower(Body(f.body.begin() + static_cast<std::ptrdiff_t>(at) + 1, f.body.end())));
    return out;
}

}  // namespace xcuda::tiles

// Reductions and scans of tiles over the threads of a block.
#include <algorithm>

#include "frontend/functions.hpp"
#include "passes/build.hpp"
#include "tiles/fold.hpp"
#include "tiles/threads.hpp"

namespace xcuda::tiles {

using namespace ir;
using Fold = TileOp::Fold;
using passes::add;
using passes::compare;
using passes::div_floor;
using passes::mod_floor;
using passes::mul;

namespace {

bool is_index(Fold fold) { return fold == Fold::argmax || fold == Fold::argmin; }

// What a shuffle moves such a number as.
DType shuffled_as(DType d) {
    if (is_half(d)) return DType::f32;
    return info(d).size < 4 ? (is_signed(d) || d == DType::b1 ? DType::i32 : DType::u32) : d;
}

bool shuffles(DType d) { return !is_complex(d); }

ExprP shuffled(ExprP value, std::int64_t lane_mask) {
    const frontend::KernelFunction& function = *frontend::find_function("cuda.shfl_xor_sync");
    const Type i64 = scalar(DType::i64), type = scalar(value->type.dtype);
    for (int i = 0; i < function.overloads; ++i) {
        const int id = function.first_overload + i;
        if (frontend::all_overloads()[static_cast<std::size_t>(id)].out != type.dtype) continue;
        Expr e = *make(Op::call, type,
                       {constant(std::int64_t{-1}, i64), std::move(value), constant(lane_mask, i64),
                        constant(std::int64_t{-1}, i64)});
        e.payload = OverloadId{id};
        return std::make_shared<const Expr>(std::move(e));
    }
    throw bug("no shuffle of " + std::string(info(type.dtype).name));
}

}  // namespace

// Each of `lanes` neighbouring threads, a power of two up to a warp, gets the fold of all of them.
Body Threads::across_lanes(const Folding& fold, VarId value, std::int64_t lanes) {
    Body out;
    const Type type = type_of(value), moved = scalar(shuffled_as(type.dtype));
    for (std::int64_t mask = lanes / 2; mask > 0; mask /= 2) {
        const VarId other = scalar_var(moved, "other");
        out.push_back(assign(other, shuffled(cast(read(value), moved), mask)));
        out.push_back(assign(value, folded(fold, read(value), cast(read(other), type))));
    }
    return out;
}

// All elements: each thread its own, then the lanes of each warp, then the warps through shared memory.
Body Threads::reduce_all(const Stmt& s) {
    const Folding fold = folding_of(s);
    ExprP e = s.exprs[0];
    const Extents extents = extents_of(*e);
    Body out;
    const std::int64_t threads = plan.threads;
    if (is_index(fold.fold) || !shuffles(e->type.dtype)) {  // as one line of a tile
        const VarId held = in_tile(e, out);
        const Type type = type_of(held);
        const Extents line{elements(extents)};
        const VarId row = hidden_tile(type.dtype, line);
        ExprP at = position(0, line);
        std::vector<ExprP> indices = indices_of(at, extents);
        append(out, map(row, element_at(held, type, line, indices), s.place));
        const VarId one = hidden_tile(s.var >= 0 ? type_of(s.var).dtype : type.dtype, {1});
        Stmt inner = s;
        inner.tile.axis = 0;
        inner.var = one;
        inner.exprs = {element(row, type_of(row))};
        append(out, reduce_lines(inner));
        out.push_back(assign(s.var, load(registers_of(one), c(0))));
        return out;
    }
    append(out, publish(elsewhere(e, extents)));
    const Type type = scalar(e->type.dtype);
    const VarId sum = scalar_var(type, "fold");
    const bool single = elements(extents) == 1;
    out.push_back(assign(sum, identity(fold, type.dtype)));
    append(out, each(extents, [&](const std::vector<ExprP>& at, const ExprP& slot) {
               const ExprP x = value_at(e, at, extents, slot);
               Stmt take = assign(sum, single ? x : folded(fold, read(sum), x));
               if (layout(extents).kind != Layout::Kind::rows) return Body{std::move(take)};
               return Body{branch(compare(Op::eq, mod_floor(thread_id(), c(4)), c(0)), {std::move(take)})};
           }));
    if (!single) {
        append(out, across_lanes(fold, sum, std::min<std::int64_t>(32, threads)));
        const std::int64_t warps = threads / 32;
        if (warps > 1) {
            const VarId parts = shared(type.dtype, warps, "parts");
            out.push_back(barrier());
            out.push_back(branch(compare(Op::eq, mod_floor(thread_id(), c(32)), c(0)),
                                 {put(parts, div_floor(thread_id(), c(32)), read(sum))}));
            out.push_back(barrier());
            out.push_back(assign(sum, load(parts, c(0))));
            for (std::int64_t w = 1; w < warps; ++w)
                out.push_back(assign(sum, folded(fold, read(sum), load(parts, c(w)))));
        }
    }
    out.push_back(assign(s.var, read(sum)));
    return out;
}

// Along an axis: some lanes a line, from shared memory.
Body Threads::reduce_lines(const Stmt& s) {
    const Folding fold = folding_of(s);
    Body out;
    const VarId held = in_tile(s.exprs[0], out);
    const Type type = type_of(held);
    const Extents extents = type.extents, kept = type_of(s.var).extents;
    const auto axis = static_cast<std::size_t>(s.tile.axis);
    const std::int64_t n = extents[axis], lines = elements(kept), threads = plan.threads;
    const bool index = is_index(fold.fold);
    std::int64_t lanes = 1;
    while (!index && shuffles(type.dtype) && lanes * 2 <= n && lanes * 2 <= 32 && lanes * 2 * lines <= threads)
        lanes *= 2;
    append(out, publish(std::vector<VarId>{held}));
    const DType result = type_of(s.var).dtype;
    const VarId results = shared(result, lines, "folded");
    const VarId line = counter(), sum = scalar_var(scalar(type.dtype), "fold"), i = counter(),
                x = scalar_var(scalar(type.dtype), "x"), where = scalar_var(scalar(DType::i64), "where");
    const ExprP lane = mod_floor(thread_id(), c(lanes));
    const auto at_place = [&](const ExprP& place) {
        std::vector<ExprP> at = indices_of(read(line), kept);
        at[axis] = place;
        const ExprP slot = c(0);
        return is_whole(held) ? load(registers_of(held), slot) : load(share_of(held), shared_index(held, at));
    };
    // Threads beyond the last line take one of the others': every lane of a warp is there when they meet.
    Body body;
    const std::int64_t at_once = threads / lanes;
    body.push_back(assign(sum, at_place(lane)));
    if (index) body.push_back(assign(where, cast(c(0), scalar(DType::i64))));
    if (n > lanes) {
        Body turn{assign(x, at_place(read(i)))};
        if (index)
            turn.push_back(branch(takes_over(fold.fold, read(sum), read(x)),
                                  {assign(sum, read(x)), assign(where, cast(read(i), scalar(DType::i64)))}));
        else
            turn.push_back(assign(sum, folded(fold, read(sum), read(x))));
        body.push_back(loop_range(i, add(lane, c(lanes)), c(n), c(lanes), std::move(turn)));
    }
    if (!index) append(body, across_lanes(fold, sum, lanes));
    Body write{put(results, read(line), index ? read(where) : read(sum))};
    if (lanes > 1)
        body.push_back(branch(compare(Op::eq, lane, c(0)), std::move(write)));
    else
        append(body, std::move(write));
    const ExprP first = div_floor(thread_id(), c(lanes));
    if (at_once >= lines) {
        out.push_back(assign(line, mod_floor(first, c(lines))));
        append(out, std::move(body));
    } else {
        const VarId round = counter();
        body.insert(body.begin(), assign(line, add(read(round), first)));
        out.push_back(loop_range(round, c(0), c(lines), c(at_once), std::move(body)));
    }
    out.push_back(barrier());
    append(out, fill_from_shared(s.var, results));
    return out;
}

Body Threads::reduce(const Stmt& s) {
    if (s.tile.axis < 0) return reduce_all(s);
    auto rows = reduce_rows(s);
    return rows ? std::move(*rows) : reduce_lines(s);
}

// Each line is cut among some threads: each folds its piece in place, learns what stands before it, and adds that.
Body Threads::scan(const Stmt& s) {
    Body out;
    const VarId held = in_tile(s.exprs[0], out);
    const Type type = type_of(held);
    const Extents extents = type.extents;
    const auto axis = static_cast<std::size_t>(s.tile.axis);
    if (is_whole(held)) {
        append(out, map(s.var, element(held, type), s.place));
        return out;
    }
    const VarId array = shared(type.dtype, elements(extents), "scanned");
    const VarId own = registers_of(held);
    out.push_back(barrier());
    append(out, each(extents, [&](const std::vector<ExprP>& at, const ExprP& slot) {
               const ExprP x =
                   operands.count(held) ? load(share_of(held), shared_index(held, at)) : load(own, slot);
               return Body{put(array, linear_index(at, extents), x)};
           }));
    out.push_back(barrier());
    Extents kept = extents;
    kept[axis] = 1;
    const std::int64_t n = extents[axis], lines = elements(kept), threads = plan.threads;
    std::int64_t pieces = 1;
    while (pieces * 2 <= n && pieces * 2 * lines <= threads) pieces *= 2;
    const std::int64_t length = n / pieces, at_once = threads / pieces;
    const VarId line = counter(), i = counter(), j = counter(), sum = scalar_var(scalar(type.dtype), "fold");
    const VarId totals = shared(type.dtype, lines * pieces, "totals");
    const ExprP piece = mod_floor(thread_id(), c(pieces)), first = div_floor(thread_id(), c(pieces));
    const auto place = [&](const ExprP& k) {  // element k of this piece
        std::vector<ExprP> at = indices_of(read(line), kept);
        const ExprP along = add(mul(piece, c(length)), k);
        at[axis] = s.tile.reverse ? passes::sub(c(n - 1), along) : along;
        return linear_index(at, extents);
    };
    Body fold_piece{assign(sum, load(array, place(c(0))))};
    if (length > 1)
        fold_piece.push_back(
            loop_range(i, c(1), c(length), c(1),
                       {assign(sum, folded(folding_of(s), read(sum), load(array, place(read(i))))),
                        put(array, place(read(i)), read(sum))}));
    fold_piece.push_back(put(totals, add(mul(read(line), c(pieces)), piece), read(sum)));
    Body add_before{assign(sum, load(totals, mul(read(line), c(pieces)))),
                    loop_range(j, c(1), piece, c(1),
                               {assign(sum, folded(folding_of(s), read(sum),
                                                   load(totals, add(mul(read(line), c(pieces)), read(j)))))}),
                    loop_range(i, c(0), c(length), c(1),
                               {put(array, place(read(i)),
                                    folded(folding_of(s), read(sum), load(array, place(read(i)))))})};
    const auto over_lines = [&](Body body) {
        if (at_once >= lines) {
            out.push_back(assign(line, first));
            out.push_back(at_once == lines ? branch(constant(true, scalar(DType::b1)), std::move(body))
                                           : branch(compare(Op::lt, read(line), c(lines)), std::move(body)));
        } else {
            const VarId round = counter();
            body.insert(body.begin(), assign(line, add(read(round), first)));
            out.push_back(loop_range(round, c(0), c(lines), c(at_once), std::move(body)));
        }
        out.push_back(barrier());
    };
    over_lines(std::move(fold_piece));
    if (pieces > 1) over_lines({branch(compare(Op::gt, piece, c(0)), std::move(add_before))});
    append(out, fill_from_shared(s.var, array));
    return out;
}

}  // namespace xcuda::tiles

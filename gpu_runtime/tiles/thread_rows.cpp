// Reductions along the last axis where a line's elements lie in neighbouring lanes: in registers, then by shuffles; only
// what several warps have of a line goes through shared memory.
#include <algorithm>

#include "passes/build.hpp"
#include "tiles/threads.hpp"

namespace xcuda::tiles {

using namespace ir;
using Fold = TileOp::Fold;
using passes::add;
using passes::compare;
using passes::div_floor;
using passes::mod_floor;
using passes::mul;

namespace {}  // namespace

std::optional<Body> Threads::reduce_rows(const Stmt& s) {
    const ExprP& e = s.exprs[0];
    const Folding fold = folding_of(s);
    const Extents extents = extents_of(*e), kept = type_of(s.var).extents;
    const Layout l = layout(extents);
    const DType dtype = e->type.dtype;
    const bool last = s.tile.axis + 1 == static_cast<int>(extents.size());
    if (!last || is_complex(dtype) || fold.fold == Fold::argmax || fold.fold == Fold::argmin)
        return std::nullopt;
    if (l.kind != Layout::Kind::matrix && (l.kind != Layout::Kind::spread || !l.owns_all()))
        return std::nullopt;

    Body out = publish(elsewhere(e, extents));
    const VarId sum = scalar_var(scalar(dtype), "fold");
    const auto unroll = [&](std::int64_t n, const std::function<Body(const ExprP&)>& body) {
        return unrolled(n, [this] { return counter(); }, [this](VarId v) { return read(v); }, body);
    };
    const auto taken = [&](const std::vector<ExprP>& at, const ExprP& slot) {
        return Body{assign(sum, folded(fold, read(sum), value_at(e, at, extents, slot)))};
    };
    const Stmt begin = assign(sum, identity(fold, dtype));
    const std::int64_t lines = elements(kept), n = extents.back(), threads = plan.threads;
    std::int64_t shares = 1;  // of a line, that different warps have
    VarId parts = -1;
    const auto given = [&](Body& body, std::int64_t lanes, const ExprP& place) {
        append(body, across_lanes(fold, sum, lanes));
        body.push_back(
            branch(compare(Op::eq, mod_floor(thread_id(), c(lanes)), c(0)), {put(parts, place, read(sum))}));
    };

    if (l.kind == Layout::Kind::matrix && l.rows == 16 && layout(kept).kind == Layout::Kind::rows) {
        const VarId own = registers_of(s.var);  // four lanes have the whole row, and all four take the result
        append(out, unroll(2, [&](const ExprP& half) {
                   Body body{begin};
                   append(body, unroll(l.columns / 8, [&](const ExprP& j) {
                              return unroll(2, [&](const ExprP& k) {
                                  const ExprP lane = mod_floor(thread_id(), c(32)),
                                              warp = div_floor(thread_id(), c(32));
                                  const ExprP row =
                                      add(add(mul(warp, c(16)), mul(half, c(8))), div_floor(lane, c(4)));
                                  const ExprP column =
                                      add(add(mul(mod_floor(lane, c(4)), c(2)), mul(j, c(8))), k);
                                  return taken({row, column}, add(add(mul(j, c(4)), mul(half, c(2))), k));
                              });
                          }));
                   append(body, across_lanes(fold, sum, 4));
                   body.push_back(put(own, half, read(sum)));
                   return body;
               }));
        return out;
    }
    Body work;
    if (l.kind == Layout::Kind::matrix) {  // four lanes have a row of a warp's columns
        shares = l.across;
        parts = shared(dtype, lines * shares, "parts");
        const ExprP lane = mod_floor(thread_id(), c(32)), warp = div_floor(thread_id(), c(32)),
                    side = mod_floor(warp, c(l.across));
        const ExprP top = add(mul(div_floor(warp, c(l.across)), c(l.rows)), div_floor(lane, c(4)));
        const ExprP left = add(mul(side, c(l.columns)), mul(mod_floor(lane, c(4)), c(2)));
        work = unroll(l.rows / 16, [&](const ExprP& i) {
            return unroll(2, [&](const ExprP& half) {
                const ExprP row = add(top, add(mul(i, c(16)), mul(half, c(8))));
                Body body{begin};
                append(body, unroll(l.columns / 8, [&](const ExprP& j) {
                           return unroll(2, [&](const ExprP& k) {
                               std::vector<ExprP> at(extents.size() - 2, c(0));
                               at.push_back(row);
                               at.push_back(add(add(left, mul(j, c(8))), k));
                               const ExprP block = mul(add(mul(i, c(l.columns / 8)), j), c(4));
                               return taken(at, add(add(block, mul(half, c(2))), k));
                           });
                       }));
                given(body, 4, add(mul(row, c(shares)), side));
                return body;
            });
        });
    } else {
        const std::int64_t runs = n / l.run;  // of a line, each a thread's neighbours
        const auto run = [&](const ExprP& j) {
            return unroll(l.run, [&](const ExprP& i) {
                const ExprP linear = add(mul(add(mul(j, c(threads)), thread_id()), c(l.run)), i);
                return taken(indices_of(linear, extents), add(mul(j, c(l.run)), i));
            });
        };
        const std::int64_t lanes = std::min<std::int64_t>(32, std::min(runs, threads));
        if (runs <= threads) {
            shares = runs / lanes;
            parts = shared(dtype, lines * shares, "parts");
            work = unroll(l.slots / l.run, [&](const ExprP& j) {
                Body body{begin};
                append(body, run(j));
                given(body, lanes, div_floor(add(mul(j, c(threads)), thread_id()), c(lanes)));
                return body;
            });
        } else {  // all threads have a line together, several runs each
            const std::int64_t turns = runs / threads;
            shares = threads / lanes;
            parts = shared(dtype, lines * shares, "parts");
            work = unroll(lines, [&](const ExprP& line) {
                Body body{begin};
                append(body, unroll(turns, [&](const ExprP& j) { return run(add(mul(line, c(turns)), j)); }));
                given(body, lanes, add(mul(line, c(shares)), div_floor(thread_id(), c(lanes))));
                return body;
            });
        }
    }
    out.push_back(barrier());  // whoever read what lay there before is done
    append(out, std::move(work));
    out.push_back(barrier());
    const VarId own = registers_of(s.var), share = counter();
    append(out, each(kept, [&](const std::vector<ExprP>& at, const ExprP& slot) {
               const ExprP first = mul(linear_index(at, kept), c(shares));
               Body body{assign(sum, load(parts, first))};
               if (shares > 1)
                   body.push_back(loop_range(
                       share, c(1), c(shares), c(1),
                       {assign(sum, folded(fold, read(sum), load(parts, add(first, read(share)))))}));
               body.push_back(put(own, slot, read(sum)));
               return body;
           }));
    return out;
}

}  // namespace xcuda::tiles

// Products whose operands the copy engine brings (sm_90): a warp of its own asks for boxes of both, several turns ahead,
// while four warps and more multiply what is there. Blocks take tiles of the result in turn, in bands of rows so that
// what blocks read at one time lies in the L2; the next tile's operands are on their way while this one is stored.
#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "tiles/boxes.hpp"
#include "tiles/instructions.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::add;
using passes::div_floor;
using passes::integer_of;
using passes::mul;
using passes::sub;

namespace {

constexpr std::int64_t band = 8;  // tiles of the result, one under the other, that go together

struct Flow {
    Threads& t;
    Module& module;
    const Plan& plan = t.plan;
    Function& f = t.f;
    const bool shared = t.splits(module);  // blocks of a cluster have parts of the inner dimension

    Stmt machine(std::string text, std::vector<ExprP> exprs) const {
        Stmt s = simple(Stmt::Kind::machine);
        s.text = std::move(text);
        s.exprs = std::move(exprs);
        return s;
    }

    VarId integer(const char* name) { return t.scalar_var(scalar(DType::i64, true), name); }

    // A loop over this block's tiles of the result; `body` sees which in place of the block's coordinates. Of a shared product:
    // the cluster's tile.
    Body each_tile(const std::function<Body()>& body) {
        const std::vector<ExprP>& grid = module.programs->grid;
        const auto coordinate = [](Coord::Kind kind, int axis) { return coord(kind, axis); };
        const VarId wide = integer("wide"), high = integer("high"), all = integer("all"),
                    next = integer("next");
        const auto along = [&](std::size_t axis) { return axis < grid.size() ? grid[axis] : c(1); };
        Body out{assign(wide, cast(along(0), scalar(DType::i64, true))),
                 assign(high, cast(along(1), scalar(DType::i64, true)))};
        const ExprP w = t.read(wide), h = t.read(high);
        if (!shared) out.push_back(assign(all, mul(mul(w, h), along(2))));
        const ExprP gx = coordinate(Coord::Kind::grid_dim, 0), gy = coordinate(Coord::Kind::grid_dim, 1),
                    gz = coordinate(Coord::Kind::grid_dim, 2);
        const ExprP bx = coordinate(Coord::Kind::block, 0), by = coordinate(Coord::Kind::block, 1),
                    bz = coordinate(Coord::Kind::block, 2);
        const ExprP first = add(bx, mul(gx, shared ? by : add(by, mul(gy, bz))));
        out.push_back(assign(next, cast(first, scalar(DType::i64, true))));
        // In an array: what is divided once is then not put into each of its uses.
        const VarId at = t.local(DType::i32, 3, "tile");
        Body turn{machine(fmt::format("xc_tile_place<{}>", band), {t.address(at, c(0)), t.read(next), w, h})};
        Body inner = body();
        rewrite_exprs(inner, [&](const ExprP& e) {
            const bool block = e->op == Op::coord && coord_of(*e).kind == Coord::Kind::block;
            return block ? cast(t.load(at, c(coord_of(*e).axis)), e->type) : e;
        });
        append(turn, std::move(inner));
        if (shared) {  // a cluster has one tile
            append(out, std::move(turn));
            return out;
        }
        turn.push_back(assign(next, add(t.read(next), mul(gx, mul(gy, gz)))));
        Stmt loop = simple(Stmt::Kind::loop_while);
        loop.hint = Stmt::Hint::together;
        loop.exprs = {passes::compare(Op::lt, t.read(next), t.read(all))};
        loop.body = std::move(turn);
        out.push_back(std::move(loop));
        return out;
    }

    std::optional<Body> made() {
        if (!plan.bulk || plan.products != Instructions::wgmma || !module.programs ||
            module.programs->grid.empty())
            return std::nullopt;
        const auto [first, rest, early] = halves_of(t);
        std::size_t at = rest.size();
        bool fits = true;
        for (std::size_t i = 0; i < rest.size(); ++i) {
            if (rest[i].kind == Stmt::Kind::loop_range && at == rest.size()) {
                at = i;
                continue;
            }
            each_stmt(Body{rest[i]}, [&](const Stmt& s) {
                fits &=
                    s.kind == Stmt::Kind::assign || s.kind == Stmt::Kind::branch ||
                    (s.kind == Stmt::Kind::tile && s.tile.kind == TileOp::Kind::store && !s.tile.atomic) ||
                    (s.kind == Stmt::Kind::tile && s.tile.kind == TileOp::Kind::reduce);
                for (const ExprP& e : s.exprs) {
                    fits &= !may_fault(*e);
                    each_expr(e, [&](const Expr& n) {
                        if (n.op == Op::coord) fits &= coord_of(n).kind == Coord::Kind::block;
                    });
                }
            });
            // Before the loop: nothing that both kinds of warps would do, but for numbers.
            if (at == rest.size() && rest[i].kind == Stmt::Kind::assign)
                fits &= t.type_of(rest[i].var).is_tile() || is_pure(rest[i].exprs[0]);
            else if (at == rest.size())
                fits = false;
        }
        if (!fits || at == rest.size()) return std::nullopt;
        const Stmt loop = rest[at];
        const auto step = integer_of(loop.exprs[2]);
        if (!step || *step <= 0 || !loop.orelse.empty() || loop.body.size() != 3) return std::nullopt;
        const Stmt& product = loop.body[2];
        if (loop.body[0].kind != Stmt::Kind::assign || loop.body[1].kind != Stmt::Kind::assign ||
            !is_product(product))
            return std::nullopt;
        const auto operand = [&](const ExprP& e) -> std::optional<Boxes> {
            if (e->op != Op::element || (e->args.size() != 1 && !is_turned(*e))) return std::nullopt;
            for (const Stmt* fed : {&loop.body[0], &loop.body[1]})
                if (fed->var == var_of(*e->args[0])) return boxes_of(t, *fed, e->args.size() > 1, loop);
            return std::nullopt;
        };
        const auto a = operand(product.exprs[0]), b = operand(product.exprs[1]);
        if (!a || !b || a->tile == b->tile) return std::nullopt;
        const bool in_place = product.exprs[2]->op == Op::element && product.exprs[2]->args.size() == 1 &&
                              var_of(*product.exprs[2]->args[0]) == product.var;
        const auto kind = t.matrix_kind(product);
        const tiles::Layout l = t.layout(t.type_of(product.var).extents);
        if (!in_place || !t.for_four_warps(product)) return std::nullopt;
        return written(first, rest, at, *a, *b, *kind, l);
    }

    Body written(const Body& first, const Body& rest, std::size_t at, const Boxes& a, const Boxes& b,
                 int kind, const tiles::Layout& l) {
        const Stmt& loop = rest[at];
        const Stmt& product = loop.body[2];
        const std::int64_t stages = plan.stages, step = *integer_of(loop.exprs[2]);
        for (const VarId v : {a.tile, b.tile}) {
            t.swizzled.insert(v);
            t.staged.emplace(v, integer("stage"));
        }
        const Type ta = t.type_of(a.tile), tb = t.type_of(b.tile);
        const std::int64_t depth = a.turned ? ta.extents[0] : ta.extents[1];
        const VarId gates = t.shared(DType::u64, 2 * stages, "gates");
        const auto operand = [&](const Boxes& o, const Type& type) {
            return fmt::format("{}, {}, {}, {}, {}", o.axes, type.extents[0], type.extents[1], o.dx, o.dy);
        };
        const std::size_t map_a = map_of(t, module, a), map_b = map_of(t, module, b);
        const std::string maps = fmt::format("{{xc_args.map{}, xc_args.map{}}}", map_a, map_b);
        const std::string give =
            fmt::format("xc_tile_flow_give<{}, {}, {}>{}", stages, operand(a, ta), operand(b, tb), maps);
        const std::string take =
            fmt::format("xc_tile_flow_take<{}, {}, {}, {}, {}, {}, {}, {}>{}", kind, l.columns, depth, stages,
                        operand(a, ta), a.turned, operand(b, tb), b.turned, maps);
        const ExprP turns =
            div_floor(add(passes::maximum(sub(loop.exprs[1], loop.exprs[0]), c(0)), c(step - 1)), c(step));
        // Of a shared product: the turns before this block's, which are as many for each but the last ones.
        const ExprP part = div_floor(add(turns, c(plan.split - 1)), c(plan.split));
        const VarId before = shared ? integer("before") : -1;
        const VarId rank_of =
            shared ? integer("rank") : -1;  // before a tile's coordinates stand for the block's
        const ExprP rank = shared ? t.read(rank_of) : c(0);
        const auto from = [&](const ExprP& start, std::int64_t by) {
            return shared && by ? add(start, mul(t.read(before), c(by))) : start;
        };
        const auto count = [&](Body& body, VarId now) {
            if (shared) body.push_back(assign(before, passes::minimum(mul(rank, part), turns)));
            body.push_back(assign(now, shared ? passes::minimum(part, sub(turns, t.read(before))) : turns));
        };
        const auto common = [&](VarId turn, VarId now) {
            return std::vector<ExprP>{t.address(t.share_of(a.tile), c(0)),
                                      t.address(t.share_of(b.tile), c(0)),
                                      t.address(gates, c(0)),
                                      t.read(turn),
                                      t.read(now),
                                      from(a.x, a.dx),
                                      from(a.y, a.dy),
                                      a.z,
                                      from(b.x, b.dx),
                                      from(b.y, b.dy),
                                      b.z,
                                      t.thread_id()};
        };
        Body out = first;
        if (shared)
            out.push_back(assign(rank_of, cast(coord(Coord::Kind::block, 2), scalar(DType::i64, true))));
        const auto turned = [&](VarId turn, VarId now, Body& body) {
            body.push_back(assign(turn, add(t.read(turn), t.read(now))));
        };

        const VarId turn = integer("turn"), now = integer("turns");
        Body take_tiles{assign(turn, c(0))};
        append(take_tiles, each_tile([&] {
                   Body body = t.lower(Body(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(at)));
                   count(body, now);
                   auto args = common(turn, now);
                   args.insert(args.begin(), t.address(t.registers_of(product.var), c(0)));
                   Stmt call = machine(take, std::move(args));
                   call.place = product.place;
                   body.push_back(std::move(call));
                   turned(turn, now, body);
                   Body after = t.lower(Body(rest.begin() + static_cast<std::ptrdiff_t>(at) + 1, rest.end()));
                   if (shared)
                       t.sum_of_cluster(body, module, product, t.share_of(a.tile), rank, std::move(after));
                   else
                       append(body, std::move(after));
                   return body;
               }));
        if (plan.acted) {
            append(out, std::move(take_tiles));
            return out;
        }
        meet_by_number(take_tiles, plan.threads);
        const VarId asked = integer("asked"), asked_now = integer("asks");
        Body give_tiles{assign(asked, c(0))};
        append(give_tiles, each_tile([&] {
                   Body body;
                   for (std::size_t i = 0; i < at; ++i)
                       if (rest[i].kind == Stmt::Kind::assign && !t.type_of(rest[i].var).is_tile())
                           body.push_back(rest[i]);
                   count(body, asked_now);
                   body.push_back(machine(give, common(asked, asked_now)));
                   turned(asked, asked_now, body);
                   return body;
               }));
        out.push_back(machine(fmt::format("xc_tile_flow_gates<{}, {}>", stages, plan.threads / 32),
                              {t.address(gates, c(0)), t.thread_id()}));
        out.push_back(t.barrier());
        out.push_back(branch(passes::compare(Op::ge, t.thread_id(), c(plan.threads)), std::move(give_tiles),
                             std::move(take_tiles)));
        return out;
    }
};

}  // namespace

std::optional<Body> Threads::flow(Module& module) { return Flow{*this, module}.made(); }

}  // namespace xcuda::tiles

// Products whose operands the copy engine brings (sm_90, sm_100): a warp of its own asks for boxes of both, several turns ahead,
// while four warps and more multiply what is there, or (sm_100) a thread asks for that too and they read the sums. Blocks take tiles of the result in turn, in bands of rows so that
// what blocks read at one time lies in the L2; the next tile's operands are on their way while this one is stored.
#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "tiles/boxes.hpp"
#include "tiles/instructions.hpp"
#include "tiles/tensor_memory.hpp"

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
        if (!plan.bulk || plan.products < Instructions::wgmma || !module.programs ||
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
        const bool in_tensors =
            t.for_tensor_memory(product) &&
            begins_at_zero(Body(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(at)), product.var);
        if (!in_place || !(t.for_four_warps(product) || in_tensors)) return std::nullopt;
        return written(first, rest, at, *a, *b, *t.matrix_kind(product));
    }

    // A flow whose sums lie in tensor memory: what is beside the operands' gates, and how its parts are called.
    struct Sums {
        VarId gates, memory;  // of sums; where the block's tensor memory begins
        std::int64_t columns;
        std::string mma, take, now;
    };
    std::optional<Sums> sums_of(const Stmt& product, const Boxes& a, const Boxes& b, int kind,
                                std::int64_t depth) {
        if (plan.products != Instructions::tcgen05) return std::nullopt;
        const Extents& extents = t.type_of(product.var).extents;
        const Type ta = t.type_of(a.tile), tb = t.type_of(b.tile);
        const tiles::Layout l = t.layout(extents);
        const std::int64_t m = extents[0], n = extents[1];
        const auto lies = [](const Boxes& o, const Type& type, bool across) {
            return fmt::format("{}, {}, {:#x}ull, {}", type.extents[0], type.extents[1],
                               matrix_descriptor(across ? type.extents[0] * 128 : 16), o.turned);
        };
        const std::string form = fmt::format(
            "{:#x}u",
            instruction_descriptor(ta.dtype, std::min<std::int64_t>(m, 128), n, a.turned, !b.turned));
        const auto moves = [](const Boxes& o) {
            return fmt::format("{}, {}, {}, {}", o.axes, o.dx, o.dy, o.turned);
        };
        return Sums{t.shared(DType::u64, 4, "sums"),
                    t.shared(DType::u32, 1, "memory"),
                    2 * tensor_width(extents),
                    fmt::format("xc_tile_tensor_mma<{}, {}, {}, {}, {}, {}, {}, {}>", kind, m, n, depth,
                                plan.stages, form, lies(a, ta, a.turned), lies(b, tb, !b.turned)),
                    fmt::format("xc_tile_tensor_take<{}, {}, {}, {}, {}>", m, n, l.rows, l.down, l.columns),
                    fmt::format("xc_tile_tensor_now<{}, {}, {}, {}, {}, {}, {}, {}, {}>", kind, m, n, depth,
                                l.rows, l.down, l.columns, moves(a), moves(b))};
    }

    Body written(const Body& first, const Body& rest, std::size_t at, const Boxes& a, const Boxes& b,
                 int kind) {
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
        const std::int64_t columns = t.layout(t.type_of(product.var).extents).columns;
        const auto sums = sums_of(product, a, b, kind, depth);
        const auto operand = [&](const Boxes& o, const Type& type) {
            return fmt::format("{}, {}, {}, {}, {}", o.axes, type.extents[0], type.extents[1], o.dx, o.dy);
        };
        const std::size_t map_a = map_of(t, module, a), map_b = map_of(t, module, b);
        const std::string maps = fmt::format("{{xc_args.map{}, xc_args.map{}}}", map_a, map_b);
        const std::string give =
            fmt::format("xc_tile_flow_give<{}, {}, {}>{}", stages, operand(a, ta), operand(b, tb), maps);
        const std::string take =
            fmt::format("xc_tile_flow_take<{}, {}, {}, {}, {}, {}, {}, {}>{}", kind, columns, depth, stages,
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

        // What tells a tile's sum: those before it with any turns at all.
        const auto summed = [&](VarId tile, VarId now, Body& body) {
            if (sums) body.push_back(assign(tile, add(t.read(tile), passes::minimum(t.read(now), c(1)))));
        };

        const VarId turn = integer("turn"), now = integer("turns"), taken = sums ? integer("taken") : -1;
        Body take_tiles{assign(turn, c(0))};
        if (sums) take_tiles.push_back(assign(taken, c(0)));
        append(take_tiles, each_tile([&] {
                   Body body = t.lower(Body(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(at)));
                   count(body, now);
                   auto args = common(turn, now);
                   if (sums && !plan.acted)
                       args = {t.address(sums->gates, c(0)), t.address(sums->memory, c(0)), t.read(now),
                               t.read(taken), t.thread_id()};
                   else if (sums)
                       args.erase(args.begin() + 2, args.begin() + 4);  // neither gates nor turns before
                   args.insert(args.begin(), t.address(t.registers_of(product.var), c(0)));
                   Stmt call = machine(!sums        ? take
                                       : plan.acted ? sums->now + maps
                                                    : sums->take,
                                       std::move(args));
                   call.place = product.place;
                   body.push_back(std::move(call));
                   turned(turn, now, body);
                   summed(taken, now, body);
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
        // A warp beside those that have the sums, for all tiles: numbers before the loop, then its own part.
        const auto beside = [&](const std::function<void(Body&, VarId, VarId)>& part) {
            const VarId asked = integer("asked"), asks = integer("asks");
            Body tiles{assign(asked, c(0))};
            append(tiles, each_tile([&] {
                       Body body;
                       for (std::size_t i = 0; i < at; ++i)
                           if (rest[i].kind == Stmt::Kind::assign && !t.type_of(rest[i].var).is_tile())
                               body.push_back(rest[i]);
                       count(body, asks);
                       part(body, asked, asks);
                       turned(asked, asks, body);
                       return body;
                   }));
            return tiles;
        };
        Body others = beside(
            [&](Body& body, VarId asked, VarId asks) { body.push_back(machine(give, common(asked, asks))); });
        const auto gate = [&](VarId of, std::int64_t n, std::int64_t warps) {
            return machine(fmt::format("xc_tile_flow_gates<{}, {}>", n, warps),
                           {t.address(of, c(0)), t.thread_id()});
        };
        out.push_back(gate(gates, stages, sums ? 1 : plan.threads / 32));
        if (sums) {
            const VarId begun = integer("begun");
            const ExprP memory = t.address(sums->memory, c(0)), sum_gates = t.address(sums->gates, c(0));
            Body multiplies{assign(begun, c(0))};
            append(multiplies, beside([&](Body& body, VarId asked, VarId asks) {
                       auto args = common(asked, asks);
                       args = {args[0], args[1], args[2],      sum_gates,
                               memory,  args[3], t.read(asks), t.read(begun)};
                       body.push_back(machine(sums->mma, std::move(args)));
                       summed(begun, asks, body);
                   }));
            multiplies.push_back(machine(fmt::format("xc_tile_tensor_give_memory<{}>", sums->columns),
                                         {memory, sum_gates, t.read(begun)}));
            // Of four warps beside the others, which a change of registers takes, two have nothing to do.
            const std::int64_t second = plan.threads + 32;
            const auto below = [&](std::int64_t n) { return passes::compare(Op::lt, t.thread_id(), c(n)); };
            others = Body{branch(below(second), std::move(others),
                                 {branch(below(second + 32), std::move(multiplies))})};
            share_registers(plan.threads, 64, others, take_tiles);
            out.push_back(gate(sums->gates, 2, plan.threads / 32));
            out.push_back(machine(fmt::format("xc_tile_tensor_take_memory<{}, {}>", sums->columns, second),
                                  {memory, t.thread_id()}));
        }
        out.push_back(t.barrier());
        out.push_back(branch(passes::compare(Op::ge, t.thread_id(), c(plan.threads)), std::move(others),
                             std::move(take_tiles)));
        return out;
    }
};

}  // namespace

std::optional<Body> Threads::flow(Module& module) { return Flow{*this, module}.made(); }

}  // namespace xcuda::tiles

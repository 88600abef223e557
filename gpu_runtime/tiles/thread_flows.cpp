// Products whose operands the copy engine brings (sm_90): a warp of its own asks for boxes of both, several turns ahead,
// while four warps and more multiply what is there. Blocks take tiles of the result in turn, in bands of rows so that
// what blocks read at one time lies in the L2; the next tile's operands are on their way while this one is stored.
#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "tiles/instructions.hpp"
#include "tiles/threads.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::add;
using passes::div_floor;
using passes::integer_of;
using passes::mul;
using passes::sub;

namespace {

constexpr std::int64_t band = 8;  // tiles of the result, one under the other, that go together

ExprP c(std::int64_t n) { return int_constant(n); }

bool reads(const ExprP& e, VarId v) {
    bool found = false;
    each_expr(e, [&](const Expr& n) { found |= n.op == Op::var && var_of(n) == v; });
    return found;
}

ExprP replaced(const ExprP& e, VarId v, const ExprP& by) {
    return rewrite(e, [&](const ExprP& n) { return n->op == Op::var && var_of(*n) == v ? by : n; });
}

// How much a number grows when `v` grows by one; absent where that is not always the same.
std::optional<std::int64_t> slope(const ExprP& e, VarId v) {
    if (!reads(e, v)) return 0;
    if (e->op == Op::var) return 1;
    if (e->op == Op::cast && is_integer(e->args[0]->type.dtype)) return slope(e->args[0], v);
    if (e->op == Op::add || e->op == Op::sub) {
        const auto a = slope(e->args[0], v), b = slope(e->args[1], v);
        if (a && b) return e->op == Op::add ? *a + *b : *a - *b;
    }
    if (e->op == Op::mul)
        for (const std::size_t i : {0u, 1u})
            if (const auto by = integer_of(e->args[i]))
                if (const auto of = slope(e->args[1 - i], v)) return *of * *by;
    return std::nullopt;
}

// An operand as boxes of an array.
struct Boxes {
    VarId array = -1, tile = -1;
    bool turned = false;
    int axes = 2;
    ExprP x, y, z;  // where the first turn's begins
    std::int64_t dx = 0, dy = 0;
};

// Whether `inside` asks for nothing but that the indices lie in the array, which is what the copy engine asks.
bool asks_for_bounds(const ExprP& inside, const ExprP& array, const std::vector<ExprP>& indices) {
    if (inside->op == Op::spread || (inside->op == Op::cast && inside->type.dtype == DType::b1))
        return asks_for_bounds(inside->args[0], array, indices);
    if (inside->op == Op::logic_and)
        return asks_for_bounds(inside->args[0], array, indices) &&
               asks_for_bounds(inside->args[1], array, indices);
    if (inside->op == Op::constant) return std::get<bool>(number_of(*inside));
    for (std::size_t d = 0; d < indices.size(); ++d) {
        if (inside->op == Op::lt && same(*inside->args[0], *indices[d]) && inside->args[1]->op == Op::dim &&
            same(*inside->args[1]->args[0], *array) &&
            std::get<Axis>(inside->args[1]->payload).value == static_cast<int>(d))
            return true;
        if (inside->op == Op::ge && same(*inside->args[0], *indices[d]) && integer_of(inside->args[1]) == 0)
            return true;
    }
    return false;
}

bool only_faults(const Body& body) {
    return !body.empty() &&
           std::all_of(body.begin(), body.end(), [](const Stmt& s) { return s.kind == Stmt::Kind::fault; });
}

bool pure(const ExprP& e) {
    bool loads = has_effect(*e) || may_fault(*e);
    each_expr(e, [&](const Expr& n) {
        loads |= n.op == Op::load || n.op == Op::coord || n.op == Op::element || n.op == Op::position;
    });
    return !loads;
}

struct Flow {
    Threads& t;
    Module& module;
    const Plan& plan = t.plan;
    Function& f = t.f;
    std::map<VarId, int> writes{};

    bool is_matrix_row(const Type& type) const {
        const auto size = static_cast<std::int64_t>(info(type.dtype).size);
        return type.extents.size() == 2 && type.extents[1] * size % 128 == 0 && type.extents[0] % 8 == 0 &&
               type.extents[0] <= 256;
    }

    std::optional<Boxes> boxes_of(const Stmt& fed, const ExprP& operand, const Stmt& loop) const {
        Boxes b;
        b.tile = fed.var;
        const Type type = t.type_of(fed.var);
        if (!is_matrix_row(type) || writes.at(fed.var) != 1 || !t.operands.count(fed.var))
            return std::nullopt;
        b.turned = operand->args.size() > 1;
        const auto parts = guarded(fed.exprs[0]);
        ExprP value = parts ? parts->value : fed.exprs[0];
        if (value->op == Op::spread) value = value->args[0];
        if (value->op != Op::load || (parts && !is_zero(parts->outside))) return std::nullopt;
        const ExprP& array = value->args[0];
        b.array = var_of(*array);
        const Type& whole = array->type;
        const std::vector<ExprP> indices(value->args.begin() + 1, value->args.end());
        b.axes = static_cast<int>(indices.size());
        if (f.vars[static_cast<std::size_t>(b.array)].role != Var::Role::parameter || whole.ndim < 2 ||
            whole.ndim > 3 || whole.layout != ir::Layout::contiguous || !whole.aligned || whole.wide ||
            whole.dtype != type.dtype || t.fenced.count(b.array))
            return std::nullopt;
        if (parts && !asks_for_bounds(parts->inside, array, indices)) return std::nullopt;
        const auto across = shifted(indices.back()), down = shifted(indices[indices.size() - 2]);
        if (!across || !down || across->axis != -1 || down->axis != -2) return std::nullopt;
        const auto dx = slope(across->start, loop.var), dy = slope(down->start, loop.var);
        const std::int64_t step = *integer_of(loop.exprs[2]);
        if (!dx || !dy) return std::nullopt;
        b.dx = *dx * step;
        b.dy = *dy * step;
        b.x = replaced(across->start, loop.var, loop.exprs[0]);
        b.y = replaced(down->start, loop.var, loop.exprs[0]);
        b.z = indices.size() == 3 ? indices[0] : c(0);
        if (is_tile(*b.z) || reads(b.z, loop.var)) return std::nullopt;
        for (const ExprP& e : {b.x, b.y, b.z})
            if (has_effect(*e) || may_fault(*e)) return std::nullopt;
        return b;
    }

    static bool is_zero(const ExprP& e) {
        if (e->op == Op::spread) return is_zero(e->args[0]);
        return e->op == Op::constant && real_of(number_of(*e)) == 0.0;
    }

    Stmt machine(std::string text, std::vector<ExprP> exprs) const {
        Stmt s = simple(Stmt::Kind::machine);
        s.text = std::move(text);
        s.exprs = std::move(exprs);
        return s;
    }

    VarId integer(const char* name) { return t.scalar_var(scalar(DType::i64, true), name); }

    // The copies' index in the arguments.
    std::size_t map_of(const Boxes& b) {
        TensorMap map;
        map.parameter =
            static_cast<int>(std::find(f.params.begin(), f.params.end(), b.array) - f.params.begin());
        const Type type = t.type_of(b.tile);
        if (b.axes == 3) map.box.push_back(1);
        map.box.push_back(type.extents[0]);
        map.box.push_back(128 / static_cast<std::int64_t>(info(type.dtype).size));
        const auto known = std::find(module.maps.begin(), module.maps.end(), map);
        if (known != module.maps.end()) return static_cast<std::size_t>(known - module.maps.begin());
        module.maps.push_back(std::move(map));
        return module.maps.size() - 1;
    }

    // A loop over this block's tiles of the result; `body` sees which in place of the block's coordinates.
    Body each_tile(const std::function<Body()>& body) {
        const std::vector<ExprP>& grid = module.programs->grid;
        const auto coordinate = [](Coord::Kind kind, int axis) { return coord(kind, axis); };
        const VarId wide = integer("wide"), high = integer("high"), all = integer("all"),
                    next = integer("next");
        const auto along = [&](std::size_t axis) { return axis < grid.size() ? grid[axis] : c(1); };
        Body out{assign(wide, cast(along(0), scalar(DType::i64, true))),
                 assign(high, cast(along(1), scalar(DType::i64, true)))};
        const ExprP w = t.read(wide), h = t.read(high);
        out.push_back(assign(all, mul(mul(w, h), along(2))));
        const ExprP gx = coordinate(Coord::Kind::grid_dim, 0), gy = coordinate(Coord::Kind::grid_dim, 1),
                    gz = coordinate(Coord::Kind::grid_dim, 2);
        const ExprP first =
            add(coordinate(Coord::Kind::block, 0),
                mul(gx, add(coordinate(Coord::Kind::block, 1), mul(gy, coordinate(Coord::Kind::block, 2)))));
        out.push_back(assign(next, cast(first, scalar(DType::i64, true))));
        // In an array: what is divided once is then not put into each of its uses.
        const VarId at = t.local(DType::i32, 3, "tile");
        Stmt loop = simple(Stmt::Kind::loop_while);
        loop.hint = Stmt::Hint::together;
        loop.exprs = {passes::compare(Op::lt, t.read(next), t.read(all))};
        loop.body.push_back(
            machine(fmt::format("xc_tile_place<{}>", band), {t.address(at, c(0)), t.read(next), w, h}));
        Body inner = body();
        rewrite_exprs(inner, [&](const ExprP& e) {
            const bool block = e->op == Op::coord && coord_of(*e).kind == Coord::Kind::block;
            return block ? cast(t.load(at, c(coord_of(*e).axis)), e->type) : e;
        });
        append(loop.body, std::move(inner));
        loop.body.push_back(assign(next, add(t.read(next), mul(gx, mul(gy, gz)))));
        out.push_back(std::move(loop));
        return out;
    }

    std::optional<Body> made() {
        if (!plan.bulk || plan.products != Instructions::wgmma || !module.programs ||
            module.programs->grid.empty())
            return std::nullopt;
        each_stmt(f.body, [&](const Stmt& s) {
            if (s.var >= 0) ++writes[s.var];
        });
        // What is the same for all blocks comes first, with all that may stop a thread.
        Body first, rest;
        std::set<VarId> early;
        for (const Stmt& s : f.body) {
            const auto known = [&](const ExprP& e) {
                bool all = pure(e);
                each_expr(e, [&](const Expr& n) {
                    if (n.op == Op::var)
                        all &= early.count(var_of(n)) > 0 ||
                               f.vars[static_cast<std::size_t>(var_of(n))].role == Var::Role::parameter;
                });
                return all;
            };
            const bool scalar_assign =
                s.kind == Stmt::Kind::assign && !t.type_of(s.var).is_tile() && writes[s.var] == 1;
            const bool check = s.kind == Stmt::Kind::branch && only_faults(s.body) && s.orelse.empty();
            const bool moves = (scalar_assign || check) && known(s.exprs[0]);
            if (moves && scalar_assign) early.insert(s.var);
            (moves ? first : rest).push_back(s);
        }
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
                fits &= t.type_of(rest[i].var).is_tile() || pure(rest[i].exprs[0]);
            else if (at == rest.size())
                fits = false;
        }
        if (!fits || at == rest.size()) return std::nullopt;
        const Stmt loop = rest[at];
        const auto step = integer_of(loop.exprs[2]);
        if (!step || *step <= 0 || !loop.orelse.empty() || loop.body.size() != 3) return std::nullopt;
        const Stmt& product = loop.body[2];
        if (loop.body[0].kind != Stmt::Kind::assign || loop.body[1].kind != Stmt::Kind::assign ||
            product.kind != Stmt::Kind::tile || product.tile.kind != TileOp::Kind::mma)
            return std::nullopt;
        const auto operand = [&](const ExprP& e) -> std::optional<Boxes> {
            if (e->op != Op::element || (e->args.size() != 1 && !is_turned(*e))) return std::nullopt;
            for (const Stmt* fed : {&loop.body[0], &loop.body[1]})
                if (fed->var == var_of(*e->args[0])) return boxes_of(*fed, e, loop);
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
        const std::size_t map_a = map_of(a), map_b = map_of(b);
        const std::string maps = fmt::format("{{xc_args.map{}, xc_args.map{}}}", map_a, map_b);
        const std::string give =
            fmt::format("xc_tile_flow_give<{}, {}, {}>{}", stages, operand(a, ta), operand(b, tb), maps);
        const std::string take =
            fmt::format("xc_tile_flow_take<{}, {}, {}, {}, {}, {}, {}, {}>{}", kind, l.columns, depth, stages,
                        operand(a, ta), a.turned, operand(b, tb), b.turned, maps);
        const ExprP turns =
            div_floor(add(passes::maximum(sub(loop.exprs[1], loop.exprs[0]), c(0)), c(step - 1)), c(step));
        const auto common = [&](VarId turn, VarId now) {
            return std::vector<ExprP>{t.address(t.share_of(a.tile), c(0)),
                                      t.address(t.share_of(b.tile), c(0)),
                                      t.address(gates, c(0)),
                                      t.read(turn),
                                      t.read(now),
                                      a.x,
                                      a.y,
                                      a.z,
                                      b.x,
                                      b.y,
                                      b.z,
                                      t.thread_id()};
        };
        Body out = first;
        const auto turned = [&](VarId turn, VarId now, Body& body) {
            body.push_back(assign(turn, add(t.read(turn), t.read(now))));
        };

        const VarId turn = integer("turn"), now = integer("turns");
        Body take_tiles{assign(turn, c(0))};
        append(take_tiles, each_tile([&] {
                   Body body = t.lower(Body(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(at)));
                   body.push_back(assign(now, turns));
                   auto args = common(turn, now);
                   args.insert(args.begin(), t.address(t.registers_of(product.var), c(0)));
                   Stmt call = machine(take, std::move(args));
                   call.place = product.place;
                   body.push_back(std::move(call));
                   turned(turn, now, body);
                   append(body,
                          t.lower(Body(rest.begin() + static_cast<std::ptrdiff_t>(at) + 1, rest.end())));
                   return body;
               }));
        if (plan.acted) {
            append(out, std::move(take_tiles));
            return out;
        }
        each_stmt_in(take_tiles, [&](Stmt& s) {
            if (s.kind == Stmt::Kind::barrier) s.text = std::to_string(plan.threads);
        });
        const VarId asked = integer("asked"), asked_now = integer("asks");
        Body give_tiles{assign(asked, c(0))};
        append(give_tiles, each_tile([&] {
                   Body body;
                   for (std::size_t i = 0; i < at; ++i)
                       if (rest[i].kind == Stmt::Kind::assign && !t.type_of(rest[i].var).is_tile())
                           body.push_back(rest[i]);
                   body.push_back(assign(asked_now, turns));
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

    static void each_stmt_in(Body& body, const std::function<void(Stmt&)>& visit) {
        for (Stmt& s : body) {
            visit(s);
            each_stmt_in(s.body, visit);
            each_stmt_in(s.orelse, visit);
        }
    }
};

}  // namespace

std::optional<Body> Threads::flow(Module& module) { return Flow{*this, module}.made(); }

}  // namespace xcuda::tiles

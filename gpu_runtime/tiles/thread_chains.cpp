// Chained products whose operands the copy engine brings (sm_90): a warp of its own asks for boxes of both, each with gates
// of its own, and groups of four warps take turns: while one has its products begun the other computes what lies between.
// choose.cpp says where it is faster.
#include <fmt/format.h>

#include <algorithm>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "tiles/boxes.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::add;
using passes::compare;
using passes::div_floor;
using passes::integer_of;
using passes::mod_floor;
using passes::sub;

namespace {

Stmt machine(std::string text, std::vector<ExprP> exprs = {}) {
    Stmt s = simple(Stmt::Kind::machine);
    s.text = std::move(text);
    s.exprs = std::move(exprs);
    return s;
}

// Whether a warp that does none of it may tell the number before the loop.
bool is_known(const ExprP& e, const Threads& t, const std::set<VarId>& early) {
    bool known = is_pure(e, true);
    each_expr(e, [&](const Expr& n) {
        if (n.op == Op::var)
            known &= early.count(var_of(n)) > 0 ||
                     t.f.vars[static_cast<std::size_t>(var_of(n))].role == Var::Role::parameter;
    });
    return known;
}

const Stmt* fed_to(const std::vector<const Stmt*>& fed, const ExprP& operand) {
    for (const Stmt* s : fed)
        if (operand->op == Op::element && var_of(*operand->args[0]) == s->var) return s;
    return nullptr;
}

}  // namespace

std::optional<Body> Threads::flowing_chain(const Stmt& loop, const Chain& chain,
                                           const std::vector<const Stmt*>& fed, VarId stage) {
    const Stmt *one = fed_to(fed, chain.operands[0]), *two = fed_to(fed, chain.operands[1]);
    if (fed.size() != 2 || !one || !two || one == two || !giver.empty() || loop.body.empty())
        return std::nullopt;
    const auto a = boxes_of(*this, *one, false, loop), b = boxes_of(*this, *two, false, loop);
    if (!a || !b) return std::nullopt;
    for (const ExprP& e : {loop.exprs[0], loop.exprs[1], a->x, a->y, a->z, b->x, b->y, b->z})
        if (!is_known(e, *this, early)) return std::nullopt;
    const std::int64_t stages = plan.stages, step = *integer_of(loop.exprs[2]), groups = plan.threads / 128;
    const Type index = scalar(DType::i64, true), ta = type_of(a->tile), tb = type_of(b->tile);
    const std::size_t map_a = map_of(*this, *module, *a), map_b = map_of(*this, *module, *b);
    const ExprP turns =
        div_floor(add(passes::maximum(sub(loop.exprs[1], loop.exprs[0]), c(0)), c(step - 1)), c(step));

    const auto box = [](const Boxes& o, const Type& type) {
        return fmt::format("{}, {}, {}, {}, {}", o.axes, type.extents[0], type.extents[1], o.dx, o.dy);
    };
    const VarId turn = scalar_var(index, "turn"), last = scalar_var(index, "last");
    VarId gates_a = -1, gates_b = -1;
    if (!plan.acted) {
        gates_a = shared(DType::u64, 2 * stages, "gates");
        gates_b = shared(DType::u64, 2 * stages, "gates");
        const VarId asked = scalar_var(index, "asked");
        giver = {assign(asked, turns),
                 machine(fmt::format("xc_tile_chain_give<{}, {}, {}>{{xc_args.map{}, xc_args.map{}}}", stages,
                                     box(*a, ta), box(*b, tb), map_a, map_b),
                         {address(share_of(a->tile), c(0)), address(share_of(b->tile), c(0)),
                          address(gates_a, c(0)), address(gates_b, c(0)), read(asked), a->x, a->y, a->z, b->x,
                          b->y, b->z, thread_id()})};
        for (const VarId gates : {gates_a, gates_b})
            gates_made.push_back(machine(fmt::format("xc_tile_flow_gates<{}, {}>", stages, plan.threads / 32),
                                         {address(gates, c(0)), thread_id()}));
    }
    const auto wait = [&](Body& body, VarId gates, const ExprP& n) {
        if (!plan.acted)
            body.push_back(machine(fmt::format("xc_tile_flow_there<{}>", stages), {address(gates, c(0)), n}));
    };
    const auto free = [&](Body& body, VarId gates, const ExprP& n) {
        if (!plan.acted)
            body.push_back(machine(fmt::format("xc_tile_flow_done<{}>", stages),
                                   {address(gates, c(0)), n, thread_id()}));
    };
    const auto group = [&](Body& body, const char* what) {
        if (!plan.acted && groups > 1)
            body.push_back(machine(fmt::format("xc_tile_turn_{}<{}>", what, groups), {thread_id()}));
    };
    // On the CPU device all that was asked for comes at once.
    const auto brought = [&](Body& body, const Boxes& o, const Type& type, std::size_t map) {
        if (!plan.acted) return;
        body.push_back(barrier());
        const auto along = [&](const ExprP& at, std::int64_t by) {
            return add(at, passes::mul(read(turn), c(by)));
        };
        body.push_back(machine(fmt::format("xc_tile_flow_now<{}, {}, {}, {}>{{xc_args.map{}}}", o.axes,
                                           type.extents[0], type.extents[1], plan.threads, map),
                               {address(share_of(o.tile), share_base(o.tile)), along(o.x, o.dx),
                                along(o.y, o.dy), o.z, thread_id()}));
        body.push_back(barrier());
    };

    Stmt second = chain.second;
    for (ExprP& e : second.exprs)
        e = rewrite(e,
                    [&](const ExprP& n) { return n->op == Op::var && var_of(*n) == stage ? read(last) : n; });
    const ExprP before = sub(read(turn), c(1));
    const auto turn_of = [&](bool later) {
        Body body;
        brought(body, *a, ta, map_a);
        brought(body, *b, tb, map_b);
        append(body, chain.before);
        wait(body, gates_a, read(turn));
        group(body, "take");
        append(body, chain.first);
        if (later) {
            wait(body, gates_b, before);
            body.push_back(second);
        }
        group(body, "pass");
        Stmt settled = chain.first_settled;
        if (!later) settled.text.replace(settled.text.find('<') + 1, 1, "0");
        body.push_back(std::move(settled));
        free(body, gates_a, read(turn));
        append(body, chain.between);
        if (later) {
            body.push_back(chain.held_back);
            free(body, gates_b, before);
        }
        append(body, chain.scaled);
        append(body, chain.after);
        body.push_back(assign(last, read(stage)));
        body.push_back(assign(turn, add(read(turn), c(1))));
        body.push_back(assign(stage, mod_floor(add(read(stage), c(1)), c(stages))));
        return body;
    };
    Body all{assign(loop.var, loop.exprs[0])};
    group(all, "begin");
    append(all, turn_of(false));
    Stmt turning = loop_range(loop.var, add(loop.exprs[0], c(step)), loop.exprs[1], loop.exprs[2],
                              turn_of(true), loop.place);
    turning.hint = Stmt::Hint::together;
    all.push_back(std::move(turning));
    wait(all, gates_b, before);
    all.push_back(second);
    all.push_back(chain.second_settled);
    group(all, "end");
    return Body{assign(stage, c(0)), assign(turn, c(0)),
                branch(compare(Op::lt, loop.exprs[0], loop.exprs[1]), std::move(all))};
}

std::optional<Body> Threads::chained() {
    if (!plan.bulk || plan.tall == 0 || plan.products != Instructions::wgmma) return std::nullopt;
    write_once(*this);
    Halves halves = halves_of(*this, true);
    bool stops = false;  // a thread that is stopped would leave the others waiting
    each_stmt(halves.rest, [&](const Stmt& s) {
        stops |= s.kind == Stmt::Kind::fault || s.kind == Stmt::Kind::leave;
        for (const ExprP& e : s.exprs) stops |= may_fault(*e);
    });
    if (stops) return std::nullopt;
    early = halves.early;
    Body taken = lower(halves.rest);
    Body out = std::move(halves.first);
    if (giver.empty()) {  // no such chain: front_door.cpp takes a plan without; or the CPU device acts it
        append(out, std::move(taken));
        return out;
    }
    meet_by_number(taken, plan.threads);
    share_registers(plan.threads, 24, giver, taken);
    append(out, std::move(gates_made));
    out.push_back(barrier());
    out.push_back(branch(compare(Op::ge, thread_id(), c(plan.threads)), std::move(giver), std::move(taken)));
    return out;
}

}  // namespace xcuda::tiles

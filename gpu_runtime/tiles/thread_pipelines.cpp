// Loops whose products' operands come from memory: the operands of later turns are on their way while this one is
// computed, in several copies in shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "tiles/threads.hpp"

namespace xcuda::tiles {

using namespace ir;
using passes::add;
using passes::compare;
using passes::integer_of;
using passes::mod_floor;
using passes::mul;

namespace {

// Whether a number is a multiple of n for certain.
bool divisible(const ExprP& e, std::int64_t n, const std::map<VarId, std::int64_t>& multiples) {
    if (const auto v = integer_of(e)) return *v % n == 0;
    switch (e->op) {
        case Op::mul: return divisible(e->args[0], n, multiples) || divisible(e->args[1], n, multiples);
        case Op::add:
        case Op::sub: return divisible(e->args[0], n, multiples) && divisible(e->args[1], n, multiples);
        case Op::var: {
            const auto known = multiples.find(var_of(*e));
            return known != multiples.end() && known->second % n == 0;
        }
        case Op::cast: return is_integer(e->args[0]->type.dtype) && divisible(e->args[0], n, multiples);
        default: return false;
    }
}

bool holds_position(const ExprP& e, int axis, std::size_t rank) {
    if (e->op == Op::position)
        return std::get<Axis>(e->payload).value + rank - e->type.extents.size() ==
               static_cast<std::size_t>(axis);
    return std::any_of(e->args.begin(), e->args.end(),
                       [&](const ExprP& a) { return holds_position(a, axis, rank); });
}

bool jumps(const Body& body) {
    bool found = false;
    each_stmt(body, [&](const Stmt& s) {
        found |= s.kind == Stmt::Kind::break_loop || s.kind == Stmt::Kind::continue_loop ||
                 s.kind == Stmt::Kind::leave;
    });
    return found;
}

Stmt machine(std::string text, std::vector<ExprP> exprs = {}) {
    Stmt s = simple(Stmt::Kind::machine);
    s.text = std::move(text);
    s.exprs = std::move(exprs);
    return s;
}

bool is_zero(const ExprP& e) { return e->op == Op::constant && real_of(number_of(*e)) == 0.0; }

ExprP substituted(const ExprP& e, VarId v, const ExprP& by) {
    return rewrite(e, [&](const ExprP& n) { return n->op == Op::var && var_of(*n) == v ? by : n; });
}

}  // namespace

// The elements that one copy can move where `run` neighbours along the last axis are wanted: 1 where they are no
// neighbours in memory, or may lie askew.
std::int64_t Threads::copied_at_once(const ExprP& array, const std::vector<ExprP>& indices,
                                     const Extents& extents, std::int64_t run) const {
    const Type& type = array->type;
    if (type.space != Space::global || type.layout == ir::Layout::bytes || !unit_stride(type.layout) ||
        !type.aligned)
        return 1;
    const int last = static_cast<int>(extents.size()) - 1;
    const ExprP& inner = indices.back();
    for (std::size_t i = 0; i + 1 < indices.size(); ++i)
        if (holds_position(indices[i], last, extents.size())) return 1;
    ExprP start;
    if (inner->op == Op::position)
        start = int_constant(0);
    else if (inner->op == Op::add && inner->args[1]->op == Op::position && !is_tile(*inner->args[0]))
        start = inner->args[0];
    if (!start || !holds_position(inner, last, extents.size())) return 1;
    std::int64_t n = std::min<std::int64_t>(run, 16 / static_cast<std::int64_t>(info(type.dtype).size));
    while (n > 1 && !divisible(start, n, multiples)) n /= 2;
    return n;
}

// One copy of an operand, from memory to shared memory: by asynchronous copies of 16 bytes where these lie whole inside
// the array or whole outside.
Body Threads::feed(VarId tile, const ExprP& e, const ExprP& stage) {
    const Type type = type_of(tile);
    const Extents& extents = type.extents;
    const VarId array = share_of(tile);
    const ExprP base = mul(stage, int_constant(share_size(tile)));
    const auto to = [&](const std::vector<ExprP>& at) { return add(base, shared_place(tile, at)); };

    const auto parts = guarded(e);
    const ExprP& value = parts ? parts->value : e;
    const std::int64_t at_once = 16 / static_cast<std::int64_t>(info(type.dtype).size);
    const bool plain =
        value->op == Op::load && value->args[0]->type.ndim >= 2 && (!parts || is_zero(parts->outside)) &&
        value->args[0]->type.layout == ir::Layout::contiguous && extents.back() % at_once == 0 &&
        copied_at_once(value->args[0], {value->args.begin() + 1, value->args.end()}, extents, at_once) ==
            at_once;
    if (!plain)
        return each(layout_of(extents, plan, false, false),
                    [&](const std::vector<ExprP>& at, const ExprP& slot) {
                        return Body{put(array, to(at), value_at(e, at, extents, slot))};
                    });
    const std::int64_t chunks = elements(extents) / at_once,
                       rounds = std::max<std::int64_t>(1, chunks / plan.threads);
    const VarId round = counter();
    const ExprP chunk = add(mul(read(round), int_constant(plan.threads)), thread_id());
    const std::vector<ExprP> at = indices_of(mul(chunk, int_constant(at_once)), extents);
    Expr from = *value_at(value, at, extents, int_constant(0));
    from.op = Op::address;
    const ExprP inside =
        parts ? value_at(parts->inside, at, extents, int_constant(0)) : constant(true, scalar(DType::b1));
    Body copy{machine(fmt::format("xc_tile_async<{}>", at_once),
                      {address(array, to(at)), std::make_shared<const Expr>(std::move(from)), inside})};
    if (chunks < plan.threads) {
        Body some;
        some.push_back(branch(compare(Op::lt, thread_id(), int_constant(chunks)), std::move(copy)));
        copy = std::move(some);
    }
    Stmt loop = loop_range(round, int_constant(0), int_constant(rounds), int_constant(1), std::move(copy));
    loop.hint = Stmt::Hint::unroll;
    return Body{std::move(loop)};
}

std::optional<Threads::Chain> Threads::chain_of(const Body& turn) {
    if (plan.tall == 0 || plan.products != Instructions::wgmma || plan.stages < (plan.bulk ? 2 : 3))
        return std::nullopt;
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < turn.size(); ++i)
        if (is_product(turn[i])) at.push_back(i);
    int products = 0;
    each_stmt(turn, [&](const Stmt& s) { products += is_product(s); });
    if (at.size() != 2 || products != 2) return std::nullopt;
    const Stmt &one = turn[at[0]], &two = turn[at[1]];
    if (!for_four_warps(one) || is_held(one) || !for_four_warps(two) || !is_held(two)) return std::nullopt;
    if (type_of(one.var).dtype != DType::f32 || type_of(two.var).dtype != DType::f32) return std::nullopt;
    const ExprP& by = two.exprs[1];  // staged memory, which stays there for one more turn
    const VarId memory = by->op == Op::element ? var_of(*by->args[0]) : -1;
    if (memory < 0 || !staged.count(memory) || !swizzled.count(memory)) return std::nullopt;
    // The second's sum is not looked at in the turn but by itself.
    for (std::size_t i = 0; i < turn.size(); ++i) {
        if (i == at[1]) continue;
        bool seen = false;
        each_stmt(Body{turn[i]}, [&](const Stmt& s) {
            seen |= s.var == two.var;
            for (const ExprP& e : s.exprs) {
                const auto read = tiles_read(e);
                seen |= std::find(read.begin(), read.end(), two.var) != read.end();
            }
        });
        if (seen) return std::nullopt;
    }
    const auto part = [&](std::size_t from, std::size_t to) {
        return lower(Body(turn.begin() + static_cast<std::ptrdiff_t>(from),
                          turn.begin() + static_cast<std::ptrdiff_t>(to)));
    };
    const auto open = [](Stmt& s) { s.text.insert(s.text.size() - 1, ", 0"); };
    const auto settled = [&](const Stmt& s, int under_way) {
        return machine(fmt::format("xc_tile_settle<{}, {}>", under_way, layout(type_of(s.var).extents).slots),
                       {address(registers_of(s.var), int_constant(0))});
    };
    Chain c{part(0, at[0]),
            product(one),
            part(at[0] + 1, at[1]),
            product(two),
            part(at[1] + 1, turn.size()),
            {},
            settled(one, 1),
            settled(two, 0),
            settled(two, 0),
            {one.exprs[1], two.exprs[1]}};
    if (!c.first.back().text.starts_with("xc_tile_wgmma<") ||
        !c.scaled.back().text.starts_with("xc_tile_wgmma_held<"))
        return std::nullopt;
    bool meets = false;  // what warps wait for one another for would wait for the product too
    for (const Body* b : {&c.before, &c.first, &c.between, &c.after})
        each_stmt(*b, [&](const Stmt& s) { meets |= s.kind == Stmt::Kind::barrier; });
    if (meets) return std::nullopt;
    VarId known = -1;  // registers of two numbers that are known when `between` is done
    for (std::size_t i = at[0] + 1; i < at[1]; ++i) {
        const VarId v = turn[i].var;
        if (v >= 0 && type_of(v).is_tile() && type_of(v).dtype == DType::f32 &&
            layout(type_of(v).extents).kind == Layout::Kind::rows)
            known = registers_of(v);
    }
    if (plan.late && known >= 0) {
        c.held_back.text.replace(0, c.held_back.text.find(", ") + 2, "xc_tile_settle_after<");
        c.held_back.exprs.push_back(address(known, int_constant(0)));
    }
    c.second = std::move(c.scaled.back());
    c.scaled.pop_back();
    open(c.first.back());
    open(c.second);
    return c;
}

std::optional<Body> Threads::pipelined(const Stmt& loop) {
    const auto step = integer_of(loop.exprs[2]);
    if (plan.stages < 2 || !step || *step <= 0 || !loop.orelse.empty() || jumps(loop.body))
        return std::nullopt;
    std::set<VarId> assigned;
    each_stmt(loop.body, [&](const Stmt& s) {
        if (s.var >= 0) assigned.insert(s.var);
    });
    std::map<VarId, int> writes;
    each_stmt(f.body, [&](const Stmt& s) {
        if (s.var >= 0) ++writes[s.var];
    });
    std::map<VarId, int> reads, reads_here;
    const auto count = [](const Body& body, std::map<VarId, int>& to) {
        each_expr(body, [&](const Expr& e) {
            if (e.op == Op::element) ++to[var_of(*e.args[0])];
        });
    };
    count(f.body, reads);
    count(loop.body, reads_here);
    const auto feeds = [&](const Stmt& s) {
        if (s.kind != Stmt::Kind::assign || !operands.count(s.var) || writes[s.var] != 1 ||
            reads[s.var] != reads_here[s.var])
            return false;
        bool steady = true;
        each_expr(s.exprs[0], [&](const Expr& e) {
            if (e.op == Op::var) steady &= !assigned.count(var_of(e)) && !fenced.count(var_of(e));
            if (e.op == Op::call) steady = false;
        });
        return steady;
    };
    if (std::none_of(loop.body.begin(), loop.body.end(), feeds)) return std::nullopt;

    const Type index = scalar(DType::i64, true);
    const VarId first = scalar_var(index, "first"), stop = scalar_var(index, "stop"),
                stage = scalar_var(index, "stage"), fill = scalar_var(index, "fill");
    std::vector<const Stmt*> fed;
    Body rest;
    for (const Stmt& s : loop.body) {
        if (feeds(s)) {
            staged.emplace(s.var, stage);
            fed.push_back(&s);
        } else {
            rest.push_back(s);
        }
    }
    if (const auto start = multiple_of(loop.exprs[0])) multiples[first] = std::gcd(*start, *step);
    const auto chain = chain_of(rest);
    if (chain && plan.bulk)
        if (auto made = flowing_chain(loop, *chain, fed, stage)) return made;
    // The second product of a chain reads its stage a turn later.
    const std::int64_t ahead = plan.stages - (chain ? 2 : 1);
    const auto issue = [&](const ExprP& at, const ExprP& to) {
        Body copies;
        for (const Stmt* s : fed) append(copies, feed(s->var, substituted(s->exprs[0], loop.var, at), to));
        return copies;
    };
    Body out{assign(first, loop.exprs[0]), assign(stop, loop.exprs[1]), assign(stage, int_constant(0)),
             assign(fill, int_constant(ahead)), barrier()};
    for (std::int64_t s = 0; s < ahead; ++s) {
        const ExprP at = add(read(first), int_constant(s * *step));
        out.push_back(branch(compare(Op::lt, at, read(stop)), issue(at, int_constant(s))));
        out.push_back(machine("xc_tile_commit"));
    }
    const auto begun = [&](Body& body) {
        body.push_back(machine(fmt::format("xc_tile_wait<{}>", ahead - 1)));
        written_barrier(body);
        const ExprP later = add(read(loop.var), int_constant(ahead * *step));
        body.push_back(branch(compare(Op::lt, later, read(stop)), issue(later, read(fill))));
        body.push_back(machine("xc_tile_commit"));
    };
    const auto ended = [&](Body& body) {
        for (const VarId v : {stage, fill})
            body.push_back(assign(v, mod_floor(add(read(v), int_constant(1)), int_constant(plan.stages))));
    };
    if (!chain) {
        Stmt turn = loop_range(loop.var, read(first), read(stop), loop.exprs[2], {}, loop.place);
        turn.hint = loop.hint;
        begun(turn.body);
        append(turn.body, lower(rest));
        ended(turn.body);
        out.push_back(std::move(turn));
    } else {
        const VarId last = scalar_var(index, "last");  // the stage of the turn before
        Stmt second = chain->second;
        for (ExprP& e : second.exprs) e = substituted(e, stage, read(last));
        const auto turn_of = [&](bool later) {
            Body body;
            begun(body);
            append(body, chain->before);
            append(body, chain->first);
            if (later) body.push_back(second);
            Stmt settled = chain->first_settled;
            if (!later) settled.text.replace(settled.text.find('<') + 1, 1, "0");
            body.push_back(std::move(settled));
            append(body, chain->between);
            if (later) body.push_back(chain->held_back);
            append(body, chain->scaled);
            append(body, chain->after);
            body.push_back(assign(last, read(stage)));
            ended(body);
            return body;
        };
        Body all{assign(loop.var, read(first))};
        append(all, turn_of(false));
        all.push_back(loop_range(loop.var, add(read(first), int_constant(*step)), read(stop), loop.exprs[2],
                                 turn_of(true), loop.place));
        all.push_back(second);
        all.push_back(chain->second_settled);
        out.push_back(branch(compare(Op::lt, read(first), read(stop)), std::move(all)));
    }
    out.push_back(machine("xc_tile_wait<0>"));
    out.push_back(barrier());
    return out;
}

}  // namespace xcuda::tiles

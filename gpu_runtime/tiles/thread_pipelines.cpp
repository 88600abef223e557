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
    const std::int64_t ahead = plan.stages - 1;
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
    if (const auto start = integer_of(loop.exprs[0])) multiples[first] = std::gcd(*start, *step);
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
    Stmt turn = loop_range(loop.var, read(first), read(stop), loop.exprs[2], {}, loop.place);
    turn.body.push_back(machine(fmt::format("xc_tile_wait<{}>", plan.stages - 2)));
    written_barrier(turn.body);
    const ExprP later = add(read(loop.var), int_constant(ahead * *step));
    turn.body.push_back(branch(compare(Op::lt, later, read(stop)), issue(later, read(fill))));
    turn.body.push_back(machine("xc_tile_commit"));
    append(turn.body, lower(rest));
    for (const VarId v : {stage, fill})
        turn.body.push_back(assign(v, mod_floor(add(read(v), int_constant(1)), int_constant(plan.stages))));
    out.push_back(std::move(turn));
    out.push_back(machine("xc_tile_wait<0>"));
    out.push_back(barrier());
    return out;
}

}  // namespace xcuda::tiles

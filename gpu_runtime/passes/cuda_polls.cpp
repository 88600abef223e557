#include "passes/cuda_polls.hpp"

#include <map>
#include <optional>
#include <utility>

#include "passes/build.hpp"
#include "passes/ranges.hpp"
#include "passes/structure.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr std::int64_t stretch = 4096;  // iterations of a counted loop between two polls
constexpr std::int64_t largest_step = std::int64_t{1} << 42;  // a grid has at most 2^41 threads along an axis
// Of the turns that a poll counts, 65536 from one look at the host to the next:
constexpr std::int64_t turn_weight = 1;        // a turn of a `while`
constexpr std::int64_t entry_weight = 16;      // a stretch of a loop inside another, or such a loop entered
constexpr std::int64_t stretch_weight = 1024;  // a stretch of an outermost loop

Stmt poll(std::int64_t weight) {
    Stmt s = simple(Stmt::Kind::poll);
    s.exprs = {int_constant(weight)};
    return s;
}

/// What the ranges tell of a loop.
struct Turns {
    bool few = false;     // at most a stretch
    bool small = false;   // its bounds leave room for a stretch beyond them
    bool rising = false;  // its step is not known, but positive and small
};

// The variable that each turn of a body scales, and nothing else changes: `v //= 2`, `v >>= 1`; or `v *= 2`, `v <<= 1`.
bool scales(const Stmt& loop, VarId v, bool down) {
    int others = 0;
    bool scaled = false;
    for (const Stmt& s : loop.body) {
        const Expr* value = s.kind == Stmt::Kind::assign && s.var == v ? s.exprs[0].get() : nullptr;
        const bool shift = value && value->op == (down ? Op::shr : Op::shl);
        const bool own = value && (shift || value->op == (down ? Op::floordiv : Op::mul)) &&
                         value->args[0]->op == Op::var && var_of(*value->args[0]) == v;
        const std::int64_t by = own ? integer_of(value->args[1]).value_or(0) : 0;
        const bool well = by >= (shift ? 1 : 2) && by <= (shift ? 16 : 1 << 16);
        scaled |= well;
        others += !well && assigns(s, v);
    }
    return scaled && others == 0 && !continues(loop.body);
}

// `while v > 0: v //= 2` and `while v < n: v *= 2` turn as often as a number has bits.
bool turns_seldom(const Stmt& loop, const Ranges& ranges) {
    const Expr& test = *loop.exprs[0];
    if (test.args.size() != 2 || test.args[0]->op != Op::var || !is_integer(test.args[0]->type.dtype))
        return false;
    const VarId v = var_of(*test.args[0]);
    const Interval now = ranges.of(test.args[0]), bound = ranges.of(test.args[1]);
    switch (test.op) {
        case Op::gt: return bound.low >= 0 && scales(loop, v, true);
        case Op::ge: return bound.low >= 1 && scales(loop, v, true);
        case Op::lt:
        case Op::le:
            return now.low >= 1 && bound.high <= numbers_of(test.args[0]->type.dtype).high >> 17 &&
                   scales(loop, v, false);
        default: return false;
    }
}

// first + a stretch's way, or the loop's end, whichever comes first.
ExprP end_of_stretch(const ExprP& first, const ExprP& stop, const ExprP& way, bool up, bool small) {
    const Type type = first->type;
    const ExprP reach = make(Op::add, type, {first, way});
    ExprP sooner = compare(up ? Op::lt : Op::gt, reach, stop);
    if (!small)  // and not past the last one
        sooner = make(Op::logic_and, sooner->type, {sooner, compare(up ? Op::gt : Op::lt, reach, first)});
    return make(Op::select, type, {sooner, reach, stop});
}

struct Poller {
    Function& f;
    std::map<const Stmt*, Turns> loops;  // by the statement as it stood
    int depth = 0;                       // loops around

    // A counted loop that may be long, in stretches with a poll between; its bound is read once, before it. Most are one
    // stretch: such a loop costs no poll, unless it stands in another, where many of them are as good as a long one.
    void append_stretches(Body& to, Stmt loop, std::optional<std::int64_t> step, bool small) {
        const Type type = scalar(DType::i64, true);
        const auto kept = [&](const char* name, const ExprP& value) {
            Var made;
            made.name = name;
            made.type = type;
            made.role = Var::Role::hidden;
            const ExprP v = var(f.add(std::move(made)), type);
            to.push_back(assign(var_of(*v), cast(value, type), loop.place));
            return v;
        };
        const bool up = !step || *step > 0;
        const ExprP first = kept("stretch", loop.exprs[0]), stop = kept("stop", loop.exprs[1]);
        if (!step) loop.exprs[2] = kept("step", loop.exprs[2]);
        const ExprP way = step ? int_constant(stretch * *step) : mul(loop.exprs[2], int_constant(stretch));
        Stmt outer = simple(Stmt::Kind::loop_while, loop.place);
        outer.exprs = {compare(up ? Op::lt : Op::gt, first, stop)};
        if (depth > 0) outer.body.push_back(poll(entry_weight));
        std::swap(to, outer.body);
        const ExprP last = kept("last", end_of_stretch(first, stop, way, up, small));
        std::swap(to, outer.body);
        const Place place = loop.place;
        loop.exprs[0] = first;
        loop.exprs[1] = last;
        outer.body.push_back(std::move(loop));
        outer.body.push_back(
            branch(compare(up ? Op::ge : Op::le, last, stop), {simple(Stmt::Kind::break_loop, place)}));
        outer.body.back().place = place;
        if (depth == 0) outer.body.push_back(poll(stretch_weight));
        outer.body.push_back(assign(var_of(*first), last, place));
        to.push_back(std::move(outer));
    }

    void append(Body& to, Stmt& given) {
        if (given.hint == Stmt::Hint::together) return to.push_back(std::move(given));
        const Turns turns = loops[&given];
        Stmt s = std::move(given);
        const bool loop = s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
        depth += loop;
        s.body = polled(s.body);
        depth -= loop;
        s.orelse = polled(s.orelse);
        if (s.kind == Stmt::Kind::loop_range && !turns.few) {
            const auto step = integer_of(s.exprs[2]);
            const bool known = step && *step != 0 && *step <= largest_step && *step >= -largest_step;
            if ((known || (turns.rising && turns.small)) && s.orelse.empty() && !breaks(s.body))
                return append_stretches(to, std::move(s), step, turns.small);
            s.body.insert(s.body.begin(), poll(turn_weight));
        } else if (s.kind == Stmt::Kind::loop_while && !turns.few) {
            s.body.insert(s.body.begin(), poll(turn_weight));
        }
        to.push_back(std::move(s));
    }

    Body polled(Body& body) {
        Body made;
        made.reserve(body.size());
        for (Stmt& s : body) append(made, s);
        return made;
    }
};

}  // namespace

void add_cuda_polls(Function& function, const RangeOptions& options) {
    Poller poller{function, {}};
    Ranges ranges(function, options);
    ranges.run(function.body, [&](Stmt& s) {
        if (s.kind == Stmt::Kind::loop_while) poller.loops[&s] = {turns_seldom(s, ranges), false, false};
        if (s.kind != Stmt::Kind::loop_range) return;
        const auto step = integer_of(s.exprs[2]);
        const Interval start = ranges.of(s.exprs[0]), stop = ranges.of(s.exprs[1]);
        const Interval room{INT64_MIN + stretch * largest_step, INT64_MAX - stretch * largest_step};
        poller.loops[&s] = {step && Ranges::turns(start, stop, *step) <= stretch,
                            start.within(room) && stop.within(room),
                            !step && ranges.of(s.exprs[2]).within({1, largest_step})};
    });
    function.body = poller.polled(function.body);
}

}  // namespace xcuda::passes

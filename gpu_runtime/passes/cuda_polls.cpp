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
constexpr std::int64_t turn_weight = 1;                       // of a `while`'s turn
constexpr std::int64_t entry_weight = 16;                     // of a stretch, or of a short loop entered

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

// `while v > 0: ... v //= 2`: as many turns as v has bits.
bool halves(const Stmt& loop) {
    const Expr& test = *loop.exprs[0];
    const bool greater = test.op == Op::gt || test.op == Op::ge;
    if (!greater || test.args[0]->op != Op::var ||
        integer_of(test.args[1]).value_or(-1) < (test.op == Op::ge))
        return false;
    const VarId v = var_of(*test.args[0]);
    int others = 0;
    bool halved = false;
    for (const Stmt& s : loop.body) {
        const bool own = s.kind == Stmt::Kind::assign && s.var == v;
        const Expr* value = own ? s.exprs[0].get() : nullptr;
        const bool half = own && (value->op == Op::floordiv || value->op == Op::shr) &&
                          value->args[0]->op == Op::var && var_of(*value->args[0]) == v &&
                          integer_of(value->args[1]).value_or(0) >= (value->op == Op::shr ? 1 : 2);
        halved |= half;
        others += !half && (own || assigns(s, v));
    }
    return halved && others == 0 && !continues(loop.body);
}

// first + stretch * step, or the loop's end, whichever comes first.
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

    // A counted loop that may be long, in stretches with a poll between; its bound is read once, before it.
    void append_stretches(Body& to, Stmt loop, std::optional<std::int64_t> step, bool small) {
        const Type type = scalar(DType::i64, true);
        const auto hidden = [&](const char* name) {
            Var made;
            made.name = name;
            made.type = type;
            made.role = Var::Role::hidden;
            return var(f.add(std::move(made)), type);
        };
        const auto kept = [&](const char* name, const ExprP& value) {
            const ExprP v = hidden(name);
            to.push_back(assign(var_of(*v), cast(value, type), loop.place));
            return v;
        };
        const ExprP first = hidden("stretch"), stop = kept("stop", loop.exprs[1]);
        if (!step) loop.exprs[2] = kept("step", loop.exprs[2]);
        const ExprP way = step ? int_constant(stretch * *step) : mul(loop.exprs[2], int_constant(stretch));
        Stmt outer = loop_range(var_of(*first), loop.exprs[0], stop, way, {}, loop.place);
        loop.exprs[0] = first;
        loop.exprs[1] = end_of_stretch(first, stop, way, !step || *step > 0, small);
        outer.body.push_back(poll(entry_weight));
        outer.body.push_back(std::move(loop));
        to.push_back(std::move(outer));
    }

    void append(Body& to, Stmt& given) {
        const Turns turns = loops[&given];
        Stmt s = std::move(given);
        s.body = polled(s.body);
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
        if (s.kind == Stmt::Kind::loop_while) poller.loops[&s] = {halves(s), false, false};
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

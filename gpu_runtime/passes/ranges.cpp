#include "passes/ranges.hpp"

#include <algorithm>
#include <utility>

#include "frontend/functions.hpp"
#include "ir/walk.hpp"
#include "passes/build.hpp"
#include "passes/knowledge.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr int most_steps = 100'000;  // statements that the search for fixpoints may run
constexpr int plain_rounds = 2;      // of a loop, before bounds jump to thresholds
constexpr int careful_rounds = 10;   // before they jump to the type's
constexpr int closing_rounds = 2;    // back from what the jumps overshot

bool counts(const Type& t) { return t.is_scalar() && t.lanes == 1 && is_discrete(t.dtype); }

void add_threshold(std::vector<Whole>& to, Whole v) { to.insert(to.end(), {v - 1, v, v + 1}); }

std::vector<Whole> thresholds_of(const Function& f) {
    std::vector<Whole> found{INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX};
    add_threshold(found, 0);
    each_expr(f.body, [&](const Expr& e) {
        if (e.op != Op::constant || !counts(e.type)) return;
        if (const auto* v = std::get_if<std::int64_t>(&number_of(e))) add_threshold(found, *v);
    });
    for (const Var& v : f.vars)
        for (const std::int64_t n : v.type.extents) add_threshold(found, n);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace

Ranges::Ranges(const Function& function, RangeOptions options)
    : f_(function),
      options_(options),
      thresholds_(thresholds_of(function)),
      ever_(function.vars.size()) {}

void Ranges::run(Body& b, const Visit& visit) {
    now_ = {true, std::vector<Interval>(f_.vars.size()), {}};
    for (std::size_t v = 0; v < f_.vars.size(); ++v) {
        const Var& var = f_.vars[v];
        if (!counts(var.type)) continue;
        if (var.role == Var::Role::parameter)
            now_.vars[v] = var.small ? small_numbers(var.type.dtype) : numbers_of(var.type.dtype);
        else if (var.maybe_unbound)
            now_.vars[v] = only(0);
    }
    ever_ = now_.vars;
    visit_ = &visit;
    body(b);
    visit_ = nullptr;
}

void Ranges::under(const ExprP& condition, bool holds, const std::function<void()>& inner) {
    Knowledge outer = now_;
    Query{f_, options_}.assume(now_, condition, holds);
    inner();
    now_ = std::move(outer);
}

Interval Ranges::of(const ExprP& e) const { return Query{f_, options_}.range(e, now_); }

Whole Ranges::turns(const Interval& start, const Interval& stop, std::int64_t step) {
    if (start.empty() || stop.empty() || step == 0) return 0;
    const Whole way = step > 0 ? stop.high - start.low : start.high - stop.low;
    const Whole by = step > 0 ? Whole(step) : -Whole(step);
    return way <= 0 ? 0 : (way + by - 1) / by;
}

void Ranges::set(VarId v, const Interval& to) {
    const auto at = static_cast<std::size_t>(v);
    now_.vars[at] = to;
    forget(now_, v);
    if (visit_ && now_.reached) ever_[at] = hull(ever_[at], to);
}

void Ranges::body(Body& b) {
    for (Stmt& s : b) stmt(s);
}

void Ranges::stmt(Stmt& s) {
    ++steps_;
    const Query query{f_, options_};
    const std::vector<ExprP> exprs = s.exprs;  // the visitor may change the statement's
    if (visit_ && s.kind != Stmt::Kind::loop_while) (*visit_)(s);
    if (s.kind != Stmt::Kind::loop_while)
        for (const ExprP& e : exprs) query.learn_accesses(now_, e);
    switch (s.kind) {
        case Stmt::Kind::assign:
            if (counts(f_.vars[static_cast<std::size_t>(s.var)].type)) set(s.var, of(exprs[0]));
            return;
        case Stmt::Kind::store: query.learn_access(now_, exprs[0], exprs.data() + 1, s.access); return;
        case Stmt::Kind::branch: {
            Knowledge other = now_;
            query.assume(now_, exprs[0], true);
            body(s.body);
            query.assume(other, exprs[0], false);
            std::swap(now_, other);
            body(s.orelse);
            now_ = query.joined(now_, other);
            return;
        }
        case Stmt::Kind::loop_range:
        case Stmt::Kind::loop_while: loop(s, exprs); return;
        case Stmt::Kind::break_loop:
            if (!loops_.empty()) loops_.back().broke = query.joined(loops_.back().broke, now_);
            now_.reached = false;
            return;
        case Stmt::Kind::continue_loop:
            if (!loops_.empty()) loops_.back().continued = query.joined(loops_.back().continued, now_);
            now_.reached = false;
            return;
        case Stmt::Kind::leave:
        case Stmt::Kind::fault: now_.reached = false; return;
        default: body(s.body); return;
    }
}

// One turn from what holds at the loop's head; `left` is what holds where the loop ends by itself.
Knowledge Ranges::turn(Stmt& s, const std::vector<ExprP>& exprs, const Turn& loop, const Knowledge& head,
                       Knowledge& left) {
    const Query query{f_, options_};
    now_ = left = head;
    if (s.kind == Stmt::Kind::loop_while) {
        if (visit_) (*visit_)(s);
        query.learn_accesses(now_, exprs[0]);
        left = now_;
        query.assume(left, exprs[0], false);
        query.assume(now_, exprs[0], true);
    } else {
        now_.reached &= !loop.counter.empty();
        const Type& type = f_.vars[static_cast<std::size_t>(s.var)].type;
        if (counts(type)) set(s.var, wrapped(loop.counter, type.dtype));
    }
    loops_.push_back({unreached(now_), unreached(now_)});
    body(s.body);
    const Loop jumps = std::move(loops_.back());
    loops_.pop_back();
    broke_ = jumps.broke;
    return query.joined(now_, jumps.continued);
}

void Ranges::loop(Stmt& s, const std::vector<ExprP>& exprs) {
    const Query query{f_, options_};
    const Knowledge entry = now_;
    Turn turn_of{};
    if (s.kind == Stmt::Kind::loop_range) {
        const Interval start = of(exprs[0]), stop = of(exprs[1]);
        const auto step = integer_of(exprs[2]);
        const Interval up{start.low, stop.high - 1}, down{stop.low + 1, start.high};
        turn_of.counter = !step ? hull(up, down) : *step > 0 ? up : down;
        if (step) turn_of.most = turns(start, stop, *step);
    }
    const Visit* visit = std::exchange(visit_, nullptr);
    Knowledge head = entry, left;
    if (steps_ > most_steps || !entry.reached) {
        unknown(head, s);
    } else {
        for (int round = 0;; ++round) {
            const Knowledge end = turn(s, exprs, turn_of, head, left);
            Knowledge next = query.joined(head, end);
            if (turn_of.most >= 0) clamp(next, entry, s.body, turn_of.most);
            if (next.vars == head.vars && query.same_facts(next, head)) break;
            head = widened(head, std::move(next), round);
            if (turn_of.most >= 0) clamp(head, entry, s.body, turn_of.most);
            if (steps_ > most_steps) {
                unknown(head, s);
                break;
            }
        }
        for (int round = 0; round < closing_rounds && steps_ <= most_steps; ++round) {
            const Knowledge end = turn(s, exprs, turn_of, head, left);
            head = query.joined(entry, end);
            if (turn_of.most >= 0) clamp(head, entry, s.body, turn_of.most);
        }
    }
    visit_ = visit;
    turn(s, exprs, turn_of, head, left);
    Knowledge broke = std::move(broke_);
    now_ = std::move(left);
    body(s.orelse);
    now_ = query.joined(now_, broke);
}

// Nothing is known any more of what the loop assigns.
void Ranges::unknown(Knowledge& k, const Stmt& loop) const {
    const std::vector<bool> assigned = assigned_vars(f_, Body{loop});
    for (std::size_t v = 0; v < assigned.size(); ++v) {
        if (!assigned[v] || !counts(f_.vars[v].type)) continue;
        k.vars[v] = numbers_of(f_.vars[v].type.dtype);
        forget(k, static_cast<VarId>(v));
    }
}

Knowledge Ranges::widened(const Knowledge& before, Knowledge after, int round) const {
    if (round < plain_rounds || !before.reached) return after;
    const bool careful = round < careful_rounds;
    for (std::size_t v = 0; v < after.vars.size(); ++v) {
        Interval& now = after.vars[v];
        const Interval& was = before.vars[v];
        if (now == was || was.empty()) continue;
        const Interval type = numbers_of(f_.vars[v].type.dtype);
        if (now.low < was.low) {
            const auto next = std::upper_bound(thresholds_.begin(), thresholds_.end(), now.low);
            now.low =
                careful && next != thresholds_.begin() ? std::max(*std::prev(next), type.low) : type.low;
        }
        if (now.high > was.high) {
            const auto next = std::lower_bound(thresholds_.begin(), thresholds_.end(), now.high);
            now.high = careful && next != thresholds_.end() ? std::min(*next, type.high) : type.high;
        }
    }
    std::erase_if(after.facts, [&](const Fact& fact) {
        return std::none_of(before.facts.begin(), before.facts.end(), [&](const Fact& old) {
            return old.range == fact.range && same(*old.value, *fact.value);
        });
    });
    return after;
}

namespace {

// What a body adds to a variable in a turn, where it does nothing else to it: `v = v + k`, `v = v - k`.
struct Growth {
    Interval sum = only(0);
    bool only_grows = true;
};

void look_for_growth(const Body& body, VarId v, const std::function<Interval(const ExprP&)>& range,
                     Growth& found) {
    for (const Stmt& s : body) {
        const bool loop = s.kind == Stmt::Kind::loop_range || s.kind == Stmt::Kind::loop_while;
        if (loop && assigns(s, v)) found.only_grows = false;
        if (s.kind == Stmt::Kind::assign && s.var == v) {
            const Expr& value = *s.exprs[0];
            const bool sum = value.op == Op::add || value.op == Op::sub;
            if (!sum || value.args[0]->op != Op::var || var_of(*value.args[0]) != v) {
                found.only_grows = false;
                return;
            }
            const Interval k = range(value.args[1]);
            const Interval change = value.op == Op::add ? k : minus(only(0), k);
            found.sum = plus(found.sum, hull(change, only(0)));
        }
        if (!loop) {
            look_for_growth(s.body, v, range, found);
            look_for_growth(s.orelse, v, range, found);
        }
    }
}

}  // namespace

// A variable that only grows, in a loop of a known number of turns.
void Ranges::clamp(Knowledge& head, const Knowledge& entry, const Body& body, Whole turns) const {
    if (!head.reached) return;
    const std::vector<bool> assigned = assigned_vars(f_, body);
    Knowledge any = entry;  // holds in every turn
    for (std::size_t v = 0; v < assigned.size(); ++v)
        if (assigned[v] && counts(f_.vars[v].type)) {
            any.vars[v] = numbers_of(f_.vars[v].type.dtype);
            forget(any, static_cast<VarId>(v));
        }
    const Query query{f_, options_};
    for (std::size_t v = 0; v < assigned.size(); ++v) {
        if (!assigned[v] || !counts(f_.vars[v].type) || entry.vars[v].empty()) continue;
        if (head.vars[v] == entry.vars[v]) continue;
        Growth growth;
        look_for_growth(
            body, static_cast<VarId>(v), [&](const ExprP& e) { return query.range(e, any); }, growth);
        if (!growth.only_grows) continue;
        const Interval reach = plus(entry.vars[v], times(growth.sum, {0, turns}));
        if (reach.within(numbers_of(f_.vars[v].type.dtype))) head.vars[v] = meet(head.vars[v], reach);
    }
}

std::vector<Interval> variable_ranges(const Function& function, const RangeOptions& options) {
    Ranges ranges(function, options);
    Body body = function.body;
    ranges.run(body, [](Stmt&) {});
    std::vector<Interval> all;
    for (std::size_t v = 0; v < function.vars.size(); ++v) all.push_back(ranges.ever(static_cast<VarId>(v)));
    return all;
}

}  // namespace xcuda::passes

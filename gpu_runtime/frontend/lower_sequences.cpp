// What can be looped over besides range: arrays, enumerate, zip, reversed, generator expressions; and sum, min, max, any
// and all over them. Items known while compiling are written out; the others become one counted loop.
#include <fmt/format.h>
#include <algorithm>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using Kind = Value::Kind;

namespace {

const ir::Type weak_int = ir::scalar(DType::i64, true);
const ir::Type weak_bool = ir::scalar(DType::b1, true);
constexpr std::int64_t written_out = 64;

std::optional<std::int64_t> whole(const ExprP& e) {
    if (!is_constant(*e)) return std::nullopt;
    const auto* i = std::get_if<std::int64_t>(&ir::number_of(*e));
    return i ? std::optional(*i) : std::nullopt;
}

// A tuple of numbers of one type: the run may choose among them.
bool one_number_type(const Value& v) {
    return v.is_tuple() && !v.items.empty() &&
           std::all_of(v.items.begin(), v.items.end(), [&](const Value& item) {
               return item.is_scalar() && v.items[0].is_scalar() && !item.expr->type.is_none() &&
                      item.expr->type == v.items[0].expr->type;
           });
}

}  // namespace

bool Lowering::iterable(const Value& v) const {
    const bool viewed =
        v.kind == Kind::expression && v.expression->alias;  // others NumPy computes beforehand
    return v.is_tuple() || v.is_indexed() || viewed || v.kind == Kind::records || v.kind == Kind::range ||
           v.kind == Kind::lazy || v.kind == Kind::string ||
           (v.kind == Kind::meaning && v.meaning->kind == Meaning::Kind::class_ && !v.meaning->fields.empty());
}

// The items, where the compiler knows how many there are and each by its place.
std::optional<std::vector<Value>> Lowering::known_items(const Value& v) {
    if (v.is_tuple()) return v.items;
    if (auto items = constant_items(v)) return items;
    if (v.kind == Kind::lazy && v.text == "enumerate") {
        const auto inner = known_items(v.items[0]);
        if (!inner) return std::nullopt;
        std::vector<Value> items;
        for (std::size_t i = 0; i < inner->size(); ++i) {
            const ExprP at = arithmetic(Op::add, v.items[1].expr,
                                        ir::int_constant(static_cast<std::int64_t>(i), v.place), v.place);
            items.push_back(tuple_value({scalar_value(at), (*inner)[i]}));
        }
        return items;
    }
    if (v.kind == Kind::lazy && v.text == "reversed") {
        auto inner = known_items(v.items[0]);
        if (inner) std::reverse(inner->begin(), inner->end());
        return inner;
    }
    if (v.kind == Kind::lazy && v.text == "zip") {
        std::vector<std::vector<Value>> parts;
        std::size_t shortest = v.items.empty() ? 0 : SIZE_MAX;
        bool tuples = v.items.empty();
        for (const Value& part : v.items) tuples |= known_items(part).has_value();
        if (!tuples) return std::nullopt;
        for (const Value& part : v.items) {
            auto inner = known_items(part);
            if (!inner) inner = known_range(part);
            if (!inner && std::all_of(v.items.begin(), v.items.end(),
                                      [&](const Value& p) { return !known_items(p) || one_number_type(p); }))
                return std::nullopt;  // counted, as long as the shortest
            if (!inner)
                throw refused(part.place.known() ? part.place : v.place,
                              "zip() of a tuple with " + spoken(part) + ": only the tuple's length is known",
                              "write for i in range(n) and index the array");
            shortest = std::min(shortest, inner->size());
            parts.push_back(std::move(*inner));
        }
        std::vector<Value> items;
        for (std::size_t i = 0; i < shortest; ++i) {
            std::vector<Value> row;
            for (const auto& part : parts) row.push_back(part[i]);
            items.push_back(tuple_value(std::move(row)));
        }
        return items;
    }
    return std::nullopt;
}

// A short range of constants, written out.
std::optional<std::vector<Value>> Lowering::known_range(const Value& v) const {
    if (v.kind != Kind::range) return std::nullopt;
    const auto start = whole(v.items[0].expr), stop = whole(v.items[1].expr), step = whole(v.items[2].expr);
    if (!start || !stop || !step) return std::nullopt;
    std::vector<Value> items;
    for (std::int64_t i = *start; *step > 0 ? i < *stop : i > *stop; i += *step) {
        if (static_cast<std::int64_t>(items.size()) == written_out) return std::nullopt;
        items.push_back(scalar_value(ir::int_constant(i, v.place)));
    }
    return items;
}

// Numbers in variables of their own: what follows may change what they were read from.
Value Lowering::kept_still(Value v) {
    const auto still = [&](ExprP& e) {
        if (!is_constant(*e) && e->op != Op::dim) e = spill(e);
    };
    if (v.is_scalar()) still(v.expr);
    v = chosen_now(std::move(v));
    for (ExprP* part : view_parts(v)) still(*part);
    for (Value& item : v.items) item = kept_still(item);
    return v;
}

ExprP Lowering::range_count(const Value& range, const Place& place) {
    const ExprP &start = range.items[0].expr, &stop = range.items[1].expr;
    const auto step = whole(range.items[2].expr);
    if (!step)
        throw NeedsConstant(refused(place, "the step of this range must be known when the kernel is compiled",
                                    "loop over the range itself"));
    ExprP span =
        *step > 0 ? arithmetic(Op::sub, stop, start, place) : arithmetic(Op::sub, start, stop, place);
    if (span->type.is_none()) return span;
    const std::int64_t size = *step > 0 ? *step : -*step;
    if (size > 1)
        span = arithmetic(Op::floordiv, arithmetic(Op::add, span, ir::int_constant(size - 1, place), place),
                          ir::int_constant(size, place), place);
    if (nonnegative(*span)) return span;
    if (const auto n = whole(span)) return ir::int_constant(std::max<std::int64_t>(*n, 0), place);
    return ir::make(
        Op::select, weak_int,
        {comparison(Op::lt, span, ir::int_constant(0, place), place), ir::int_constant(0, place), span},
        place);
}

Lowering::Sequence Lowering::sequence(const Value& v, const Place& place) {
    if (v.is_tuple() && !v.items.empty() && one_number_type(v)) {  // beside an array in a zip
        return {ir::int_constant(static_cast<std::int64_t>(v.items.size()), place),
                [this, v, place](ExprP k) {
                    ExprP chosen = v.items.back().expr;
                    for (std::size_t i = v.items.size() - 1; i-- > 0;) {
                        const ExprP at = ir::int_constant(static_cast<std::int64_t>(i), place);
                        chosen = ir::make(Op::select, chosen->type,
                                          {comparison(Op::eq, k, at, place), v.items[i].expr, chosen}, place);
                    }
                    return scalar_value(chosen);
                }};
    }
    if (v.is_indexed() || v.kind == Kind::records) {
        if (rank(v) == 0) throw refused(place, "an array without dimensions can't be looped over");
        return {length(v, 0, place), [this, v, place](ExprP k) {
                    if (v.is_indexed() && rank(v) == 1)
                        return scalar_value(load(element(v, {k}, place), place));
                    return sliced_any(v, {scalar_value(k)}, place);
                }};
    }
    if (v.kind == Kind::expression && v.expression->alias && rank(v) == 1) {
        const ExprP n = length(v, 0, place);
        return {n, [this, v, place](ExprP k) { return scalar_value(element_at(v, {k}, place)); }};
    }
    if (v.kind == Kind::range) {
        return {
            range_count(v, place), [this, v, place](ExprP k) {
                const ExprP moved = arithmetic(Op::mul, k, v.items[2].expr, place);
                const bool from_zero = whole(v.items[0].expr) == 0;
                return scalar_value(from_zero ? moved : arithmetic(Op::add, v.items[0].expr, moved, place));
            }};
    }
    if (v.kind == Kind::lazy && v.text == "enumerate") {
        const Sequence inner = sequence(v.items[0], place);
        return {inner.count, [this, v, inner, place](ExprP k) {
                    const ExprP at =
                        whole(v.items[1].expr) == 0 ? k : arithmetic(Op::add, k, v.items[1].expr, place);
                    return tuple_value({scalar_value(at), inner.at(k)});
                }};
    }
    if (v.kind == Kind::lazy && v.text == "reversed") {
        const Sequence inner = sequence(v.items[0], place);
        if (inner.count->type.is_none()) return inner;
        const ExprP last = arithmetic(Op::sub, inner.count, ir::int_constant(1, place), place);
        return {inner.count, [this, inner, last, place](ExprP k) {
                    return inner.at(arithmetic(Op::sub, last, k, place));
                }};
    }
    if (v.kind == Kind::lazy && v.text == "zip") {
        std::vector<Sequence> parts;
        ExprP count;
        for (const Value& part : v.items) {
            parts.push_back(sequence(part, part.place.known() ? part.place : place));
            const ExprP& n = parts.back().count;
            if (n->type.is_none()) return parts.back();
            if (!count || ir::same(*count, *n))
                count = n;
            else {
                const ExprP less = comparison(Op::lt, n, count, place);
                count = is_constant(*less) ? (truthy(ir::number_of(*less)) ? n : count)
                                           : ir::make(Op::select, weak_int, {less, n, count}, place);
            }
        }
        return {count, [parts](ExprP k) {
                    std::vector<Value> row;
                    for (const Sequence& part : parts) row.push_back(part.at(k));
                    return tuple_value(std::move(row));
                }};
    }
    if (v.kind == Kind::meaning) refuse_meaning(*v.meaning, v.text, place);
    if (v.kind == Kind::lazy && v.text.starts_with("nd")) return index_sequence(v, place);
    if (v.kind == Kind::lazy)
        throw refused(place, "a generator expression belongs into sum, min, max, any, all or tuple",
                      "write a for loop");
    throw refused(place, "a for loop needs range(...), an array or a tuple, found " + spoken(v),
                  v.is_scalar() ? "write for i in range(n)" : "");
}

// Runs `body` for every item, while `going` (if given) holds.
void Lowering::each(const Value& v, const Place& place, const std::function<void(const Value&)>& body,
                    const ExprP& going) {
    const auto guarded = [&](const std::function<void()>& inner) {
        if (!going) return inner();
        ir::Body guard, *outside = out;
        out = &guard;
        inner();
        out = outside;
        emit(ir::branch(going, std::move(guard), {}, place));
    };
    if (v.kind == Kind::lazy && v.text == "generator") {
        const std::vector<ast::NodeP>& generators = v.node->list("generators");
        const std::function<void(std::size_t)> level = [&](std::size_t g) {
            if (g == generators.size()) {
                if (v.node->kind == "GeneratorExp") return body(value(v.node->one("elt")));
                return refuse_node(*v.node);
            }
            const Node& generator = *generators[g];
            const Node& iter = generator.one("iter");
            each(
                kept_still(value(iter)), iter.place,
                [&](const Value& item) {
                    bind_item(generator.one("target"), item,
                              [&] { filtered(generator.list("ifs"), 0, [&] { level(g + 1); }); });
                },
                going);
        };
        return level(0);
    }
    if (const auto items = known_items(v)) {
        for (const Value& item : *items) guarded([&] { body(item); });
        return;
    }
    const Sequence all = sequence(v, place);
    if (all.count->type.is_none()) return;
    const ir::VarId k = hidden(weak_int, place);
    nonnegative_vars.resize(static_cast<std::size_t>(k) + 1, false);
    nonnegative_vars[static_cast<std::size_t>(k)] = true;
    ir::Body inside, *outside = out;
    const Flow before = flow;
    out = &inside;
    guarded([&] { body(all.at(ir::var(k, weak_int, place))); });
    out = outside;
    flow = before;
    emit(ir::loop_range(k, ir::int_constant(0, place), all.count, ir::int_constant(1, place),
                        std::move(inside), place));
}

// A generator's names live in it alone.
void Lowering::bind_item(const Node& target, const Value& given, const std::function<void()>& body) {
    if (target.kind == "Name") {
        Value kept = given.is_scalar() ? kept_still(given) : given;
        return with_loop_variable(target.text("id"), kept, body);
    }
    if (target.kind != "Tuple" && target.kind != "List") refuse_node(target);
    const Value item = taken_apart(given, target);
    const auto& names = target.list("elts");
    if (!item.is_tuple() || item.items.size() != names.size())
        throw refused(target.place, fmt::format("{} names for {}", names.size(), spoken(item)));
    const std::function<void(std::size_t)> level = [&](std::size_t i) {
        if (i == names.size()) return body();
        bind_item(*names[i], item.items[i], [&] { level(i + 1); });
    };
    level(0);
}

void Lowering::filtered(const std::vector<ast::NodeP>& tests, std::size_t first,
                        const std::function<void()>& body) {
    if (first == tests.size()) return body();
    const ExprP test = condition(*tests[first]);
    if (is_constant(*test)) {
        if (truthy(ir::number_of(*test))) filtered(tests, first + 1, body);
        return;
    }
    ir::Body inside, *outside = out;
    out = &inside;
    filtered(tests, first + 1, body);
    out = outside;
    emit(ir::branch(test, std::move(inside), {}, tests[first]->place));
}

Value Lowering::generator(const Node& node) {
    Value v;
    v.kind = Kind::lazy;
    v.text = "generator";
    v.node = &node;
    return v;
}

Value Lowering::call_lazy(const Node& node, const std::string& name) {
    Value v;
    v.kind = Kind::lazy;
    v.text = name;
    v.place = node.place;
    std::vector<const Node*> args;
    if (name == "zip")
        args = call_of(node).positional;
    else
        args = bind(node, name,
                    name == "enumerate" ? std::vector<std::string>{"iterable", "start"}
                                        : std::vector<std::string>{"sequence"},
                    1);
    std::vector<const Node*> given;
    for (const Node* n : args)
        if (n) given.push_back(n);
    v.items = operands(given);
    if (name == "enumerate") {
        if (v.items.size() == 1) v.items.push_back(scalar_value(ir::int_constant(0, node.place)));
        v.items[1].expr = convert(index(number(v.items[1], node.place), node.place), weak_int);
        v.items[1] = evaluated(v.items[1]);
    }
    const std::size_t sequences = name == "zip" ? v.items.size() : 1;
    for (std::size_t i = 0; i < sequences; ++i) {
        const Value& s = v.items[i];
        if (s.kind == Kind::meaning && !iterable(s)) refuse_meaning(*s.meaning, s.text, given[i]->place);
        if (!iterable(s) || s.text == "generator")
            throw refused(given[i]->place,
                          fmt::format("{}() needs an array, a tuple or a range, found {}", name, spoken(s)));
    }
    if (name != "reversed" || v.items[0].kind != Kind::range) return v;
    // A range backwards is a range.
    const std::vector<Value>& r = v.items[0].items;
    const auto step = whole(r[2].expr);
    if (!step) range_count(v.items[0], node.place);  // refuses
    const auto minus = [&](const ExprP& a, const ExprP& b) { return arithmetic(Op::sub, a, b, node.place); };
    const ExprP by = ir::int_constant(*step, node.place), stop = minus(r[0].expr, by);
    ExprP start = minus(r[1].expr, by);
    if (*step != 1 && *step != -1) {
        const ExprP one = ir::int_constant(1, node.place);
        const ExprP span = minus(*step > 0 ? minus(r[1].expr, r[0].expr) : minus(r[0].expr, r[1].expr), one);
        const ExprP last =
            arithmetic(Op::floordiv, span, ir::int_constant(std::abs(*step), node.place), node.place);
        start = arithmetic(Op::add, r[0].expr, arithmetic(Op::mul, last, by, node.place), node.place);
    }
    Value range;
    range.kind = Kind::range;
    range.items = {scalar_value(start), scalar_value(stop),
                   scalar_value(ir::int_constant(-*step, node.place))};
    return range;
}

// acc = step(acc, item) over all items, from `first`, in a type that holds every result.
ExprP Lowering::reduce(const Value& v, ExprP first, const Place& place,
                       const std::function<ExprP(ExprP, ExprP)>& step,
                       const std::function<ExprP(ExprP)>& going) {
    const Value still = kept_still(v);
    ir::Type type = first->type;
    for (int round = 0; round < 8 && !type.is_none(); ++round) {
        const ir::VarId acc = hidden(type, place);
        ir::Type met = type;
        auto [nothing, body] = aside([&] {
            each(
                still, place,
                [&](const Value& item) {
                    const ExprP result = step(ir::var(acc, type, place),
                                              number(item, item.place.known() ? item.place : place));
                    met = result->type.is_none() || met.is_none() ? ir::Type{} : ir::join(met, result->type);
                    if (met == type) emit(ir::assign(acc, convert(result, type), place));  // else again
                },
                going ? going(ir::var(acc, type, place)) : nullptr);
            return Value{};
        });
        if (met.is_none()) break;
        if (met == type) {
            emit(ir::assign(acc, convert(first, type), place));
            for (ir::Stmt& s : body) emit(std::move(s));
            return ir::var(acc, type, place);
        }
        type = met;
    }
    return ir::make(Op::constant, ir::Type{}, {}, place);
}

Value Lowering::call_sum(const Node& node) {
    const auto args = bind(node, "sum", {"iterable", "start"}, 1);
    const std::vector<Value> values = args[1] ? operands({args[0], args[1]}) : operands({args[0]});
    const ExprP first = args[1] ? number(values[1], args[1]->place) : ir::int_constant(0, node.place);
    if (!iterable(values[0]))
        throw refused(args[0]->place, "sum() needs an array, a tuple or a range, found " + spoken(values[0]));
    const auto add = [&](ExprP a, ExprP b) {
        return arithmetic(Op::add, std::move(a), std::move(b), node.place);
    };
    if (const auto items = known_items(values[0])) {
        ExprP total = first;
        for (const Value& item : *items) total = add(total, number(item, args[0]->place));
        return scalar_value(total);
    }
    return scalar_value(reduce(values[0], first, node.place, add, nullptr));
}

Value Lowering::call_any(const Node& node, bool any) {
    const auto args = bind(node, any ? "any" : "all", {"iterable"}, 1);
    const Value v = value(*args[0]);
    if (!iterable(v))
        throw refused(args[0]->place, fmt::format("{}() needs an array, a tuple or a range, found {}",
                                                  any ? "any" : "all", spoken(v)));
    const auto going = [&](ExprP found) {
        return any ? ir::make(Op::logic_not, weak_bool, {std::move(found)}, node.place) : found;
    };
    const auto test = [&](ExprP, ExprP item) {
        const ExprP t = truth(std::move(item));
        return t->type.is_none() ? t : python_cast(DType::b1, true, t, node.place);
    };
    return scalar_value(reduce(v, ir::constant(!any, weak_bool, node.place), node.place, test, going));
}

// min or max over what is no plain tuple; nothing in it is Python's ValueError.
Value Lowering::least_of(const Value& v, const KernelFunction& function, const std::string& spelling,
                         const Place& place) {
    const Value still = kept_still(v);
    const ir::VarId has = hidden(weak_bool, place);
    const ExprP had = ir::var(has, weak_bool, place);
    ir::Type type;
    bool known = true;
    aside([&] {  // only to learn the items' type
        each(still, place, [&](const Value& item) {
            const ir::Type t = number(item, place)->type;
            known = known && !t.is_none();
            type = type.is_none() ? t : ir::join(type, t);
        });
        return Value{};
    });
    if (!known) return scalar_value(ir::make(Op::constant, ir::Type{}, {}, place));
    if (type.is_none())
        throw Error(Fault::user, "ValueError", std::string(function.name) + "() iterable argument is empty",
                    place);
    const ir::VarId best = hidden(type, place);
    emit(ir::assign(has, ir::constant(false, weak_bool, place), place));
    emit(ir::assign(best, convert(ir::constant(to_dtype(std::int64_t{0}, type.dtype), type, place), type),
                    place));
    each(still, place, [&](const Value& item) {
        const ExprP x = spill(convert(number(item, place), type));
        ir::Body yes, no;
        yes.push_back(
            ir::assign(best, table_apply(function, spelling, {ir::var(best, type, place), x}, place), place));
        no.push_back(ir::assign(best, x, place));
        no.push_back(ir::assign(has, ir::constant(true, weak_bool, place), place));
        emit(ir::branch(had, std::move(yes), std::move(no), place));
    });
    if (unit.checked) {
        ir::Body body, *outside = out;
        out = &body;
        fault({ir::Site::Kind::raised,
               place,
               "ValueError",
               std::string(function.name) + "() iterable argument is empty",
               0,
               -1,
               {}});
        out = outside;
        emit(ir::branch(negate(Op::logic_not, had, place), std::move(body), {}, place));
    }
    return scalar_value(ir::var(best, type, place));
}

// x in range(...): between its ends, and a whole number of steps from its start.
ExprP Lowering::in_range(const ExprP& given, const Value& range, const Place& place) {
    const auto step = whole(range.items[2].expr);
    if (!step)
        throw NeedsConstant(
            refused(place, "the step of this range must be known when the kernel is compiled"));
    if (given->type.is_none()) return given;
    const ExprP x = repeatable(*given) ? given : spill(given);
    const ExprP start = evaluated(range.items[0]).expr, stop = evaluated(range.items[1]).expr;
    const auto both = [&](const ExprP& a, const ExprP& b) {
        if (a->type.is_none()) return a;
        if (b->type.is_none()) return b;
        return ir::make(Op::logic_and, weak_bool, {a, b}, place);
    };
    ExprP inside = *step > 0 ? both(comparison(Op::ge, x, start, place), comparison(Op::lt, x, stop, place))
                             : both(comparison(Op::le, x, start, place), comparison(Op::gt, x, stop, place));
    if (inside->type.is_none()) return inside;
    const bool whole_number = is_integer(x->type.dtype) || x->type.dtype == DType::b1;
    if (!whole_number || (*step != 1 && *step != -1)) {
        const ExprP from = arithmetic(Op::sub, x, start, place);
        const ExprP rest = arithmetic(Op::mod, from, ir::int_constant(std::abs(*step), place), place);
        inside = both(inside, comparison(Op::eq, rest, ir::int_constant(0, place), place));
    }
    return inside;
}

}  // namespace xcuda::frontend

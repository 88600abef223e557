// Array expressions: operators and functions of whole arrays, computed element by element by the thread that uses them, as
// NumPy broadcasts. No array is made but where one is given a name, and then it is a local one of a known length.
#include <fmt/format.h>

#include "frontend/function_table.hpp"
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using ir::Op;
using Read = ArrayExpression::Read;

namespace {

const ir::Type weak_int = ir::scalar(DType::i64, true);
const ir::Type weak_bool = ir::scalar(DType::b1, true);
constexpr std::int64_t most_local = 1 << 16;  // elements of an array that a name makes

bool is_true(const ExprP& e) { return is_constant(*e) && truthy(ir::number_of(*e)); }
bool is_false(const ExprP& e) { return is_constant(*e) && !truthy(ir::number_of(*e)); }

ExprP either(const ExprP& a, const ExprP& b, const Place& place) {
    if (is_true(a) || is_false(b)) return a;
    if (is_true(b) || is_false(a)) return b;
    return ir::make(Op::logic_or, weak_bool, {a, b}, place);
}

std::string name_of(const Value& v, const ir::Function& fn) {
    return v.is_indexed() ? "'" + fn.vars[ir::var_of(*v.expr)].name + "'" : "an array expression";
}

}  // namespace

/// An array that takes part element by element; one without axes is a number.
bool Lowering::many(const Value& v) { return v.has_elements() && rank(v) > 0; }

bool Lowering::seen_among(const std::vector<Value>& operands) {
    return std::any_of(operands.begin(), operands.end(),
                       [](const Value& v) { return v.kind == Value::Kind::seen; });
}

Value Lowering::expression_value(ArrayExpression made) {
    Value v;
    v.kind = Value::Kind::expression;
    v.expression = std::make_shared<const ArrayExpression>(std::move(made));
    return v;
}

std::vector<ExprP> Lowering::lengths_of(const Value& array, const Place& place) const {
    std::vector<ExprP> lengths;
    for (std::size_t axis = 0; axis < rank(array); ++axis) lengths.push_back(length(array, axis, place));
    return lengths;
}

// The shape of all operands together; where they have none, a fault of run time says so.
std::vector<ExprP> Lowering::broadcast_lengths(const std::vector<Value>& operands, const Place& place) {
    std::size_t wide = 0;
    for (const Value& v : operands)
        if (many(v)) wide = std::max(wide, rank(v));
    std::vector<ExprP> lengths(wide);
    const ExprP one = ir::int_constant(1, place);
    std::string first;
    for (const Value& v : operands) {
        if (!many(v)) continue;
        for (std::size_t i = 0; i < rank(v); ++i) {
            ExprP& total = lengths[wide - rank(v) + i];
            const ExprP n = length(v, i, place);
            if (!total || n->type.is_none() || total->type.is_none()) {
                total = total && total->type.is_none() ? total : n;
                continue;
            }
            if (ir::same(*n, *total)) continue;
            const ExprP equal = comparison(Op::eq, n, total, place);
            const ExprP n_one = comparison(Op::eq, n, one, place),
                        total_one = comparison(Op::eq, total, one, place);
            if (is_true(equal) || is_true(n_one)) continue;
            if (!is_true(total_one)) {
                stop_unless(either(equal, either(n_one, total_one, place), place), "ValueError",
                            fmt::format("{} and {} could not be broadcast together (axis {})", first,
                                        name_of(v, fn), i),
                            place);
            }
            if (is_true(total_one))
                total = n;
            else if (!is_false(total_one))
                total = spill(ir::make(Op::select, weak_int, {total_one, n, total}, place));
        }
        if (first.empty()) first = name_of(v, fn);
    }
    return lengths;
}

// The index of an axis that may have one element for all.
ExprP Lowering::index_spread(const ExprP& spread, const ExprP& at, const Place& place) const {
    if (!spread || is_false(spread)) return at;
    const ExprP zero = ir::int_constant(0, place);
    return is_true(spread) ? zero : ir::make(Op::select, weak_int, {spread, zero, at}, place);
}

ExprP Lowering::element_at(const Value& v, Items indices, const Place& place) {
    if (v.kind == Value::Kind::expression) return v.expression->at(indices);
    return load(element(v, std::move(indices), place), place);
}

Lowering::Operands Lowering::together(std::vector<Value> operands, const Place& place) {
    for (Value& v : operands) {
        if (unit.names.tile_kernel && many(v)) number(v, place);  // refuses: tiles are loaded
        if (v.is_indexed()) v = settled_view(v);
        if (!many(v)) {
            const ExprP e = number(v, v.place.known() ? v.place : place);
            v = scalar_value(is_constant(*e) || e->type.is_none() ? e : spill(e));
        }
    }
    Operands all;
    all.lengths = broadcast_lengths(operands, place);
    const std::size_t wide = all.lengths.size();
    std::vector<std::vector<ExprP>> spreads;
    for (const Value& v : operands) {
        std::vector<ExprP>& spread = spreads.emplace_back();
        if (!many(v)) continue;
        std::vector<ExprP> equals;
        bool same_index = rank(v) == wide;
        for (std::size_t i = 0; i < rank(v); ++i) {
            const ExprP n = length(v, i, place), &total = all.lengths[wide - rank(v) + i];
            spread.push_back(nullptr);
            if (n->type.is_none() || total->type.is_none() || ir::same(*n, *total)) continue;
            const ExprP one = comparison(Op::eq, n, ir::int_constant(1, place), place);
            const ExprP equal = comparison(Op::eq, n, total, place);
            if (is_true(equal)) continue;
            spread.back() = is_constant(*one) ? one : spill(one);
            if (is_constant(*equal))
                same_index = false;
            else
                equals.push_back(equal);
        }
        std::vector<Read> reads =
            v.kind == Value::Kind::expression ? v.expression->reads : std::vector<Read>{{v, true, {}}};
        for (Read& r : reads) {
            r.same_index = r.same_index && same_index;
            r.equals.insert(r.equals.end(), equals.begin(), equals.end());
            all.reads.push_back(std::move(r));
        }
    }
    all.at = [this, operands, spreads, place](const Items& indices) {
        Items items;
        for (std::size_t k = 0; k < operands.size(); ++k) {
            const Value& v = operands[k];
            if (!many(v)) {
                items.push_back(v.expr);
                continue;
            }
            Items own(indices.end() - static_cast<std::ptrdiff_t>(rank(v)), indices.end());
            for (std::size_t i = 0; i < own.size(); ++i) own[i] = index_spread(spreads[k][i], own[i], place);
            items.push_back(element_at(v, std::move(own), place));
        }
        return items;
    };
    return all;
}

Value Lowering::mapped(std::vector<Value> operands, const Place& place,
                       std::function<ExprP(const Items&)> apply) {
    if (seen_among(operands)) return seen_map(std::move(operands), std::move(apply), place);
    if (std::none_of(operands.begin(), operands.end(), many)) {
        Items numbers;
        for (const Value& v : operands) numbers.push_back(number(v, v.place.known() ? v.place : place));
        expect_broadcast(numbers, place);
        return scalar_value(apply(numbers));
    }
    Operands all = together(std::move(operands), place);
    return expression_value({std::move(all.lengths),
                             [at = std::move(all.at), apply = std::move(apply)](const Items& indices) {
                                 return apply(at(indices));
                             },
                             std::move(all.reads)});
}

// Of one element, which is not computed.
ir::Type Lowering::element_type(const Value& v, const Place& place) {
    if (v.is_indexed()) return ir::scalar(v.expr->type.dtype);
    ir::Type type;
    aside([&] {
        type = v.expression->at(Items(v.expression->lengths.size(), ir::int_constant(0, place)))->type;
        return Value{};
    });
    return type;
}

// An array expression that gets a name, or is handed on: an array of the thread's own.
Value Lowering::materialised(const Value& v, const Place& place) {
    if (v.kind != Value::Kind::expression) return v;
    if (v.expression->alias) return *v.expression->alias;
    std::vector<std::int64_t> extents;
    std::int64_t count = 1;
    for (const ExprP& n : v.expression->lengths) {
        const auto known = constant_int(scalar_value(n));
        if (!known && n->type.is_none()) {
            extents.push_back(1);
            continue;
        }
        if (!known)
            throw refused(place, "the length of this array is known at run time only: a kernel can't make it",
                          "write it into an array: out[:] = ...");
        extents.push_back(*known);
        count = count > most_local ? count : count * *known;
    }
    if (count == 0 || count > most_local)
        throw refused(
            place,
            count ? fmt::format("this array has more than the {} elements that a thread can keep", most_local)
                  : "this array has no elements: a kernel can't make it");
    const ir::Type item = element_type(v, place);
    const ir::Type type =
        ir::fixed_array(item.is_none() ? DType::f64 : item.dtype, std::move(extents), ir::Space::local);
    Value made;
    made.kind = Value::Kind::array;
    made.expr = ir::var(fn.add({"", type, ir::Var::Role::local_array, place, false}), type, place);
    fill(made, v, place);
    return made;
}

Value Lowering::expression_subscript(const Value& base, const Node& node) {
    const Value at = value(node.one("slice"));
    const std::vector<Value> items = index_items(at, node.one("slice"));
    const bool numbers =
        std::all_of(items.begin(), items.end(), [](const Value& v) { return v.is_scalar(); });
    if (!numbers || items.size() != rank(base))
        throw refused(node.place, "a part of an array that is computed where it is used",
                      "index every axis, or write it into an array first");
    Items indices = index_list(at, node.one("slice"));
    for (std::size_t i = 0; i < indices.size(); ++i)
        indices[i] = within("an array expression", spill(indices[i]), length(base, i, node.place),
                            static_cast<int>(i), node.place);
    for (ExprP& i : indices) i = spill(i);
    return scalar_value(element_at(base, std::move(indices), node.place));
}

Value Lowering::array_arithmetic(Op op, const Value& a, const Value& b, const Place& place) {
    return mapped({a, b}, place,
                  [this, op, place](const Items& x) { return arithmetic(op, x[0], x[1], place); });
}

// NumPy gives complex numbers an order where arrays of them are compared: by the real part, then by the imaginary one.
Value Lowering::array_comparison(Op op, const Value& a, const Value& b, const Place& place) {
    return mapped({a, b}, place, [this, op, arrays = many(a) || many(b), place](const Items& x) {
        return arrays ? numpy_comparison(op, x[0], x[1], place) : comparison(op, x[0], x[1], place);
    });
}

ExprP Lowering::numpy_comparison(Op op, const ExprP& a, const ExprP& b, const Place& place) {
    if (op >= Op::eq || a->type.is_none() || b->type.is_none()) return comparison(op, a, b, place);
    const ir::Type type = ir::join(a->type, b->type);
    if (!is_complex(type.dtype)) return comparison(op, a, b, place);
    static constexpr const char* names[] = {"complex_lt", "complex_le", "complex_gt", "complex_ge"};
    const char* name = names[static_cast<int>(op) - static_cast<int>(Op::lt)];
    return table_apply(internal_function(name), name, {convert(a, type), convert(b, type)}, place);
}

}  // namespace xcuda::frontend

// np.sum, a.mean(axis=0) and the like: loops of the thread that calls them, over all axes of an array or over some.
#include <fmt/format.h>
#include <array>
#include <limits>

#include "frontend/function_table.hpp"
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

namespace {

const ir::Type weak_int = ir::scalar(DType::i64, true);
const ir::Type weak_bool = ir::scalar(DType::b1, true);

// The dtype in which elements are added: float32 sums of many elements would stand still.
DType added_in(DType d) { return is_complex(d) ? DType::c128 : is_floating(d) ? DType::f64 : d; }

DType sum_of(DType d) {
    if (is_floating(d) || is_complex(d)) return d;
    return is_signed(d) || d == DType::b1 ? DType::i64 : DType::u64;
}

DType mean_of(DType d) { return is_floating(d) || is_complex(d) ? d : DType::f64; }

bool holds_nan(DType d) { return is_floating(d) || is_complex(d); }

}  // namespace

namespace {

using Parameters = std::vector<std::string>;
const Parameters sums = {"axis", "dtype", "out", "keepdims"},
                 spreads = {"axis", "dtype", "out", "ddof", "keepdims"},
                 choices = {"axis", "out", "keepdims"}, counts = {"axis", "keepdims"};

}  // namespace

const Lowering::ReductionRow* Lowering::reduction_named(const std::string& name) {
    using L = Lowering;
    static const std::array rows{
        ReductionRow{"sum", sums, &L::fold_sum, false, false},
        ReductionRow{"prod", sums, &L::fold_sum, true, false},
        ReductionRow{"nansum", sums, &L::fold_sum, false, true},
        ReductionRow{"nanprod", sums, &L::fold_sum, true, true},
        ReductionRow{"mean", sums, &L::fold_mean, false, false},
        ReductionRow{"nanmean", sums, &L::fold_mean, false, true},
        ReductionRow{"var", spreads, &L::fold_spread, false, false},
        ReductionRow{"std", spreads, &L::fold_spread, true, false},
        ReductionRow{"nanvar", spreads, &L::fold_spread, false, true},
        ReductionRow{"nanstd", spreads, &L::fold_spread, true, true},
        ReductionRow{"min", choices, &L::fold_least, false, false},
        ReductionRow{"amin", choices, &L::fold_least, false, false},
        ReductionRow{"max", choices, &L::fold_least, true, false},
        ReductionRow{"amax", choices, &L::fold_least, true, false},
        ReductionRow{"nanmin", choices, &L::fold_least, false, true},
        ReductionRow{"nanmax", choices, &L::fold_least, true, true},
        ReductionRow{"ptp", choices, &L::fold_range, false, false},
        ReductionRow{"argmin", choices, &L::fold_place, false, false},
        ReductionRow{"argmax", choices, &L::fold_place, true, false},
        ReductionRow{"nanargmin", choices, &L::fold_place, false, true},
        ReductionRow{"nanargmax", choices, &L::fold_place, true, true},
        ReductionRow{"any", choices, &L::fold_any, true, false},
        ReductionRow{"all", choices, &L::fold_any, false, false},
        ReductionRow{"count_nonzero", counts, &L::fold_count, false, false},
    };
    for (const ReductionRow& row : rows)
        if (row.name == name) return &row;
    return nullptr;
}

// A tuple of numbers as an array of the thread's own.
Value Lowering::array_of(const Value& v, const Place& place) {
    if (!v.is_tuple()) return v;
    if (v.items.empty()) throw refused(place, "an empty tuple has no elements to reduce");
    ir::Type type = number(v.items[0], place)->type;
    for (const Value& item : v.items) type = ir::join(type, number(item, place)->type);
    const ir::Type t = ir::fixed_array(type.is_none() ? DType::f64 : type.dtype,
                                       {static_cast<std::int64_t>(v.items.size())}, ir::Space::local);
    Value made;
    made.kind = Value::Kind::array;
    made.expr = ir::var(fn.add({"t", t, ir::Var::Role::local_array, place, false}), t, place);
    fill(made, v, place);
    return made;
}

/// np.sum(a, ...), or a.sum(...) where `of` is given.
Value Lowering::call_reduction(const ReductionRow& row, const Value* of, const Node& node) {
    const Place& place = node.place;
    const std::string name(row.name);
    Parameters parameters = row.parameters;
    if (!of) parameters.insert(parameters.begin(), "a");
    const std::vector<const Node*> bound = bind(node, name, parameters, of ? 0 : 1);
    std::vector<const Node*> nodes;
    for (const Node* n : bound)
        if (n) nodes.push_back(n);
    std::vector<Value> values = operands(nodes);
    std::map<std::string, Value> given;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < bound.size(); ++i)
        if (bound[i]) {
            values[taken].place = bound[i]->place;
            given[parameters[i]] = values[taken++];
        }
    Value a = array_of(of ? *of : given.at("a"), place);
    if (!a.has_elements() && !a.is_scalar())
        throw refused(a.place.known() ? a.place : place,
                      fmt::format("{}() needs an array, found {}", name, spoken(a)));
    const Operands all = together({a}, place);

    const std::size_t axes = all.lengths.size();
    std::vector<bool> goes(axes, true);
    if (const auto axis = given.find("axis"); axis != given.end() && axis->second.kind != Value::Kind::none) {
        goes.assign(axes, false);
        const Value& v = axis->second;
        for (const Value& item : v.is_tuple() ? v.items : std::vector<Value>{v}) {
            const auto n = constant_int(item);
            if (!n)
                throw NeedsConstant(refused(v.place, "axis must be known when the kernel is compiled",
                                            "write a number, as axis=0"));
            const std::int64_t k = *n < 0 ? *n + static_cast<std::int64_t>(axes) : *n;
            if (k < 0 || k >= static_cast<std::int64_t>(axes))
                throw refused(
                    v.place, fmt::format("axis {} is out of bounds for an array of {} dimensions", *n, axes));
            goes[static_cast<std::size_t>(k)] = true;
        }
    }
    bool keep = false;
    if (const auto k = given.find("keepdims"); k != given.end()) {
        const ExprP e = number(k->second, place);
        if (!is_constant(*e))
            throw refused(k->second.place, "keepdims must be known when the kernel is compiled",
                          "write keepdims=True");
        keep = truthy(ir::number_of(*e));
    }
    Reduction reduction;
    reduction.place = place;
    reduction.item = ir::Type{};
    aside([&] {
        reduction.item = all.at(Items(axes, ir::int_constant(0, place)))[0]->type;
        return Value{};
    });
    if (const auto d = given.find("dtype"); d != given.end() && d->second.kind != Value::Kind::none) {
        reduction.dtype = dtype_from(d->second);
        if (!reduction.dtype)
            throw refused(d->second.place, "expected a dtype, found " + spoken(d->second),
                          "write np.float64");
    }
    if (const auto d = given.find("ddof"); d != given.end()) {
        const ExprP e = number(d->second, place);
        reduction.ddof = e->type.is_none() || is_constant(*e) ? e : spill(e);
    }
    std::vector<ExprP> kept;
    for (std::size_t i = 0; i < axes; ++i)
        if (goes[i])
            reduction.lengths.push_back(all.lengths[i]);
        else
            kept.push_back(all.lengths[i]);

    const auto fold = [this, &row, reduction, goes, at = all.at](const Items& outer) {
        Reduction here = reduction;
        here.at = [&](const Items& inner) {
            Items merged;
            std::size_t o = 0, i = 0;
            for (const bool gone : goes) merged.push_back(gone ? inner[i++] : outer[o++]);
            return at(merged)[0];
        };
        for (const ExprP& n : here.lengths)
            if (n->type.is_none()) return n;
        return here.item.is_none() ? ir::make(Op::constant, ir::Type{}, {}, here.place)
                                   : (this->*row.fold)(here, row.flag, row.nan);
    };
    Value result;
    if (kept.empty() && !keep) {
        result = scalar_value(fold({}));
    } else {
        std::vector<ExprP> lengths;
        std::size_t o = 0;
        for (const bool gone : goes)
            if (!gone || keep) lengths.push_back(gone ? ir::int_constant(1, place) : kept[o++]);
        std::vector<ArrayExpression::Read> reads = all.reads;
        for (ArrayExpression::Read& r : reads) r.same_index = false;
        result = expression_value({std::move(lengths),
                                   [fold, goes, keep](const Items& indices) {
                                       Items outer;
                                       for (std::size_t i = 0, at = 0; i < goes.size(); ++i) {
                                           if (!goes[i]) outer.push_back(indices[at]);
                                           at += !goes[i] || keep;
                                       }
                                       return fold(outer);
                                   },
                                   std::move(reads)});
    }
    if (const auto into = given.find("out"); into != given.end() && into->second.kind != Value::Kind::none)
        return reduced_into(into->second, std::move(result), name, place);
    return result;
}

Value Lowering::reduced_into(const Value& into, Value result, const std::string& name, const Place& place) {
    if (!into.is_indexed())
        throw refused(into.place, fmt::format("out of {}() must be an array, found {}", name, spoken(into)));
    const std::size_t wanted = result.is_scalar() ? 0 : rank(result);
    if (rank(into) != wanted)
        throw refused(into.place, fmt::format("{}() gives {} dimension{}, out has {}", name, wanted,
                                              wanted == 1 ? "" : "s", rank(into)));
    const Value kept = settled_view(into);
    const ir::Type type = result.is_scalar() ? result.expr->type : element_type(result, place);
    if (!type.is_none() && !fits_in_place(type.dtype, into.expr->type.dtype))
        throw refused(place, fmt::format("{}() gives {}, which NumPy does not cast to the {} of out", name,
                                         info(type.dtype).name, info(into.expr->type.dtype).name));
    fill(kept, result, place);
    return kept;
}

// acc = step(acc, element) over all elements, from `first`, whose type it keeps.
ExprP Lowering::accumulated(const Reduction& r, const ExprP& first,
                            const std::function<ExprP(ExprP acc, ExprP element)>& step) {
    const ir::Type type = first->type;
    const ir::VarId acc = hidden(type, r.place);
    const ExprP var = ir::var(acc, type, r.place);
    emit(ir::assign(acc, first, r.place));
    each_index(r.lengths, {}, r.place,
               [&](const Items& i) { emit(ir::assign(acc, convert(step(var, r.at(i)), type), r.place)); });
    return var;
}

ExprP Lowering::count_of(const Reduction& r) {
    ExprP n = ir::int_constant(1, r.place);
    for (const ExprP& length : r.lengths) n = arithmetic(Op::mul, n, length, r.place);
    return n;
}

ExprP Lowering::is_nan(const ExprP& x, const Place& place) {
    const DType d = x->type.dtype;
    if (!holds_nan(d)) return ir::constant(false, weak_bool, place);
    return table_apply(*find_function("numpy.isnan"), "numpy.isnan", {x}, place);
}

ExprP Lowering::fold_sum(const Reduction& r, bool product, bool nan) {
    const DType result = r.dtype.value_or(sum_of(r.item.dtype)), in = added_in(result);
    const ir::Type type = ir::scalar(in);
    const Place& place = r.place;
    const ExprP first = ir::constant(to_dtype(std::int64_t{product}, in), type, place);
    const ExprP total = accumulated(r, first, [&](const ExprP& acc, ExprP x) {
        if (nan && holds_nan(r.item.dtype)) {
            x = spill(x);
            x = ir::make(Op::select, type, {is_nan(x, place), first, convert(x, type)}, place);
        }
        if (is_complex(x->type.dtype) && !is_complex(in)) convert(x, type);  // refuses
        return ir::make(product           ? (in == DType::b1 ? Op::bit_and : Op::mul)
                        : in == DType::b1 ? Op::bit_or
                                          : Op::add,
                        type, {acc, python_cast(in, false, x, place)}, place);
    });
    return python_cast(result, false, total, place);
}

ExprP Lowering::count_of_numbers(const Reduction& r) {
    if (!holds_nan(r.item.dtype)) return convert(count_of(r), ir::scalar(DType::i64));
    const ir::Type type = ir::scalar(DType::i64);
    return accumulated(r, ir::constant(std::int64_t{0}, type, r.place), [&](const ExprP& acc, const ExprP& x) {
        const ExprP one = ir::constant(std::int64_t{1}, type, r.place),
                    none = ir::constant(std::int64_t{0}, type, r.place);
        return ir::make(Op::add, type,
                        {acc, ir::make(Op::select, type, {is_nan(spill(x), r.place), none, one}, r.place)},
                        r.place);
    });
}

ExprP Lowering::fold_mean(const Reduction& r, bool, bool nan) {
    const DType result = r.dtype.value_or(mean_of(r.item.dtype)), in = added_in(mean_of(result));
    Reduction wide = r;
    wide.dtype = in;
    const ExprP total = fold_sum(wide, false, nan);
    const ir::Type type = ir::scalar(in);
    const ExprP count = nan ? count_of_numbers(r) : count_of(r);
    return python_cast(
        result, false,
        ir::make(Op::truediv, type, {total, convert(python_cast(DType::f64, false, count, r.place), type)},
                 r.place),
        r.place);
}

// var, and its root std: the mean first, then the squared distances.
ExprP Lowering::fold_spread(const Reduction& r, bool root, bool nan) {
    const Place& place = r.place;
    const DType mean = r.dtype.value_or(mean_of(r.item.dtype)), in = added_in(mean);
    const DType result = is_complex(mean) ? part_of(mean) : mean;
    Reduction wide = r;
    wide.dtype = in;
    const ExprP middle = spill(fold_mean(wide, false, nan));
    const ir::Type real = ir::scalar(DType::f64), type = ir::scalar(in);
    const ExprP zero = ir::constant(0.0, real, place);
    const ExprP total = accumulated(r, zero, [&](const ExprP& acc, ExprP x) {
        if (nan) x = spill(x);
        const ExprP away = spill(ir::make(Op::sub, type, {python_cast(in, false, x, place), middle}, place));
        ExprP square;
        if (is_complex(in)) {
            const ExprP re = spill(part("real", away, place).expr),
                        im = spill(part("imag", away, place).expr);
            square = ir::make(
                Op::add, real,
                {ir::make(Op::mul, real, {re, re}, place), ir::make(Op::mul, real, {im, im}, place)}, place);
        } else {
            square = ir::make(Op::mul, real, {away, away}, place);
        }
        square = spill(square);
        if (nan && holds_nan(r.item.dtype))
            square = ir::make(Op::select, real, {is_nan(x, place), zero, square}, place);
        return ir::make(Op::add, real, {acc, square}, place);
    });
    const ExprP count = python_cast(DType::f64, false, nan ? count_of_numbers(r) : count_of(r), place);
    ExprP divisor = count;
    const ExprP ddof = r.ddof ? python_cast(DType::f64, false, r.ddof, place) : zero;
    divisor = spill(ir::make(Op::sub, real, {count, ddof}, place));
    const ExprP otherwise = nan ? ir::constant(std::numeric_limits<double>::quiet_NaN(), real, place) : zero;
    divisor = spill(ir::make(
        Op::select, real, {ir::make(Op::gt, weak_bool, {divisor, zero}, place), divisor, otherwise}, place));
    ExprP value = ir::make(Op::truediv, real, {total, divisor}, place);
    if (root) value = table_apply(*find_function("numpy.sqrt"), "numpy.sqrt", {value}, place);
    return python_cast(result, false, value, place);
}

void Lowering::expect_elements(const Reduction& r, const std::string& message) {
    stop_unless(comparison(Op::gt, count_of(r), ir::int_constant(0, r.place), r.place), "ValueError", message,
                r.place);
}

// The first element, where there is one.
ExprP Lowering::first_of(const Reduction& r) {
    const ir::Type type = ir::scalar(r.item.dtype);
    const ir::VarId first = hidden(type, r.place);
    emit(ir::assign(first, ir::constant(to_dtype(std::int64_t{0}, type.dtype), type, r.place), r.place));
    auto [v, body] = aside([&] {
        const Items zeros(r.lengths.size(), ir::int_constant(0, r.place));
        emit(ir::assign(first, convert(r.at(zeros), type), r.place));
        return Value{};
    });
    const ExprP some = comparison(Op::gt, count_of(r), ir::int_constant(0, r.place), r.place);
    if (is_constant(*some)) {
        if (truthy(ir::number_of(*some)))
            for (ir::Stmt& s : body) emit(std::move(s));
    } else {
        emit(ir::branch(some, std::move(body), {}, r.place));
    }
    return ir::var(first, type, r.place);
}

ExprP Lowering::fold_least(const Reduction& r, bool greatest, bool nan) {
    const std::string word = std::string(nan ? "f" : "") + (nan        ? (greatest ? "max" : "min")
                                                            : greatest ? "maximum"
                                                                       : "minimum");
    const KernelFunction& function = *find_function("numpy." + word);
    expect_elements(r, "zero-size array to reduction operation " + word + " which has no identity");
    const ir::Type type = ir::scalar(r.item.dtype);
    return accumulated(r, first_of(r), [&](const ExprP& acc, const ExprP& x) {
        return table_apply(function, "numpy." + word, {acc, convert(x, type)}, r.place);
    });
}

ExprP Lowering::fold_range(const Reduction& r, bool, bool) {
    const ExprP greatest = spill(fold_least(r, true, false)), least = fold_least(r, false, false);
    return arithmetic(Op::sub, greatest, least, r.place);
}

// argmin and argmax: a nan comes first, or is left out.
ExprP Lowering::fold_place(const Reduction& r, bool greatest, bool nan) {
    const Place& place = r.place;
    const std::string word = greatest ? "argmax" : "argmin";
    expect_elements(r, "attempt to get " + word + " of an empty sequence");
    const ir::Type type = ir::scalar(r.item.dtype), integer = ir::scalar(DType::i64);
    const ir::VarId best = hidden(type, place), at = hidden(integer, place), count = hidden(integer, place);
    const ExprP best_var = ir::var(best, type, place), at_var = ir::var(at, integer, place),
                count_var = ir::var(count, integer, place);
    const auto whole = [&](std::int64_t n) { return ir::constant(n, integer, place); };
    emit(ir::assign(best, ir::constant(to_dtype(std::int64_t{0}, type.dtype), type, place), place));
    emit(ir::assign(at, whole(-1), place));
    emit(ir::assign(count, whole(0), place));
    const auto both = [&](const ExprP& a, const ExprP& b) {
        return is_constant(*a) ? a : ir::make(Op::logic_and, weak_bool, {a, b}, place);
    };
    each_index(r.lengths, {}, place, [&](const Items& i) {
        const ExprP x = spill(convert(r.at(i), type));
        const ExprP none = ir::make(Op::lt, weak_bool, {at_var, whole(0)}, place);
        ExprP test =
            ir::make(Op::logic_or, weak_bool,
                     {none, numpy_comparison(greatest ? Op::gt : Op::lt, x, best_var, place)}, place);
        const ExprP unordered = is_nan(x, place);
        if (!is_constant(*unordered)) {
            const ExprP ordered = ir::make(Op::logic_not, weak_bool, {unordered}, place);
            test = nan ? both(ordered, test)
                       : ir::make(Op::logic_or, weak_bool,
                                  {test, both(unordered, ir::make(Op::logic_not, weak_bool,
                                                                  {is_nan(best_var, place)}, place))},
                                  place);
        }
        ir::Body better;
        better.push_back(ir::assign(best, x, place));
        better.push_back(ir::assign(at, count_var, place));
        emit(ir::branch(test, std::move(better), {}, place));
        emit(ir::assign(count, ir::make(Op::add, integer, {count_var, whole(1)}, place), place));
    });
    if (nan && holds_nan(r.item.dtype))
        stop_unless(ir::make(Op::ge, weak_bool, {at_var, whole(0)}, place), "ValueError",
                    "All-NaN slice encountered", place);
    return at_var;
}

ExprP Lowering::fold_any(const Reduction& r, bool any, bool) {
    const ir::Type type = ir::scalar(DType::b1);
    return accumulated(r, ir::constant(!any, type, r.place), [&](const ExprP& acc, const ExprP& x) {
        return ir::make(any ? Op::logic_or : Op::logic_and, type, {acc, convert(truth(x), type)}, r.place);
    });
}

ExprP Lowering::fold_count(const Reduction& r, bool, bool) {
    return accumulated(r, ir::int_constant(0, r.place), [&](const ExprP& acc, const ExprP& x) {
        return ir::make(Op::add, weak_int, {acc, python_cast(DType::i64, true, truth(x), r.place)}, r.place);
    });
}

/// np.dot and a @ b of one or two axes: sums over the last axis of a and the first of b.
Value Lowering::product(const Value& a, const Value& b, const Place& place) {
    if (!many(a) || !many(b)) return array_arithmetic(Op::mul, a, b, place);
    if (rank(a) > 2 || rank(b) > 2)
        throw refused(place, fmt::format("a product of arrays of {} and {} dimensions", rank(a), rank(b)),
                      "write the sum in a for loop");
    const Value x = a.is_indexed() ? settled_view(a) : a, y = b.is_indexed() ? settled_view(b) : b;
    const ExprP n = length(x, rank(x) - 1, place), m = length(y, 0, place);
    if (!ir::same(*n, *m))
        stop_unless(comparison(Op::eq, n, m, place), "ValueError",
                    "the last axis of the first array and the first of the second differ in length", place);
    std::vector<ExprP> lengths;
    if (rank(x) == 2) lengths.push_back(length(x, 0, place));
    if (rank(y) == 2) lengths.push_back(length(y, 1, place));
    const ir::Type type = ir::join(element_type(x, place), element_type(y, place));
    const auto at = [this, x, y, n, type, place](const Items& indices) {
        if (type.is_none() || n->type.is_none()) return ir::make(Op::constant, ir::Type{}, {}, place);
        Reduction r;
        r.lengths = {n};
        r.place = place;
        r.item = type;
        r.dtype = type.dtype;
        r.at = [&](const Items& k) {
            Items left = k, right = k;
            if (rank(x) == 2) left.insert(left.begin(), indices.front());
            if (rank(y) == 2) right.push_back(indices.back());
            const DType in = added_in(type.dtype);
            return ir::make(in == DType::b1 ? Op::bit_and : Op::mul, ir::scalar(in),
                            {python_cast(in, false, element_at(x, left, place), place),
                             python_cast(in, false, element_at(y, right, place), place)},
                            place);
        };
        return fold_sum(r, false, false);
    };
    if (lengths.empty()) return scalar_value(at({}));
    std::vector<ArrayExpression::Read> reads;
    for (const Value& v : {x, y}) {
        if (v.is_indexed()) reads.push_back({v, false, {}});
        if (v.kind == Value::Kind::expression)
            for (ArrayExpression::Read r : v.expression->reads) {
                r.same_index = false;
                reads.push_back(r);
            }
    }
    return expression_value({std::move(lengths), at, std::move(reads)});
}

/// x in a: whether one element is equal.
ExprP Lowering::contained(const Value& x, const Value& a, const Place& place) {
    const Value equal = array_comparison(Op::eq, a, evaluated(x), place);
    const Operands all = together({equal}, place);
    Reduction r;
    r.place = place;
    r.lengths = all.lengths;
    r.item = ir::scalar(DType::b1);
    r.at = [&](const Items& indices) { return all.at(indices)[0]; };
    for (const ExprP& n : r.lengths)
        if (n->type.is_none()) return n;
    return fold_any(r, true, false);
}

}  // namespace xcuda::frontend

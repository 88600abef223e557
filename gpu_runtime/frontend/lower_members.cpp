// What arrays in a kernel have: shape, size, ndim, strides, dtype, itemsize, nbytes, T and reshape.
#include <fmt/format.h>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

namespace {

std::int64_t item_size(const Value& array) {
    return array.kind == Value::Kind::records ? array.meaning->itemsize
                                              : static_cast<std::int64_t>(info(array.expr->type.dtype).size);
}

}  // namespace

// An array whose axes lead as the value's own do.
const Value& Lowering::first_leaf(const Value& v) const {
    return v.kind == Value::Kind::records ? first_leaf(v.items.at(0)) : v;
}

// Bytes between neighbours along an axis.
ExprP Lowering::stride(const Value& array, std::size_t axis, const Place& place) {
    const Value leaf = view_of(first_leaf(array));
    const ir::Type& type = leaf.expr->type;
    const ViewAxis& a = leaf.axes[axis];
    if (a.base < 0) return ir::int_constant(0, place);
    // Fields of local and shared records lie apart; their strides are told as if they did not.
    const bool own = type.layout == ir::Layout::contiguous && type.space != ir::Space::global;
    const std::int64_t size = own ? item_size(array) : static_cast<std::int64_t>(info(type.dtype).size);
    ExprP steps;
    if (type.layout == ir::Layout::contiguous) {
        steps = ir::int_constant(size, place);
        const std::size_t last = leaf.indices.size() - (own ? rank(first_leaf(array)) - rank(array) : 0);
        for (std::size_t d = static_cast<std::size_t>(a.base) + 1; d < last; ++d) {
            const ExprP n = type.extents.empty() ? ir::dim(leaf.expr, static_cast<int>(d), place)
                                                 : ir::int_constant(type.extents[d], place);
            steps = arithmetic(Op::mul, steps, n, place);
        }
    } else {
        steps = ir::dim(leaf.expr, type.ndim + a.base, place);
        if (type.layout != ir::Layout::bytes)
            steps = arithmetic(Op::mul, steps, ir::int_constant(size, place), place);
    }
    return arithmetic(Op::mul, steps, step_of(a, place), place);
}

namespace {

const std::vector<std::string_view> array_attributes = {"shape",  "size",  "ndim", "strides", "itemsize",
                                                        "nbytes", "dtype", "real", "imag"};

}  // namespace

bool is_array_attribute(std::string_view name) {
    return name == "T" ||
           std::find(array_attributes.begin(), array_attributes.end(), name) != array_attributes.end();
}

Value Lowering::array_attribute(const Value& base, const std::string& attr, const Place& place) {
    if (attr == "real" && base.is_indexed() && !is_complex(base.expr->type.dtype)) return base;
    if (attr == "real" || attr == "imag") {
        Value parts = mapped({base}, place,
                             [this, attr, place](const Items& x) { return part(attr, x[0], place).expr; });
        if (base.is_indexed() && is_complex(base.expr->type.dtype)) {  // where they lie, for atomics
            parts.items = {base};
            parts.text = attr;
        }
        return parts;
    }
    if (base.kind == Value::Kind::expression && attr != "ndim" && attr != "shape" && attr != "size")
        return expression_attribute(base, attr, place);
    const auto integer = [&](std::int64_t n) { return scalar_value(ir::int_constant(n, place)); };
    std::vector<Value> shape;
    for (std::size_t axis = 0; axis < rank(base); ++axis)
        shape.push_back(scalar_value(length(base, axis, place)));
    if (attr == "flat" && base.is_indexed()) return one_axis(base, place);
    if (attr == "ndim") return integer(static_cast<std::int64_t>(shape.size()));
    if (attr == "itemsize") return integer(item_size(base));
    if (attr == "shape") return tuple_value(std::move(shape));
    if (attr == "strides") {
        std::vector<Value> strides;
        for (std::size_t axis = 0; axis < rank(base); ++axis)
            strides.push_back(scalar_value(stride(base, axis, place)));
        return tuple_value(std::move(strides));
    }
    if (attr == "T") {
        Value turned = base.kind == Value::Kind::records ? base : view_of(base);
        for (Value* leaf : array_leaves(turned)) {
            *leaf = view_of(*leaf);
            std::reverse(leaf->axes.begin(), leaf->axes.begin() + static_cast<std::ptrdiff_t>(rank(base)));
        }
        return turned;
    }
    if (attr == "size" || attr == "nbytes") {
        ExprP size = ir::int_constant(attr == "size" ? 1 : item_size(base), place);
        for (std::size_t i = 0; i < shape.size(); ++i)
            size = i || attr == "nbytes" ? arithmetic(Op::mul, size, shape[i].expr, place) : shape[i].expr;
        return scalar_value(size);
    }
    if (attr == "dtype") {
        Value v;
        v.kind = Value::Kind::dtype;
        v.meaning = base.meaning;
        if (base.kind == Value::Kind::records)
            v.text = base.meaning->text;
        else
            v.dtype = base.expr->type.dtype;
        return v;
    }
    const std::string close = nearest(attr, array_attributes);
    throw refused(place, "an array in a kernel has no '" + attr + "'",
                  close.empty()
                      ? "it has shape, size, ndim, strides, itemsize, nbytes, dtype, real, imag and "
                        "T; index its elements"
                      : "did you mean '" + close + "'?");
}

// Of an array that is nowhere in memory.
Value Lowering::expression_attribute(const Value& base, const std::string& attr, const Place& place) {
    const ArrayExpression& e = *base.expression;
    if (attr == "T") {
        std::vector<ArrayExpression::Read> reads = e.reads;
        for (ArrayExpression::Read& r : reads) r.same_index = r.same_index && e.lengths.size() < 2;
        return expression_value({Items(e.lengths.rbegin(), e.lengths.rend()),
                                 [at = e.at](const Items& i) { return at(Items(i.rbegin(), i.rend())); },
                                 std::move(reads)});
    }
    const ir::Type type = element_type(base, place);
    if (attr == "dtype") {
        Value v;
        v.kind = Value::Kind::dtype;
        v.dtype = type.is_none() ? DType::f64 : type.dtype;
        return v;
    }
    throw refused(place, "an array that is computed where it is used has no '" + attr + "'",
                  "it has shape, size, ndim, dtype, real, imag and T; write it into an array first");
}

// An array of several axes as one. Its elements lie behind one another, so the index runs on along the last axis.
Value Lowering::one_axis(const Value& base, const Place& place) {
    if (base.is_indexed() && rank(base) == 1) return view_of(base);
    Value v = base.is_indexed() ? settled_view(base) : base;
    const auto whole = [&] {
        if (v.axes.empty() || v.expr->type.layout != ir::Layout::contiguous) return false;
        const int first = v.expr->type.ndim - static_cast<int>(v.axes.size());
        for (std::size_t i = 0; i < v.axes.size(); ++i) {
            const ViewAxis& a = v.axes[i];
            if (a.base != first + static_cast<int>(i) || a.step != 1 || a.by || (i && (a.start || a.length)))
                return false;
        }
        return true;
    };
    if (!base.is_indexed() || !whole())
        throw refused(
            place,
            "another shape in a kernel is for arrays whose elements lie behind one another, found " +
                spoken(base),
            base.is_indexed() ? "index the array's own axes, or reshape it outside the kernel"
                              : "write it into an array first: out[:] = ...");
    ExprP start = v.axes[0].start, total = length(v, 0, place);
    for (std::size_t i = 1; i < v.axes.size(); ++i) {
        const ExprP n = length(v, i, place);
        total = arithmetic(Op::mul, total, n, place);
        if (start) start = arithmetic(Op::mul, start, n, place);
    }
    const int last = v.expr->type.ndim - 1;
    for (int axis = v.axes[0].base; axis < last; ++axis) {
        v.indices[static_cast<std::size_t>(axis)] = ir::int_constant(0, place);
        v.tested |= 1u << axis;
    }
    if (total->type.is_none()) start = nullptr;
    v.axes = {{last, start ? spill(start) : ir::int_constant(0, place), spill(total), 1, nullptr}};
    v.joined = true;
    return v;
}

static constexpr const char* no_room = "cannot reshape an array of this size into that shape";

// a.reshape(2, 3): each new axis is a step over the elements as they lie behind one another.
Value Lowering::reshaped(const Value& base, const Node& call) {
    const Place& place = call.place;
    const Call given = call_of(call);
    if (!given.keywords.empty())
        throw refused(place, "reshape() takes lengths only", "write a.reshape(2, 3)");
    std::vector<Value> lengths = operands(given.positional);
    if (lengths.size() == 1 && lengths[0].is_tuple()) lengths = std::vector<Value>(lengths[0].items);
    if (lengths.empty() || lengths.size() > 8)
        throw refused(place, "reshape() needs 1 to 8 lengths", "write a.reshape(2, 3)");
    Value v = one_axis(base.is_indexed() ? settled_view(base) : base, place);
    const ViewAxis axis = v.axes[0];
    const ExprP n = length(v, 0, place);
    if (axis.base < 0 || n->type.is_none()) return v;
    std::vector<ExprP> sizes;
    std::size_t open = lengths.size();
    std::vector<bool> may_be_open(lengths.size(), false);  // -1 where only the run tells
    ExprP known = ir::int_constant(1, place);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const ExprP e = convert(index(number(lengths[i], place), place), ir::scalar(DType::i64, true));
        if (e->type.is_none()) return v;
        sizes.push_back(spill(e));
        if (constant_int(scalar_value(e)) == -1) {
            if (open < lengths.size())
                throw Error(Fault::user, "ValueError", "can only specify one unknown dimension", place);
            open = i;
        } else {
            if (const auto given = constant_int(scalar_value(e)); given && *given < 0)
                throw Error(Fault::user, "ValueError", no_room, place);
            may_be_open[i] = !is_constant(*sizes.back()) && !nonnegative(*sizes.back());
            if (!may_be_open[i]) known = arithmetic(Op::mul, known, sizes.back(), place);
        }
    }
    known = open_lengths(sizes, may_be_open, known, n, place);
    known = spill(known);
    if (open < lengths.size()) {
        const ExprP divisor = is_constant(*known) ? known : spill(one_for_zero(known, place));
        sizes[open] = spill(ir::make(Op::floordiv, ir::scalar(DType::i64, true), {n, divisor}, place));
        known = spill(arithmetic(Op::mul, known, sizes[open], place));
    }
    stop_unless(comparison(Op::eq, known, n, place), "ValueError", no_room, place);
    v.axes.clear();
    ExprP step = step_of(axis, place);
    for (std::size_t i = sizes.size(); i-- > 0;) {
        ViewAxis a{axis.base, nullptr, sizes[i], 1, nullptr};
        a.start = i == 0 && axis.start ? axis.start : ir::int_constant(0, place);
        if (const auto s = constant_int(scalar_value(step)))
            a.step = *s;
        else
            a.by = step = spill(step);
        v.axes.insert(v.axes.begin(), a);
        step = arithmetic(Op::mul, step, sizes[i], place);
    }
    return v;
}

// Lengths that the run may tell to be -1: one of them is what the others leave. Gives the product of all lengths.
ExprP Lowering::open_lengths(std::vector<ExprP>& sizes, const std::vector<bool>& may_be_open, ExprP known,
                             const ExprP& n, const Place& place) {
    const ir::Type type = ir::scalar(DType::i64, true);
    const ExprP one = ir::int_constant(1, place);
    std::vector<ExprP> is_open(sizes.size());
    ExprP opened = ir::int_constant(0, place);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (!may_be_open[i]) continue;
        is_open[i] = spill(comparison(Op::eq, sizes[i], ir::int_constant(-1, place), place));
        opened = arithmetic(Op::add, opened,
                            ir::make(Op::select, type, {is_open[i], one, ir::int_constant(0, place)}, place),
                            place);
        known =
            arithmetic(Op::mul, known, ir::make(Op::select, type, {is_open[i], one, sizes[i]}, place), place);
    }
    if (is_constant(*opened)) return known;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (may_be_open[i])
            stop_unless(comparison(Op::ge, sizes[i], ir::int_constant(-1, place), place), "ValueError",
                        no_room, place);
    stop_unless(comparison(Op::le, opened, one, place), "ValueError",
                "can only specify one unknown dimension", place);
    known = spill(known);
    const ExprP rest = spill(ir::make(Op::floordiv, type, {n, spill(one_for_zero(known, place))}, place));
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (may_be_open[i]) sizes[i] = spill(ir::make(Op::select, type, {is_open[i], rest, sizes[i]}, place));
    const ExprP any = comparison(Op::eq, opened, one, place);
    return arithmetic(Op::mul, known, ir::make(Op::select, type, {any, rest, one}, place), place);
}

// A divisor that is no zero: the size's test has its own words.
ExprP Lowering::one_for_zero(const ExprP& n, const Place& place) {
    const ExprP zero = comparison(Op::eq, n, ir::int_constant(0, place), place);
    return ir::make(Op::select, ir::scalar(DType::i64, true), {zero, ir::int_constant(1, place), n}, place);
}

}  // namespace xcuda::frontend

// The bits of numbers and arrays as another dtype: x.view(np.int32).
#include <fmt/format.h>

#include "frontend/function_table.hpp"
#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;

namespace {

DType unsigned_of(std::size_t size) {
    return size == 1 ? DType::u8 : size == 2 ? DType::u16 : size == 4 ? DType::u32 : DType::u64;
}

bool has_bits(DType d) { return is_integer(d) || is_floating(d) || d == DType::b1; }

}  // namespace

/// The bits of a number of the same size as `to`.
ExprP Lowering::bits_as(DType to, ExprP x, const Place& place) {
    if (x->type.is_none() || x->type.dtype == to) return x;
    if (x->type.dtype == DType::b1) x = convert(x, ir::scalar(DType::u8));
    if (to == DType::b1)
        return comparison(Op::ne, bits_as(DType::u8, x, place), ir::int_constant(0, place), place);
    const KernelFunction& function = internal_function("bits");
    for (int i = 0; i < function.overloads; ++i) {
        const int id = function.first_overload + i;
        const Overload& o = all_overloads()[static_cast<std::size_t>(id)];
        if (o.in[0] != x->type.dtype || o.out != to) continue;
        ir::Expr node = *ir::make(Op::call, ir::scalar(to), {convert(x, ir::scalar(o.in[0]))}, place);
        node.payload = ir::OverloadId{id};
        return std::make_shared<const ir::Expr>(std::move(node));
    }
    return x->type.dtype == to ? x : bits_as(to, bits_as(unsigned_of(info(to).size), x, place), place);
}

DType Lowering::view_dtype(const Node& node) {
    const Node& given = *bind(node, "view", {"dtype"}, 1)[0];
    const Value type = value(given);
    const auto dtype = dtype_from(type);
    if (!dtype) throw refused(given.place, "expected a dtype, found " + spoken(type), "write np.int32");
    if (!has_bits(*dtype))
        throw refused(given.place,
                      fmt::format("view() as {} is not part of the kernel language", info(*dtype).name),
                      "view as an integer or a float");
    return *dtype;
}

/// x.view(dtype) of a number.
Value Lowering::number_view(const ExprP& x, const Node& node) {
    const DType to = view_dtype(node);
    if (x->type.is_none()) return scalar_value(x);
    if (x->type.weak)
        throw refused(node.place, spoken(x->type) + " has no method 'view'",
                      "give it a dtype, as np.float32(x)");
    const DType from = x->type.dtype;
    if (!has_bits(from) || info(from).size != info(to).size)
        throw refused(node.place, fmt::format("the bits of {} are no {}", info(from).name, info(to).name),
                      "view as a dtype of the same size");
    return scalar_value(bits_as(to, x, node.place));
}

/// a.view(dtype): an array that is read through its own elements; the last axis has as many more or fewer.
Value Lowering::array_view(const Value& base, DType to, const Place& place) {
    const DType from = base.expr->type.dtype;
    if (!has_bits(from))
        throw refused(
            place, fmt::format("view() of {} elements is not part of the kernel language", info(from).name),
            "view the array outside the kernel, and pass it");
    const Value array = settled_view(base);
    const std::size_t last = rank(array), small = std::min(info(from).size, info(to).size);
    const auto times = static_cast<std::int64_t>(std::max(info(from).size, info(to).size) / small);
    Items lengths = lengths_of(array, place);
    if (times > 1 && last == 0) throw refused(place, "an array without axes keeps its elements' size");
    const ExprP many = ir::int_constant(times, place);
    const bool wider = info(to).size > info(from).size;
    if (times > 1 && !lengths.back()->type.is_none()) {
        ExprP& n = lengths.back();
        if (wider) {
            const ExprP rest = arithmetic(Op::mod, n, many, place);
            stop_unless(comparison(Op::eq, rest, ir::int_constant(0, place), place), "ValueError",
                        fmt::format("the last axis does not hold whole {} numbers", info(to).name), place);
        }
        n = spill(arithmetic(wider ? Op::floordiv : Op::mul, n, many, place));
    }
    const auto at = [this, array, from, to, times, wider, many, small, place](const Items& given) -> ExprP {
        if (times == 1) return bits_as(to, element_at(array, given, place), place);
        Items indices = given;
        const ExprP& k = given.back();
        const ir::Type word = ir::scalar(unsigned_of(std::max(info(from).size, info(to).size)));
        const auto width = static_cast<std::int64_t>(8 * small);
        if (!wider) {  // a part of one element
            indices.back() = arithmetic(Op::floordiv, k, many, place);
            const ExprP whole = bits_as(word.dtype, element_at(array, std::move(indices), place), place);
            if (whole->type.is_none()) return whole;
            const ExprP part = arithmetic(Op::mod, k, many, place);
            const ExprP by = convert(arithmetic(Op::mul, part, ir::int_constant(width, place), place), word);
            return bits_as(
                to, ir::cast(ir::make(Op::shr, word, {whole, by}, place), ir::scalar(unsigned_of(small))),
                place);
        }
        ExprP all;
        for (std::int64_t j = 0; j < times; ++j) {
            indices.back() =
                arithmetic(Op::add, arithmetic(Op::mul, k, many, place), ir::int_constant(j, place), place);
            ExprP part = bits_as(unsigned_of(small), element_at(array, indices, place), place);
            if (part->type.is_none()) return part;
            part = ir::cast(part, word);
            if (j > 0)
                part =
                    ir::make(Op::shl, word,
                             {part, ir::constant(static_cast<std::uint64_t>(width * j), word, place)}, place);
            all = all ? ir::make(Op::bit_or, word, {all, part}, place) : part;
        }
        return bits_as(to, all, place);
    };
    Value made = expression_value({std::move(lengths), at, {{array, false, {}}}});
    Value own = array;
    own.viewed = to;
    auto named = *made.expression;
    named.alias = std::make_shared<const Value>(std::move(own));
    return expression_value(std::move(named));
}

/// v[i] = x of a view as another dtype: the element's bits, or those of each element that it covers.
void Lowering::store_viewed(const Value& base, std::vector<ExprP> indices, ExprP x, const Place& place) {
    Value array = *base.expression->alias;
    const DType to = *array.viewed, from = array.expr->type.dtype;
    array.viewed.reset();
    if (info(to).size < info(from).size)
        throw refused(
            place,
            fmt::format("a view of {} as the smaller {} is read in a kernel, not assigned: threads that "
                        "write parts of one element would undo each other's",
                        info(from).name, info(to).name),
            fmt::format("pass a.view(np.{}) to the kernel", info(to).name));
    if (x->type.is_none()) return;
    x = spill(convert(std::move(x), ir::scalar(to)));
    const auto times = static_cast<std::int64_t>(info(to).size / info(from).size);
    if (times == 1) return store(element(array, indices, place), bits_as(from, x, place), place);
    for (ExprP& i : indices) {
        if (i->type.is_none()) return;
        i = spill(i);
    }
    const ir::Type word = ir::scalar(unsigned_of(info(to).size));
    const DType part = unsigned_of(info(from).size);
    const ExprP all = spill(bits_as(word.dtype, x, place));
    const ExprP first = arithmetic(Op::mul, indices.back(), ir::int_constant(times, place), place);
    for (std::int64_t j = 0; j < times; ++j) {
        const auto by = static_cast<std::uint64_t>(j) * 8 * info(from).size;
        const ExprP bits =
            ir::cast(ir::make(Op::shr, word, {all, ir::constant(by, word, place)}, place), ir::scalar(part));
        indices.back() = arithmetic(Op::add, first, ir::int_constant(j, place), place);
        store(element(array, indices, place), bits_as(from, bits, place), place);
    }
}

/// What a name holds: where it is a view as another dtype, that view.
Value Lowering::as_viewed(Value v, const Place& place) {
    if (!v.viewed) return v;
    const DType as = *v.viewed;
    v.viewed.reset();
    return array_view(v, as, place);
}

}  // namespace xcuda::frontend

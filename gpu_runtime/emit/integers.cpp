#include "emit/integers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "passes/build.hpp"

namespace xcuda::emit {

using namespace ir;

namespace {

bool negates(const Expr& e) {
    const Expr* from = e.op == Op::neg ? e.args[0].get() : nullptr;
    if (e.op == Op::sub && passes::integer_of(e.args[0]) == 0) from = e.args[1].get();
    return from && from->op != Op::constant;
}

}  // namespace

std::string as_computed(const Writer& w, const Expr& e, std::string text) {
    if ((w.cpu() && e.type.lanes > 1) || !is_integer(e.type.dtype)) return text;  // lanes keep theirs
    const bool sums = e.op == Op::neg || e.op == Op::add || e.op == Op::sub || e.op == Op::mul;
    if (info(e.type.dtype).size >= 4) return !w.cpu() && negates(e) ? "xc_low(" + text + ")" : text;
    if (sums && e.type.dtype == DType::i16) return "xc_int16(" + text + ")";
    if (sums && e.type.dtype == DType::u16) return "xc_uint16(" + text + ")";
    return fmt::format("({}){}", info(e.type.dtype).cpp, text);
}

std::string low_bits(const Writer& w, const Expr& e, std::string a) {
    const ExprP& right = e.args[1]->op == Op::splat ? e.args[1]->args[0] : e.args[1];
    auto by = passes::integer_of(right);
    if (right->op == Op::constant)
        if (const auto* v = std::get_if<std::uint64_t>(&number_of(*right)))
            by = static_cast<std::int64_t>(std::min<std::uint64_t>(*v, INT64_MAX));
    const bool mask = e.op == Op::bit_and && by && *by >= 0x8000 && *by <= 0xffff;
    const bool rest = e.op == Op::mod && by && *by == 0x10000;
    const bool wide = !w.cpu() && is_integer(e.type.dtype) && info(e.type.dtype).size >= 4;
    return wide && (mask || rest) ? "xc_low(" + a + ")" : a;
}

std::string by_power_of_two(const Expr& e, const std::string& a) {
    if ((e.op != Op::floordiv && e.op != Op::mod) || !is_integer(e.type.dtype)) return {};
    const auto by = passes::integer_of(e.args[1]);
    if (!by || *by <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(*by))) return {};
    if (e.op == Op::mod) return fmt::format("({} & ({}){})", a, info(e.type.dtype).cpp, *by - 1);
    return fmt::format("({} >> {})", a, std::countr_zero(static_cast<std::uint64_t>(*by)));
}

std::string by_constant(const Writer& w, const Expr& e, const std::string& a) {
    const auto by = passes::integer_of(e.args[1]);
    if (w.cpu() || e.type.dtype != DType::u32 || !by || *by < 3 || *by > UINT32_MAX) return {};
    return fmt::format("{}<{}u>({})", e.op == Op::mod ? "xc_mod_by" : "xc_div_by", *by, a);
}

namespace {

bool is_length(const Expr& e) {
    if (e.op == Op::cast) return is_length(*e.args[0]);
    if (e.op == Op::dim) return std::get<Axis>(e.payload).value < e.args[0]->type.ndim;
    const auto* v = e.op == Op::constant ? std::get_if<std::int64_t>(&number_of(e)) : nullptr;
    return v && *v >= 0;
}

bool compares_int(const Expr& e, Op op) {
    return e.op == op && e.args[0]->op == Op::var && e.args[0]->type == scalar(DType::i32);
}

bool is_zero(const ExprP& e) { return passes::integer_of(e) == 0; }

// No memory, no call: may stand twice, or once for two.
bool computes_alone(const Expr& e) {
    if (e.op == Op::load || e.op == Op::atomic || e.op == Op::invoke || e.op == Op::call ||
        e.op == Op::print || std::holds_alternative<Access>(e.payload))
        return false;
    return std::all_of(e.args.begin(), e.args.end(), [](const ExprP& a) { return computes_alone(*a); });
}

/// A comparison of an int with a bound: at least `number`; or below `length`, or where there is none, `number`.
struct IntBound {
    const Expr* value = nullptr;
    bool lower = false;
    std::int64_t number = 0;
    const Expr* length = nullptr;
};

std::optional<IntBound> int_bound(const Expr& e) {
    if (e.op < Op::lt || e.op > Op::ge || !(e.args[0]->type == scalar(DType::i32)) ||
        !(e.args[1]->type == scalar(DType::i32)))
        return std::nullopt;
    const bool turned = e.args[0]->op == Op::constant;
    const ExprP &value = e.args[turned ? 1 : 0], &bound = e.args[turned ? 0 : 1];
    const bool less = (e.op == Op::lt || e.op == Op::le) != turned;  // the value is the smaller one
    const bool or_equal = e.op == Op::le || e.op == Op::ge;
    const auto number = passes::integer_of(bound);
    if (number) return IntBound{value.get(), !less, *number + (less == or_equal), nullptr};
    if (less && !or_equal && is_length(*bound)) return IntBound{value.get(), false, 0, bound.get()};
    return std::nullopt;
}

}  // namespace

std::string as_wrapped(Writer& w, const Expr& e) {
    const Expr &test = *e.args[0], &sum = *e.args[1];
    if (w.cpu() || !compares_int(test, Op::lt) || !is_zero(test.args[1]) || sum.op != Op::add ||
        !(e.type == scalar(DType::i32)) || !same(*sum.args[0], *test.args[0]) ||
        !same(*e.args[2], *test.args[0]) || !is_length(*sum.args[1]))
        return {};
    return fmt::format("xc_wrap({}, {})", w.expr(*e.args[2]), w.expr(*sum.args[1]));
}

std::string as_within(Writer& w, const Expr& a, const Expr& b) {
    if (w.cpu()) return {};
    auto low = int_bound(a), high = int_bound(b);
    if (low && !low->lower) std::swap(low, high);
    if (!low || !high || !low->lower || high->lower || !same(*low->value, *high->value) ||
        !computes_alone(*low->value))
        return {};
    if (high->length && low->number != 0) return {};  // it may be shorter
    if (!high->length && (high->number < low->number || high->number - low->number > INT32_MAX)) return {};
    const std::string value = w.expr(*low->value);
    if (high->length) return fmt::format("((u32){} < (u32){})", value, w.expr(*high->length));
    const std::string shifted = low->number == 0 ? "" : fmt::format(" - (u32)({})", low->number);
    return fmt::format("((u32){}{} < {}u)", value, shifted, high->number - low->number);
}

}  // namespace xcuda::emit

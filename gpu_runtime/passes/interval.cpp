#include "passes/interval.hpp"

#include <array>

namespace xcuda::passes {

using namespace ir;

namespace {

constexpr Whole most = Whole(1) << 100;  // products of two 64-bit bounds and their sums stay exact up to here

Whole bounded(Whole v) { return std::clamp(v, -most, most); }

Whole product(Whole a, Whole b) {
    Whole v;
    if (__builtin_mul_overflow(a, b, &v)) return (a < 0) == (b < 0) ? most : -most;
    return bounded(v);
}

Whole floor_div(Whole a, Whole b) {
    const Whole q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

Interval corners(std::initializer_list<Whole> values) { return {std::min(values), std::max(values)}; }

// The least 2^k - 1 that is no less than `v`, which is no less than 0.
Whole ones_over(Whole v) {
    Whole ones = 0;
    while (ones < v) ones = ones * 2 + 1;
    return ones;
}

Interval quotient(const Interval& a, const Interval& b) {
    Interval r;
    if (b.contains(0)) r = only(0);
    for (const Interval& side : {meet(b, {1, most}), meet(b, {-most, -1})}) {
        if (side.empty()) continue;
        r = hull(r, corners({floor_div(a.low, side.low), floor_div(a.low, side.high),
                             floor_div(a.high, side.low), floor_div(a.high, side.high)}));
    }
    return r;
}

Interval remainder(const Interval& a, const Interval& b) {
    Interval r;
    if (b.contains(0)) r = only(0);
    if (const Interval up = meet(b, {1, most}); !up.empty()) {
        if (a.low >= 0 && a.high < up.low)
            r = hull(r, a);
        else
            r = hull(r, {0, a.low >= 0 ? std::min(a.high, up.high - 1) : up.high - 1});
    }
    if (const Interval down = meet(b, {-most, -1}); !down.empty()) r = hull(r, {down.low + 1, 0});
    return r;
}

Interval shifted_left(const Interval& a, const Interval& n, const Interval& type) {
    if (n.low < 0 || n.high > 62) return type;
    const Whole least = Whole(1) << static_cast<int>(n.low), greatest = Whole(1) << static_cast<int>(n.high);
    return corners(
        {product(a.low, least), product(a.low, greatest), product(a.high, least), product(a.high, greatest)});
}

Interval shifted_right(const Interval& a, const Interval& n) {
    const Whole end_low = a.low < 0 ? -1 : 0, end_high = a.high < 0 ? -1 : 0;
    if (n.low < 0 || n.low > 63) return {std::min(a.low, end_low), std::max(a.high, end_high)};
    const int least = static_cast<int>(n.low), greatest = static_cast<int>(std::min<Whole>(n.high, 64));
    return corners({a.low >> least, a.low >> greatest, a.high >> least, a.high >> greatest});
}

Interval bits_and(const Interval& a, const Interval& b) {
    if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
    if (a.low >= 0) return {0, a.high};
    if (b.low >= 0) return {0, b.high};
    return {-ones_over(-std::min(a.low, b.low)) - 1, std::max(a.high, b.high)};
}

Interval bits_or(const Interval& a, const Interval& b) {
    const Whole ones = ones_over(std::max({a.high, b.high, -a.low - 1, -b.low - 1, Whole(0)}));
    return {a.low >= 0 && b.low >= 0 ? 0 : -ones - 1, ones};
}

}  // namespace

Interval numbers_of(DType dtype) {
    if (dtype == DType::b1) return {0, 1};
    const int bits = static_cast<int>(info(dtype).size) * 8;
    if (!is_signed(dtype)) return {0, (Whole(1) << bits) - 1};
    return {-(Whole(1) << (bits - 1)), (Whole(1) << (bits - 1)) - 1};
}

Interval wrapped(const Interval& v, DType dtype) {
    const Interval type = numbers_of(dtype);
    return v.within(type) ? v : type;
}

Interval plus(const Interval& a, const Interval& b) {
    if (a.empty() || b.empty()) return {};
    return {bounded(a.low + b.low), bounded(a.high + b.high)};
}

Interval minus(const Interval& a, const Interval& b) {
    if (a.empty() || b.empty()) return {};
    return {bounded(a.low - b.high), bounded(a.high - b.low)};
}

Interval times(const Interval& a, const Interval& b) {
    if (a.empty() || b.empty()) return {};
    return corners(
        {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low), product(a.high, b.high)});
}

Interval of_operation(Op op, const Interval& a, const Interval& b, DType dtype) {
    if (a.empty() || b.empty()) return {};
    const Interval type = numbers_of(dtype);
    switch (op) {
        case Op::add: return wrapped(plus(a, b), dtype);
        case Op::sub: return wrapped(minus(a, b), dtype);
        case Op::mul: return wrapped(times(a, b), dtype);
        case Op::floordiv: return wrapped(quotient(a, b), dtype);
        case Op::mod: return wrapped(remainder(a, b), dtype);
        case Op::shl: return wrapped(shifted_left(a, b, type), dtype);
        case Op::shr: return wrapped(shifted_right(a, b), dtype);
        case Op::bit_and: return wrapped(bits_and(a, b), dtype);
        case Op::bit_or:
        case Op::bit_xor: return wrapped(bits_or(a, b), dtype);
        default: return type;
    }
}

Interval below(const Interval& a, const Interval& b, bool or_equal) {
    return {a.low, std::min(a.high, or_equal ? b.high : b.high - 1)};
}

Interval above(const Interval& a, const Interval& b, bool or_equal) {
    return {std::max(a.low, or_equal ? b.low : b.low + 1), a.high};
}

}  // namespace xcuda::passes

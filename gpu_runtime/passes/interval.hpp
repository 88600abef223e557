// Sets of integers between two bounds, wide enough for every integer type, and what the IR's operations make of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/expr.hpp"

namespace xcuda::passes {

__extension__ typedef __int128 Whole;

struct Interval {
    Whole low = 1, high = 0;  // inclusive; low > high: nothing

    bool empty() const { return low > high; }
    bool contains(Whole v) const { return low <= v && v <= high; }
    bool within(const Interval& other) const { return empty() || (other.low <= low && high <= other.high); }
    bool operator==(const Interval&) const = default;
};

inline Interval only(Whole v) { return {v, v}; }
inline Interval meet(const Interval& a, const Interval& b) {
    return {std::max(a.low, b.low), std::min(a.high, b.high)};
}
inline Interval hull(const Interval& a, const Interval& b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

inline constexpr Interval int32_numbers{INT32_MIN, INT32_MAX};

/// What an integer or bool of the type can be.
XCUDA_API Interval numbers_of(DType dtype);
/// `v` where every number of it is one of the type's; else all of the type's, since it may have wrapped.
XCUDA_API Interval wrapped(const Interval& v, DType dtype);

// As exact numbers, before any wrapping. Empty where an operand is.
XCUDA_API Interval plus(const Interval& a, const Interval& b);
XCUDA_API Interval minus(const Interval& a, const Interval& b);
XCUDA_API Interval times(const Interval& a, const Interval& b);
/// Of an operation on two integers of a type: sums, products, divisions (0 where the divisor is), shifts, bits.
XCUDA_API Interval of_operation(ir::Op op, const Interval& a, const Interval& b, DType dtype);

/// Those of `a` that can be less than (`or_equal`: at most) some of `b`, and the other way round.
XCUDA_API Interval below(const Interval& a, const Interval& b, bool or_equal);
XCUDA_API Interval above(const Interval& a, const Interval& b, bool or_equal);

}  // namespace xcuda::passes

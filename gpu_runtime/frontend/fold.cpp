#include "frontend/fold.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/float8.hpp"

namespace xcuda::frontend {
namespace {

using ir::Number;
using ir::Op;
using Wide = __int128;
using Complex = std::complex<double>;
using Result = Folded::Result;

Wide wide(const Number& n) {
    if (const bool* b = std::get_if<bool>(&n)) return *b ? 1 : 0;
    if (const auto* i = std::get_if<std::int64_t>(&n)) return *i;
    if (const auto* u = std::get_if<std::uint64_t>(&n)) return static_cast<Wide>(*u);
    return 0;
}

constexpr Wide lowest = -(Wide(1) << 63), highest = (Wide(1) << 64) - 1;

Folded integer(Wide value) {
    if (value < lowest || value > highest) return {Result::too_big, {}};
    if (value > std::numeric_limits<std::int64_t>::max())
        return {Result::done, static_cast<std::uint64_t>(value)};
    return {Result::done, static_cast<std::int64_t>(value)};
}

Folded product(Wide a, Wide b) {
    Wide value;
    return __builtin_mul_overflow(a, b, &value) ? Folded{Result::too_big, {}} : integer(value);
}

Folded real(double value) { return {Result::done, value}; }
Folded boolean(bool value) { return {Result::done, value}; }

Wide floor_div(Wide a, Wide b) {
    const Wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

Folded int_power(Wide base, Wide exponent) {
    if (exponent < 0)
        return base == 0 ? Folded{}
                         : real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    if (base == 0 || base == 1) return integer(exponent == 0 ? 1 : base);
    if (base == -1) return integer(exponent % 2 ? -1 : 1);
    Wide result = 1;
    for (Wide i = 0; i < exponent; ++i) {
        if (__builtin_mul_overflow(result, base, &result) || result < lowest || result > highest)
            return {Result::too_big, {}};
    }
    return integer(result);
}

Folded fold_integers(Op op, const Number& x, const Number& y) {
    const Wide a = wide(x), b = wide(y);
    const bool bools = std::holds_alternative<bool>(x) && std::holds_alternative<bool>(y);
    const auto bits = [&](Wide value) { return bools ? boolean(value != 0) : integer(value); };
    switch (op) {
        case Op::add: return integer(a + b);
        case Op::sub: return integer(a - b);
        case Op::mul: return product(a, b);
        case Op::truediv: return b == 0 ? Folded{} : real(static_cast<double>(a) / static_cast<double>(b));
        case Op::floordiv: return b == 0 ? Folded{} : integer(floor_div(a, b));
        case Op::mod: return b == 0 ? Folded{} : integer(a - floor_div(a, b) * b);
        case Op::pow: return int_power(a, b);
        case Op::shl:
            if (b < 0) return {};
            if (a == 0) return integer(0);
            return b > 64 ? Folded{Result::too_big, {}} : product(a, Wide(1) << static_cast<int>(b));
        case Op::shr:
            return b < 0 ? Folded{} : integer(b > 100 ? (a < 0 ? -1 : 0) : a >> static_cast<int>(b));
        case Op::bit_and: return bits(a & b);
        case Op::bit_or: return bits(a | b);
        case Op::bit_xor: return bits(a ^ b);
        case Op::lt: return boolean(a < b);
        case Op::le: return boolean(a <= b);
        case Op::gt: return boolean(a > b);
        case Op::ge: return boolean(a >= b);
        case Op::eq: return boolean(a == b);
        case Op::ne: return boolean(a != b);
        default: return {};
    }
}

double python_mod(double a, double b) {
    double r = std::fmod(a, b);
    if (r != 0 && (b < 0) != (r < 0)) r += b;
    return r == 0 ? std::copysign(0.0, b) : r;
}

double python_floordiv(double a, double b) {
    double q = (a - std::fmod(a, b)) / b;
    const double r = std::fmod(a, b);
    if (r != 0 && (b < 0) != (r < 0)) q -= 1;
    if (q == 0) return std::copysign(0.0, a / b);
    const double whole = std::floor(q);
    return q - whole > 0.5 ? whole + 1 : whole;
}

Folded fold_reals(Op op, double a, double b) {
    switch (op) {
        case Op::add: return real(a + b);
        case Op::sub: return real(a - b);
        case Op::mul: return real(a * b);
        case Op::truediv: return b == 0 ? Folded{} : real(a / b);
        case Op::floordiv: return b == 0 ? Folded{} : real(python_floordiv(a, b));
        case Op::mod: return b == 0 ? Folded{} : real(python_mod(a, b));
        case Op::pow: return real(std::pow(a, b));
        case Op::lt: return boolean(a < b);
        case Op::le: return boolean(a <= b);
        case Op::gt: return boolean(a > b);
        case Op::ge: return boolean(a >= b);
        case Op::eq: return boolean(a == b);
        case Op::ne: return boolean(a != b);
        default: return {};
    }
}

// Written out: std::complex's product mends infinities, Python's does not. Quotients and powers are the kernel's.
Folded fold_complex(Op op, const Complex& a, const Complex& b) {
    const auto done = [](double re, double im) { return Folded{Result::done, Complex(re, im)}; };
    switch (op) {
        case Op::add: return done(a.real() + b.real(), a.imag() + b.imag());
        case Op::sub: return done(a.real() - b.real(), a.imag() - b.imag());
        case Op::mul:
            return done(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
        case Op::eq: return boolean(a == b);
        case Op::ne: return boolean(a != b);
        default: return {};
    }
}

}  // namespace

double as_double(const Number& n) { return ir::real_of(n); }

std::complex<double> as_complex(const Number& n) {
    if (const auto* z = std::get_if<Complex>(&n)) return *z;
    return {ir::real_of(n), 0.0};
}

bool truthy(const Number& n) {
    if (const auto* z = std::get_if<Complex>(&n)) return *z != 0.0;
    if (const double* d = std::get_if<double>(&n)) return *d != 0;
    return wide(n) != 0;
}

bool is_integral(const Number& n) {
    return !std::holds_alternative<double>(n) && !std::holds_alternative<Complex>(n);
}

bool fits(const Number& n, DType dtype) {
    const DTypeInfo& d = info(dtype);
    const int bits = static_cast<int>(d.size) * 8;
    const Wide value = wide(n);
    if (d.kind == DKind::signed_int)
        return value >= -(Wide(1) << (bits - 1)) && value < (Wide(1) << (bits - 1));
    if (d.kind == DKind::unsigned_int) return value >= 0 && value < (Wide(1) << bits);
    return true;
}

namespace {

// The nearest number of half precision, ties to even.
double rounded_to_half(double x) {
    if (!std::isfinite(x) || x == 0) return x;
    const int exponent = std::max(std::ilogb(x), -14);  // below: subnormal, of one spacing
    const double spacing = std::ldexp(1.0, exponent - 10);
    const double rounded = std::nearbyint(x / spacing) * spacing;
    return std::abs(rounded) > 65504.0 ? std::copysign(INFINITY, x) : rounded;
}

// The upper half of a float32, ties to even; to float32 it is rounded to odd: what the second rounding must know is kept.
double rounded_to_bfloat(double x) {
    if (std::isnan(x)) return x;
    const auto near = static_cast<float>(x);
    auto bits = std::bit_cast<std::uint32_t>(near);
    if (near != x && !std::isinf(near)) bits = (bits - (std::abs(double(near)) > std::abs(x))) | 1;
    bits += 0x7fff + (bits >> 16 & 1);
    return std::bit_cast<float>(bits & 0xffff0000u);
}

}  // namespace

namespace {

// A number whose last bit tells of what a double can't hold.
double as_double_to_odd(const Number& n) {
    const auto* whole = std::get_if<std::int64_t>(&n);
    const auto* u = std::get_if<std::uint64_t>(&n);
    if (!whole && !u) return as_double(n);
    const bool negative = whole && *whole < 0;
    const std::uint64_t size = u ? *u : negative ? 0 - static_cast<std::uint64_t>(*whole) : *whole;
    const double kept = size >> 53 ? static_cast<double>(size >> 11 | ((size & 2047) != 0)) * 2048.0
                                   : static_cast<double>(size);
    return negative ? -kept : kept;
}

// A float as an integer of the dtype, before it is cut to its width: out of range what the preludes' xc_cast leaves.
std::int64_t cast_bits(double x, const DTypeInfo& d) {
    const auto to_i64 = [](double v) {
        return v >= -0x1p63 && v < 0x1p63 ? static_cast<std::int64_t>(v) : INT64_MIN;
    };
    if (d.dtype == DType::u64 && x >= 0x1p63) return to_i64(x - 0x1p63) ^ INT64_MIN;
    if (d.size == 8 || d.dtype == DType::u32) return to_i64(x);
    return x > -2147483649.0 && x < 2147483648.0 ? static_cast<std::int64_t>(x) : INT32_MIN;
}

}  // namespace

Number to_dtype(const Number& n, DType dtype) {
    const DTypeInfo& d = info(dtype);
    if (d.kind == DKind::boolean) return truthy(n);
    if (d.kind == DKind::complex) {
        const Complex z = as_complex(n);
        if (dtype == DType::c128) return z;
        return Complex(static_cast<float>(z.real()), static_cast<float>(z.imag()));
    }
    if (dtype == DType::f16) return rounded_to_half(as_double(n));
    if (dtype == DType::bf16) return rounded_to_bfloat(as_double_to_odd(n));
    if (is_float8(dtype)) return float8_value(float8_bits(as_double(n), dtype), dtype);
    if (d.kind == DKind::floating)
        return d.size == 4 ? static_cast<double>(static_cast<float>(as_double(n))) : as_double(n);
    const double* real = std::get_if<double>(&n);
    const Wide value = real ? Wide(cast_bits(*real, d)) : wide(n);
    const int shift = 64 - static_cast<int>(d.size) * 8;
    const auto low = static_cast<std::uint64_t>(value) << shift;
    if (d.kind == DKind::unsigned_int) return low >> shift;
    return static_cast<std::int64_t>(low) >> shift;
}

Folded fold(Op op, const Number& a, const Number& b) {
    if (is_integral(a) && is_integral(b)) return fold_integers(op, a, b);
    if (std::holds_alternative<Complex>(a) || std::holds_alternative<Complex>(b))
        return fold_complex(op, as_complex(a), as_complex(b));
    return fold_reals(op, as_double(a), as_double(b));
}

Folded fold(Op op, const Number& a) {
    switch (op) {
        case Op::neg:
            if (const auto* z = std::get_if<Complex>(&a)) return {Result::done, -*z};
            return is_integral(a) ? integer(-wide(a)) : real(-std::get<double>(a));
        case Op::bit_not: return is_integral(a) ? integer(~wide(a)) : Folded{};
        case Op::logic_not: return boolean(!truthy(a));
        default: return {};
    }
}

}  // namespace xcuda::frontend

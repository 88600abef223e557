#include "launch/converted.hpp"

#include <bit>
#include <complex>

#include "frontend/fold.hpp"

namespace xcuda::launch {
namespace {

ir::Number number_of(const Argument& a) {
    switch (a.dtype) {
        case DType::b1: return (a.bits & 1) != 0;
        case DType::u64: return a.bits;
        case DType::f64: return std::bit_cast<double>(a.bits);
        case DType::c128:
            return std::complex<double>(std::bit_cast<double>(a.bits), std::bit_cast<double>(a.more_bits));
        default: return static_cast<std::int64_t>(a.bits);
    }
}

// Also the bits of a number of the other sign, as numba takes them: 0xffffffff for an int32.
bool fits_width(const ir::Number& n, DType to) {
    if (frontend::fits(n, to)) return true;
    for (const DTypeInfo& d : all_dtypes())
        if (is_integer(d.dtype) && d.size == info(to).size && frontend::fits(n, d.dtype)) return true;
    return false;
}

std::uint64_t float_bits(double x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }

}  // namespace

bool convert_scalar(Argument& a, DType to) {
    const ir::Number given = number_of(a);
    if (is_integer(to) && frontend::is_integral(given) && !fits_width(given, to)) return false;
    const ir::Number n = frontend::to_dtype(given, to);
    a.weak = false;
    a.dtype = to;
    a.more_bits = 0;
    if (const auto* z = std::get_if<std::complex<double>>(&n)) {
        if (to == DType::c64) {
            a.bits = float_bits(z->real()) | float_bits(z->imag()) << 32;
        } else {
            a.bits = std::bit_cast<std::uint64_t>(z->real());
            a.more_bits = std::bit_cast<std::uint64_t>(z->imag());
        }
    } else if (const auto* x = std::get_if<double>(&n)) {
        a.bits = to == DType::f32 ? float_bits(*x) : std::bit_cast<std::uint64_t>(*x);
    } else if (const auto* b = std::get_if<bool>(&n)) {
        a.bits = *b;
    } else {
        const auto* u = std::get_if<std::uint64_t>(&n);
        a.bits = u ? *u : static_cast<std::uint64_t>(std::get<std::int64_t>(n));
        if (info(to).size < 8) a.bits &= (std::uint64_t{1} << 8 * info(to).size) - 1;
    }
    return true;
}

}  // namespace xcuda::launch

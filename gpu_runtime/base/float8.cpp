#include "base/float8.hpp"

#include <cmath>

namespace xcuda {
namespace {

struct Format {
    int fraction, bias;
    std::uint8_t most, beyond, nan;  // the largest number; what is above it; nan
};

Format format_of(DType d) {
    if (d == DType::f8e4m3) return {3, 7, 0x7e, 0x7f, 0x7f};
    return {2, 15, 0x7b, 0x7c, 0x7e};
}

}  // namespace

double float8_value(std::uint8_t bits, DType d) {
    if (d == DType::f8e8m0) return bits == 0xff ? std::nan("") : std::ldexp(1.0, bits - 127);
    const Format f = format_of(d);
    const int code = bits & 0x7f, exponent = code >> f.fraction, fraction = code & ((1 << f.fraction) - 1);
    double size = exponent ? std::ldexp((1 << f.fraction) + fraction, exponent - f.bias - f.fraction)
                           : std::ldexp(fraction, 1 - f.bias - f.fraction);
    if (code > f.most) size = d == DType::f8e5m2 && code == f.beyond ? INFINITY : std::nan("");
    return bits & 0x80 ? -size : size;
}

std::uint8_t float8_bits(double x, DType d) {
    if (d ==
        DType::f8e8m0) {  // powers of two: no sign, no zero, no infinity; between two, the nearer or the upper one
        if (!(x > 0) || std::isinf(x)) return 0xff;
        if (x < 0x1p-127) return 0;
        int exponent = 0;
        const double part = std::frexp(x, &exponent);  // in [0.5, 1)
        const int code = exponent - 1 + 127 + (part >= 0.75);
        return static_cast<std::uint8_t>(code > 254 ? 255 : code);
    }
    const Format f = format_of(d);
    const std::uint8_t sign = std::signbit(x) ? 0x80 : 0;
    if (std::isnan(x)) return sign | f.nan;
    if (std::isinf(x)) return sign | f.beyond;
    if (x == 0) return sign;
    const int lowest = 1 - f.bias,
              exponent = std::max(std::ilogb(x), lowest);  // below: subnormal, of one spacing
    const double spacing = std::ldexp(1.0, exponent - f.fraction);
    const double steps = std::nearbyint(std::abs(x) / spacing);  // an exact division
    const double code = (exponent - lowest) * (1 << f.fraction) + steps;
    return sign | (code > f.most ? f.beyond : static_cast<std::uint8_t>(code));
}

}  // namespace xcuda

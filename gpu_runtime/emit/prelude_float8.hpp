// The 8-bit floating formats as they lie in memory, for both devices: only in kernels that hold one, and only cast from
// float32 or float64 and to float32. Rounded to the nearest, ties to even, as ml_dtypes has it.
template <class T>
struct xc_float_layout {
    typedef u32 word;
    static constexpr int fraction = 23, bias = 127;
};
template <>
struct xc_float_layout<f64> {
    typedef u64 word;
    static constexpr int fraction = 52, bias = 1023;
};
// A format of `m` fraction bits whose largest number is `most`; what is above it becomes `beyond`, and nan `nan`.
template <int m, int bias, class T>
XC_FN u8 xc_to_float8(T x, u8 most, u8 beyond, u8 nan) {
    typedef xc_float_layout<T> from;
    typedef typename from::word word;
    constexpr int width = sizeof(word) * 8;
    const word bits = xc_bits_of(x), size = bits << 1 >> 1, one = (word)1;
    const u8 sign = (u8)(bits >> (width - 8) & 0x80);
    if (xc_isnan(x)) return sign | nan;
    if (xc_isinf(x)) return sign | beyond;
    const int exponent = (int)(size >> from::fraction);
    int place = exponent - from::bias + bias, shift = from::fraction - m;
    if (place < 1) shift += 1 - place, place = 1;
    if (exponent == 0 || shift > from::fraction + 1) return sign;  // below half of the least one
    const word whole = (size & ((one << from::fraction) - 1)) | one << from::fraction;
    const word rest = whole & ((one << shift) - 1), half = one << (shift - 1);
    word kept = whole >> shift;
    kept += rest > half || (rest == half && (kept & 1));
    const int code = ((place - 1) << m) + (int)kept;
    return sign | (code > most ? beyond : (u8)code);
}
template <int m, int bias>
XC_FN f32 xc_from_float8(u8 bits) {
    const u32 sign = (u32)(bits & 0x80) << 24, exponent = (bits & 0x7f) >> m,
              fraction = bits & ((1 << m) - 1);
    union {
        u32 u;
        f32 f;
    } v;
    if (exponent == 0) {  // subnormal: a whole number of the least one's size
        v.u = (u32)(127 + 1 - bias - m) << 23;
        v.f *= (f32)fraction;
        v.u |= sign;
    } else {
        v.u = sign | (exponent + 127 - bias) << 23 | fraction << (23 - m);
    }
    return v.f;
}
template <class T>
XC_FN u8 xc_to_power(T x) {
    typedef xc_float_layout<T> from;
    typedef typename from::word word;
    const word bits = xc_bits_of(x);
    if (xc_isnan(x) || xc_isinf(x) || !(x > 0)) return 0xff;
    constexpr word half = (word)1 << (from::fraction - 1);
    int exponent = (int)(bits >> from::fraction) - from::bias + 127;
    const word fraction = bits & (2 * half - 1);
    if (from::bias == 127 && exponent == 0) return fraction >= half + half / 2 ? 1 : 0;  // subnormal float32
    exponent += fraction >= half;
    return exponent < 0 ? 0 : exponent > 254 ? 255 : (u8)exponent;
}
struct f8e4m3 {
    u8 bits;
    f8e4m3() = default;
    XC_MEMBER explicit f8e4m3(f32 x) { bits = xc_to_float8<3, 7>(x, 0x7e, 0x7f, 0x7f); }
    XC_MEMBER explicit f8e4m3(f64 x) { bits = xc_to_float8<3, 7>(x, 0x7e, 0x7f, 0x7f); }
    XC_MEMBER explicit operator f32() const {
        return (bits & 0x7f) == 0x7f ? XC_NAN32 : xc_from_float8<3, 7>(bits);
    }
};
struct f8e5m2 {
    u8 bits;
    f8e5m2() = default;
    XC_MEMBER explicit f8e5m2(f32 x) { bits = xc_to_float8<2, 15>(x, 0x7b, 0x7c, 0x7e); }
    XC_MEMBER explicit f8e5m2(f64 x) { bits = xc_to_float8<2, 15>(x, 0x7b, 0x7c, 0x7e); }
    XC_MEMBER explicit operator f32() const {
        if ((bits & 0x7f) > 0x7c) return XC_NAN32;
        return (bits & 0x7f) == 0x7c ? (bits & 0x80 ? -XC_INF32 : XC_INF32) : xc_from_float8<2, 15>(bits);
    }
};
struct f8e8m0 {  // powers of two: no sign, no zero, no infinity
    u8 bits;
    f8e8m0() = default;
    XC_MEMBER explicit f8e8m0(f32 x) { bits = xc_to_power(x); }
    XC_MEMBER explicit f8e8m0(f64 x) { bits = xc_to_power(x); }
    XC_MEMBER explicit operator f32() const {
        union {
            u32 u;
            f32 f;
        } v = {bits == 0 ? 0x00400000u : (u32)bits << 23};
        return bits == 0xff ? XC_NAN32 : v.f;
    }
};
template <>
struct xc_number<f8e4m3> {
    static constexpr bool real = true;
};
template <>
struct xc_number<f8e5m2> {
    static constexpr bool real = true;
};
template <>
struct xc_number<f8e8m0> {
    static constexpr bool real = true;
};
// numba's constructors and cvt functions: saturating where NumPy's casts overflow; nan in its one CUDA form.
template <class F>
XC_FN F xc_float8_of_bits(u8 bits) {
    F x;
    x.bits = bits;
    return x;
}
template <class T>
XC_FN u8 xc_float8_cvt(T x, i32 saturate, i32 e5m2) {
    if (xc_isnan(x)) return 0x7f;
    return e5m2 ? xc_to_float8<2, 15>(x, 0x7b, saturate ? 0x7b : 0x7c, 0x7f)
                : xc_to_float8<3, 7>(x, 0x7e, saturate ? 0x7e : 0x7f, 0x7f);
}
// cudaRoundMode: 0 to nearest is refused before; 1 towards zero, 2 up; zero and what is below becomes the least one.
template <class T>
XC_FN u8 xc_power_cvt(T x, i32 saturate, i32 up) {
    typedef xc_float_layout<T> from;
    typedef typename from::word word;
    if (xc_isnan(x)) return 0xff;
    const word bits = xc_bits_of(x) << 1 >> 1;  // without its sign, as CUDA has it
    if (xc_isinf(x)) return saturate ? 0xfe : 0xff;
    int exponent = (int)(bits >> from::fraction) - from::bias + 127;
    const word fraction = bits & (((word)1 << from::fraction) - 1);
    if (from::bias == 127 && exponent == 0) return up && fraction > (word)1 << (from::fraction - 1) ? 1 : 0;
    if (exponent < 0) return 0;
    exponent += up && fraction != 0;
    return exponent > 254 ? (saturate ? 0xfe : 0xff) : (u8)exponent;
}

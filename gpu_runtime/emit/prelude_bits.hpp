// Single instructions of CUDA that have no C++ name.
XC_DEVICE u32 xc_byte_perm(u32 x, u32 y, u32 selector) {
    const u64 both = (u64)y << 32 | x;
    u32 out = 0;
    for (int i = 0; i < 4; ++i) {
        const u32 digit = selector >> 4 * i & 7;
        out |= ((u32)(both >> 8 * digit) & 255) << 8 * i;
    }
    return out;
}
// x = mantissa * 2 ** exponent with 0.5 <= |mantissa| < 1; of 0, infinities and nan itself and 0, as Python has it.
XC_FN f32 xc_frexp(f32 x) {
    int e;
    return xc_isfinite(x) ? XC_LIBM(frexpf)(x, &e) : x;
}
XC_FN f64 xc_frexp(f64 x) {
    int e;
    return xc_isfinite(x) ? XC_LIBM(frexp)(x, &e) : x;
}
XC_FN i32 xc_exponent_of(f32 x) {
    int e = 0;
    if (xc_isfinite(x)) XC_LIBM(frexpf)(x, &e);
    return e;
}
XC_FN i32 xc_exponent_of(f64 x) {
    int e = 0;
    if (xc_isfinite(x)) XC_LIBM(frexp)(x, &e);
    return e;
}
// x without its whole part, with x's sign.
XC_FN f32 xc_modf(f32 x) { return xc_copysign(xc_isinf(x) ? 0.0f : x - XC_LIBM(truncf)(x), x); }
XC_FN f64 xc_modf(f64 x) { return xc_copysign(xc_isinf(x) ? 0.0 : x - XC_LIBM(trunc)(x), x); }

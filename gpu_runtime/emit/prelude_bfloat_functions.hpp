// CUDA's functions on bfloat16, for both devices: only in kernels that call one.
enum xc_bf16_mode { xc_bf16_rn, xc_bf16_rz, xc_bf16_rd, xc_bf16_ru };
XC_FN bf16 xc_bf16_bits(u16 bits) {
    bf16 x;
    x.bits = bits;
    return x;
}
// A float32, rounded in a direction: its upper half, or the next one away from zero.
template <xc_bf16_mode mode>
XC_FN bf16 xc_bf16_from(f32 x) {
    if constexpr (mode == xc_bf16_rn) return bf16(x);
    const u32 u = xc_bits_of(x);
    if (xc_isnan(x)) return bf16(x);
    const b1 away =
        (u & 0xffff) != 0 && ((mode == xc_bf16_ru && u >> 31 == 0) || (mode == xc_bf16_rd && u >> 31));
    return xc_bf16_bits((u16)((u >> 16) + away));
}
template <xc_bf16_mode mode>
XC_FN bf16 xc_bf16_whole(u64 size, b1 negative) {
    if (size == 0) return xc_bf16_bits(0);
    int top = 63;
    while (!(size >> top)) --top;
    u64 kept = size;
    if (top > 7) {
        const int shift = top - 7;
        const u64 rest = size & (((u64)1 << shift) - 1), half = (u64)1 << (shift - 1);
        kept = size >> shift;
        if (mode == xc_bf16_rn) kept += rest > half || (rest == half && (kept & 1));
        if ((mode == xc_bf16_ru && !negative) || (mode == xc_bf16_rd && negative)) kept += rest != 0;
    } else {
        kept = size << (7 - top);
    }
    return xc_bf16_bits(
        (u16)((negative ? 0x8000 : 0) + ((top + 126) << 7) + kept));  // kept holds the implicit one
}
template <xc_bf16_mode mode, class T>
XC_FN bf16 xc_bf16_from_int(T x) {
    const b1 negative = x < 0;
    return xc_bf16_whole<mode>(negative ? 0 - (u64)(i64)x : (u64)x, negative);
}
// To an integer: what is out of range becomes the nearest there is; nan 0, of 64 bits 2^63.
template <class T, xc_bf16_mode mode>
XC_FN T xc_bf16_to_int(bf16 b) {
    const f64 x = (f64)(f32)b;
    constexpr int width = sizeof(T) * 8;
    constexpr b1 is_signed = (T)-1 < (T)1;
    constexpr u64 top = is_signed ? ((u64)1 << (width - 1)) - 1 : ~(u64)0 >> (64 - width);
    if (xc_isnan(x)) return width == 64 ? (T)((u64)1 << 63) : (T)0;
    const f64 whole = mode == xc_bf16_rn   ? XC_LIBM(rint)(x)
                      : mode == xc_bf16_rz ? XC_LIBM(trunc)(x)
                      : mode == xc_bf16_rd ? XC_LIBM(floor)(x)
                                           : XC_LIBM(ceil)(x);
    if (whole >= (f64)top) return (T)top;  // of 64 bits (f64)top is one above it
    if (is_signed && whole <= -(f64)top - (width == 64 ? 0 : 1)) return (T)((u64)1 << (width - 1));
    if (!is_signed && whole <= 0) return 0;
    return is_signed ? (T)(i64)whole : (T)(u64)whole;
}
// a * b + c rounded once: the product is exact in float64, and the sum's own error says which way it was rounded.
XC_FN bf16 xc_bf16_fma(bf16 a, bf16 b, bf16 c) {
    const f64 p = (f64)(f32)a * (f64)(f32)b, z = (f64)(f32)c, s = p + z;
    if (xc_isnan(s) || xc_isinf(s)) return bf16((f32)s);
    const f64 t = s - p, error = (p - (s - t)) + (z - t);
    union {
        f64 f;
        u64 u;
    } v = {s};
    if (error != 0 && !(v.u & 1)) v.u += (error > 0) == (s > 0) ? 1 : -1;  // to odd
    return bf16(v.f);
}
XC_FN bf16 xc_bf16_sat(bf16 x) {
    const f32 f = (f32)x;
    return f > 0 ? f < 1 ? x : xc_bf16_bits(0x3f80) : xc_bf16_bits(0);  // nan becomes 0
}
XC_FN bf16 xc_bf16_relu(bf16 x) { return (f32)x < 0 || x.bits == 0x8000 ? xc_bf16_bits(0) : x; }
// Of a zero's two signs the positive one is the greater.
XC_FN bf16 xc_bf16_max(bf16 a, bf16 b, b1 keep_nan) {
    const f32 x = (f32)a, y = (f32)b;
    if (xc_isnan(x) || xc_isnan(y))
        return (xc_isnan(x) && xc_isnan(y)) || keep_nan ? xc_bf16_bits(0x7fff) : xc_isnan(x) ? b : a;
    return x == y ? (a.bits & 0x8000 ? b : a) : x > y ? a : b;
}
XC_FN bf16 xc_bf16_min(bf16 a, bf16 b, b1 keep_nan) {
    const f32 x = (f32)a, y = (f32)b;
    if (xc_isnan(x) || xc_isnan(y))
        return (xc_isnan(x) && xc_isnan(y)) || keep_nan ? xc_bf16_bits(0x7fff) : xc_isnan(x) ? b : a;
    return x == y ? (a.bits & 0x8000 ? a : b) : x < y ? a : b;
}

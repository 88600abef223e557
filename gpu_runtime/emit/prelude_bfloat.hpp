// bfloat16 as it lies in memory, for both devices: only in kernels that hold one. It is cast to float32 alone, and from
// any number, rounded once.
struct bf16 {
    u16 bits;
    bf16() = default;
    XC_MEMBER explicit bf16(f32 x) {
        const u32 u = xc_bits_of(x);
        bits = xc_isnan(x) ? (u16)(u >> 16 | 0x40) : (u16)((u + 0x7fff + (u >> 16 & 1)) >> 16);
    }
    // float32 by rounding to odd keeps what the second rounding must know.
    XC_MEMBER explicit bf16(f64 x) {
        const f32 near = (f32)x;
        union {
            u32 u;
            f32 f;
        } v = {xc_bits_of(near)};
        if ((f64)near != x && !xc_isnan(x) && !xc_isinf(near)) {
            if (xc_abs((f64)near) > xc_abs(x)) v.u -= 1;
            v.u |= 1;
        }
        bits = bf16(v.f).bits;
    }
    XC_MEMBER explicit bf16(i32 x) : bf16((f64)x) {}
    XC_MEMBER explicit bf16(u32 x) : bf16((f64)x) {}
    XC_MEMBER explicit bf16(u64 x) {  // 53 bits, the last of which tells of all below it
        bits = (x >> 53 ? bf16((f64)(x >> 11 | ((x & 2047) != 0)) * 2048.0) : bf16((f64)x)).bits;
    }
    XC_MEMBER explicit bf16(i64 x) { bits = (u16)(bf16((u64)(x < 0 ? 0 - (u64)x : (u64)x)).bits | (x < 0 ? 0x8000 : 0)); }
    XC_MEMBER explicit operator f32() const {
        union {
            u32 u;
            f32 f;
        } v = {(u32)bits << 16};
        return v.f;
    }
};
template <>
struct xc_number<bf16> {
    static constexpr bool real = true;
};

// bfloat16 as it lies in memory, for both devices: only in kernels that hold one, and only cast to float32 and back.
struct bf16 {
    u16 bits;
    bf16() = default;
    XC_MEMBER explicit bf16(f32 x) {
        const u32 u = xc_bits_of(x);
        bits = xc_isnan(x) ? (u16)(u >> 16 | 0x40) : (u16)((u + 0x7fff + (u >> 16 & 1)) >> 16);
    }
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

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

struct histogram_kernel_arguments {
    i32* bins; i64 bins_n[1], bins_s[1];
    u8* image; i64 image_n[1], image_s[1];
};
extern "C" const i64 histogram_kernel_shared_bytes = 0;
extern "C" const xc_cut histogram_kernel_cut = {0, 1, 1, 0};
extern "C" void histogram_kernel_domain(const xc_launch* L, const void* P, i64* xc_low, i64* xc_high) {
    const histogram_kernel_arguments& xc_args = *(const histogram_kernel_arguments*)P;
    i32* const bins = xc_args.bins;
    const i64 bins_n0 = xc_args.bins_n[0];
    u8* const image = xc_args.image;
    const i64 image_n0 = xc_args.image_n[0];
    xc_low[0] = 0;
    xc_high[0] = (((L->grid[0] * L->block[0]) < image_n0) ? (L->grid[0] * L->block[0]) : image_n0);
    xc_low[1] = 0;
    xc_high[1] = (L->grid[1] * L->block[1]);
    xc_low[2] = 0;
    xc_high[2] = (L->grid[2] * L->block[2]);
}
#define XC_HERE W, L, x, y, z, (-1), (-1), (-1)
extern "C" void histogram_kernel(const xc_launch* L, const void* P, xc_worker* W, const i64* xc_low, const i64* xc_high) {
    const histogram_kernel_arguments& xc_args = *(const histogram_kernel_arguments*)P;
    i32* const bins = xc_args.bins;
    const i64 bins_n0 = xc_args.bins_n[0];
    u8* const image = xc_args.image;
    const i64 image_n0 = xc_args.image_n[0];
    const i64 low_x = xc_low[0], high_x = xc_high[0];
    const i64 low_y = xc_low[1], high_y = xc_high[1];
    const i64 low_z = xc_low[2], high_z = xc_high[2];
    i64 x;
    i64 y;
    i64 z;
    for (z = low_z; z < high_z; z += 1) {
        for (y = low_y; y < high_y; y += 1) {
            for (x = low_x; x < high_x; x += 1) {
#line 4 "cell"
                xc_atomic_add(&bins[xc_index_nowrap(xc_cast<i64>(image[xc_index_nowrap(x, image_n0, 0, 0, XC_HERE)]), bins_n0, 1, 0, XC_HERE)], (i32)(i32)1);
            }
        }
    }
}
#undef XC_HERE

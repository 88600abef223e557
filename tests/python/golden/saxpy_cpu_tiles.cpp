typedef f32 f32x8 __attribute__((ext_vector_type(8)));
struct saxpy_kernel_arguments {
    f32* y; i64 y_n[1], y_s[1];
    f32* x; i64 x_n[1], x_s[1];
    alignas(8) f32 a;
};
extern "C" const i64 saxpy_kernel_shared_bytes = 0;
extern "C" const xc_cut saxpy_kernel_cut = {0, 8, 1, 0};
extern "C" void saxpy_kernel_domain(const xc_launch* L, const void* P, i64* xc_low, i64* xc_high) {
    const saxpy_kernel_arguments& xc_args = *(const saxpy_kernel_arguments*)P;
    f32* const y = xc_args.y;
    const i64 y_n0 = xc_args.y_n[0];
    f32* const x = xc_args.x;
    const i64 x_n0 = xc_args.x_n[0];
    f32 a = xc_args.a;
    xc_low[0] = 0;
    xc_high[0] = (((L->grid[0] * L->block[0]) < y_n0) ? (L->grid[0] * L->block[0]) : y_n0);
    xc_low[1] = 0;
    xc_high[1] = (L->grid[1] * L->block[1]);
    xc_low[2] = 0;
    xc_high[2] = (L->grid[2] * L->block[2]);
}
#define XC_HERE W, L, x__2, y__2, z, (-1), (-1), (-1)
extern "C" bool saxpy_kernel_tiles(const xc_launch* L, const void* P, xc_worker* W, const i64* xc_low, const i64* xc_high) {
    const saxpy_kernel_arguments& xc_args = *(const saxpy_kernel_arguments*)P;
    f32* const y = xc_args.y;
    const i64 y_n0 = xc_args.y_n[0];
    f32* const x = xc_args.x;
    const i64 x_n0 = xc_args.x_n[0];
    f32 a = xc_args.a;
    const i64 low_x = xc_low[0], high_x = xc_high[0];
    const i64 low_y = xc_low[1], high_y = xc_high[1];
    const i64 low_z = xc_low[2], high_z = xc_high[2];
    i64 tail;
    i64 x__2;
    i64 y__2;
    i64 z;
    i64 vector_end;
    i64 row_end;
    if ((!(((low_x >= 0) && ((high_x - 1) < x_n0)) && ((high_x - 1) < y_n0)))) {
        return false;
    }
    vector_end = (low_x + (xc_floordiv<i64>((((high_x - low_x) > 0) ? (high_x - low_x) : 0), 8) * 8));
    row_end = (low_y + (((high_y - low_y) > 0) ? (high_y - low_y) : 0));
    for (z = low_z; z < high_z; z += 1) {
        for (y__2 = low_y; y__2 < high_y; y__2 += 1) {
            for (x__2 = low_x; x__2 < vector_end; x__2 += 8) {
#line 4 "cell"
                xc_vstore(&y[x__2], ((((f32x8)(a)) * xc_vload<f32x8>(&x[x__2])) + xc_vload<f32x8>(&y[x__2])));
            }
#line 1 "xcuda"
            for (x__2 = vector_end; x__2 < high_x; x__2 += 8) {
                tail = ((8 < (high_x - x__2)) ? 8 : (high_x - x__2));
#line 4 "cell"
                xc_vstore_n(&y[x__2], ((((f32x8)(a)) * xc_vload_n<f32x8>(&x[x__2], tail)) + xc_vload_n<f32x8>(&y[x__2], tail)), tail);
            }
        }
    }
#line 1 "xcuda"
    return true;
}
#undef XC_HERE
#define XC_HERE W, L, x__2, y__2, z, (-1), (-1), (-1)
extern "C" XC_COLD void saxpy_kernel(const xc_launch* L, const void* P, xc_worker* W, const i64* xc_low, const i64* xc_high) {
    const saxpy_kernel_arguments& xc_args = *(const saxpy_kernel_arguments*)P;
    f32* const y = xc_args.y;
    const i64 y_n0 = xc_args.y_n[0];
    f32* const x = xc_args.x;
    const i64 x_n0 = xc_args.x_n[0];
    f32 a = xc_args.a;
    const i64 low_x = xc_low[0], high_x = xc_high[0];
    const i64 low_y = xc_low[1], high_y = xc_high[1];
    const i64 low_z = xc_low[2], high_z = xc_high[2];
    i64 x__2;
    i64 y__2;
    i64 z;
    for (z = low_z; z < high_z; z += 1) {
        for (y__2 = low_y; y__2 < high_y; y__2 += 1) {
            for (x__2 = low_x; x__2 < high_x; x__2 += 1) {
#line 4 "cell"
                y[xc_index_nowrap(x__2, y_n0, 2, 0, XC_HERE)] = ((a * x[xc_index_nowrap(x__2, x_n0, 0, 0, XC_HERE)]) + y[xc_index_nowrap(x__2, y_n0, 1, 0, XC_HERE)]);
            }
        }
    }
}
#undef XC_HERE

typedef xc_vec<f32, 4> f32x4;
struct saxpy_kernel_arguments {
    f32* y; i64 y_n[1], y_s[1];
    f32* x; i64 x_n[1], x_s[1];
    alignas(8) f32 a;
};
#define XC_HERE F
extern "C" __global__ void saxpy_kernel(const saxpy_kernel_arguments xc_args, xc_fault* F) {
    f32* const y = xc_args.y;
    const i64 y_n0 = xc_args.y_n[0];
    f32* const x = xc_args.x;
    const i64 x_n0 = xc_args.x_n[0];
    f32 a = xc_args.a;
    i64 x__2;
    i64 y__2;
    i64 z;
    i64 lane;
    i64 lane__2;
    i64 lane__3;
    x__2 = (((i64)blockIdx.x * blockDim.x + threadIdx.x) * 4);
    y__2 = ((i64)blockIdx.y * blockDim.y + threadIdx.y);
    z = ((i64)blockIdx.z * blockDim.z + threadIdx.z);
    if ((((x__2 + 4) <= (((((i64)gridDim.x * blockDim.x) * 4) < y_n0) ? (((i64)gridDim.x * blockDim.x) * 4) : y_n0)) && (((x__2 >= 0) && ((x__2 + 3) < x_n0)) && ((x__2 + 3) < y_n0)))) {
#line 4 "cell"
        xc_vstore_unaligned(&y[(i32)(x__2)], xc_each<f32x4>([](f32 xc_0, f32 xc_1) { return (xc_0 + xc_1); }, xc_each<f32x4>([](f32 xc_0, f32 xc_1) { return (xc_0 * xc_1); }, xc_splat<f32x4>(a), xc_vload_unaligned<f32x4>(&x[(i32)(x__2)])), xc_vload_unaligned<f32x4>(&y[(i32)(x__2)])));
    } else {
#line 1 "xcuda"
        for (i64 xc_i0 = ((z > 0) ? z : 0), xc_stop0 = (((z + 1) < ((i64)gridDim.z * blockDim.z)) ? (z + 1) : ((i64)gridDim.z * blockDim.z)); xc_i0 < xc_stop0; xc_i0 += 1) {
            lane__3 = xc_i0;
            for (i64 xc_i1 = ((y__2 > 0) ? y__2 : 0), xc_stop1 = (((y__2 + 1) < ((i64)gridDim.y * blockDim.y)) ? (y__2 + 1) : ((i64)gridDim.y * blockDim.y)); xc_i1 < xc_stop1; xc_i1 += 1) {
                lane__2 = xc_i1;
                for (i64 xc_i2 = ((x__2 > 0) ? x__2 : 0), xc_stop2 = (((x__2 + 4) < (((((i64)gridDim.x * blockDim.x) * 4) < y_n0) ? (((i64)gridDim.x * blockDim.x) * 4) : y_n0)) ? (x__2 + 4) : (((((i64)gridDim.x * blockDim.x) * 4) < y_n0) ? (((i64)gridDim.x * blockDim.x) * 4) : y_n0)); xc_i2 < xc_stop2; xc_i2 += 1) {
                    lane = xc_i2;
#line 4 "cell"
                    y[(i32)(xc_index_nowrap(lane, y_n0, 2, 0, XC_HERE))] = ((a * x[(i32)(xc_index_nowrap(lane, x_n0, 0, 0, XC_HERE))]) + y[(i32)(xc_index_nowrap(lane, y_n0, 1, 0, XC_HERE))]);
                }
            }
        }
    }
}
#undef XC_HERE

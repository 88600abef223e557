struct block_sum_kernel_arguments {
    f32* out; i64 out_n[1], out_s[1];
    f32* x; i64 x_n[1], x_s[1];
};
#define XC_HERE F
extern "C" __global__ void block_sum_kernel(const block_sum_kernel_arguments xc_args, xc_fault* F) {
    f32* const out = xc_args.out;
    const i64 out_n0 = xc_args.out_n[0];
    f32* const x = xc_args.x;
    const i64 x_n0 = xc_args.x_n[0];
    u32 xc_turns = 0;
    __shared__ __align__(16) f32 s[64];
    i64 half;
#line 5 "cell"
    s[(i32)(xc_index_nowrap((i64)threadIdx.x, 64, 1, 0, XC_HERE))] = ((((i64)blockIdx.x * blockDim.x + threadIdx.x) < x_n0) ? x[(i32)(xc_index_nowrap(((i64)blockIdx.x * blockDim.x + threadIdx.x), x_n0, 0, 0, XC_HERE))] : 0.0f);
#line 6 "cell"
    __syncthreads();
#line 7 "cell"
    half = xc_floordiv<i64>((i64)blockDim.x, 2);
#line 8 "cell"
    while ((half > 0)) {
#line 1 "xcuda"
        xc_poll_seldom(xc_turns, 1, XC_HERE);
#line 9 "cell"
        if (((i64)threadIdx.x < half)) {
#line 10 "cell"
            s[(i32)(xc_index_nowrap((i64)threadIdx.x, 64, 2, 0, XC_HERE))] = (s[(i32)(xc_index_nowrap((i64)threadIdx.x, 64, 2, 0, XC_HERE))] + s[(i32)(xc_index_nowrap(((i64)threadIdx.x + half), 64, 3, 0, XC_HERE))]);
        }
#line 11 "cell"
        __syncthreads();
#line 12 "cell"
        half = xc_floordiv<i64>(half, 2);
    }
#line 13 "cell"
    if (((i64)threadIdx.x == 0)) {
#line 14 "cell"
        out[(i32)(xc_index_nowrap((i64)blockIdx.x, out_n0, 5, 0, XC_HERE))] = s[(i32)(xc_index_nowrap(0, 64, 4, 0, XC_HERE))];
    }
}
#undef XC_HERE

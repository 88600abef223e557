struct matrix_multiply_kernel_arguments {
    f32* A; i64 A_n[2], A_s[2];
    f32* B; i64 B_n[2], B_s[2];
    f32* C; i64 C_n[2], C_s[2];
};
#define XC_HERE F
extern "C" __global__ void matrix_multiply_kernel(const matrix_multiply_kernel_arguments xc_args, xc_fault* F) {
    f32* const A = xc_args.A;
    const i64 A_n0 = xc_args.A_n[0];
    const i64 A_n1 = xc_args.A_n[1];
    f32* const B = xc_args.B;
    const i64 B_n0 = xc_args.B_n[0];
    const i64 B_n1 = xc_args.B_n[1];
    f32* const C = xc_args.C;
    const i64 C_n0 = xc_args.C_n[0];
    const i64 C_n1 = xc_args.C_n[1];
    u32 xc_turns = 0;
    f32 temp;
    i64 k;
    i64 stretch;
    i64 stop;
    i64 stretch__2;
    i64 stop__2;
#line 3 "cell"
    if (((((i64)blockIdx.x * blockDim.x + threadIdx.x) < C_n0) && (((i64)blockIdx.y * blockDim.y + threadIdx.y) < C_n1))) {
#line 4 "cell"
        temp = 0.0f;
#line 1 "xcuda"
        if ((((((((i64)blockIdx.x * blockDim.x + threadIdx.x) >= 0) && (((i64)blockIdx.x * blockDim.x + threadIdx.x) < A_n0)) && ((A_n1 - 1) < B_n0)) && (((i64)blockIdx.y * blockDim.y + threadIdx.y) >= 0)) && (((i64)blockIdx.y * blockDim.y + threadIdx.y) < B_n1))) {
            if (true) {
#line 5 "cell"
                stop = A_n1;
                for (i64 xc_i0 = 0, xc_stop0 = stop; xc_i0 < xc_stop0; xc_i0 += 4096) {
                    stretch = xc_i0;
#line 1 "xcuda"
                    xc_poll_seldom(xc_turns, 16, XC_HERE);
#line 5 "cell"
                    for (i64 xc_i1 = stretch, xc_stop1 = (((stretch + 4096) < stop) ? (stretch + 4096) : stop); xc_i1 < xc_stop1; xc_i1 += 1) {
                        k = xc_i1;
#line 6 "cell"
                        temp = (temp + (A[((i32)(((i64)blockIdx.x * blockDim.x + threadIdx.x))) * (i32)(A_n1) + (i32)(k)] * B[((i32)(k)) * (i32)(B_n1) + (i32)(((i64)blockIdx.y * blockDim.y + threadIdx.y))]));
                    }
                }
            }
        } else {
#line 1 "xcuda"
            if (true) {
#line 5 "cell"
                stop__2 = A_n1;
                for (i64 xc_i2 = 0, xc_stop2 = stop__2; xc_i2 < xc_stop2; xc_i2 += 4096) {
                    stretch__2 = xc_i2;
#line 1 "xcuda"
                    xc_poll_seldom(xc_turns, 16, XC_HERE);
#line 5 "cell"
                    for (i64 xc_i3 = stretch__2, xc_stop3 = (((stretch__2 + 4096) < stop__2) ? (stretch__2 + 4096) : stop__2); xc_i3 < xc_stop3; xc_i3 += 1) {
                        k = xc_i3;
#line 6 "cell"
                        temp = (temp + (A[((i32)(xc_index_nowrap(((i64)blockIdx.x * blockDim.x + threadIdx.x), A_n0, 0, 0, XC_HERE))) * (i32)(A_n1) + (i32)(k)] * B[((i32)(xc_index_nowrap(k, B_n0, 1, 0, XC_HERE))) * (i32)(B_n1) + (i32)(xc_index_nowrap(((i64)blockIdx.y * blockDim.y + threadIdx.y), B_n1, 1, 1, XC_HERE))]));
                    }
                }
            }
        }
#line 7 "cell"
        C[((i32)(((i64)blockIdx.x * blockDim.x + threadIdx.x))) * (i32)(C_n1) + (i32)(((i64)blockIdx.y * blockDim.y + threadIdx.y))] = temp;
    }
}
#undef XC_HERE

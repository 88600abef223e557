typedef f32 f32x8 __attribute__((ext_vector_type(8)));
struct matrix_multiply_kernel_arguments {
    f32* A; i64 A_n[2], A_s[2];
    f32* B; i64 B_n[2], B_s[2];
    f32* C; i64 C_n[2], C_s[2];
};
extern "C" const i64 matrix_multiply_kernel_shared_bytes = 0;
extern "C" const xc_cut matrix_multiply_kernel_cut = {1, 16, 8, 2};
extern "C" void matrix_multiply_kernel_domain(const xc_launch* L, const void* P, i64* xc_low, i64* xc_high) {
    const matrix_multiply_kernel_arguments& xc_args = *(const matrix_multiply_kernel_arguments*)P;
    f32* const A = xc_args.A;
    const i64 A_n0 = xc_args.A_n[0];
    const i64 A_n1 = xc_args.A_n[1];
    f32* const B = xc_args.B;
    const i64 B_n0 = xc_args.B_n[0];
    const i64 B_n1 = xc_args.B_n[1];
    f32* const C = xc_args.C;
    const i64 C_n0 = xc_args.C_n[0];
    const i64 C_n1 = xc_args.C_n[1];
    xc_low[0] = 0;
    xc_high[0] = (((L->grid[0] * L->block[0]) < C_n0) ? (L->grid[0] * L->block[0]) : C_n0);
    xc_low[1] = 0;
    xc_high[1] = (((L->grid[1] * L->block[1]) < C_n1) ? (L->grid[1] * L->block[1]) : C_n1);
    xc_low[2] = 0;
    xc_high[2] = (L->grid[2] * L->block[2]);
}
#define XC_HERE W, L, x, y, z, (-1), (-1), (-1)
extern "C" bool matrix_multiply_kernel_tiles(const xc_launch* L, const void* P, xc_worker* W, const i64* xc_low, const i64* xc_high) {
    const matrix_multiply_kernel_arguments& xc_args = *(const matrix_multiply_kernel_arguments*)P;
    f32* const A = xc_args.A;
    const i64 A_n0 = xc_args.A_n[0];
    const i64 A_n1 = xc_args.A_n[1];
    f32* const B = xc_args.B;
    const i64 B_n0 = xc_args.B_n[0];
    const i64 B_n1 = xc_args.B_n[1];
    f32* const C = xc_args.C;
    const i64 C_n0 = xc_args.C_n[0];
    const i64 C_n1 = xc_args.C_n[1];
    const i64 low_x = xc_low[0], high_x = xc_high[0];
    const i64 low_y = xc_low[1], high_y = xc_high[1];
    const i64 low_z = xc_low[2], high_z = xc_high[2];
    i64 tail;
    i64 x;
    i64 y;
    i64 z;
    i64 vector_end;
    i64 row_end;
    f32x8 temp_0_0 = {};
    f32x8 temp_0_1 = {};
    f32x8 temp_1_0 = {};
    f32x8 temp_1_1 = {};
    f32x8 temp_2_0 = {};
    f32x8 temp_2_1 = {};
    f32x8 temp_3_0 = {};
    f32x8 temp_3_1 = {};
    f32x8 temp_4_0 = {};
    f32x8 temp_4_1 = {};
    f32x8 temp_5_0 = {};
    f32x8 temp_5_1 = {};
    f32x8 temp_6_0 = {};
    f32x8 temp_6_1 = {};
    f32x8 temp_7_0 = {};
    f32x8 temp_7_1 = {};
    i64 k__2;
    f32x8 temp__2 = {};
    i64 k__3;
    if ((!((((((((low_x >= 0) && ((high_x - 1) < A_n0)) && ((A_n1 - 1) < A_n1)) && ((A_n1 - 1) < B_n0)) && (low_y >= 0)) && ((high_y - 1) < B_n1)) && ((high_x - 1) < C_n0)) && ((high_y - 1) < C_n1)))) {
        return false;
    }
    vector_end = (low_y + (xc_floordiv<i64>((((high_y - low_y) > 0) ? (high_y - low_y) : 0), 16) * 16));
    row_end = (low_x + (xc_floordiv<i64>((((high_x - low_x) > 0) ? (high_x - low_x) : 0), 8) * 8));
    for (z = low_z; z < high_z; z += 1) {
        for (x = low_x; x < row_end; x += 8) {
            for (y = low_y; y < vector_end; y += 16) {
#line 4 "cell"
                temp_0_0 = ((f32x8)(0.0f));
                temp_0_1 = ((f32x8)(0.0f));
                temp_1_0 = ((f32x8)(0.0f));
                temp_1_1 = ((f32x8)(0.0f));
                temp_2_0 = ((f32x8)(0.0f));
                temp_2_1 = ((f32x8)(0.0f));
                temp_3_0 = ((f32x8)(0.0f));
                temp_3_1 = ((f32x8)(0.0f));
                temp_4_0 = ((f32x8)(0.0f));
                temp_4_1 = ((f32x8)(0.0f));
                temp_5_0 = ((f32x8)(0.0f));
                temp_5_1 = ((f32x8)(0.0f));
                temp_6_0 = ((f32x8)(0.0f));
                temp_6_1 = ((f32x8)(0.0f));
                temp_7_0 = ((f32x8)(0.0f));
                temp_7_1 = ((f32x8)(0.0f));
#line 5 "cell"
                for (i64 xc_i0 = 0, xc_stop0 = A_n1; xc_i0 < xc_stop0; xc_i0 += 1) {
                    k__2 = xc_i0;
#line 1 "xcuda"
                    xc_poll(L, W);
#line 6 "cell"
                    temp_0_0 = (temp_0_0 + (((f32x8)(A[(x) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + y])));
                    temp_0_1 = (temp_0_1 + (((f32x8)(A[(x) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + (y + 8)])));
                    temp_1_0 = (temp_1_0 + (((f32x8)(A[((x + 1)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + y])));
                    temp_1_1 = (temp_1_1 + (((f32x8)(A[((x + 1)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + (y + 8)])));
                    temp_2_0 = (temp_2_0 + (((f32x8)(A[((x + 2)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + y])));
                    temp_2_1 = (temp_2_1 + (((f32x8)(A[((x + 2)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + (y + 8)])));
                    temp_3_0 = (temp_3_0 + (((f32x8)(A[((x + 3)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + y])));
                    temp_3_1 = (temp_3_1 + (((f32x8)(A[((x + 3)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + (y + 8)])));
                    temp_4_0 = (temp_4_0 + (((f32x8)(A[((x + 4)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + y])));
                    temp_4_1 = (temp_4_1 + (((f32x8)(A[((x + 4)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + (y + 8)])));
                    temp_5_0 = (temp_5_0 + (((f32x8)(A[((x + 5)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + y])));
                    temp_5_1 = (temp_5_1 + (((f32x8)(A[((x + 5)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + (y + 8)])));
                    temp_6_0 = (temp_6_0 + (((f32x8)(A[((x + 6)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + y])));
                    temp_6_1 = (temp_6_1 + (((f32x8)(A[((x + 6)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + (y + 8)])));
                    temp_7_0 = (temp_7_0 + (((f32x8)(A[((x + 7)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + y])));
                    temp_7_1 = (temp_7_1 + (((f32x8)(A[((x + 7)) * A_n1 + k__2])) * xc_vload<f32x8>(&B[(k__2) * B_n1 + (y + 8)])));
                }
#line 7 "cell"
                xc_vstore(&C[(x) * C_n1 + y], temp_0_0);
                xc_vstore(&C[(x) * C_n1 + (y + 8)], temp_0_1);
                xc_vstore(&C[((x + 1)) * C_n1 + y], temp_1_0);
                xc_vstore(&C[((x + 1)) * C_n1 + (y + 8)], temp_1_1);
                xc_vstore(&C[((x + 2)) * C_n1 + y], temp_2_0);
                xc_vstore(&C[((x + 2)) * C_n1 + (y + 8)], temp_2_1);
                xc_vstore(&C[((x + 3)) * C_n1 + y], temp_3_0);
                xc_vstore(&C[((x + 3)) * C_n1 + (y + 8)], temp_3_1);
                xc_vstore(&C[((x + 4)) * C_n1 + y], temp_4_0);
                xc_vstore(&C[((x + 4)) * C_n1 + (y + 8)], temp_4_1);
                xc_vstore(&C[((x + 5)) * C_n1 + y], temp_5_0);
                xc_vstore(&C[((x + 5)) * C_n1 + (y + 8)], temp_5_1);
                xc_vstore(&C[((x + 6)) * C_n1 + y], temp_6_0);
                xc_vstore(&C[((x + 6)) * C_n1 + (y + 8)], temp_6_1);
                xc_vstore(&C[((x + 7)) * C_n1 + y], temp_7_0);
                xc_vstore(&C[((x + 7)) * C_n1 + (y + 8)], temp_7_1);
            }
        }
#line 1 "xcuda"
        for (x = low_x; x < high_x; x += 1) {
            for (y = ((x < row_end) ? vector_end : low_y); y < high_y; y += 8) {
                tail = ((8 < (high_y - y)) ? 8 : (high_y - y));
#line 4 "cell"
                temp__2 = ((f32x8)(0.0f));
#line 5 "cell"
                for (i64 xc_i1 = 0, xc_stop1 = A_n1; xc_i1 < xc_stop1; xc_i1 += 1) {
                    k__3 = xc_i1;
#line 1 "xcuda"
                    xc_poll(L, W);
#line 6 "cell"
                    temp__2 = (temp__2 + (((f32x8)(A[(x) * A_n1 + k__3])) * xc_vload_n<f32x8>(&B[(k__3) * B_n1 + y], tail)));
                }
#line 7 "cell"
                xc_vstore_n(&C[(x) * C_n1 + y], temp__2, tail);
            }
        }
    }
#line 1 "xcuda"
    return true;
}
#undef XC_HERE
#define XC_HERE W, L, x, y, z, (-1), (-1), (-1)
extern "C" XC_COLD void matrix_multiply_kernel(const xc_launch* L, const void* P, xc_worker* W, const i64* xc_low, const i64* xc_high) {
    const matrix_multiply_kernel_arguments& xc_args = *(const matrix_multiply_kernel_arguments*)P;
    f32* const A = xc_args.A;
    const i64 A_n0 = xc_args.A_n[0];
    const i64 A_n1 = xc_args.A_n[1];
    f32* const B = xc_args.B;
    const i64 B_n0 = xc_args.B_n[0];
    const i64 B_n1 = xc_args.B_n[1];
    f32* const C = xc_args.C;
    const i64 C_n0 = xc_args.C_n[0];
    const i64 C_n1 = xc_args.C_n[1];
    const i64 low_x = xc_low[0], high_x = xc_high[0];
    const i64 low_y = xc_low[1], high_y = xc_high[1];
    const i64 low_z = xc_low[2], high_z = xc_high[2];
    f32 temp;
    i64 k;
    i64 x;
    i64 y;
    i64 z;
    for (z = low_z; z < high_z; z += 1) {
        for (x = low_x; x < high_x; x += 1) {
            for (y = low_y; y < high_y; y += 1) {
#line 4 "cell"
                temp = 0.0f;
#line 5 "cell"
                for (i64 xc_i0 = 0, xc_stop0 = A_n1; xc_i0 < xc_stop0; xc_i0 += 1) {
                    k = xc_i0;
#line 1 "xcuda"
                    xc_poll(L, W);
#line 6 "cell"
                    temp = (temp + (A[(xc_index_nowrap(x, A_n0, 0, 0, XC_HERE)) * A_n1 + xc_index_nowrap(k, A_n1, 0, 1, XC_HERE)] * B[(xc_index_nowrap(k, B_n0, 1, 0, XC_HERE)) * B_n1 + xc_index_nowrap(y, B_n1, 1, 1, XC_HERE)]));
                }
#line 7 "cell"
                C[(xc_index_nowrap(x, C_n0, 2, 0, XC_HERE)) * C_n1 + xc_index_nowrap(y, C_n1, 2, 1, XC_HERE)] = temp;
            }
        }
    }
}
#undef XC_HERE

typedef i8 b1x8 __attribute__((ext_vector_type(8)));
typedef f32 f32x8 __attribute__((ext_vector_type(8)));
typedef i64 i64x8 __attribute__((ext_vector_type(8)));
struct block_sum_kernel_arguments {
    f32* out; i64 out_n[1], out_s[1];
    f32* x; i64 x_n[1], x_s[1];
};
extern "C" const i64 block_sum_kernel_shared_bytes = 0;
#define XC_HERE W, L, x__2, y, z, block_x, block_y, block_z
extern "C" void block_sum_kernel(const xc_launch* L, const void* P, xc_worker* W, i64 begin, i64 end) {
    const block_sum_kernel_arguments& xc_args = *(const block_sum_kernel_arguments*)P;
    f32* const out = xc_args.out;
    const i64 out_n0 = xc_args.out_n[0];
    f32* const x = xc_args.x;
    const i64 x_n0 = xc_args.x_n[0];
    alignas(64) f32 s[64];
    i64 half;
    i64 tail;
    i64 block_x;
    i64 block_y;
    i64 block_z;
    i64 x__2;
    i64 y;
    i64 z;
    i64 high_x;
    i64 vector_end;
    i64 piece;
    for (piece = begin; piece < end; piece += 1) {
        xc_poll(L, W);
        x__2 = 0;
        y = 0;
        z = 0;
        block_x = xc_mod<i64>(piece, L->grid[0]);
        block_y = xc_mod<i64>(xc_floordiv<i64>(piece, L->grid[0]), L->grid[1]);
        block_z = xc_floordiv<i64>(piece, (L->grid[0] * L->grid[1]));
        if (((((block_x * 64) >= 0) && (((block_x * 64) + 63) < x_n0)) && (63 < 64))) {
            for (z = 0; z < 1; z += 1) {
                for (y = 0; y < 1; y += 1) {
                    for (x__2 = 0; x__2 < 64; x__2 += 8) {
#line 5 "cell"
                        xc_vstore(&s[x__2], xc_select(__builtin_convertvector((((i64x8)((block_x * 64))) + ((i64x8)x__2 + i64x8{0, 1, 2, 3, 4, 5, 6, 7})) < ((i64x8)(x_n0)), b1x8), xc_vload<f32x8>(&x[((block_x * 64) + x__2)]), ((f32x8)(0.0f))));
                    }
                }
            }
        } else {
#line 1 "xcuda"
            [=, &s]() XC_COLD mutable {
                for (z = 0; z < 1; z += 1) {
                    for (y = 0; y < 1; y += 1) {
                        for (x__2 = 0; x__2 < 64; x__2 += 1) {
#line 5 "cell"
                            s[xc_index_nowrap(x__2, 64, 1, 0, XC_HERE)] = ((((block_x * 64) + x__2) < x_n0) ? x[xc_index_nowrap(((block_x * 64) + x__2), x_n0, 0, 0, XC_HERE)] : 0.0f);
                        }
                    }
                }
            }();
        }
#line 7 "cell"
        half = xc_floordiv<i64>(64, 2);
#line 8 "cell"
        while ((half > 0)) {
#line 1 "xcuda"
            xc_poll(L, W);
            high_x = ((64 < half) ? 64 : half);
            if (((((high_x - 1) < 64) && (half >= 0)) && ((half + (high_x - 1)) < 64))) {
                vector_end = (xc_floordiv<i64>(((high_x > 0) ? high_x : 0), 8) * 8);
                for (z = 0; z < 1; z += 1) {
                    for (y = 0; y < 1; y += 1) {
                        for (x__2 = 0; x__2 < vector_end; x__2 += 8) {
#line 10 "cell"
                            xc_vstore(&s[x__2], (xc_vload<f32x8>(&s[x__2]) + xc_vload<f32x8>(&s[(x__2 + half)])));
                        }
#line 1 "xcuda"
                        for (x__2 = vector_end; x__2 < high_x; x__2 += 8) {
                            tail = ((8 < (high_x - x__2)) ? 8 : (high_x - x__2));
#line 10 "cell"
                            xc_vstore_n(&s[x__2], (xc_vload_n<f32x8>(&s[x__2], tail) + xc_vload_n<f32x8>(&s[(x__2 + half)], tail)), tail);
                        }
                    }
                }
            } else {
#line 1 "xcuda"
                [=, &s]() XC_COLD mutable {
                    for (z = 0; z < 1; z += 1) {
                        for (y = 0; y < 1; y += 1) {
                            for (x__2 = 0; x__2 < high_x; x__2 += 1) {
#line 10 "cell"
                                s[xc_index_nowrap(x__2, 64, 2, 0, XC_HERE)] = (s[xc_index_nowrap(x__2, 64, 2, 0, XC_HERE)] + s[xc_index_nowrap((x__2 + half), 64, 3, 0, XC_HERE)]);
                            }
                        }
                    }
                }();
            }
#line 12 "cell"
            half = xc_floordiv<i64>(half, 2);
        }
#line 1 "xcuda"
        for (z = 0; z < 1; z += 1) {
            for (y = 0; y < 1; y += 1) {
                for (x__2 = 0; x__2 < 64; x__2 += 1) {
#line 13 "cell"
                    if ((x__2 == 0)) {
#line 14 "cell"
                        out[xc_index_nowrap(block_x, out_n0, 5, 0, XC_HERE)] = s[xc_index_nowrap(0, 64, 4, 0, XC_HERE)];
                    }
                }
            }
        }
    }
}
#undef XC_HERE

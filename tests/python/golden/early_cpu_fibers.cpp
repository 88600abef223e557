struct early_kernel_arguments {
    f32* out; i64 out_n[1], out_s[1];
    f32* x; i64 x_n[1], x_s[1];
    alignas(8) i64 n;
};
extern "C" const i64 early_kernel_shared_bytes = 128;
#define XC_HERE W, L, thread_x, thread_y, thread_z, block_x, block_y, block_z
static void early_kernel_thread(const xc_launch* L, const void* P, xc_worker* W, i64 thread_x, i64 thread_y, i64 thread_z, i64 block_x, i64 block_y, i64 block_z) {
    const early_kernel_arguments& xc_args = *(const early_kernel_arguments*)P;
    f32* const out = xc_args.out;
    const i64 out_n0 = xc_args.out_n[0];
    f32* const x = xc_args.x;
    const i64 x_n0 = xc_args.x_n[0];
    i64 n = xc_args.n;
    f32* const s = (f32*)(W->shared + 0);
#line 4 "cell"
    if ((thread_x < n)) {
#line 6 "cell"
        s[xc_index_nowrap(thread_x, 32, 1, 0, XC_HERE)] = x[xc_index_nowrap(thread_x, x_n0, 0, 0, XC_HERE)];
#line 7 "cell"
        W->barrier(W);
#line 8 "cell"
        out[xc_index_nowrap(thread_x, out_n0, 3, 0, XC_HERE)] = s[xc_index(((n - 1) - thread_x), 32, 2, 0, XC_HERE)];
    }
}
#undef XC_HERE
#define XC_HERE W, L, 0, 0, 0, 0, 0, 0
extern "C" void early_kernel(const xc_launch* L, const void* P, xc_worker* W, i64 begin, i64 end) {
    const early_kernel_arguments& xc_args = *(const early_kernel_arguments*)P;
    f32* const out = xc_args.out;
    const i64 out_n0 = xc_args.out_n[0];
    f32* const x = xc_args.x;
    const i64 x_n0 = xc_args.x_n[0];
    i64 n = xc_args.n;
    i64 piece;
    for (piece = begin; piece < end; piece += 1) {
        xc_poll(L, W);
        W->run_fibers(W, L, P, piece, early_kernel_thread);
    }
}
#undef XC_HERE

// print(): records in the launch's buffer, which the host reads once the launch is over (launch/printed). A part of the text only
// where it is used.
struct xc_print_buffer {
    u64 next, capacity, end, lost;  // in words after this; all records before `end` are whole
};
#ifdef XC_CPU
XC_DEVICE u64 xc_print_take(u64* p, u64 n) { return __atomic_fetch_add(p, n, __ATOMIC_RELAXED); }
XC_DEVICE void xc_print_least(u64* p, u64 x) {
    for (u64 old = __atomic_load_n(p, __ATOMIC_RELAXED);
         x < old && !__atomic_compare_exchange_n(p, &old, x, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);) {}
}
#define XC_PRINT_BUFFER ((xc_print_buffer*)L->print)
#else
XC_DEVICE u64 xc_print_take(u64* p, u64 n) { return atomicAdd(p, n); }
XC_DEVICE void xc_print_least(u64* p, u64 x) { atomicMin(p, x); }
#define XC_PRINT_BUFFER ((xc_print_buffer*)F->print)
#endif
template <class T>
XC_DEVICE u64 xc_print_word(T x) {
    union {
        u64 word;
        T value;
    } both = {0};
    both.value = x;
    return both.word;
}
template <class... V>
XC_DEVICE void xc_print(i32 site, XC_HERE_PARAMETERS, V... v) {
#ifdef XC_CPU
    if (xc_block_x < 0)  // told by global indices
        xc_block_x = xc_thread_x / L->block[0], xc_block_y = xc_thread_y / L->block[1],
        xc_block_z = xc_thread_z / L->block[2];
    const i64 block = xc_block_x + L->grid[0] * (xc_block_y + L->grid[1] * xc_block_z);
#else
    const i64 block = blockIdx.x + (i64)gridDim.x * (blockIdx.y + (i64)gridDim.y * blockIdx.z);
#endif
    constexpr u64 words = 2 + sizeof...(V);
    xc_print_buffer* const buffer = XC_PRINT_BUFFER;
    const u64 at = xc_print_take(&buffer->next, words);
    if (at + words > buffer->capacity) {
        xc_print_least(&buffer->end, at);
        xc_print_take(&buffer->lost, 1);
        return;
    }
    u64* const out = (u64*)(buffer + 1) + at;
    const u64 values[words] = {(u64)(u32)site | words << 32, (u64)block, xc_print_word(v)...};
    for (u64 i = 0; i < words; ++i) out[i] = values[i];
}

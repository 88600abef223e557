// Where threads meet: shuffles, votes, matches; barriers with a value; fences and clocks. A part of the text only where it is
// used.
template <class T>
union xc_warp_word {
    u64 bits;
    u32 part[2];
    T value;
};
template <class T>
XC_DEVICE u64 xc_warp_bits(T x) {
    xc_warp_word<T> word = {0};
    word.value = x;
    return word.bits;
}
// PTX' shfl: modes idx, up, down, xor.
XC_DEVICE i32 xc_shuffle_source(i32 mode, i32 lane, u32 by, u32 clamp) {
    const i32 b = by & 31, segment = clamp >> 8 & 31, c = clamp & 31;
    const i32 most = (lane & segment) | (c & ~segment & 31), least = lane & segment;
    const i32 j = mode == 0   ? least | (b & ~segment & 31)
                  : mode == 1 ? lane - b
                  : mode == 2 ? lane + b
                              : lane ^ b;
    return (mode == 1 ? j >= most : j <= most) ? j : -1;
}
XC_DEVICE b1 xc_shuffle_within(i32 mode, u32 lane, u32 by, u32 clamp) {
    return xc_shuffle_source(mode, (i32)lane, by, clamp) >= 0;
}
#ifndef XC_BEFORE_WARP  // of a kernel that is looked at: that a lane has come
#define XC_BEFORE_WARP(mask) (void)0
#endif
#ifdef XC_CPU
enum { XC_WARP_SYNC, XC_WARP_SHFL, XC_WARP_BALLOT, XC_WARP_MATCH, XC_WARP_ACTIVE };
#define XC_WARP(op, mask, value, source, site) \
    (XC_BEFORE_WARP(mask), W->warp(W, op, (i32)(site), (u32)(mask), value, source))
XC_DEVICE i32 xc_lane(XC_HERE_PARAMETERS) {
    return (i32)((xc_thread_x + L->block[0] * (xc_thread_y + L->block[1] * xc_thread_z)) & 31);
}
template <class T>
XC_DEVICE T xc_warp_shfl(i64 mask, T value, i64 by, i32 mode, i64 clamp, i64 site, XC_HERE_PARAMETERS) {
    const i32 from = xc_shuffle_source(
        mode, xc_lane(W, L, xc_thread_x, xc_thread_y, xc_thread_z, xc_block_x, xc_block_y, xc_block_z),
        (u32)by, (u32)clamp);
    const xc_warp_word<T> got = {XC_WARP(XC_WARP_SHFL, mask, xc_warp_bits(value), from, site)};
    return got.value;
}
XC_DEVICE i32 xc_warp_ballot(i64 mask, b1 p, i64 site, XC_HERE_PARAMETERS) {
    return (i32)(u32)XC_WARP(XC_WARP_BALLOT, mask, p, 0, site);
}
// The lanes that came, in the upper half: those of mask that have not ended.
XC_DEVICE b1 xc_warp_all(i64 mask, b1 p, i64 site, XC_HERE_PARAMETERS) {
    const u64 both = XC_WARP(XC_WARP_BALLOT, mask, p, 0, site);
    return (u32)both == (u32)(both >> 32);
}
XC_DEVICE b1 xc_warp_any(i64 mask, b1 p, i64 site, XC_HERE_PARAMETERS) {
    return (u32)XC_WARP(XC_WARP_BALLOT, mask, p, 0, site) != 0;
}
XC_DEVICE b1 xc_warp_eq(i64 mask, b1 p, i64 site, XC_HERE_PARAMETERS) {
    const u64 both = XC_WARP(XC_WARP_BALLOT, mask, p, 0, site);
    return (u32)both == 0 || (u32)both == (u32)(both >> 32);
}
template <class T>
XC_DEVICE i32 xc_warp_match_any(i64 mask, T value, i64 site, XC_HERE_PARAMETERS) {
    return (i32)(u32)XC_WARP(XC_WARP_MATCH, mask, xc_warp_bits(value), 0, site);
}
template <class T>
XC_DEVICE i64 xc_warp_match_all(i64 mask, T value, i64 site, XC_HERE_PARAMETERS) {
    const u64 both = XC_WARP(XC_WARP_MATCH, mask, xc_warp_bits(value), 0, site);
    return (u32)both == (u32)(both >> 32) ? (i64)((u32)both | 1ull << 32) : 0;
}
XC_DEVICE void xc_warp_sync(i64 mask, i64 site, XC_HERE_PARAMETERS) {
    XC_WARP(XC_WARP_SYNC, mask, 0, 0, site);
}
XC_DEVICE i32 xc_warp_active(i64 site, XC_HERE_PARAMETERS) {
    return (i32)(u32)XC_WARP(XC_WARP_ACTIVE, 0, 0, 0, site);
}
XC_DEVICE i32 xc_block_count(b1 p, i64 site, XC_HERE_PARAMETERS) {
    return (i32)(u32)W->barrier(W, (i32)site, p);
}
XC_DEVICE i32 xc_block_and(b1 p, i64 site, XC_HERE_PARAMETERS) {
    const u64 both = W->barrier(W, (i32)site, p);
    return (u32)both == (u32)(both >> 32);
}
XC_DEVICE i32 xc_block_or(b1 p, i64 site, XC_HERE_PARAMETERS) {
    return (u32)W->barrier(W, (i32)site, p) != 0;
}
XC_DEVICE void xc_order_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
XC_DEVICE void xc_order_fence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
XC_DEVICE void xc_order_fence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
struct xc_timespec {
    i64 seconds, nanoseconds;
};
extern "C" int nanosleep(const xc_timespec*, xc_timespec*);
XC_DEVICE void xc_order_sleep(u32 ns) {
    const xc_timespec time = {ns / 1000000000u, ns % 1000000000u};
    nanosleep(&time, nullptr);
}
XC_DEVICE i64 xc_order_clock() { return (i64)__builtin_readcyclecounter(); }
#else
XC_DEVICE i32 xc_laneid() {
    u32 lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return (i32)lane;
}
// A mask without the caller: the hardware would not come back, or give anything.
XC_DEVICE u32 xc_warp_mask(i64 mask, i64 site, XC_HERE_PARAMETERS) {
    const u32 m = (u32)mask;
    if (m != ~0u && site >= 0 && XC_UNLIKELY(!(m >> xc_laneid() & 1))) xc_fail((i32)site, XC_WARP, m, -2, F);
    XC_BEFORE_WARP(m);
    return m;
}
template <class T>
XC_DEVICE T xc_warp_shfl(i64 mask, T value, i64 by, i32 mode, i64 clamp, i64 site, XC_HERE_PARAMETERS) {
    const u32 m = xc_warp_mask(mask, site, F), b = (u32)by, c = (u32)clamp;
    xc_warp_word<T> word = {0};
    word.value = value;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(T) / 4); ++i) {
        u32 in = word.part[i], out;
        if (mode == 0)
            asm volatile("shfl.sync.idx.b32 %0, %1, %2, %3, %4;"
                         : "=r"(out)
                         : "r"(in), "r"(b), "r"(c), "r"(m)
                         : "memory");
        else if (mode == 1)
            asm volatile("shfl.sync.up.b32 %0, %1, %2, %3, %4;"
                         : "=r"(out)
                         : "r"(in), "r"(b), "r"(c), "r"(m)
                         : "memory");
        else if (mode == 2)
            asm volatile("shfl.sync.down.b32 %0, %1, %2, %3, %4;"
                         : "=r"(out)
                         : "r"(in), "r"(b), "r"(c), "r"(m)
                         : "memory");
        else
            asm volatile("shfl.sync.bfly.b32 %0, %1, %2, %3, %4;"
                         : "=r"(out)
                         : "r"(in), "r"(b), "r"(c), "r"(m)
                         : "memory");
        word.part[i] = out;
    }
    return word.value;
}
XC_DEVICE i32 xc_warp_ballot(i64 mask, b1 p, i64 site, XC_HERE_PARAMETERS) {
    return (i32)__ballot_sync(xc_warp_mask(mask, site, F), p);
}
XC_DEVICE b1 xc_warp_all(i64 mask, b1 p, i64 site, XC_HERE_PARAMETERS) {
    return __all_sync(xc_warp_mask(mask, site, F), p);
}
XC_DEVICE b1 xc_warp_any(i64 mask, b1 p, i64 site, XC_HERE_PARAMETERS) {
    return __any_sync(xc_warp_mask(mask, site, F), p);
}
XC_DEVICE b1 xc_warp_eq(i64 mask, b1 p, i64 site, XC_HERE_PARAMETERS) {
    return __uni_sync(xc_warp_mask(mask, site, F), p);
}
template <class T>
XC_DEVICE i32 xc_warp_match_any(i64 mask, T value, i64 site, XC_HERE_PARAMETERS) {
    const u32 m = xc_warp_mask(mask, site, F);
    const u64 bits = xc_warp_bits(value);
    u32 found;
    if (sizeof(T) == 4)
        asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(found) : "r"((u32)bits), "r"(m) : "memory");
    else
        asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(found) : "l"(bits), "r"(m) : "memory");
    return (i32)found;
}
template <class T>
XC_DEVICE i64 xc_warp_match_all(i64 mask, T value, i64 site, XC_HERE_PARAMETERS) {
    const u32 m = xc_warp_mask(mask, site, F);
    const u64 bits = xc_warp_bits(value);
    u32 found, same;
    if (sizeof(T) == 4)
        asm volatile("{ .reg .pred q; match.all.sync.b32 %0|q, %2, %3; selp.u32 %1, 1, 0, q; }"
                     : "=r"(found), "=r"(same)
                     : "r"((u32)bits), "r"(m)
                     : "memory");
    else
        asm volatile("{ .reg .pred q; match.all.sync.b64 %0|q, %2, %3; selp.u32 %1, 1, 0, q; }"
                     : "=r"(found), "=r"(same)
                     : "l"(bits), "r"(m)
                     : "memory");
    return (i64)(found | (u64)same << 32);
}
XC_DEVICE void xc_warp_sync(i64 mask, i64 site, XC_HERE_PARAMETERS) {
    __syncwarp(xc_warp_mask(mask, site, F));
}
XC_DEVICE i32 xc_warp_active(i64, XC_HERE_PARAMETERS) {
    u32 mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask)::"memory");
    return (i32)mask;
}
XC_DEVICE i32 xc_block_count(b1 p, i64, XC_HERE_PARAMETERS) { return __syncthreads_count(p); }
XC_DEVICE i32 xc_block_and(b1 p, i64, XC_HERE_PARAMETERS) { return __syncthreads_and(p) != 0; }
XC_DEVICE i32 xc_block_or(b1 p, i64, XC_HERE_PARAMETERS) { return __syncthreads_or(p) != 0; }
XC_DEVICE void xc_order_fence() { __threadfence(); }
XC_DEVICE void xc_order_fence_block() { __threadfence_block(); }
XC_DEVICE void xc_order_fence_system() { __threadfence_system(); }
XC_DEVICE void xc_order_sleep(u32 ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory"); }
XC_DEVICE i64 xc_order_clock() {
    i64 cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    return cycles;
}
#endif

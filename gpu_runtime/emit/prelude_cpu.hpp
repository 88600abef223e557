// What emitted kernels are made of on the CPU device. No standard headers: they cost more than the kernel.
typedef bool b1;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;

#define XC_CPU 1
#define XC_DEVICE \
    __attribute__((always_inline)) static inline  // also at -O1, which kernels of tiles are compiled with
#define XC_INLINE __attribute__((always_inline))
#define XC_COLD __attribute__((noinline, cold, minsize))
#define XC_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define XC_LIKELY(x) __builtin_expect(!!(x), 1)
#define XC_INF32 __builtin_inff()
#define XC_INF64 __builtin_inf()
#define XC_NAN32 __builtin_nanf("")
#define XC_NAN64 __builtin_nan("")

// device/cpu/abi.hpp
struct xc_launch {
    i64 grid[3];
    i64 block[3];
    i64 dynamic_shared_bytes;
    const volatile i32* stop;
    void* print;
};
struct xc_worker;
typedef void (*xc_thread)(const xc_launch*, const void*, xc_worker*, i64, i64, i64, i64, i64, i64);
struct xc_matrix_product {
    void* c;
    const void *a, *b;
    i64 m, n, k, of_double, a_turned, b_turned;
};
struct xc_worker {
    char* shared;
    void (*fail)(xc_worker*, i32 site, i32 kind, i64 value0, i64 value1, i64, i64, i64, i64, i64, i64);
    void (*run_fibers)(xc_worker*, const xc_launch*, const void*, i64 block, xc_thread);
    u64 (*barrier)(xc_worker*, i32 site, b1);
    void (*leave)(xc_worker*);
    u64 (*warp)(xc_worker*, i32 op, i32 site, u32 mask, u64 value, i32 source);
    u64 (*grid_barrier)(xc_worker*, i32 site);
    void (*run_grid)(xc_worker*, const xc_launch*, const void*, i64 shared_bytes, xc_thread);
    void (*give_way)(xc_worker*);
    u64 order;
    void (*product)(xc_worker*, const xc_launch*, const xc_matrix_product*);
};
struct xc_cut {
    i64 vector_axis, width, rows, weight;
};
#define XC_HERE_PARAMETERS                                                                               \
    xc_worker *W, const xc_launch *L, i64 xc_thread_x, i64 xc_thread_y, i64 xc_thread_z, i64 xc_block_x, \
        i64 xc_block_y, i64 xc_block_z

// device::FaultKind; the axis of an index, plus one, in the second byte.
enum { XC_INDEX = 1, XC_ZERO_DIVISION = 2, XC_ASSERTION = 3, XC_RAISED = 4, XC_UNBOUND = 7 };

__attribute__((noinline, cold, noreturn)) static void xc_fail(i32 site, i32 kind, i64 v0, i64 v1,
                                                              xc_worker* W, const xc_launch* L, i64 tx,
                                                              i64 ty, i64 tz, i64 bx, i64 by, i64 bz) {
    if (bx < 0) {  // told by global indices
        bx = tx / L->block[0], by = ty / L->block[1], bz = tz / L->block[2];
        tx %= L->block[0], ty %= L->block[1], tz %= L->block[2];
    }
    W->fail(W, site, kind, v0, v1, tx, ty, tz, bx, by, bz);
    __builtin_unreachable();
}
XC_DEVICE i64 xc_told(f64 x) { return __builtin_bit_cast(i64, x); }  // as a fault's value
XC_DEVICE void xc_poll(const xc_launch* L, xc_worker* W) {
    if (XC_UNLIKELY(*L->stop)) W->leave(W);
}
template <class T>
XC_DEVICE i64 xc_index(T i, i64 n, i32 site, i32 axis, XC_HERE_PARAMETERS) {
    const i64 k = (i64)i < 0 ? (i64)i + n : (i64)i;
    if (XC_UNLIKELY((u64)k >= (u64)n))
        xc_fail(site, XC_INDEX | (axis + 1) << 8, (i64)i, n, W, L, xc_thread_x, xc_thread_y, xc_thread_z,
                xc_block_x, xc_block_y, xc_block_z);
    return k;
}
template <class T>
XC_DEVICE i64 xc_index_nowrap(T i, i64 n, i32 site, i32 axis, XC_HERE_PARAMETERS) {
    if (XC_UNLIKELY((u64)(i64)i >= (u64)n))
        xc_fail(site, XC_INDEX | (axis + 1) << 8, (i64)i, n, W, L, xc_thread_x, xc_thread_y, xc_thread_z,
                xc_block_x, xc_block_y, xc_block_z);
    return (i64)i;
}
template <class T>
XC_DEVICE T xc_nonzero(T x, i32 site, XC_HERE_PARAMETERS) {
    if (XC_UNLIKELY(x == 0))
        xc_fail(site, XC_ZERO_DIVISION, 0, 0, W, L, xc_thread_x, xc_thread_y, xc_thread_z, xc_block_x,
                xc_block_y, xc_block_z);
    return x;
}
template <class T>
XC_DEVICE i64 xc_wrap(T i, i64 n) {
    return (i64)i < 0 ? (i64)i + n : (i64)i;
}

// Vectors: V is an ext_vector_type, T its element.
template <class V>
struct xc_lanes {
    static constexpr int n = __builtin_vectorelements(V);
};
template <class V, class T>
XC_DEVICE V xc_vload(const T* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
template <class V, class T>
XC_DEVICE void xc_vstore(T* p, V v) {
    __builtin_memcpy(p, &v, sizeof v);
}
template <class V, class T>
XC_DEVICE V xc_vload_n(const T* p, i64 n) {
    V v = {};
#ifdef __AVX512VL__
    if constexpr (sizeof(V) == 64 && sizeof(T) == 4) {
        typedef i32 q __attribute__((vector_size(64)));
        return (V)__builtin_ia32_loaddqusi512_mask((const i32*)p, (q)v, (u16)((1u << n) - 1));
    } else if constexpr (sizeof(V) == 64 && sizeof(T) == 8) {
        typedef i64 q __attribute__((vector_size(64)));
        return (V)__builtin_ia32_loaddqudi512_mask((const i64*)p, (q)v, (u8)((1u << n) - 1));
    } else if constexpr (sizeof(V) == 32 && sizeof(T) == 4) {
        typedef i32 q __attribute__((vector_size(32)));
        return (V)__builtin_ia32_loaddqusi256_mask((const q*)p, (q)v, (u8)((1u << n) - 1));
    } else
#endif
    {
        __builtin_memcpy(&v, p, (u64)n * sizeof(T));
        return v;
    }
}
template <class V, class T>
XC_DEVICE void xc_vstore_n(T* p, V v, i64 n) {
#ifdef __AVX512VL__
    if constexpr (sizeof(V) == 64 && sizeof(T) == 4) {
        typedef i32 q __attribute__((vector_size(64)));
        __builtin_ia32_storedqusi512_mask((i32*)p, (q)v, (u16)((1u << n) - 1));
    } else if constexpr (sizeof(V) == 64 && sizeof(T) == 8) {
        typedef i64 q __attribute__((vector_size(64)));
        __builtin_ia32_storedqudi512_mask((i64*)p, (q)v, (u8)((1u << n) - 1));
    } else if constexpr (sizeof(V) == 32 && sizeof(T) == 4) {
        typedef i32 q __attribute__((vector_size(32)));
        __builtin_ia32_storedqusi256_mask((q*)p, (q)v, (u8)((1u << n) - 1));
    } else
#endif
    {
        __builtin_memcpy(p, &v, (u64)n * sizeof(T));
    }
}
// Lanes `stride` elements apart.
template <class V, class T>
XC_DEVICE V xc_vgather(const T* p, i64 stride) {
    V v;
    for (int l = 0; l < xc_lanes<V>::n; ++l) v[l] = p[l * stride];
    return v;
}
template <class V, class T>
XC_DEVICE V xc_vgather_n(const T* p, i64 stride, i64 n) {
    V v = {};
    for (int l = 0; l < n; ++l) v[l] = p[l * stride];
    return v;
}
template <class V, class T>
XC_DEVICE void xc_vscatter(T* p, V v, i64 stride) {
    for (int l = 0; l < xc_lanes<V>::n; ++l) p[l * stride] = v[l];
}
template <class V, class T>
XC_DEVICE void xc_vscatter_n(T* p, V v, i64 stride, i64 n) {
    for (int l = 0; l < n; ++l) p[l * stride] = v[l];
}
// Only the lanes of a mask.
template <class V, class T, class M>
XC_DEVICE void xc_vstore_m(T* p, V v, M mask) {
    for (int l = 0; l < xc_lanes<V>::n; ++l)
        if (mask[l]) p[l] = v[l];
}
template <class V, class T, class M>
XC_DEVICE void xc_vstore_m_n(T* p, V v, M mask, i64 n) {
    for (int l = 0; l < n; ++l)
        if (mask[l]) p[l] = v[l];
}
template <class V, class T, class M>
XC_DEVICE void xc_vscatter_m(T* p, V v, i64 stride, M mask) {
    for (int l = 0; l < xc_lanes<V>::n; ++l)
        if (mask[l]) p[l * stride] = v[l];
}
template <class V, class T, class M>
XC_DEVICE void xc_vscatter_m_n(T* p, V v, i64 stride, M mask, i64 n) {
    for (int l = 0; l < n; ++l)
        if (mask[l]) p[l * stride] = v[l];
}
template <class M, class V>
XC_DEVICE V xc_select(M mask, V a, V b) {
    return __builtin_convertvector(mask, decltype(a < b)) ? a : b;
}
// Shifts of vectors, as xc_shl and xc_shr have them: a count of the width or more leaves 0, or the sign.
template <class V>
XC_DEVICE V xc_vshl(V a, V n) {
    constexpr int width = sizeof(V) / xc_lanes<V>::n * 8;
    return (n >= 0) & (n < width) ? a << (n & (width - 1)) : a ^ a;
}
template <class V>
XC_DEVICE V xc_vshr(V a, V n) {
    constexpr int width = sizeof(V) / xc_lanes<V>::n * 8;
    return (n >= 0) & (n < width) ? a >> (n & (width - 1)) : (V)(a < 0);
}
// A function taken lane by lane.
template <class R, class F, class A>
XC_DEVICE R xc_each(F f, A a) {
    R r;
    for (int l = 0; l < xc_lanes<R>::n; ++l) r[l] = f(a[l]);
    return r;
}
template <class R, class F, class A, class B>
XC_DEVICE R xc_each(F f, A a, B b) {
    R r;
    for (int l = 0; l < xc_lanes<R>::n; ++l) r[l] = f(a[l], b[l]);
    return r;
}
template <class R, class F, class A, class B, class C>
XC_DEVICE R xc_each(F f, A a, B b, C c) {
    R r;
    for (int l = 0; l < xc_lanes<R>::n; ++l) r[l] = f(a[l], b[l], c[l]);
    return r;
}

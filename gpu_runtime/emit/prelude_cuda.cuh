// What emitted kernels are made of on CUDA. No standard headers: NVRTC then compiles in a fraction of the time.
typedef bool b1;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#define XC_CUDA 1
#define XC_DEVICE static __device__ __forceinline__
#define XC_INLINE
#define XC_COLD
#define XC_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define XC_LIKELY(x) __builtin_expect(!!(x), 1)
#define XC_INF32 __int_as_float(0x7f800000)
#define XC_INF64 __longlong_as_double(0x7ff0000000000000)
#define XC_NAN32 __int_as_float(0x7fc00000)
#define XC_NAN64 __longlong_as_double(0x7ff8000000000000)

// Half precision as it lies in memory: only cast to float32 and back.
struct f16 {
    u16 bits;
    f16() = default;
    __device__ __forceinline__ explicit f16(f32 x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
    __device__ __forceinline__ explicit f16(f64 x) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x)); }
    __device__ __forceinline__ explicit operator f32() const {
        f32 x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
};

// device::FaultRecord, then a word that the first thread to fault takes and one that the host sets to stop the launch.
struct xc_fault { i32 site, kind; i64 value[4]; i32 thread[3], block[3]; i32 taken; volatile i32 stop; u64 print, gate; };
#define XC_HERE_PARAMETERS xc_fault* F

enum { XC_INDEX = 1, XC_ZERO_DIVISION = 2, XC_ASSERTION = 3, XC_RAISED = 4, XC_INTERRUPTED = 5, XC_UNBOUND = 7, XC_WARP = 8 };

// The thread ends here; the context stays usable. An exited thread counts as arrived at every later barrier.
static __device__ __noinline__ __attribute__((noreturn)) void xc_fail(i32 site, i32 kind, i64 v0, i64 v1, xc_fault* F) {
    if (atomicCAS(&F->taken, 0, 1) == 0) {
        F->site = site;
        F->value[0] = v0;
        F->value[1] = v1;
        F->thread[0] = threadIdx.x; F->thread[1] = threadIdx.y; F->thread[2] = threadIdx.z;
        F->block[0] = blockIdx.x; F->block[1] = blockIdx.y; F->block[2] = blockIdx.z;
        F->kind = kind;
    }
    asm volatile("exit;");
    __builtin_unreachable();
}
XC_DEVICE i64 xc_told(f64 x) { return __double_as_longlong(x); }  // as a fault's value
#define XC_TURNS 65536  // of a loop, between two looks at the host
XC_DEVICE void xc_poll(XC_HERE_PARAMETERS) {
    if (XC_UNLIKELY(F->stop != 0)) xc_fail(-1, XC_INTERRUPTED, 0, 0, F);
}
// Reads host memory, a microsecond: once in many turns of a loop. A load under a predicate, not a branch around it, after
// which the warp's threads would have to meet again each turn.
XC_DEVICE void xc_poll_seldom(i32& left, i32 weight, XC_HERE_PARAMETERS) {
    u32 stop = 0;
    left -= weight;
    asm volatile(
        "{\n\t.reg .pred now;\n\tsetp.le.s32 now, %1, 0;\n\t@now ld.volatile.global.u32 %0, [%2];\n\t}"
        : "+r"(stop)
        : "r"(left), "l"(&F->stop));
    if (left <= 0) left += XC_TURNS;
    if (XC_UNLIKELY(stop != 0)) xc_fail(-1, XC_INTERRUPTED, 0, 0, F);
}
// An index and a length that are both int stay so: half the instructions.
template <class T, class N> struct xc_index_type { typedef i64 type; };
template <> struct xc_index_type<i32, i32> { typedef i32 type; };
// Without a sign a negative index is a large number, and n more than it a small one: the lesser of the two is what is
// meant, and out of range where the index is.
template <class T, class N> XC_DEVICE auto xc_wrap(T i, N n) {
    typedef typename xc_index_type<T, N>::type I;
    if constexpr (sizeof(I) == 4) {
        const u32 k = (u32)i + (u32)n;
        return (I)(k < (u32)i ? k : (u32)i);
    } else {
        return (I)i < 0 ? (I)i + (I)n : (I)i;
    }
}
template <class T, class N> XC_DEVICE auto xc_index_nowrap(T i, N n, i32 site, i32 axis, XC_HERE_PARAMETERS) {
    typedef typename xc_index_type<T, N>::type I;
    const bool out = sizeof(I) == 4 ? (u32)i >= (u32)n : (u64)(i64)i >= (u64)(i64)n;
    if (XC_UNLIKELY(out)) xc_fail(site, XC_INDEX | (axis + 1) << 8, (i64)i, n, F);
    return (I)i;
}
template <class T, class N> XC_DEVICE auto xc_index(T i, N n, i32 site, i32 axis, XC_HERE_PARAMETERS) {
    const auto k = xc_wrap(i, n);
    const bool out = sizeof k == 4 ? (u32)k >= (u32)n : (u64)k >= (u64)(i64)n;
    if (XC_UNLIKELY(out)) xc_fail(site, XC_INDEX | (axis + 1) << 8, (i64)i, n, F);
    return k;
}
template <class T> XC_DEVICE T xc_nonzero(T x, i32 site, XC_HERE_PARAMETERS) {
    if (XC_UNLIKELY(x == 0)) xc_fail(site, XC_ZERO_DIVISION, 0, 0, F);
    return x;
}
// a / D as the upper half of a product, where 32 bits hold the factor: ceil(2^(32 + s) / D) is at most 2^s / D too large.
template <u32 D> struct xc_divisor {
    static constexpr int shift() {
        int s = 0;
        while ((1ull << (s + 1)) <= D) ++s;
        return s;
    }
    static constexpr u64 factor = ((1ull << (32 + shift())) / D) + 1;
    static constexpr bool exact = factor * D - (1ull << (32 + shift())) <= (1ull << shift());
};
template <u32 D> XC_DEVICE u32 xc_div_by(u32 a) {
    if constexpr (xc_divisor<D>::exact)
        return (u32)((u64)a * xc_divisor<D>::factor >> (32 + xc_divisor<D>::shift()));
    else
        return a / D;
}
template <u32 D> XC_DEVICE u32 xc_mod_by(u32 a) { return a - xc_div_by<D>(a) * D; }
XC_DEVICE i64 xc_dynamic_shared_bytes() {
    u32 bytes;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}

// The bytes of an array, axis by axis: n elements, `step` bytes from one to the next.
struct xc_bytes {
    u64 first, end;
    __device__ __forceinline__ xc_bytes along(i64 n, i64 step) const {
        if (n <= 0 || first == end) return {0, 0};
        const i64 way = (n - 1) * step;
        return way < 0 ? xc_bytes{first + way, end} : xc_bytes{first, end + way};
    }
};
XC_DEVICE bool xc_apart(xc_bytes a, xc_bytes b) { return a.end <= b.first || b.end <= a.first; }

// Vectors of a thread: the unit of loads and stores, of 16 bytes at most.
template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) xc_vec { T v[N]; };
template <class V, class T> XC_DEVICE V xc_vload(const T* p) { return *(const V*)p; }
template <class T, int N> XC_DEVICE void xc_vstore(T* p, xc_vec<T, N> v) { *(xc_vec<T, N>*)p = v; }
template <class V> struct xc_parts;
template <class T, int N> struct xc_parts<xc_vec<T, N>> { typedef T type; static constexpr int n = N; };
template <class V, class T> XC_DEVICE V xc_vload_unaligned(const T* p) {
    V r;
#pragma unroll
    for (int l = 0; l < xc_parts<V>::n; ++l) r.v[l] = p[l];
    return r;
}
template <class T, int N> XC_DEVICE void xc_vstore_unaligned(T* p, xc_vec<T, N> v) {
#pragma unroll
    for (int l = 0; l < N; ++l) p[l] = v.v[l];
}
template <class T, int N> XC_DEVICE void xc_vstore_m(T* p, xc_vec<T, N> v, xc_vec<i8, N> mask) {
#pragma unroll
    for (int l = 0; l < N; ++l)
        if (mask.v[l]) p[l] = v.v[l];
}
template <class T, int N> XC_DEVICE void xc_vstore_m_unaligned(T* p, xc_vec<T, N> v, xc_vec<i8, N> mask) { xc_vstore_m(p, v, mask); }
// Neighbours in registers from memory and back, 16 bytes at a time. `from` and `to` are aligned to them, or to all.
template <int N, class T> XC_DEVICE void xc_take(T* to, const T* from) {
    constexpr int n = N * sizeof(T) > 16 ? 16 / sizeof(T) : N;
#pragma unroll
    for (int l = 0; l < N; ++l)
        if (l % n == 0) {
            const xc_vec<T, n> v = *(const xc_vec<T, n>*)(from + l);
#pragma unroll
            for (int k = 0; k < n; ++k) to[l + k] = v.v[k];
        }
}
template <int N, class T> XC_DEVICE void xc_give(T* to, const T* from) {
    constexpr int n = N * sizeof(T) > 16 ? 16 / sizeof(T) : N;
#pragma unroll
    for (int l = 0; l < N; ++l)
        if (l % n == 0) {
            xc_vec<T, n> v;
#pragma unroll
            for (int k = 0; k < n; ++k) v.v[k] = from[l + k];
            *(xc_vec<T, n>*)(to + l) = v;
        }
}
template <class V, class T> XC_DEVICE V xc_splat(T x) {
    V r;
#pragma unroll
    for (int l = 0; l < xc_parts<V>::n; ++l) r.v[l] = (typename xc_parts<V>::type)x;
    return r;
}
template <class V> XC_DEVICE V xc_ramp(i64 base) {
    V r;
#pragma unroll
    for (int l = 0; l < xc_parts<V>::n; ++l) r.v[l] = (typename xc_parts<V>::type)(base + l);
    return r;
}
template <class R, class F, class A> XC_DEVICE R xc_each(F f, A a) {
    R r;
#pragma unroll
    for (int l = 0; l < xc_parts<R>::n; ++l) r.v[l] = f(a.v[l]);
    return r;
}
template <class R, class F, class A, class B> XC_DEVICE R xc_each(F f, A a, B b) {
    R r;
#pragma unroll
    for (int l = 0; l < xc_parts<R>::n; ++l) r.v[l] = f(a.v[l], b.v[l]);
    return r;
}
template <class R, class F, class A, class B, class C> XC_DEVICE R xc_each(F f, A a, B b, C c) {
    R r;
#pragma unroll
    for (int l = 0; l < xc_parts<R>::n; ++l) r.v[l] = f(a.v[l], b.v[l], c.v[l]);
    return r;
}

// Elementary functions of float32 on CUDA: a straight line for nearly all arguments, one test a vector for the others.
// CUDA's own branch once an element, so that sqrt(sin cos + exp + log) waited for instructions and not for memory.
XC_DEVICE f32 xc_e_float(u32 bits) { return __int_as_float((i32)bits); }
// sin(x + quarters * pi / 2) for |x| < 105615: within 1.52 ulp, by all such x on the host. Pi / 2 in three parts; the
// polynomials' largest relative error over |r| < pi / 4 is 0.06 of half an ulp.
XC_DEVICE f32 xc_e_turned(f32 x, u32 quarters) {
    const f32 shifted = fmaf(x, 0.636619747f, 12582912.0f);  // 1.5 * 2^23: the nearest whole number in the low bits
    const u32 turn = xc_bits_of(shifted) + quarters;
    const f32 k = shifted - 12582912.0f;
    f32 r = fmaf(k, -1.57079625f, x);
    r = fmaf(k, -7.54978942e-08f, r);
    r = fmaf(k, -5.39030295e-15f, r);
    const f32 s = r * r;
    f32 p = fmaf(-0.00019516977f, s, 0.008332176f);
    p = fmaf(p, s, -0.16666655f);
    const f32 sine = fmaf(p, fmaf(s, r, 0.0f), r);  // + 0: of -0 it is -0
    f32 q = fmaf(2.4432785e-05f, s, -0.0013887313f);
    q = fmaf(q, s, 0.041666646f);
    q = fmaf(q, s, -0.5f);
    const f32 cosine = fmaf(q, s, 1.0f);
    return xc_e_float(xc_bits_of(turn & 1 ? cosine : sine) ^ (turn << 30 & 0x80000000u));
}
struct xc_e_sine {
    XC_MEMBER static b1 is_near(f32 x) { return fabsf(x) < 105615.0f; }
    XC_MEMBER static f32 near(f32 x) { return xc_e_turned(x, 0); }
    XC_MEMBER static f32 far(f32 x) { return sinf(x); }
};
struct xc_e_cosine {
    XC_MEMBER static b1 is_near(f32 x) { return fabsf(x) < 105615.0f; }
    XC_MEMBER static f32 near(f32 x) { return xc_e_turned(x, 1); }
    XC_MEMBER static f32 far(f32 x) { return cosf(x); }
};
// x = m * 2^e, m from 2/3 to 4/3: within 0.95 ulp, by all such x on the host.
struct xc_e_logarithm {
    XC_MEMBER static b1 is_near(f32 x) { return xc_bits_of(x) - 0x00800000u < 0x7f000000u; }  // positive, normal
    XC_MEMBER static f32 near(f32 x) {
        const u32 bits = xc_bits_of(x), exponent = (bits - 0x3f2aaaabu) & 0xff800000u;
        const f32 f = xc_e_float(bits - exponent) - 1.0f;
        f32 p = fmaf(-0.12948963f, f, 0.14004757f);
        p = fmaf(p, f, -0.12167155f);
        p = fmaf(p, f, 0.14001161f);
        p = fmaf(p, f, -0.16682306f);
        p = fmaf(p, f, 0.20010747f);
        p = fmaf(p, f, -0.24999717f);
        p = fmaf(p, f, 0.33333208f);
        p = fmaf(p, f, -0.5f);
        return fmaf((f32)(i32)exponent, 8.2629582e-08f, fmaf(f, f * p, f));  // ln 2 / 2^23
    }
    XC_MEMBER static f32 far(f32 x) { return logf(x); }
};
// Correctly rounded: a Newton step of the root from x times an approximate 1 / root, whose square's error is exact.
struct xc_e_root {
    XC_MEMBER static b1 is_near(f32 x) { return xc_bits_of(x) - 0x0d000000u < 0x72800000u; }  // 2^-101 to inf
    XC_MEMBER static f32 near(f32 x) {
#ifdef __CUDA_ARCH__
        f32 y;
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
        const f32 root = x * y;
        return fmaf(fmaf(-root, root, x), 0.5f * y, root);
#else
        return sqrtf(x);
#endif
    }
    XC_MEMBER static f32 far(f32 x) { return sqrtf(x); }
};
template <class F> static __device__ __noinline__ f32 xc_e_apart(f32 x) { return F::far(x); }  // once, not for each lane
template <class F> XC_DEVICE f32 xc_e_of(f32 x) {
#ifdef XC_FAST_MATH
    return F::far(x);
#else
    f32 r = F::near(x);
    if (!F::is_near(x)) r = F::far(x);
    return r;
#endif
}
template <class F, int N> XC_DEVICE xc_vec<f32, N> xc_e_of(xc_vec<f32, N> x) {
    xc_vec<f32, N> r;
#ifdef XC_FAST_MATH
#pragma unroll
    for (int l = 0; l < N; ++l) r.v[l] = F::far(x.v[l]);
#else
    b1 near = true;
#pragma unroll
    for (int l = 0; l < N; ++l) {
        near &= F::is_near(x.v[l]);
        r.v[l] = F::near(x.v[l]);
    }
    if (!near) {
#pragma unroll
        for (int l = 0; l < N; ++l)
            if (!F::is_near(x.v[l])) r.v[l] = xc_e_apart<F>(x.v[l]);
    }
#endif
    return r;
}
template <class T> XC_DEVICE T xc_e_sin(T x) { return xc_e_of<xc_e_sine>(x); }
template <class T> XC_DEVICE T xc_e_cos(T x) { return xc_e_of<xc_e_cosine>(x); }
template <class T> XC_DEVICE T xc_e_log(T x) { return xc_e_of<xc_e_logarithm>(x); }
// One number's is the hardware's own sequence already.
XC_DEVICE f32 xc_e_sqrt(f32 x) { return sqrtf(x); }
template <int N> XC_DEVICE xc_vec<f32, N> xc_e_sqrt(xc_vec<f32, N> x) { return xc_e_of<xc_e_root>(x); }

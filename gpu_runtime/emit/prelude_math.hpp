// What Python's and NumPy's operators mean, for both devices. T is a number type or, where no comment says scalar, a vector.
#define XC_FN XC_DEVICE XC_INLINE
#ifdef XC_FAST_MATH
// The fast powf is exp2(y * log2(x)): it knows neither negative bases nor 0 ** 0.
XC_DEVICE f32 xc_fast_powf(f32 x, f32 y) {
    if (y == 0 || x == 1) return 1;
    if (!(x < 0)) return powf(x, y);
    const f32 whole = truncf(y), size = powf(-x, y);
    if (whole != y && fabsf(y) <= 3.402823466e38f && fabsf(x) <= 3.402823466e38f) return XC_NAN32;
    return fabsf(y) < 16777216.0f && fmodf(whole, 2.0f) != 0 ? -size : size;
}
#define powf xc_fast_powf
#endif
#ifdef XC_CUDA
#define XC_MEMBER __device__ __forceinline__
#define XC_LIBM(name) name
#else
#define XC_MEMBER __attribute__((always_inline))
#define XC_LIBM(name) __builtin_##name
#endif
template <class T>
struct xc_number {
    static constexpr bool real = false;
};
template <>
struct xc_number<f16> {
    static constexpr bool real = true;
};
template <>
struct xc_number<f32> {
    static constexpr bool real = true;
};
template <>
struct xc_number<f64> {
    static constexpr bool real = true;
};
template <class T>
struct xc_unsigned {
    typedef T type;
};
template <>
struct xc_unsigned<i8> {
    typedef u8 type;
};
template <>
struct xc_unsigned<i16> {
    typedef u16 type;
};
template <>
struct xc_unsigned<i32> {
    typedef u32 type;
};
template <>
struct xc_unsigned<i64> {
    typedef u64 type;
};
template <class T, class U>
struct xc_same {
    static constexpr bool value = false;
};
template <class T>
struct xc_same<T, T> {
    static constexpr bool value = true;
};

// What C++ computed in int, as 16 bits again. ptxas (CUDA 13.0, from -O1 on) takes the sign extension of a 16-bit negation
// or abs for the negation of the sign extension, so that int32(-x) is 32768 where x is -32768, and -x == 32768 of a uint16
// is false: the compiler is not to see one. It makes them of sums and products too (~x + 1, x * 65535), not of bits.
template <class T>
XC_FN T xc_low(T x) {
#ifdef XC_CUDA
    if constexpr (sizeof(T) == 8)
        asm("" : "+l"(x));
    else
        asm("" : "+r"(x));
#endif
    return x;
}
XC_FN i16 xc_int16(i32 x) { return (i16)xc_low(x); }
XC_FN u16 xc_uint16(u32 x) { return (u16)xc_low(x); }

// Casts, scalar. Floats out of an integer's range: what x86-64's conversions leave, as NumPy does there.
XC_FN i64 xc_to_i64(f64 x) { return x >= -0x1p63 && x < 0x1p63 ? (i64)x : (i64)0x8000000000000000ull; }
XC_FN i32 xc_to_i32(f64 x) { return x > -2147483649.0 && x < 2147483648.0 ? (i32)x : (i32)0x80000000u; }
XC_FN u64 xc_to_u64(f64 x) {
    return x >= 0x1p63 ? (u64)xc_to_i64(x - 0x1p63) ^ 0x8000000000000000ull : (u64)xc_to_i64(x);
}
#ifdef XC_CPU
// Rounded once, through the float32 that is odd where it is not exact.
XC_FN f16 xc_to_half(f64 x) {
    f32 near = (f32)x;
    u32 bits;
    __builtin_memcpy(&bits, &near, sizeof bits);
    if ((f64)near != x && x == x && !(bits & 1)) bits += ((f64)near < x) == (x > 0) ? 1 : -1;
    __builtin_memcpy(&near, &bits, sizeof bits);
    return (f16)near;
}
#else
XC_FN f16 xc_to_half(f64 x) { return (f16)x; }
#endif
template <class T, class U>
XC_FN T xc_cast(U x) {
    if constexpr (xc_same<T, f16>::value && xc_same<U, f64>::value)
        return xc_to_half(x);
    else if constexpr (xc_same<T, f64>::value && xc_same<U, f16>::value)
        return (f64)(f32)x;  // CUDA's float16 becomes a float32 alone
    else if constexpr (xc_same<T, b1>::value)
        return x != 0;
    else if constexpr (xc_same<T, i16>::value && !xc_number<U>::real && sizeof(U) >= sizeof(T))
        return xc_int16((i32)x);
    else if constexpr (xc_same<T, u16>::value && !xc_number<U>::real && sizeof(U) >= sizeof(T))
        return xc_uint16((u32)x);
    else if constexpr (!xc_number<U>::real || xc_number<T>::real)
        return (T)x;
    else if constexpr (xc_same<T, i64>::value)
        return xc_to_i64(x);
    else if constexpr (xc_same<T, u64>::value)
        return xc_to_u64(x);
    else if constexpr (xc_same<T, u32>::value)
        return (T)xc_to_i64(x);
    else
        return (T)xc_to_i32(x);
}

template <class T>
XC_FN T xc_negated(T x) {  // an integer, scalar: the lowest stays itself
    typedef typename xc_unsigned<T>::type U;
    if constexpr (xc_same<T, i16>::value)
        return xc_int16(-x);
    else
        return (T)(U(0) - (U)x);
}

// Division, scalar: // and % floor. Integers: 0 where the divisor is 0 (checked kernels test it before).
XC_FN f32 xc_fmod(f32 a, f32 b) { return XC_LIBM(fmodf)(a, b); }
XC_FN f64 xc_fmod(f64 a, f64 b) { return XC_LIBM(fmod)(a, b); }
XC_FN f32 xc_floor(f32 x) { return XC_LIBM(floorf)(x); }
XC_FN f64 xc_floor(f64 x) { return XC_LIBM(floor)(x); }
XC_FN f32 xc_copysign(f32 x, f32 y) { return XC_LIBM(copysignf)(x, y); }
XC_FN f64 xc_copysign(f64 x, f64 y) { return XC_LIBM(copysign)(x, y); }
// Whether a 32-bit division will do: a GPU divides 64 bits in some 70 instructions, 32 in some 20.
template <class T>
XC_FN bool xc_short(T a, T b) {
#ifdef XC_CPU
    return false;
#else
    return sizeof(T) == 8 && (((u64)a | (u64)b) >> 31) == 0;
#endif
}
template <class T>
XC_FN T xc_floordiv(T a, T b) {
    if constexpr (xc_number<T>::real) {
        if (b == 0) return a / b;
        const T r = xc_fmod(a, b);
        T q = (a - r) / b;
        if (r != 0 && (b < 0) != (r < 0)) q -= 1;
        if (q == 0) return xc_copysign(T(0), a / b);
        const T whole = xc_floor(q);
        return q - whole > T(0.5) ? whole + 1 : whole;
    } else if constexpr (T(-1) > T(0)) {
        return b == 0 ? T(0) : T(a / b);
    } else {
        if (b == 0) return 0;
        if (xc_short(a, b)) return (T)((u32)a / (u32)b);
        if (b == -1) return xc_negated(a);  // the lowest number stays itself
        const T q = (T)(a / b);
        return (T)(q - (((a % b) != 0) & ((a < 0) != (b < 0))));
    }
}
template <class T>
XC_FN T xc_mod(T a, T b) {
    if constexpr (xc_number<T>::real) {
        T r = xc_fmod(a, b);
        if (b == 0) return r;
        if (r == 0) return xc_copysign(T(0), b);
        return (b < 0) != (r < 0) ? r + b : r;
    } else if constexpr (T(-1) > T(0)) {
        return b == 0 ? T(0) : T(a % b);
    } else {
        if (b == 0 || b == -1) return 0;
        if (xc_short(a, b)) return (T)((u32)a % (u32)b);
        const T r = (T)(a % b);
        return (T)(r + (((r != 0) & ((r < 0) != (b < 0))) ? b : T(0)));
    }
}

// Shifts, scalar: a count of the width or more leaves 0, or the sign.
template <class T>
XC_FN T xc_shl(T a, T n) {
    typedef typename xc_unsigned<T>::type U;
    return (u64)(i64)n < sizeof(T) * 8 ? (T)((U)a << n) : T(0);
}
template <class T>
XC_FN T xc_shr(T a, T n) {
    return (u64)(i64)n < sizeof(T) * 8 ? (T)(a >> n) : (T)(a < 0 ? -1 : 0);
}

// Loops over range(start, stop, step) that may come to the last int64: where the variable stands after its last round, ...
XC_FN i64 xc_range_end(i64 start, i64 stop, i64 step) {
    if (step > 0 ? start >= stop : start <= stop) return start;
    const u64 way = step > 0 ? (u64)stop - (u64)start : (u64)start - (u64)stop;
    const u64 by = step > 0 ? (u64)step : (u64)0 - (u64)step;
    return (i64)((u64)start + ((way - 1) / by + 1) * (u64)step);
}
// ... and the next round's, where the step is known at run time only.
XC_FN i64 xc_stepped(i64 i, i64 step, i64 stop) {
    const i64 next = (i64)((u64)i + (u64)step);
    return ((i ^ next) & (step ^ next)) < 0 ? stop : next;
}

// Powers. Integers wrap, which signed ones do not in C++.
template <class T>
XC_FN T xc_times(T a, T b) {
    if constexpr (xc_same<T, i64>::value)
        return (T)((u64)a * (u64)b);
    else if constexpr (xc_same<T, i32>::value)
        return (T)((u32)a * (u32)b);
    else if constexpr (xc_same<T, u16>::value)
        return xc_uint16((u32)a * (u32)b);
    else if constexpr (xc_same<T, i16>::value)
        return xc_int16(a * b);
    else
        return (T)(a * b);
}
template <class T>
XC_FN T xc_square(T x) {
    return xc_times<T>(x, x);
}
template <class T>
XC_FN T xc_cube(T x) {
    return xc_times<T>(xc_times<T>(x, x), x);
}
template <class T>
XC_FN T xc_pow_natural(T x, u64 n) {  // scalar
    T r = 1;
    for (;;) {
        if (n & 1) r = xc_times<T>(r, x);
        n >>= 1;
        if (n == 0) return r;
        x = xc_times<T>(x, x);
    }
}
template <class T>
XC_FN T xc_pow_int(T x, i64 n) {  // scalar
    if (n < 0) {                  // only integers come here so: 1 / x ** -n, truncated
        if (x == T(1)) return 1;
        if constexpr (!xc_number<T>::real && !(T(-1) > T(0)))
            if (x == T(-1)) return n & 1 ? T(-1) : T(1);
        return 0;
    }
    return xc_pow_natural<T>(x, (u64)n);
}
template <class T>
XC_FN T xc_pow(T a, T b) {  // scalar
    if constexpr (xc_same<T, f32>::value)
        return XC_LIBM(powf)(a, b);
    else if constexpr (xc_same<T, f64>::value)
        return XC_LIBM(pow)(a, b);
    else if constexpr (T(-1) > T(0))
        return xc_pow_natural<T>(a, b);
    else
        return xc_pow_int<T>(a, b);
}

// Least and greatest. Python keeps the first of equals and of what does not compare; minimum keeps nan, fmin drops it.
template <class T>
XC_FN T xc_min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
XC_FN T xc_max(T a, T b) {
    return b > a ? b : a;
}
template <class T>
XC_FN T xc_minimum(T a, T b) {
#if __CUDA_ARCH__ >= 800  // one instruction
    if constexpr (xc_same<T, f32>::value) {
        f32 r;
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
        return r;
    }
#endif
    return ((a <= b) | (a != a)) ? a : b;
}
template <class T>
XC_FN T xc_maximum(T a, T b) {
#if __CUDA_ARCH__ >= 800
    if constexpr (xc_same<T, f32>::value) {
        f32 r;
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
        return r;
    }
#endif
    return ((a >= b) | (a != a)) ? a : b;
}
template <class T>
XC_FN T xc_fmin(T a, T b) {
    return ((a <= b) | (b != b)) ? a : b;
}
template <class T>
XC_FN T xc_fmax(T a, T b) {
    return ((a >= b) | (b != b)) ? a : b;
}
template <class T>
XC_FN T xc_reciprocal(T x) {
    return 1 / x;
}

// Signs and classes, scalar, from the bits: fast-math options can't optimise them away.
XC_FN u32 xc_bits_of(f32 x) {
    union {
        f32 f;
        u32 u;
    } v = {x};
    return v.u;
}
XC_FN u64 xc_bits_of(f64 x) {
    union {
        f64 f;
        u64 u;
    } v = {x};
    return v.u;
}
XC_FN b1 xc_isnan(f32 x) { return (xc_bits_of(x) & 0x7fffffffu) > 0x7f800000u; }
XC_FN b1 xc_isnan(f64 x) { return (xc_bits_of(x) & 0x7fffffffffffffffull) > 0x7ff0000000000000ull; }
XC_FN b1 xc_isinf(f32 x) { return (xc_bits_of(x) & 0x7fffffffu) == 0x7f800000u; }
XC_FN b1 xc_isinf(f64 x) { return (xc_bits_of(x) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull; }
XC_FN b1 xc_isfinite(f32 x) { return (xc_bits_of(x) & 0x7f800000u) != 0x7f800000u; }
XC_FN b1 xc_isfinite(f64 x) { return (xc_bits_of(x) & 0x7ff0000000000000ull) != 0x7ff0000000000000ull; }
XC_FN b1 xc_signbit(f32 x) { return xc_bits_of(x) >> 31; }
XC_FN b1 xc_signbit(f64 x) { return xc_bits_of(x) >> 63; }
template <class T>
XC_FN T xc_abs(T x) {
    if constexpr (xc_same<T, f32>::value)
        return XC_LIBM(fabsf)(x);
    else if constexpr (xc_same<T, f64>::value)
        return XC_LIBM(fabs)(x);
    else if constexpr (sizeof(T) >= 4) {
        const T y = xc_low(x);  // else the compiler may find 16 bits enough
        return y < 0 ? xc_negated(y) : y;
    } else
        return x < 0 ? xc_negated(x) : x;
}
template <class T>
XC_FN T xc_sign(T x) {
    if constexpr (xc_number<T>::real)
        return x != x ? x : T((x > 0) - (x < 0));
    else if constexpr (T(-1) > T(0))
        return T(x != 0);
    else
        return T((x > T(0)) - (x < T(0)));
}
// The bits of a number as another type of its size, scalar.
template <class T, class U>
XC_FN T xc_bits(U x) {
    T y;
    XC_LIBM(memcpy)(&y, &x, sizeof y);
    return y;
}
// Elements at any byte.
template <class T>
XC_FN T xc_get(const void* p) {
    T x;
    XC_LIBM(memcpy)(&x, p, sizeof x);
    return x;
}
template <class T>
XC_FN void xc_put(void* p, T x) {
#ifdef XC_CUDA
    if constexpr (xc_same<T, f16>::value) {  // ptxas (CUDA 13.0) stores a byte of a converted float16 as uint8(x)
        u32 bits = x.bits;
        asm("" : "+r"(bits));
        ((u8*)p)[0] = (u8)bits;
        ((u8*)p)[1] = (u8)(bits >> 8);
        return;
    }
#endif
    XC_LIBM(memcpy)(p, &x, sizeof x);
}
template <class T>
XC_FN T xc_where(b1 c, T x, T y) {
    return c ? x : y;
}

// int64 beside uint64, exactly, scalar.
XC_FN b1 xc_lt(i64 a, u64 b) { return a < 0 || (u64)a < b; }
XC_FN b1 xc_lt(u64 a, i64 b) { return b >= 0 && a < (u64)b; }
XC_FN b1 xc_eq(i64 a, u64 b) { return a >= 0 && (u64)a == b; }
XC_FN b1 xc_eq(u64 a, i64 b) { return b >= 0 && a == (u64)b; }

// Rounding to digits as NumPy does: scaled, to even, back.
XC_FN f32 xc_rint(f32 x) { return XC_LIBM(rintf)(x); }
XC_FN f64 xc_rint(f64 x) { return XC_LIBM(rint)(x); }
template <class T>
XC_FN T xc_round_digits(T x, i64 digits) {
    f64 scale = 1;
    for (i64 n = digits < 0 ? -digits : digits; n > 0; --n) scale *= 10;
    return digits < 0 ? xc_rint(x / (T)scale) * (T)scale : xc_rint(x * (T)scale) / (T)scale;
}
XC_FN i32 xc_clamp_exponent(i64 n) { return n > 100000 ? 100000 : n < -100000 ? -100000 : (i32)n; }
XC_FN f32 xc_logaddexp(f32 x, f32 y) {
    if (x == y) return x + 0.693147180559945309417f;
    const f32 d = x - y;
    return d > 0    ? x + XC_LIBM(log1pf)(XC_LIBM(expf)(-d))
           : d <= 0 ? y + XC_LIBM(log1pf)(XC_LIBM(expf)(d))
                    : d;
}
XC_FN f64 xc_logaddexp(f64 x, f64 y) {
    if (x == y) return x + 0.693147180559945309417;
    const f64 d = x - y;
    return d > 0 ? x + XC_LIBM(log1p)(XC_LIBM(exp)(-d)) : d <= 0 ? y + XC_LIBM(log1p)(XC_LIBM(exp)(d)) : d;
}

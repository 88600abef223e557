// Functions of complex numbers, for both devices: only in kernels that call one. Signs of zero, infinities and nan are those
// of C's annex G, as NumPy has them.
#define XC_REAL_1(name)                                          \
    XC_FN f32 xc_r_##name(f32 x) { return XC_LIBM(name##f)(x); } \
    XC_FN f64 xc_r_##name(f64 x) { return XC_LIBM(name)(x); }
#define XC_REAL_2(name)                                                    \
    XC_FN f32 xc_r_##name(f32 x, f32 y) { return XC_LIBM(name##f)(x, y); } \
    XC_FN f64 xc_r_##name(f64 x, f64 y) { return XC_LIBM(name)(x, y); }
// clang-format off
XC_REAL_1(sin)
XC_REAL_1(cos)
XC_REAL_1(tan)
XC_REAL_1(sinh)
XC_REAL_1(cosh)
XC_REAL_1(asin)
XC_REAL_1(acos)
XC_REAL_1(atan)
XC_REAL_1(exp)
XC_REAL_1(expm1)
XC_REAL_1(log)
XC_REAL_1(log1p)
XC_REAL_1(sqrt)
XC_REAL_2(atan2)
XC_REAL_2(hypot)
// clang-format on
XC_FN f32 xc_r_fma(f32 x, f32 y, f32 z) { return XC_LIBM(fmaf)(x, y, z); }
XC_FN f64 xc_r_fma(f64 x, f64 y, f64 z) { return XC_LIBM(fma)(x, y, z); }

template <class T>
struct xc_limits;
template <>
struct xc_limits<f32> {
    static constexpr f32 greatest = 0x1.fffffep127f, least = 0x1p-126f, eps = 0x1p-23f, overflow = 88.5f;
};
template <>
struct xc_limits<f64> {
    static constexpr f64 greatest = 0x1.fffffffffffffp1023, least = 0x1p-1022, eps = 0x1p-52,
                         overflow = 709.0;
};
template <class T>
struct xc_consts {
    static constexpr T pi = (T)3.14159265358979323846, half_pi = (T)1.57079632679489661923,
                       quarter_pi = (T)0.78539816339744830962, ln2 = (T)0.69314718055994530942,
                       log2_e = (T)1.44269504088896340736, log10_e = (T)0.43429448190325182765;
};
XC_Z T xc_nan() { return (T)XC_NAN32; }
XC_Z T xc_inf() { return (T)XC_INF32; }

XC_Z b1 xc_z_isnan(xc_complex<T> z) { return xc_isnan(z.re) || xc_isnan(z.im); }
XC_Z b1 xc_z_isinf(xc_complex<T> z) { return xc_isinf(z.re) || xc_isinf(z.im); }
XC_Z b1 xc_z_isfinite(xc_complex<T> z) { return xc_isfinite(z.re) && xc_isfinite(z.im); }
// Arrays of them have an order in NumPy: by the real part, then by the imaginary one; nan is neither below nor above.
XC_Z b1 xc_z_lt(xc_complex<T> a, xc_complex<T> b) {
    return (a.re < b.re && !xc_isnan(a.im) && !xc_isnan(b.im)) || (a.re == b.re && a.im < b.im);
}
XC_Z b1 xc_z_le(xc_complex<T> a, xc_complex<T> b) {
    return (a.re < b.re && !xc_isnan(a.im) && !xc_isnan(b.im)) || (a.re == b.re && a.im <= b.im);
}
XC_Z xc_complex<T> xc_z_minimum(xc_complex<T> a, xc_complex<T> b) {
    return xc_z_isnan(a) || xc_z_le(a, b) ? a : b;
}
XC_Z xc_complex<T> xc_z_maximum(xc_complex<T> a, xc_complex<T> b) {
    return xc_z_isnan(a) || xc_z_le(b, a) ? a : b;
}
XC_Z xc_complex<T> xc_z_fmin(xc_complex<T> a, xc_complex<T> b) {
    return xc_z_isnan(b) || xc_z_le(a, b) ? a : b;
}
XC_Z xc_complex<T> xc_z_fmax(xc_complex<T> a, xc_complex<T> b) {
    return xc_z_isnan(b) || xc_z_le(b, a) ? a : b;
}
XC_Z xc_complex<T> xc_z_conj(xc_complex<T> z) { return {z.re, -z.im}; }
XC_Z T xc_z_abs(xc_complex<T> z) { return xc_r_hypot(z.re, z.im); }
XC_Z T xc_z_angle(xc_complex<T> z) { return xc_r_atan2(z.im, z.re); }
XC_Z xc_complex<T> xc_z_rint(xc_complex<T> z) { return {xc_rint(z.re), xc_rint(z.im)}; }
XC_Z xc_complex<T> xc_z_sign(xc_complex<T> z) {  // z / |z|
    const T r = xc_z_abs(z);
    if (r == 0) return {0, 0};
    if (!xc_isinf(r)) return {z.re / r, z.im / r};
    if (xc_isinf(z.re) && xc_isinf(z.im)) return {xc_nan<T>(), xc_nan<T>()};
    if (xc_isinf(z.re)) return {xc_copysign((T)1, z.re), xc_isnan(z.im) ? z.im : (T)0};
    if (xc_isinf(z.im)) return {xc_isnan(z.re) ? z.re : (T)0, xc_copysign((T)1, z.im)};
    return xc_z_sign(xc_complex<T>(z.re * (T)0.25, z.im * (T)0.25));
}
XC_Z xc_complex<T> xc_z_polar(T r, T angle) {
    if (r == 0 || angle == 0) return {r, r * angle};
    return {r * xc_r_cos(angle), r * xc_r_sin(angle)};
}

// scale * e ** x * (c + si), where e ** x alone may be too large.
XC_Z xc_complex<T> xc_scaled_exp(T x, T c, T s, T scale) {
    if (x < xc_limits<T>::overflow) {
        const T e = scale * xc_r_exp(x);
        return {e * c, e * s};
    }
    const T half = xc_r_exp(x * (T)0.5), first = scale * half;
    return {first * c * half, first * s * half};
}
XC_Z xc_complex<T> xc_z_exp(xc_complex<T> z) {
    if (z.im == 0) return {xc_r_exp(z.re), z.im};
    if (!xc_isfinite(z.im)) {
        if (!xc_isinf(z.re)) return {xc_nan<T>(), xc_nan<T>()};
        return z.re < 0 ? xc_complex<T>(0, xc_copysign((T)0, z.im)) : xc_complex<T>(z.re, xc_nan<T>());
    }
    if (z.re == 0) return {xc_r_cos(z.im), xc_r_sin(z.im)};
    return xc_scaled_exp(z.re, xc_r_cos(z.im), xc_r_sin(z.im), (T)1);
}
XC_Z xc_complex<T> xc_z_expm1(xc_complex<T> z) {
    const T s = xc_r_sin(z.im * (T)0.5);
    return {xc_r_expm1(z.re) * xc_r_cos(z.im) - 2 * s * s, xc_r_exp(z.re) * xc_r_sin(z.im)};
}
XC_Z xc_complex<T> xc_z_exp2(xc_complex<T> z) {
    return xc_z_exp(xc_complex<T>(z.re * xc_consts<T>::ln2, z.im * xc_consts<T>::ln2));
}

// log |z|. Near 1 from |z|**2 - 1, whose products are taken with their rounding errors.
XC_Z T xc_log_abs(xc_complex<T> z) {
    const T x = xc_abs<T>(z.re), y = xc_abs<T>(z.im);
    const T big = x < y ? y : x, small = x < y ? x : y;
    if (big > (T)0.5 && big < (T)1.5 && small < (T)1.5) {
        const T p = big * big, q = small * small;
        const T t = ((p - 1) + q) + (xc_r_fma(big, big, -p) + xc_r_fma(small, small, -q));
        if (t > (T)-0.5) return xc_r_log1p(t) * (T)0.5;
    }
    if (xc_isfinite(big) && xc_isfinite(small)) {
        if (big > xc_limits<T>::greatest * (T)0.25)
            return xc_r_log(xc_r_hypot(z.re * (T)0.25, z.im * (T)0.25)) + 2 * xc_consts<T>::ln2;
        if (big > 0 && big < xc_limits<T>::least * 4) {
            const T scale = 1 / xc_limits<T>::eps;
            return xc_r_log(xc_r_hypot(z.re * scale, z.im * scale)) - xc_r_log(scale);
        }
    }
    return xc_r_log(xc_r_hypot(z.re, z.im));
}
XC_Z xc_complex<T> xc_z_log(xc_complex<T> z) { return {xc_log_abs(z), xc_z_angle(z)}; }
XC_Z xc_complex<T> xc_z_log2(xc_complex<T> z) {
    z = xc_z_log(z);
    return {z.re * xc_consts<T>::log2_e, z.im * xc_consts<T>::log2_e};
}
XC_Z xc_complex<T> xc_z_log10(xc_complex<T> z) {
    z = xc_z_log(z);
    return {z.re * xc_consts<T>::log10_e, z.im * xc_consts<T>::log10_e};
}
XC_Z xc_complex<T> xc_z_log1p(xc_complex<T> z) {
    const T x = z.re, y = z.im;
    if (xc_abs<T>(x) < (T)0.5 && xc_abs<T>(y) < (T)0.5)
        return {xc_r_log1p(x * (2 + x) + y * y) * (T)0.5, xc_r_atan2(y, x + 1)};
    return {xc_log_abs(xc_complex<T>(x + 1, y)), xc_r_atan2(y, x + 1)};
}

XC_Z xc_complex<T> xc_z_sqrt(xc_complex<T> z) {
    if (z.re == 0 && z.im == 0) return {0, z.im};
    if (xc_isinf(z.im)) return {xc_inf<T>(), z.im};
    if (xc_isnan(z.re)) return {z.re, xc_nan<T>()};
    if (xc_isinf(z.re)) {
        const T rest = z.im - z.im;  // 0, or nan
        if (z.re > 0) return {z.re, xc_isnan(rest) ? rest : xc_copysign((T)0, z.im)};
        return {rest, xc_copysign(xc_inf<T>(), z.im)};
    }
    if (xc_isnan(z.im)) return {z.im, z.im};
    const T x = xc_abs<T>(z.re), y = xc_abs<T>(z.im), big = x < y ? y : x;
    T up = 1, down = 1;  // squares of one another
    if (big > xc_limits<T>::greatest * (T)0.125)
        up = (T)0.0625, down = 4;
    else if (big < xc_limits<T>::least * 4)
        up = (T)0x1p48, down = (T)0x1p-24;
    const T re = x * up, im = y * up;
    const T t = xc_r_sqrt((re + xc_r_hypot(re, im)) * (T)0.5);
    const T other = im / (2 * t);
    return z.re >= 0 ? xc_complex<T>(t * down, xc_copysign(other * down, z.im))
                     : xc_complex<T>(other * down, xc_copysign(t * down, z.im));
}

XC_Z xc_complex<T> xc_z_sinh(xc_complex<T> z) {
    const T x = z.re, y = z.im;
    if (y == 0) return {xc_r_sinh(x), y};
    if (!xc_isfinite(y)) return {x == 0 || xc_isinf(x) ? x : xc_nan<T>(), xc_nan<T>()};
    const T c = xc_r_cos(y), s = xc_r_sin(y), size = xc_abs<T>(x);
    if (size < xc_limits<T>::overflow || xc_isnan(x)) return {xc_r_sinh(x) * c, xc_r_cosh(x) * s};
    return xc_scaled_exp(size, xc_copysign((T)1, x) * c, s, (T)0.5);
}
XC_Z xc_complex<T> xc_z_cosh(xc_complex<T> z) {
    const T x = z.re, y = z.im;
    if (y == 0) return {xc_r_cosh(x), xc_isnan(x) ? y : y * xc_copysign((T)1, x)};
    if (!xc_isfinite(y)) return {xc_isinf(x) ? xc_inf<T>() : xc_nan<T>(), x == 0 ? (T)0 : xc_nan<T>()};
    const T c = xc_r_cos(y), s = xc_r_sin(y), size = xc_abs<T>(x);
    if (size < xc_limits<T>::overflow || xc_isnan(x)) return {xc_r_cosh(x) * c, xc_r_sinh(x) * s};
    return xc_scaled_exp(size, c, xc_copysign((T)1, x) * s, (T)0.5);
}
XC_Z xc_complex<T> xc_z_tanh(xc_complex<T> z) {
    const T x = z.re, y = z.im;
    if (xc_isinf(x)) {
        const T sign = !xc_isfinite(y) ? y : xc_r_sin(y) * xc_r_cos(y);
        return {xc_copysign((T)1, x), xc_copysign((T)0, xc_isnan(y) ? (T)0 : sign)};
    }
    if (y == 0 && xc_isnan(x)) return z;
    if (!xc_isfinite(y) || xc_isnan(x)) return {x == 0 ? x : xc_nan<T>(), xc_nan<T>()};
    if (xc_abs<T>(x) > xc_limits<T>::overflow * (T)0.25) {
        const T e = xc_r_exp(-xc_abs<T>(x));
        return {xc_copysign((T)1, x), 4 * xc_r_sin(y) * xc_r_cos(y) * e * e};
    }
    // Kahan's, in tan y: no cancellation near a pole.
    const T t = xc_r_tan(y), s = xc_r_sinh(x), beta = 1 + t * t, rest = 1 + beta * s * s;
    return {beta * xc_r_sqrt(1 + s * s) * s / rest, t / rest};
}
// z times i, and back.
XC_Z xc_complex<T> xc_turn(xc_complex<T> z) { return {-z.im, z.re}; }
XC_Z xc_complex<T> xc_turn_back(xc_complex<T> z) { return {z.im, -z.re}; }
XC_Z xc_complex<T> xc_z_sin(xc_complex<T> z) { return xc_turn_back(xc_z_sinh(xc_turn(z))); }
XC_Z xc_complex<T> xc_z_cos(xc_complex<T> z) { return xc_z_cosh(xc_turn(z)); }
XC_Z xc_complex<T> xc_z_tan(xc_complex<T> z) { return xc_turn_back(xc_z_tanh(xc_turn(z))); }

// Hull, Fairgrieve and Tang (1997): arcsine and arccosine of x + iy in the first quadrant; im is of both.
template <class T>
struct xc_inverse {
    T asin, acos, im;
};
XC_Z xc_inverse<T> xc_asin_acos(T x, T y) {
    typedef xc_limits<T> L;
    if (y > (T)1 / L::eps || x > (T)1 / L::eps)
        return {xc_r_atan2(x, y), xc_r_atan2(y, x), xc_log_abs(xc_complex<T>(x, y)) + xc_consts<T>::ln2};
    const T left = xc_abs<T>(x - 1);
    if (left > 0 && y <= L::eps * (T)0.125 * left) {
        if (x < 1) return {xc_r_asin(x), xc_r_acos(x), y / xc_r_sqrt((1 - x) * (1 + x))};
        const T root = xc_r_sqrt(left * (x + 1));
        return {xc_consts<T>::half_pi, y / root, xc_r_log1p(left + root)};
    }
    if (x == 1 && y < L::eps * L::eps) {
        const T root = xc_r_sqrt(y);
        return {xc_consts<T>::half_pi - root, root, root};
    }
    const T r = xc_r_hypot(x + 1, y), s = xc_r_hypot(left, y), a = (r + s) * (T)0.5, b = x / a;
    xc_inverse<T> out;
    if (b <= (T)0.6417) {
        out.asin = xc_r_asin(b), out.acos = xc_r_acos(b);
    } else if (x <= 1) {
        const T root = xc_r_sqrt((T)0.5 * (a + x) * (y * y / (r + x + 1) + (s + left)));
        out.asin = xc_r_atan2(x, root), out.acos = xc_r_atan2(root, x);
    } else {
        const T root = y * xc_r_sqrt((T)0.5 * ((a + x) / (r + x + 1) + (a + x) / (s + left)));
        out.asin = xc_r_atan2(x, root), out.acos = xc_r_atan2(root, x);
    }
    if (a > (T)1.5) {
        out.im = xc_r_log(a + xc_r_sqrt(a * a - 1));
    } else {
        const T more = (T)0.5 * (y * y / (r + x + 1) + (x < 1 ? y * y / (s + left) : s + left));
        out.im = xc_r_log1p(more + xc_r_sqrt(more * (a + 1)));
    }
    return out;
}
XC_Z xc_complex<T> xc_z_asin(xc_complex<T> z) {
    typedef xc_consts<T> K;
    const T x = z.re, y = z.im;
    if (xc_z_isinf(z)) {
        if (xc_isinf(x) && xc_isnan(y)) return {y, x};
        const T re = xc_isnan(x) ? x : !xc_isinf(x) ? (T)0 : xc_isinf(y) ? K::quarter_pi : K::half_pi;
        return {xc_copysign(re, x), xc_copysign(xc_inf<T>(), y)};
    }
    if (xc_z_isnan(z)) return {x == 0 ? x : xc_nan<T>(), xc_nan<T>()};
    const xc_inverse<T> v = xc_asin_acos(xc_abs<T>(x), xc_abs<T>(y));
    return {xc_copysign(v.asin, x), xc_copysign(v.im, y)};
}
XC_Z xc_complex<T> xc_z_acos(xc_complex<T> z) {
    typedef xc_consts<T> K;
    const T x = z.re, y = z.im;
    const b1 left = xc_signbit(x);
    if (xc_z_isinf(z)) {
        if (xc_isinf(x) && xc_isnan(y)) return {y, x};
        T re = xc_isnan(x) ? x : !xc_isinf(x) ? K::half_pi : xc_isinf(y) ? K::quarter_pi : (T)0;
        if (xc_isinf(x) && left) re = K::pi - re;
        return {re, -xc_copysign(xc_inf<T>(), y)};
    }
    if (xc_z_isnan(z)) return {x == 0 ? K::half_pi : xc_nan<T>(), xc_nan<T>()};
    const xc_inverse<T> v = xc_asin_acos(xc_abs<T>(x), xc_abs<T>(y));
    return {left ? K::pi - v.acos : v.acos, -xc_copysign(v.im, y)};
}
XC_Z xc_complex<T> xc_z_asinh(xc_complex<T> z) { return xc_turn_back(xc_z_asin(xc_turn(z))); }
XC_Z xc_complex<T> xc_z_acosh(xc_complex<T> z) {
    const xc_complex<T> w = xc_z_acos(z);
    if (xc_isnan(w.re) && xc_isnan(w.im)) return w;
    if (xc_isnan(w.re)) return {xc_abs<T>(w.im), w.re};
    if (xc_isnan(w.im)) return {w.im, w.re};
    return {xc_abs<T>(w.im), xc_copysign(w.re, z.im)};
}
XC_Z xc_complex<T> xc_z_atanh(xc_complex<T> z) {
    typedef xc_limits<T> L;
    typedef xc_consts<T> K;
    const T x = xc_abs<T>(z.re), y = xc_abs<T>(z.im);
    T re, im;
    if (xc_isnan(x) || xc_isnan(y)) {
        re = xc_isinf(x) || xc_isinf(y) || x == 0 ? (T)0 : xc_nan<T>();
        im = xc_isinf(y) ? K::half_pi : xc_nan<T>();
    } else if (x > (T)1 / L::eps || y > (T)1 / L::eps) {  // 1 / z, and a quarter turn
        if (xc_isinf(x) || xc_isinf(y))
            re = 0;
        else if (x > y)
            re = 1 / (x + y / x * y);
        else
            re = x / y / (y + x / y * x);
        im = K::half_pi;
    } else if (x == 1 && y < L::eps) {
        re = y == 0 ? xc_inf<T>() : (K::ln2 - xc_r_log(y)) * (T)0.5;
        im = y == 0 ? (T)0 : xc_r_atan2((T)2, -y) * (T)0.5;
    } else {
        const T left = 1 - x;
        re = xc_r_log1p(4 * x / (left * left + y * y)) * (T)0.25;
        im = xc_r_atan2(2 * y, left * (1 + x) - y * y) * (T)0.5;
    }
    return {xc_copysign(re, z.re), xc_copysign(im, z.im)};
}
XC_Z xc_complex<T> xc_z_atan(xc_complex<T> z) { return xc_turn_back(xc_z_atanh(xc_turn(z))); }

// NumPy's: 1 for an exponent of 0, multiplications for whole ones below 100, else by exp and log.
XC_Z xc_complex<T> xc_z_pow(xc_complex<T> a, xc_complex<T> b) {
    if (b.re == 0 && b.im == 0) return {1, 0};
    if (a.re == 0 && a.im == 0) {
        if (b.re > 0) return {0, 0};
        return {xc_nan<T>(), xc_nan<T>()};
    }
    if (b.im == 0 && b.re > -100 && b.re < 100 && b.re == (T)(i32)b.re) {
        i32 n = (i32)b.re;
        const b1 below = n < 0;
        if (below) n = -n;
        xc_complex<T> r(1, 0);
        b1 first = true;
        for (;;) {
            if (n & 1) r = first ? a : r * a, first = false;
            n >>= 1;
            if (n == 0) break;
            a = a * a;
        }
        return below ? xc_complex<T>(1, 0) / r : r;
    }
    return xc_z_exp(b * xc_z_log(a));
}

// Functions of whole numbers and of the classes of floats that have no instruction and no libm of their own, scalar.
template <class T>
XC_FN typename xc_unsigned<T>::type xc_n_size(T x) {
    typedef typename xc_unsigned<T>::type U;
    return x < 0 ? (U)(U(0) - (U)x) : (U)x;
}
template <class U>
XC_FN U xc_n_divisor(U x, U y) {
    while (y != 0) {
        const U rest = (U)(x % y);
        x = y;
        y = rest;
    }
    return x;
}
template <class T>
XC_FN T xc_n_gcd(T a, T b) {
    return xc_cast<T>(xc_n_divisor(xc_n_size(a), xc_n_size(b)));
}
template <class T>
XC_FN T xc_n_lcm(T a, T b) {  // wraps around as NumPy's does
    const auto x = xc_n_size(a), y = xc_n_size(b), g = xc_n_divisor(x, y);
    return g == 0 ? T(0) : xc_cast<T>(xc_times<typename xc_unsigned<T>::type>(x / g, y));
}
XC_FN i64 xc_n_factorial(i64 n) {  // of 0 to 20: what is more does not fit
    i64 r = 1;
    for (i64 k = 2; k <= n; ++k) r *= k;
    return r;
}
XC_FN i64 xc_n_perm(i64 n, i64 k) {
    if (k > n) return 0;
    i64 r = 1;
    for (i64 i = 0; i < k; ++i) r = xc_times<i64>(r, n - i);
    return r;
}
XC_FN i64 xc_n_comb(i64 n, i64 k) {  // each product is divisible, and none is above the result times k
    if (k > n) return 0;
    if (k > n - k) k = n - k;
    i64 r = 1;
    for (i64 i = 1; i <= k; ++i) {
        const i64 g = xc_n_gcd<i64>(r, i);
        r = xc_times<i64>(r / g, (n - k + i) / (i / g));
    }
    return r;
}
XC_FN i64 xc_n_isqrt(i64 n) {  // n is not negative
    i64 r = (i64)XC_LIBM(sqrt)((f64)n);
    if (r > 3037000499) r = 3037000499;
    while (r * r > n) --r;
    while (r < 3037000499 && (r + 1) * (r + 1) <= n) ++r;
    return r;
}
XC_FN i64 xc_n_bit_length(i64 x) {
    u64 size = x < 0 ? (u64)0 - (u64)x : (u64)x;
    i64 n = 0;
    for (; size != 0; size >>= 1) ++n;
    return n;
}
template <class T>
XC_FN T xc_n_heaviside(T x, T at_0) {
    return x != x ? x : x < 0 ? T(0) : x > 0 ? T(1) : at_0;
}
XC_FN f32 xc_n_most(f32) { return 0x1.fffffep127f; }
XC_FN f64 xc_n_most(f64) { return 0x1.fffffffffffffp1023; }
template <class T>
XC_FN T xc_n_nan_to_num(T x) {
    return xc_isnan(x) ? T(0) : xc_isinf(x) ? (x > 0 ? xc_n_most(x) : -xc_n_most(x)) : x;
}
template <class T>
XC_FN b1 xc_n_infinite(T x, b1 negative) {
    return xc_isinf(x) && xc_signbit(x) == negative;
}
XC_FN f32 xc_n_next(f32 x, f32 y) { return XC_LIBM(nextafterf)(x, y); }
XC_FN f64 xc_n_next(f64 x, f64 y) { return XC_LIBM(nextafter)(x, y); }
// To the next number away from zero, with x's sign; nan of what is not finite.
template <class T>
XC_FN T xc_n_spacing(T x) {
    if (!xc_isfinite(x)) return x - x;
    const T far = 2 * xc_n_most(x);  // infinite
    return xc_signbit(x) && x != 0 ? xc_n_next(x, -far) - x : xc_n_next(x, far) - x;
}
// To the next number towards zero where the other one is infinite.
template <class T>
XC_FN T xc_n_ulp(T given) {
    const T x = xc_abs<T>(given);
    if (xc_isnan(x) || xc_isinf(x)) return x;
    const T far = 2 * xc_n_most(x), above = xc_n_next(x, far);
    return xc_isinf(above) ? x - xc_n_next(x, -far) : above - x;
}
XC_FN f32 xc_n_logaddexp2(f32 x, f32 y) {
    if (x == y) return x + 1;
    const f32 d = x - y, over = 1.442695040888963407359925f;
    return d > 0    ? x + over * XC_LIBM(log1pf)(XC_LIBM(exp2f)(-d))
           : d <= 0 ? y + over * XC_LIBM(log1pf)(XC_LIBM(exp2f)(d))
                    : d;
}
XC_FN f64 xc_n_logaddexp2(f64 x, f64 y) {
    if (x == y) return x + 1;
    const f64 d = x - y, over = 1.442695040888963407359925;
    return d > 0    ? x + over * XC_LIBM(log1p)(XC_LIBM(exp2)(-d))
           : d <= 0 ? y + over * XC_LIBM(log1p)(XC_LIBM(exp2)(d))
                    : d;
}
// Python's: relative to the greater of both; NumPy's: to the second.
XC_FN b1 xc_n_isclose(f64 a, f64 b, f64 relative, f64 absolute) {
    if (a == b) return true;
    if (xc_isinf(a) || xc_isinf(b)) return false;
    const f64 off = xc_abs<f64>(b - a);
    return off <= relative * xc_abs<f64>(b) || off <= relative * xc_abs<f64>(a) || off <= absolute;
}
XC_FN b1 xc_n_isclose_numpy(f64 a, f64 b, f64 relative, f64 absolute) {
    if (a == b) return true;
    return xc_isfinite(b) && xc_abs<f64>(a - b) <= absolute + relative * xc_abs<f64>(b);
}

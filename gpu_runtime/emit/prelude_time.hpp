// datetime64 and timedelta64 as the integers that they are, for both devices: the least one is NaT. NumPy's meaning; sums
// and products wrap around.
#define XC_NAT ((i64)0x8000000000000000ull)
XC_FN b1 xc_isnat(i64 x) { return x == XC_NAT; }
XC_FN i64 xc_time_add(i64 a, i64 b) { return xc_isnat(a) || xc_isnat(b) ? XC_NAT : (i64)((u64)a + (u64)b); }
XC_FN i64 xc_time_sub(i64 a, i64 b) { return xc_isnat(a) || xc_isnat(b) ? XC_NAT : (i64)((u64)a - (u64)b); }
XC_FN i64 xc_time_neg(i64 a) { return (i64)(0 - (u64)a); }  // NaT's own negative is NaT
XC_FN i64 xc_time_abs(i64 a) { return a < 0 ? xc_time_neg(a) : a; }
XC_FN f64 xc_time_sign(i64 a) { return xc_isnat(a) ? XC_NAN64 : a > 0 ? 1 : a < 0 ? -1 : 0; }
XC_FN i64 xc_time_mul(i64 a, i64 n) { return xc_isnat(a) ? XC_NAT : (i64)((u64)a * (u64)n); }
XC_FN i64 xc_time_of(f64 x) { return xc_isfinite(x) ? xc_cast<i64>(x) : XC_NAT; }
XC_FN i64 xc_time_mul_real(i64 a, f64 x) { return xc_isnat(a) ? XC_NAT : xc_time_of((f64)a * x); }
XC_FN i64 xc_time_div(i64 a, i64 n) {
    return xc_isnat(a) || n == 0 ? XC_NAT : n == -1 ? xc_time_neg(a) : a / n;
}
XC_FN i64 xc_time_div_real(i64 a, f64 x) { return xc_isnat(a) ? XC_NAT : xc_time_of((f64)a / x); }
XC_FN f64 xc_time_ratio(i64 a, i64 b) { return xc_isnat(a) || xc_isnat(b) ? XC_NAN64 : (f64)a / (f64)b; }
XC_FN i64 xc_time_floored(i64 a, i64 n) {  // n is not 0
    if (n == -1) return xc_time_neg(a);
    const i64 q = a / n;
    return a % n != 0 && (a < 0) != (n < 0) ? q - 1 : q;
}
XC_FN i64 xc_time_floordiv(i64 a, i64 b) {
    return xc_isnat(a) || xc_isnat(b) || b == 0 ? 0 : xc_time_floored(a, b);
}
XC_FN i64 xc_time_mod(i64 a, i64 b) {
    if (xc_isnat(a) || xc_isnat(b) || b == 0) return XC_NAT;
    return b == -1 ? 0 : a - xc_time_floored(a, b) * b;
}
XC_FN b1 xc_time_lt(i64 a, i64 b) { return !xc_isnat(a) && !xc_isnat(b) && a < b; }
XC_FN b1 xc_time_le(i64 a, i64 b) { return !xc_isnat(a) && !xc_isnat(b) && a <= b; }
XC_FN b1 xc_time_eq(i64 a, i64 b) { return !xc_isnat(a) && a == b; }
XC_FN i64 xc_time_minimum(i64 a, i64 b) { return xc_isnat(a) || a < b ? a : b; }
XC_FN i64 xc_time_maximum(i64 a, i64 b) { return xc_isnat(a) || (!xc_isnat(b) && a > b) ? a : b; }
XC_FN i64 xc_time_fmin(i64 a, i64 b) { return xc_isnat(a) || (!xc_isnat(b) && b < a) ? b : a; }
XC_FN i64 xc_time_fmax(i64 a, i64 b) { return xc_isnat(a) || b > a ? b : a; }
XC_FN i64 xc_time_min(i64 a, i64 b) { return xc_time_lt(b, a) ? b : a; }
XC_FN i64 xc_time_max(i64 a, i64 b) { return xc_time_lt(a, b) ? b : a; }
// From one unit to another: by a whole number, or through the proleptic Gregorian calendar.
XC_FN i64 xc_time_unscale(i64 a, i64 n) { return xc_isnat(a) ? XC_NAT : xc_time_floored(a, n); }
XC_FN i64 xc_time_days_of_months(i64 months) {  // both since 1970-01-01
    if (xc_isnat(months)) return XC_NAT;
    const i64 since_march = months + 1970 * 12 - 2, year = xc_time_floored(since_march, 12),
              month = since_march - year * 12;
    return 365 * year + xc_time_floored(year, 4) - xc_time_floored(year, 100) + xc_time_floored(year, 400) +
           (153 * month + 2) / 5 - 719468;
}
XC_FN i64 xc_time_months_of_days(i64 days) {
    if (xc_isnat(days)) return XC_NAT;
    const i64 shifted = days + 719468, era = xc_time_floored(shifted, 146097),
              in_era = shifted - era * 146097;
    const i64 year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    const i64 in_year = in_era - (365 * year + year / 4 - year / 100), month = (5 * in_year + 2) / 153;
    return (year + era * 400) * 12 + month + 2 - 1970 * 12;
}

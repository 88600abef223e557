// Bessel functions of the first and the second kind, scalar. Below 8 the device's library has them; above, where CUDA's is off
// by up to 5e-12 in absolute terms, both devices take Hankel's form: P and Q of z = (8 / x)^2, interpolated on 0 <= z <= 1
// (within 2e-15 of Q and 5e-18 of P; float32: 5e-8 and 1e-10), with a sine and a cosine that take x apart exactly.
#ifdef XC_CPU
extern "C" {
double j0(double) noexcept;
double j1(double) noexcept;
double y0(double) noexcept;
double y1(double) noexcept;
float j0f(float) noexcept;
float j1f(float) noexcept;
float y0f(float) noexcept;
float y1f(float) noexcept;
}
#endif
XC_FN f32 xc_s_cos(f32 x) { return XC_LIBM(cosf)(x); }
XC_FN f64 xc_s_cos(f64 x) { return XC_LIBM(cos)(x); }
template <i32 order, bool second>
XC_FN f32 xc_s_bessel_near(f32 x) {
    if constexpr (second) return order ? y1f(x) : y0f(x);
    return order ? j1f(x) : j0f(x);
}
template <i32 order, bool second>
XC_FN f64 xc_s_bessel_near(f64 x) {
    if constexpr (second) return order ? y1(x) : y0(x);
    return order ? j1(x) : j0(x);
}
template <i32 order>
XC_FN void xc_s_hankel(f32 z, f32& p, f32& q) {
    constexpr f32 p0[] = {0.9999999999f, -0.001098628286f, 2.734341918e-5f, -2.070698897e-6f,
                          2.080612097e-7f};
    constexpr f32 q0[] = {-0.9999999476f, 0.009153581819f, -0.0004347024227f, 3.672116416e-5f};
    constexpr f32 p1[] = {1.0f, 0.001831049624f, -3.516210552e-5f, 2.454571416e-6f, -2.388717933e-7f};
    constexpr f32 q1[] = {2.999999941f, -0.01281547308f, 0.0005321397841f, -4.282965534e-5f};
    p = order ? xc_s_polynomial(p1, z) : xc_s_polynomial(p0, z);
    q = order ? xc_s_polynomial(q1, z) : xc_s_polynomial(q0, z);
}
template <i32 order>
XC_FN void xc_s_hankel(f64 z, f64& p, f64& q) {
    constexpr f64 p0[] = {0.9999999999999999957,    -0.001098632812498555729, 0.00002738088361130016873,
                          -2.183917728558513154e-6, 3.620184781129259048e-7,  -1.022947539942149609e-7,
                          4.339314718568920747e-8,  -2.418561517940881458e-8, 1.484554935489529636e-8,
                          -8.312519650447639565e-9, 3.589369421372812076e-9,  -1.002906697963394384e-9,
                          1.321970042335083433e-10};
    constexpr f64 q0[] = {-0.9999999999999984333,    0.009155273437046880345,    -0.0004435702937753782826,
                          0.00005272563044580078159, -0.00001162114093568815631, 4.080247810743680318e-6,
                          -2.011114800690584466e-6,  1.177604412906063006e-6,    -6.678803065579480676e-7,
                          3.018791474626943383e-7,   -8.947829203679926901e-8,   1.255110852608766435e-8};
    constexpr f64 p1[] = {1.000000000000000005,     0.001831054687498472913,  -0.00003520399323335166086,
                          2.580993913196501785e-6,  -4.102893385438351228e-7, 1.130707373866815154e-7,
                          -4.719167778074151339e-8, 2.603025038202073609e-8,  -1.587952287269033209e-8,
                          8.860855361799285218e-9,  -3.81873530553367707e-9,  1.065777030791148158e-9,
                          -1.403839508957779924e-10};
    constexpr f64 q1[] = {2.999999999999998342,       -0.01281738281202051973,   0.0005421414737911302699,
                          -0.00006083730701204204892, 0.00001298859805265667028, -4.469888646732811732e-6,
                          2.174678903898829104e-6,    -1.263320448339009712e-6,  7.133116571830929434e-7,
                          -3.216268590415624619e-7,   9.519903731110580405e-8,   -1.334231903644832846e-8};
    p = order ? xc_s_polynomial(p1, z) : xc_s_polynomial(p0, z);
    q = order ? xc_s_polynomial(q1, z) : xc_s_polynomial(q0, z);
}
template <i32 order, bool second, class T>
XC_SPECIAL T xc_s_bessel_jy(T given) {
    const T x = second ? given : xc_abs<T>(given);
    if (!(x >= 8)) return xc_s_bessel_near<order, second>(given);
    if (x == xc_s_inf<T>()) return 0;
    T p, q;
    const T part = 8 / x;
    xc_s_hankel<order>(part * part, p, q);
    q *= T(0.125) / x;
    // The phase is x - pi/4, or x - 3 pi/4: both sums are the square root of 2 too large.
    const T s = xc_s_sin(x), c = xc_s_cos(x), plus = s + c, minus = s - c;
    const T cosine = order ? minus : plus, sine = order ? -plus : minus;
    const T r =
        (second ? p * sine + q * cosine : p * cosine - q * sine) * T(0.56418958354775628695) / xc_s_sqrt(x);
    return order && !second && given < 0 ? -r : r;
}

// Complex numbers for both devices: only in kernels that hold one. NumPy's arithmetic, to the last branch.
#ifdef XC_CUDA
#define XC_PAIR(T) alignas(2 * sizeof(T))  // one load an element
#else
#define XC_PAIR(T)
#endif
template <class T>
struct XC_PAIR(T) xc_complex {
    T re, im;
    xc_complex() = default;
    XC_MEMBER xc_complex(T re, T im) : re(re), im(im) {}
    XC_MEMBER explicit xc_complex(T re) : re(re), im(0) {}
    template <class U>
    XC_MEMBER explicit xc_complex(const xc_complex<U>& z) : re((T)z.re),
                                                            im((T)z.im) {}
};
typedef xc_complex<f32> c64;
typedef xc_complex<f64> c128;
template <class T>
struct xc_number<xc_complex<T>> {  // cast as a floating number is
    static constexpr bool real = true;
};
#define XC_Z           \
    template <class T> \
    XC_FN
XC_Z xc_complex<T> operator-(xc_complex<T> z) { return {-z.re, -z.im}; }
XC_Z xc_complex<T> operator+(xc_complex<T> a, xc_complex<T> b) { return {a.re + b.re, a.im + b.im}; }
XC_Z xc_complex<T> operator-(xc_complex<T> a, xc_complex<T> b) { return {a.re - b.re, a.im - b.im}; }
XC_Z xc_complex<T> operator*(xc_complex<T> a, xc_complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
XC_Z b1 operator==(xc_complex<T> a, xc_complex<T> b) { return a.re == b.re && a.im == b.im; }
XC_Z b1 operator!=(xc_complex<T> a, xc_complex<T> b) { return a.re != b.re || a.im != b.im; }
// Smith's, scaled by the divisor's larger part; by 0 each part is divided.
XC_Z xc_complex<T> operator/(xc_complex<T> a, xc_complex<T> b) {
    const T re = xc_abs<T>(b.re), im = xc_abs<T>(b.im);
    if (re >= im) {
        if (re == 0 && im == 0) return {a.re / re, a.im / re};
        const T ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
        return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const T ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}

// Sums into complex elements; a part of the text where one is used, after the atomics and the complex numbers.
// A complex64 is one word of 64 bits. Of a complex128 each part is one, so that the old value's parts may be of two
// moments; only sums work so.
XC_FN c64 xc_atomic_add_complex(c64* p, c64 v) {
    return xc_atomic_update(p, [v](c64 x) { return x + v; });
}
XC_FN c128 xc_atomic_add_complex(c128* p, c128 v) {
    return {xc_atomic<xc_op_add>(&p->re, v.re), xc_atomic<xc_op_add>(&p->im, v.im)};
}
XC_Z xc_complex<T> xc_atomic_sub_complex(xc_complex<T>* p, xc_complex<T> v) {
    return xc_atomic_add_complex(p, -v);
}

// Of kernels that are looked at, by a watcher or with shadow memory. A part of the text only there.
template <class T>
XC_DEVICE bool xc_took(T condition, i32, XC_HERE_PARAMETERS) {
    return condition;
}
template <class T>
XC_DEVICE bool xc_is_finite(T x) {
    const f64 wide = xc_cast<f64>(x);
    return wide - wide == 0;
}

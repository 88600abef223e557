// A call of the user's own CUDA C++: arguments become its parameters' types, pointers their addresses.
template <class R, class... P, class... A>
XC_DEVICE R xc_foreign(R (*f)(P...), A... a) {
    return f((P)a...);
}

template <class T, class U> XC_DEVICE T xc_cast(U x) { return (T)x; }

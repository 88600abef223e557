// Atomics: each gives the old value. A part of the text only where one is used.
template <int N>
struct xc_word;
template <>
struct xc_word<1> {
    typedef u8 type;
};
template <>
struct xc_word<2> {
    typedef u16 type;
};
template <>
struct xc_word<4> {
    typedef u32 type;
};
template <>
struct xc_word<8> {
    typedef u64 type;
};
template <class To, class From>
XC_DEVICE To xc_as(From x) {
    union {
        From from;
        To to;
    } both = {x};
    return both.to;
}
template <class T>
XC_DEVICE T xc_wide(T x) {
    return x;
}
XC_DEVICE f32 xc_wide(f16 x) { return (f32)x; }

// What becomes of a cell x and a value v. NaN in max and min: kept where the cell holds one, ignored where the value is one;
// nanmax and nanmin put a number over it.
struct xc_op_add {
    template <class T>
    XC_DEVICE T of(T x, T v) {
        return xc_cast<T>(xc_wide(x) + xc_wide(v));
    }
};
struct xc_op_sub {
    template <class T>
    XC_DEVICE T of(T x, T v) {
        return xc_cast<T>(xc_wide(x) - xc_wide(v));
    }
};
struct xc_op_max {
    template <class T>
    XC_DEVICE T of(T x, T v) {
        return xc_wide(v) > xc_wide(x) ? v : x;
    }
};
struct xc_op_min {
    template <class T>
    XC_DEVICE T of(T x, T v) {
        return xc_wide(v) < xc_wide(x) ? v : x;
    }
};
struct xc_op_nanmax {
    template <class T>
    XC_DEVICE T of(T x, T v) {
        return xc_wide(v) > xc_wide(x) || xc_wide(x) != xc_wide(x) ? v : x;
    }
};
struct xc_op_nanmin {
    template <class T>
    XC_DEVICE T of(T x, T v) {
        return xc_wide(v) < xc_wide(x) || xc_wide(x) != xc_wide(x) ? v : x;
    }
};
struct xc_op_exch {
    template <class T>
    XC_DEVICE T of(T, T v) {
        return v;
    }
};
struct xc_op_and {
    template <class T>
    XC_DEVICE T of(T x, T v) {
        return (T)(x & v);
    }
};
struct xc_op_or {
    template <class T>
    XC_DEVICE T of(T x, T v) {
        return (T)(x | v);
    }
};
struct xc_op_xor {
    template <class T>
    XC_DEVICE T of(T x, T v) {
        return (T)(x ^ v);
    }
};
struct xc_op_inc {
    template <class T>
    XC_DEVICE T of(T x, T v) {
        return x >= v ? (T)0 : (T)(x + 1);
    }
};
struct xc_op_dec {
    template <class T>
    XC_DEVICE T of(T x, T v) {
        return x == 0 || x > v ? v : (T)(x - 1);
    }
};

template <class T, class F>
XC_DEVICE T xc_atomic_update(T* p, F change) {
    typedef typename xc_word<sizeof(T)>::type bits;
#ifdef XC_CPU
    bits* cell = (bits*)p;
    bits old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    for (;;) {
        const T value = xc_as<T>(old);
        const bits next = xc_as<bits>(change(value));
        if (next == old ||
            __atomic_compare_exchange_n(cell, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return value;
    }
#else
    if constexpr (sizeof(T) >= 4) {
        bits* cell = (bits*)p;
        bits old = *(volatile bits*)cell;
        for (;;) {
            const T value = xc_as<T>(old);
            const bits next = xc_as<bits>(change(value));
            if (next == old) return value;
            const bits seen = atomicCAS(cell, old, next);
            if (seen == old) return value;
            old = seen;
        }
    } else {  // a byte or a half-word: through the word around it
        u32* cell = (u32*)((u64)p & ~3ull);
        const u32 shift = ((u64)p & 3) * 8, mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
        u32 old = *(volatile u32*)cell;
        for (;;) {
            const T value = xc_as<T>((bits)((old & mask) >> shift));
            const u32 next = (old & ~mask) | ((u32)xc_as<bits>(change(value)) << shift);
            if (next == old) return value;
            const u32 seen = atomicCAS(cell, old, next);
            if (seen == old) return value;
            old = seen;
        }
    }
#endif
}
template <class T>
struct xc_cell {
    typedef T type;
};  // the cell alone decides the type
template <class Op, class T>
XC_DEVICE T xc_atomic(T* p, typename xc_cell<T>::type v) {
    typedef typename xc_word<sizeof(T)>::type bits;
    constexpr bool real = xc_number<T>::real, whole = !real && sizeof(T) >= 4;
    constexpr bool add = xc_same<Op, xc_op_add>::value, sub = xc_same<Op, xc_op_sub>::value;
#ifdef XC_CPU
    if constexpr (!real && add)
        return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
    else if constexpr (!real && sub)
        return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED);
    else if constexpr (xc_same<Op, xc_op_and>::value)
        return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);
    else if constexpr (xc_same<Op, xc_op_or>::value)
        return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
    else if constexpr (xc_same<Op, xc_op_xor>::value)
        return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);
    else if constexpr (xc_same<Op, xc_op_exch>::value)
        return xc_as<T>(__atomic_exchange_n((bits*)p, xc_as<bits>(v), __ATOMIC_RELAXED));
#else
    if constexpr (whole && add)
        return (T)atomicAdd((bits*)p, (bits)v);
    else if constexpr (whole && sub)
        return (T)atomicAdd((bits*)p, (bits)0 - (bits)v);
    else if constexpr (real && sizeof(T) >= 4 && add)
        return atomicAdd(p, v);
    else if constexpr (real && sizeof(T) >= 4 && sub)
        return atomicAdd(p, -v);
    else if constexpr (whole && (xc_same<Op, xc_op_max>::value || xc_same<Op, xc_op_nanmax>::value))
        return atomicMax(p, v);
    else if constexpr (whole && (xc_same<Op, xc_op_min>::value || xc_same<Op, xc_op_nanmin>::value))
        return atomicMin(p, v);
    else if constexpr (whole && xc_same<Op, xc_op_and>::value)
        return (T)atomicAnd((bits*)p, (bits)v);
    else if constexpr (whole && xc_same<Op, xc_op_or>::value)
        return (T)atomicOr((bits*)p, (bits)v);
    else if constexpr (whole && xc_same<Op, xc_op_xor>::value)
        return (T)atomicXor((bits*)p, (bits)v);
    else if constexpr (sizeof(T) >= 4 && xc_same<Op, xc_op_exch>::value)
        return xc_as<T>(atomicExch((bits*)p, xc_as<bits>(v)));
    else if constexpr (xc_same<T, u32>::value && xc_same<Op, xc_op_inc>::value)
        return atomicInc(p, v);
    else if constexpr (xc_same<T, u32>::value && xc_same<Op, xc_op_dec>::value)
        return atomicDec(p, v);
#endif
    else
        return xc_atomic_update(p, [v](T x) { return Op::of(x, v); });
}
template <class T>
XC_DEVICE T xc_atomic_cas(T* p, typename xc_cell<T>::type v, typename xc_cell<T>::type compare) {
    return xc_atomic_update(p, [v, compare](T x) { return xc_wide(x) == xc_wide(compare) ? v : x; });
}
// A thread's own memory: nobody comes between, and the hardware has no atomics there.
template <class Op, class T>
XC_DEVICE T xc_local(T* p, typename xc_cell<T>::type v) {
    const T old = *p;
    *p = Op::of(old, (T)v);
    return old;
}
template <class T>
XC_DEVICE T xc_local_cas(T* p, typename xc_cell<T>::type v, typename xc_cell<T>::type compare) {
    const T old = *p;
    if (xc_wide(old) == xc_wide(compare)) *p = v;
    return old;
}

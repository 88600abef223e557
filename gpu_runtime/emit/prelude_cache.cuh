// Loads and stores of global memory with a cache operator, by the element's size; only in kernels that ask for one.
template <class T> XC_DEVICE u64 xc_global(T* p) { return __cvta_generic_to_global((const void*)p); }
template <class T, class W> XC_DEVICE T xc_of_word(W w) {
    union { W w; T x; } v;
    v.w = w;
    return v.x;
}
template <class W, class T> XC_DEVICE W xc_word_of(T x) {
    union { W w; T x; } v;
    v.x = x;
    return v.w;
}
#define XC_LOAD(op)                                                                                       \
    template <class T> XC_DEVICE T xc_ld_##op(const T* p) {                                               \
        const u64 at = xc_global(p);                                                                      \
        if constexpr (sizeof(T) == 1) {                                                                   \
            u16 w;                                                                                        \
            asm volatile("ld.global." #op ".b8 %0, [%1];" : "=h"(w) : "l"(at) : "memory");                \
            return xc_of_word<T, u8>((u8)w);                                                              \
        } else if constexpr (sizeof(T) == 2) {                                                            \
            u16 w;                                                                                        \
            asm volatile("ld.global." #op ".b16 %0, [%1];" : "=h"(w) : "l"(at) : "memory");               \
            return xc_of_word<T>(w);                                                                      \
        } else if constexpr (sizeof(T) == 4) {                                                            \
            u32 w;                                                                                        \
            asm volatile("ld.global." #op ".b32 %0, [%1];" : "=r"(w) : "l"(at) : "memory");               \
            return xc_of_word<T>(w);                                                                      \
        } else {                                                                                          \
            u64 w;                                                                                        \
            asm volatile("ld.global." #op ".b64 %0, [%1];" : "=l"(w) : "l"(at) : "memory");               \
            return xc_of_word<T>(w);                                                                      \
        }                                                                                                 \
    }
#define XC_STORE(op)                                                                                      \
    template <class T, class V> XC_DEVICE void xc_st_##op(T* p, V value) {                                \
        const T x = (T)value;                                                                             \
        const u64 at = xc_global(p);                                                                      \
        if constexpr (sizeof(T) == 1)                                                                     \
            asm volatile("st.global." #op ".b8 [%0], %1;" ::"l"(at), "h"((u16)xc_word_of<u8>(x)) : "memory"); \
        else if constexpr (sizeof(T) == 2)                                                                \
            asm volatile("st.global." #op ".b16 [%0], %1;" ::"l"(at), "h"(xc_word_of<u16>(x)) : "memory"); \
        else if constexpr (sizeof(T) == 4)                                                                \
            asm volatile("st.global." #op ".b32 [%0], %1;" ::"l"(at), "r"(xc_word_of<u32>(x)) : "memory"); \
        else                                                                                              \
            asm volatile("st.global." #op ".b64 [%0], %1;" ::"l"(at), "l"(xc_word_of<u64>(x)) : "memory"); \
    }
XC_LOAD(ca)
XC_LOAD(cg)
XC_LOAD(cs)
XC_LOAD(lu)
XC_LOAD(cv)
XC_STORE(cg)
XC_STORE(cs)
XC_STORE(wb)
XC_STORE(wt)

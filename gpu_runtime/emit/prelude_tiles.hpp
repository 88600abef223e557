// What tile programs are made of: products of blocks in vector registers (CPU), matrix instructions and copies (CUDA).
#ifdef XC_CPU
#ifdef __AVX512F__
#define XC_TILE_BYTES 64
#else
#define XC_TILE_BYTES 32
#endif
template <class T, int N>
struct xc_tile_vector {
    typedef T type __attribute__((ext_vector_type(N)));
};

// What vectors are made of.
template <class T>
struct xc_tile_is_number {
    static constexpr bool value = __is_arithmetic(T);
};

// acc[ROWS][COLUMNS * LANES] += a[ROWS][K] * b[K][...], all of it in registers; LDB: elements from a row of b to the next.
template <class T, int LANES, int ROWS, int COLUMNS, int N, int K, int LDB, class A, class B>
XC_DEVICE void xc_tile_block(T* acc, const A* a, const B* b) {
    typedef typename xc_tile_vector<T, LANES>::type V;
    typedef typename xc_tile_vector<B, LANES>::type W;
    V sum[ROWS][COLUMNS];
#pragma clang loop unroll(full)
    for (int i = 0; i < ROWS; ++i)
#pragma clang loop unroll(full)
        for (int j = 0; j < COLUMNS; ++j) sum[i][j] = xc_vload<V>(acc + i * N + j * LANES);
    for (int k = 0; k < K; ++k) {
        V row[COLUMNS];
#pragma clang loop unroll(full)
        for (int j = 0; j < COLUMNS; ++j)
            row[j] = __builtin_convertvector(xc_vload<W>(b + k * LDB + j * LANES), V);
#pragma clang loop unroll(full)
        for (int i = 0; i < ROWS; ++i) {
            const V x = (V)(T)a[i * K + k];
#pragma clang loop unroll(full)
            for (int j = 0; j < COLUMNS; ++j) sum[i][j] += x * row[j];
        }
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < ROWS; ++i)
#pragma clang loop unroll(full)
        for (int j = 0; j < COLUMNS; ++j) xc_vstore(acc + i * N + j * LANES, sum[i][j]);
}

// One column: each row's dot product, in lanes along K.
template <class T, int M, int K, class A, class B>
XC_DEVICE void xc_tile_dots(T* acc, const A* a, const B* b) {
    constexpr int most = XC_TILE_BYTES / sizeof(T), lanes = K < most ? K : most;
    typedef typename xc_tile_vector<T, lanes>::type V;
    for (int i = 0; i < M; ++i) {
        V sum = (V)(T)0;
        for (int k = 0; k < K; k += lanes)
            sum +=
                __builtin_convertvector(xc_vload<typename xc_tile_vector<A, lanes>::type>(a + i * K + k), V) *
                __builtin_convertvector(xc_vload<typename xc_tile_vector<B, lanes>::type>(b + k), V);
        T all = sum[0];
        for (int l = 1; l < lanes; ++l) all += sum[l];
        acc[i] += all;
    }
}

// acc (M, N) += a (M, K) @ b (K, N), each contiguous, its lengths powers of two.
template <class T, int M, int N, int K, class A, class B>
XC_DEVICE void xc_tile_product(T* acc, const A* a, const B* b) {
    constexpr int most_lanes = XC_TILE_BYTES / sizeof(T), lanes = N < most_lanes ? N : most_lanes;
    if constexpr (xc_tile_is_number<T>::value) {
        if constexpr (N == 1 && K > 1) {
            xc_tile_dots<T, M, K>(acc, a, b);
        } else {
            constexpr int columns = N % (2 * lanes) == 0 ? 2 : 1, width = columns * lanes;
            constexpr int most = XC_TILE_BYTES == 64 ? 8 : 4, rows = M < most ? M : most;
            // Rows far apart lie in few sets of the cache: columns that are read many times are brought together.
            constexpr bool packed = N > width && K * width * sizeof(B) <= 32768 && M >= 4 * rows;
            alignas(XC_TILE_BYTES) B panel[packed ? K * width : 1];
            for (int j = 0; j < N; j += width) {
                if constexpr (packed)
                    for (int k = 0; k < K; ++k)
                        __builtin_memcpy(panel + k * width, b + k * N + j, width * sizeof(B));
                for (int i = 0; i < M; i += rows)
                    if constexpr (packed)
                        xc_tile_block<T, lanes, rows, columns, N, K, width>(acc + i * N + j, a + i * K,
                                                                            panel);
                    else
                        xc_tile_block<T, lanes, rows, columns, N, K, N>(acc + i * N + j, a + i * K, b + j);
            }
        }
    } else {
        for (int i = 0; i < M; ++i)
            for (int k = 0; k < K; ++k) {
                const T x = (T)a[i * K + k];
                for (int j = 0; j < N; ++j) acc[i * N + j] = acc[i * N + j] + x * (T)b[k * N + j];
            }
    }
}
#endif

// Neighbours in memory at once: into registers, out of them, from memory to memory. `from` and `to` are aligned.
#ifdef XC_CUDA
template <int N, class T>
XC_DEVICE void xc_tile_load(T* to, const T* from) {
    const xc_vec<T, N> v = *(const xc_vec<T, N>*)from;
#pragma unroll
    for (int l = 0; l < N; ++l) to[l] = v.v[l];
}
template <int N, class T>
XC_DEVICE void xc_tile_store(T* to, const T* from) {
    xc_vec<T, N> v;
#pragma unroll
    for (int l = 0; l < N; ++l) v.v[l] = from[l];
    *(xc_vec<T, N>*)to = v;
}
template <int N, class T>
XC_DEVICE void xc_tile_move(T* to, const T* from) {
    *(xc_vec<T, N>*)to = *(const xc_vec<T, N>*)from;
}

// 16 bytes from global to shared memory, on their way until waited for; zeros where `inside` is false.
template <int N, class T>
XC_DEVICE void xc_tile_async(T* to, const T* from, b1 inside) {
#if __CUDA_ARCH__ >= 800
    const u32 p = (u32)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(p), "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
#endif
}
XC_DEVICE void xc_tile_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int N>
XC_DEVICE void xc_tile_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

// Four matrices of 8 x 8 halves from shared memory, as their rows or their columns.
template <bool TURNED>
XC_DEVICE void xc_tile_fetch(u32* r, const void* at) {
    const u32 p = (u32)__cvta_generic_to_shared(at);
    if constexpr (TURNED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(p)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(p)
                     : "memory");
}
template <class T>
struct xc_tile_is_f16 {
    static constexpr bool value = false;
};
template <>
struct xc_tile_is_f16<f16> {
    static constexpr bool value = true;
};
template <class T>
XC_DEVICE void xc_tile_mma_step(f32* d, const u32* a, const u32* b) {
    if constexpr (xc_tile_is_f16<T>::value)
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
            "%9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// A warp's part of a product: acc (M, N) += a (M, K) @ b (K, N), in m16n8k16 steps. LDA, LDB: elements from a row of
// memory to the next; TA: a's memory holds its columns as rows, TB: b's holds its columns as rows.
template <int M, int N, int K, int LDA, bool TA, int LDB, bool TB, class T>
XC_DEVICE void xc_tile_mma(f32* acc, const T* a, const T* b, i64 thread) {
    const int lane = (int)thread & 31, q = lane >> 3, r = lane & 7;
#pragma unroll
    for (int k = 0; k < K; k += 16) {
        u32 x[M / 16][4], y[(N + 15) / 16][4];
#pragma unroll
        for (int i = 0; i < M / 16; ++i) {
            if constexpr (TA)
                xc_tile_fetch<true>(x[i], a + (k + (q >> 1) * 8 + r) * LDA + i * 16 + (q & 1) * 8);
            else
                xc_tile_fetch<false>(x[i], a + (i * 16 + (q & 1) * 8 + r) * LDA + k + (q >> 1) * 8);
        }
#pragma unroll
        for (int j = 0; j < (N + 15) / 16; ++j) {
            const int n = N % 16 ? j * 16 : j * 16 + (q >> 1) * 8;  // of 8 columns: the same twice
            if constexpr (TB)
                xc_tile_fetch<false>(y[j], b + (n + r) * LDB + k + (q & 1) * 8);
            else
                xc_tile_fetch<true>(y[j], b + (k + (q & 1) * 8 + r) * LDB + n);
        }
#pragma unroll
        for (int i = 0; i < M / 16; ++i)
#pragma unroll
            for (int j = 0; j < N / 8; ++j)
                xc_tile_mma_step<T>(acc + (i * (N / 8) + j) * 4, x[i], y[j / 2] + (j & 1) * 2);
    }
}
#else
template <int N, class T>
XC_DEVICE void xc_tile_load(T* to, const T* from) {
    __builtin_memcpy(to, from, N * sizeof(T));
}
template <int N, class T>
XC_DEVICE void xc_tile_store(T* to, const T* from) {
    __builtin_memcpy(to, from, N * sizeof(T));
}
template <int N, class T>
XC_DEVICE void xc_tile_move(T* to, const T* from) {
    __builtin_memcpy(to, from, N * sizeof(T));
}
template <int N, class T>
XC_DEVICE void xc_tile_async(T* to, const T* from, b1 inside) {
    for (int l = 0; l < N; ++l) to[l] = inside ? from[l] : (T)0.0f;
}
XC_DEVICE void xc_tile_commit() {}
template <int N>
XC_DEVICE void xc_tile_wait() {}
// As CUDA's, each lane its own accumulators: where a GPU's plan is run on the CPU device.
template <int M, int N, int K, int LDA, bool TA, int LDB, bool TB, class T>
XC_DEVICE void xc_tile_mma(f32* acc, const T* a, const T* b, i64 thread) {
    const int lane = (int)thread & 31;
    for (int i = 0; i < M / 16; ++i)
        for (int j = 0; j < N / 8; ++j)
            for (int e = 0; e < 4; ++e) {
                const int row = i * 16 + (e / 2) * 8 + lane / 4, column = j * 8 + lane % 4 * 2 + e % 2;
                f32 sum = acc[(i * (N / 8) + j) * 4 + e];
                for (int k = 0; k < K; ++k)
                    sum += (f32)(TA ? a[k * LDA + row] : a[row * LDA + k]) *
                           (f32)(TB ? b[column * LDB + k] : b[k * LDB + column]);
                acc[(i * (N / 8) + j) * 4 + e] = sum;
            }
}
#endif

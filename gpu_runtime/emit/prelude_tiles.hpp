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

// acc[ROWS][COLUMNS * lanes] += a[ROWS][K] * b[K][...], all of it in registers.
template <class T, int ROWS, int COLUMNS, int N, int K, class A, class B>
XC_DEVICE void xc_tile_block(T* acc, const A* a, const B* b) {
    constexpr int lanes = XC_TILE_BYTES / sizeof(T);
    typedef typename xc_tile_vector<T, lanes>::type V;
    typedef typename xc_tile_vector<B, lanes>::type W;
    V sum[ROWS][COLUMNS];
#pragma clang loop unroll(full)
    for (int i = 0; i < ROWS; ++i)
#pragma clang loop unroll(full)
        for (int j = 0; j < COLUMNS; ++j) sum[i][j] = xc_vload<V>(acc + i * N + j * lanes);
    for (int k = 0; k < K; ++k) {
        V row[COLUMNS];
#pragma clang loop unroll(full)
        for (int j = 0; j < COLUMNS; ++j)
            row[j] = __builtin_convertvector(xc_vload<W>(b + k * N + j * lanes), V);
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
        for (int j = 0; j < COLUMNS; ++j) xc_vstore(acc + i * N + j * lanes, sum[i][j]);
}

// acc (M, N) += a (M, K) @ b (K, N), each contiguous.
template <class T, int M, int N, int K, class A, class B>
XC_DEVICE void xc_tile_product(T* acc, const A* a, const B* b) {
    constexpr int lanes = XC_TILE_BYTES / sizeof(T);
    if constexpr (N % lanes == 0) {
        constexpr int columns = N % (2 * lanes) == 0 ? 2 : 1;
        constexpr int most = XC_TILE_BYTES == 64 ? 8 : 4;
        constexpr int rows = M < most ? M : most;
        for (int j = 0; j < N; j += columns * lanes)
            for (int i = 0; i < M; i += rows)
                xc_tile_block<T, rows, columns, N, K>(acc + i * N + j, a + i * K, b + j);
    } else {
        for (int i = 0; i < M; ++i)
            for (int k = 0; k < K; ++k) {
                const T x = (T)a[i * K + k];
                for (int j = 0; j < N; ++j) acc[i * N + j] += x * (T)b[k * N + j];
            }
    }
}
#endif

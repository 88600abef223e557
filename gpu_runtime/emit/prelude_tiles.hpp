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

// acc[ROWS][COLUMNS * LANES] += a[ROWS][K] * b[K][...] along the first `depth` of K, all of it in registers; LDB: elements from a
// row of b to the next.
template <class T, int LANES, int ROWS, int COLUMNS, int N, int K, int LDB, bool ALL, class A, class B>
XC_DEVICE void xc_tile_block(T* acc, const A* a, const B* b, int depth) {
    typedef typename xc_tile_vector<T, LANES>::type V;
    typedef typename xc_tile_vector<B, LANES>::type W;
    V sum[ROWS][COLUMNS];
#pragma clang loop unroll(full)
    for (int i = 0; i < ROWS; ++i)
#pragma clang loop unroll(full)
        for (int j = 0; j < COLUMNS; ++j) sum[i][j] = xc_vload<V>(acc + i * N + j * LANES);
    for (int k = 0; k < (ALL ? K : depth); ++k) {
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
template <class T, int M, int N, int K, bool ALL = true, class A, class B>
XC_DEVICE void xc_tile_product(T* acc, const A* a, const B* b, int m = M, int n = N, int depth = K) {
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
            for (int j = 0; j < (ALL ? N : n); j += width) {
                if constexpr (packed)
                    for (int k = 0; k < (ALL ? K : depth); ++k)
                        __builtin_memcpy(panel + k * width, b + k * N + j, width * sizeof(B));
                for (int i = 0; i < (ALL ? M : m); i += rows)
                    if constexpr (packed)
                        xc_tile_block<T, lanes, rows, columns, N, K, width, ALL>(acc + i * N + j, a + i * K,
                                                                                 panel, depth);
                    else
                        xc_tile_block<T, lanes, rows, columns, N, K, N, ALL>(acc + i * N + j, a + i * K,
                                                                             b + j, depth);
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

// A whole product of arrays by the BLAS that the device has.
struct xc_tile_blas {
    xc_worker* worker;
    const xc_launch* launch;
    b1 a_turned, b_turned;
    template <class T>
    void operator()(T* c, const T* a, const T* b, i64 m, i64 n, i64 k) const {
        const xc_matrix_product p{c, a, b, m, n, k, sizeof(T) == 8, a_turned, b_turned};
        worker->product(worker, launch, &p);
    }
};

// The same where both are zero beyond row m, column n and the first `depth` along K.
template <class T, int M, int N, int K, class A, class B>
XC_DEVICE void xc_tile_product_to(T* acc, const A* a, const B* b, i64 m, i64 n, i64 depth) {
    if (m >= M && n >= N && depth >= K)
        xc_tile_product<T, M, N, K>(acc, a, b);
    else
        xc_tile_product<T, M, N, K, false>(acc, a, b, (int)m, (int)n, (int)depth);
}
#endif

// Where an element of shared memory lies: in rows of PITCH elements, or (below 0) in blocks of -PITCH rows of 128 bytes, whose
// eight pieces change places by exclusive or with the row.
template <int PITCH, class T>
XC_DEVICE int xc_tile_at(int row, int column) {
    if constexpr (PITCH > 0) {
        return row * PITCH + column;
    } else {
        constexpr int line = 128 / (int)sizeof(T), piece = 16 / (int)sizeof(T);
        return column / line * (-PITCH * line) + row * line + ((column % line / piece ^ (row & 7)) * piece) +
               column % piece;
    }
}

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

// Four lanes have two neighbours of each of four eights: each gets the eight of its own number.
template <class T>
XC_DEVICE void xc_tile_quad(T* x, i64 thread) {
    u32 w[4];
    memcpy(w, x, 16);
    const bool odd = thread & 1, high = thread & 2;
    const auto swapped = [&](u32& a, u32& b, bool upper, int lane) {  // the upper lane's a for the lower's b
        const u32 got = __shfl_xor_sync(~0u, upper ? a : b, lane);
        (upper ? a : b) = got;
    };
    swapped(w[0], w[1], odd, 1);
    swapped(w[2], w[3], odd, 1);
    swapped(w[0], w[2], high, 2);
    swapped(w[1], w[3], high, 2);
    memcpy(x, w, 16);
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

// Of S blocks that share a product: each thread's N sums of the first block and, in order, of the others, out of whose
// shared memory it reads them: ROOM bytes, which hold so many sums of all threads at a time.
template <int S, int N, int THREADS, int ROOM, class C, class T>
XC_DEVICE void xc_tile_split_sum(C* acc, T* share, i64 thread) {
#if __CUDA_ARCH__ >= 900
    constexpr int words = (int)sizeof(C) / 4, fits = ROOM / (THREADS * (int)sizeof(C)),
                  at_once = fits < N ? fits : N;
    static_assert(at_once > 0 && (sizeof(C) == 4 || sizeof(C) == 8));
    u32* const own = (u32*)share + (int)thread;
    const u32 here = (u32)__cvta_generic_to_shared(own);
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");  // a warp that fetches may be gone
#pragma unroll
    for (int from = 0; from < N; from += at_once) {
        if (rank != 0) {
#pragma unroll
            for (int i = 0; i < at_once; ++i)
                if (from + i < N) {
                    u32 w[words];
                    memcpy(w, acc + from + i, sizeof(C));
#pragma unroll
                    for (int k = 0; k < words; ++k) own[(i * words + k) * THREADS] = w[k];
                }
        }
        asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
        if (rank == 0) {
#pragma unroll
            for (u32 other = 1; other < S; ++other) {
                u32 there;
                asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(other));
#pragma unroll
                for (int i = 0; i < at_once; ++i)
                    if (from + i < N) {
                        u32 w[words];
#pragma unroll
                        for (int k = 0; k < words; ++k)
                            asm volatile("ld.shared::cluster.u32 %0, [%1];"
                                         : "=r"(w[k])
                                         : "r"(there + (u32)(i * words + k) * THREADS * 4)
                                         : "memory");
                        C x;
                        memcpy(&x, w, sizeof(C));
                        acc[from + i] = acc[from + i] + x;
                    }
            }
        }
        asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
    }
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
// One matrix instruction: d (16 x 8) += a (16 x k) @ b (k x 8). KIND as in tiles/thread_products.cpp: f16, bf16, s8, u8,
// e4m3, e5m2, TF32, f64.
#define XC_TILE_STEP(SHAPE, SUM, IN)                                \
    "mma.sync.aligned." SHAPE ".row.col." SUM "." IN "." IN "." SUM \
    " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
template <int KIND>
XC_DEVICE void xc_tile_step(f32* d, const u32* a, const u32* b) {
#if __CUDA_ARCH__ >= 800
#define XC_TILE_ASM(TEXT)                                         \
    asm volatile(TEXT                                             \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
    if constexpr (KIND == 0)
        XC_TILE_ASM(XC_TILE_STEP("m16n8k16", "f32", "f16"));
    else if constexpr (KIND == 1)
        XC_TILE_ASM(XC_TILE_STEP("m16n8k16", "f32", "bf16"));
    else if constexpr (KIND == 6)
        XC_TILE_ASM(XC_TILE_STEP("m16n8k8", "f32", "tf32"));
#if __CUDA_ARCH__ >= 890
    else if constexpr (KIND == 4)
        XC_TILE_ASM(XC_TILE_STEP("m16n8k32", "f32", "e4m3"));
    else if constexpr (KIND == 5)
        XC_TILE_ASM(XC_TILE_STEP("m16n8k32", "f32", "e5m2"));
#endif
#undef XC_TILE_ASM
#elif __CUDA_ARCH__ >= 750  // half the depth at a time
#pragma unroll
    for (int h = 0; h < 2; ++h)
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, "
            "%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[2 * h]), "r"(a[2 * h + 1]), "r"(b[h]));
#endif
}
template <int KIND>
XC_DEVICE void xc_tile_step(i32* d, const u32* a, const u32* b) {
#if __CUDA_ARCH__ >= 800
#define XC_TILE_ASM(TEXT)                                         \
    asm volatile(TEXT                                             \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
    if constexpr (KIND == 2)
        XC_TILE_ASM(XC_TILE_STEP("m16n8k32", "s32", "s8"));
    else
        XC_TILE_ASM(XC_TILE_STEP("m16n8k32", "s32", "u8"));
#undef XC_TILE_ASM
#elif __CUDA_ARCH__ >= 750  // eight rows and half the depth at a time
#define XC_TILE_ASM(IN)                                                                                   \
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32." IN "." IN ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};" \
                 : "+r"(d[2 * up]), "+r"(d[2 * up + 1])                                                   \
                 : "r"(a[2 * h + up]), "r"(b[h]))
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int up = 0; up < 2; ++up)
            if constexpr (KIND == 2)
                XC_TILE_ASM("s8");
            else
                XC_TILE_ASM("u8");
#undef XC_TILE_ASM
#endif
}
#undef XC_TILE_STEP
// Eight rows at a time; PTX gives sixteen as two.
template <int KIND>
XC_DEVICE void xc_tile_step(f64* d, const f64* a, const f64* b) {
#if __CUDA_ARCH__ >= 800
#pragma unroll
    for (int h = 0; h < 2; ++h)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(d[2 * h]), "+d"(d[2 * h + 1])
                     : "d"(a[h]), "d"(b[0]));
#endif
}
template <class T>
XC_DEVICE u32 xc_tile_bits(const T& x) {  // of 4 neighbours of 8 bits, or of a float32 as TF32
    u32 r;
    if constexpr (sizeof(T) == 4)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    else
        r = *(const unsigned char*)&x;
    return r;
}

// A warp's part of a product: acc (M, N) += a (M, K) @ b (K, N) from rows `top` of a and columns `left` of b on. PA, PB: how
// shared memory lies, see xc_tile_at; TA: a's memory holds its columns as rows, TB: b's holds its columns as rows.
template <int KIND, int M, int N, int K, int PA, bool TA, int PB, bool TB, class C, class T>
XC_DEVICE void xc_tile_mma(C* acc, const T* a, const T* b, i64 top, i64 left, i64 thread) {
    constexpr int step = 32 / (int)sizeof(T), piece = 16 / (int)sizeof(T);
    constexpr bool fetches_a = sizeof(T) == 2 || (sizeof(T) == 1 && !TA),
                   fetches_b = sizeof(T) == 2 || (sizeof(T) == 1 && TB);
    const int lane = (int)thread & 31, q = lane >> 3, r = lane & 7, up = (int)top, across = (int)left;
    const auto of_a = [&](int row, int k) -> const T& {
        return a[xc_tile_at<PA, T>(TA ? k : up + row, TA ? up + row : k)];
    };
    const auto of_b = [&](int k, int column) -> const T& {
        return b[xc_tile_at<PB, T>(TB ? across + column : k, TB ? k : across + column)];
    };
#pragma unroll
    for (int k = 0; k < K; k += step) {
        if constexpr (sizeof(T) == 8) {
            f64 x[M / 16][2], y[N / 8];
#pragma unroll
            for (int i = 0; i < M / 16; ++i)
#pragma unroll
                for (int h = 0; h < 2; ++h) x[i][h] = of_a(i * 16 + h * 8 + lane / 4, k + lane % 4);
#pragma unroll
            for (int j = 0; j < N / 8; ++j) y[j] = of_b(k + lane % 4, j * 8 + lane / 4);
#pragma unroll
            for (int i = 0; i < M / 16; ++i)
#pragma unroll
                for (int j = 0; j < N / 8; ++j) xc_tile_step<KIND>(acc + (i * (N / 8) + j) * 4, x[i], &y[j]);
        } else {
            u32 x[M / 16][4], y[(N + 15) / 16][4];
#pragma unroll
            for (int i = 0; i < M / 16; ++i) {
                if constexpr (fetches_a) {
                    const int row = i * 16 + (q & 1) * 8 + r, column = k + (q >> 1) * piece;
                    if constexpr (TA)
                        xc_tile_fetch<true>(x[i], &of_a(i * 16 + (q & 1) * 8, k + (q >> 1) * 8 + r));
                    else
                        xc_tile_fetch<false>(x[i], &of_a(row, column));
                } else {
#pragma unroll
                    for (int e = 0; e < 4; ++e) {
                        const int row = i * 16 + (e & 1) * 8 + lane / 4;
                        if constexpr (sizeof(T) == 4) {
                            x[i][e] = xc_tile_bits(of_a(row, k + (e >> 1) * 4 + lane % 4));
                        } else {
                            x[i][e] = 0;
#pragma unroll
                            for (int l = 0; l < 4; ++l)
                                x[i][e] |= xc_tile_bits(of_a(row, k + (e >> 1) * 16 + lane % 4 * 4 + l))
                                           << (8 * l);
                        }
                    }
                }
            }
#pragma unroll
            for (int j = 0; j < (N + 15) / 16; ++j) {
                if constexpr (fetches_b) {
                    const int n = N % 16 ? j * 16 : j * 16 + (q >> 1) * 8;  // of 8 columns: the same twice
                    if constexpr (TB)
                        xc_tile_fetch<false>(y[j], &of_b(k + (q & 1) * piece, n + r));
                    else
                        xc_tile_fetch<true>(y[j], &of_b(k + (q & 1) * 8 + r, n));
                } else {
#pragma unroll
                    for (int e = 0; e < (N % 16 ? 2 : 4); ++e) {
                        const int column = j * 16 + (e >> 1) * 8 + lane / 4;
                        if constexpr (sizeof(T) == 4) {
                            y[j][e] = xc_tile_bits(of_b(k + (e & 1) * 4 + lane % 4, column));
                        } else {
                            y[j][e] = 0;
#pragma unroll
                            for (int l = 0; l < 4; ++l)
                                y[j][e] |= xc_tile_bits(of_b(k + (e & 1) * 16 + lane % 4 * 4 + l, column))
                                           << (8 * l);
                        }
                    }
                }
            }
#pragma unroll
            for (int i = 0; i < M / 16; ++i)
#pragma unroll
                for (int j = 0; j < N / 8; ++j)
                    xc_tile_step<KIND>(acc + (i * (N / 8) + j) * 4, x[i], y[j / 2] + (j & 1) * 2);
        }
    }
}

// The same where a warp's sixteen rows of a (16-bit numbers) are in its registers, as sums lie in them: of each sixteen columns
// a lane has eight numbers, which are the instruction's four registers.
template <int KIND, int N, int K, int PB, bool TB, class C, class T>
XC_DEVICE void xc_tile_mma_held(C* acc, const T* a, const T* b, i64 thread) {
    const int lane = (int)thread & 31, q = lane >> 3, r = lane & 7;
    const auto of_b = [&](int k, int column) -> const T& {
        return b[xc_tile_at<PB, T>(TB ? column : k, TB ? k : column)];
    };
#pragma unroll
    for (int k = 0; k < K; k += 16) {
        u32 x[4];
        memcpy(x, a + k / 2, 16);
#pragma unroll
        for (int j = 0; j < (N + 15) / 16; ++j) {
            u32 y[4];
            const int n = N % 16 ? j * 16 : j * 16 + (q >> 1) * 8;
            if constexpr (TB)
                xc_tile_fetch<false>(y, &of_b(k + (q & 1) * 8, n + r));
            else
                xc_tile_fetch<true>(y, &of_b(k + (q & 1) * 8 + r, n));
#pragma unroll
            for (int h = 0; h < (N % 16 ? 1 : 2); ++h)
                xc_tile_step<KIND>(acc + (j * 2 + h) * 4, x, y + h * 2);
        }
    }
}

// What threads wrote to shared memory is there for instructions that read it themselves.
XC_DEVICE void xc_tile_proxy() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
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
template <int KIND, int M, int N, int K, int PA, bool TA, int PB, bool TB, class C, class T>
XC_DEVICE void xc_tile_mma(C* acc, const T* a, const T* b, i64 top, i64 left, i64 thread) {
    const int lane = (int)thread & 31;
    for (int i = 0; i < M / 16; ++i)
        for (int j = 0; j < N / 8; ++j)
            for (int e = 0; e < 4; ++e) {
                const int row = (int)top + i * 16 + (e / 2) * 8 + lane / 4,
                          column = (int)left + j * 8 + lane % 4 * 2 + e % 2;
                C sum = acc[(i * (N / 8) + j) * 4 + e];
                for (int k = 0; k < K; ++k)
                    sum += (C)a[xc_tile_at<PA, T>(TA ? k : row, TA ? row : k)] *
                           (C)b[xc_tile_at<PB, T>(TB ? column : k, TB ? k : column)];
                acc[(i * (N / 8) + j) * 4 + e] = sum;
            }
}
// `a`: what the warp's lanes hold, one lane after the other.
template <int KIND, int N, int K, int PB, bool TB, class C, class T>
XC_DEVICE void xc_tile_mma_held(C* acc, const T* a, const T* b, i64 thread) {
    const int lane = (int)thread & 31;
    for (int j = 0; j < N / 8; ++j)
        for (int e = 0; e < 4; ++e) {
            const int row = (e / 2) * 8 + lane / 4, column = j * 8 + lane % 4 * 2 + e % 2;
            C sum = acc[j * 4 + e];
            for (int k = 0; k < K; ++k) {
                const int holder = row % 8 * 4 + k % 8 / 2, reg = row / 8 + k % 16 / 8 * 2;
                sum += (C)a[holder * (K / 2) + k / 16 * 8 + reg * 2 + k % 2] *
                       (C)b[xc_tile_at<PB, T>(TB ? column : k, TB ? k : column)];
            }
            acc[j * 4 + e] = sum;
        }
}
XC_DEVICE void xc_tile_proxy() {}
#endif

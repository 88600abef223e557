// What tile programs are made of on sm_100: products whose operands the copy engine brings and whose sums lie in tensor memory,
// 128 lanes of 512 columns. One thread asks for matrix instructions; four warps and more read the sums, each its quarter of the
// lanes, while the next tile is summed in other columns. The numbers FORM, LIES_A and LIES_B are tiles/tensor_memory.hpp's.
#ifdef XC_CUDA
#ifdef __CUDA_ARCH_FEAT_SM100_ALL
#define XC_TILE_TENSOR_STEP(NAME)                                                                \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::" NAME \
                 " [%0], %1, %2, %3, p;\n}\n" ::"r"(sum),                                        \
                 "l"(a), "l"(b), "r"(form), "r"((u32)adds)                                       \
                 : "memory")
// KIND as in tiles/instructions.cpp: f16, bf16, s8, u8, e4m3, e5m2, TF32. adds: to what lies there.
template <int KIND>
XC_DEVICE void xc_tile_tensor_step(u32 sum, u64 a, u64 b, u32 form, bool adds) {
    if constexpr (KIND == 0 || KIND == 1)
        XC_TILE_TENSOR_STEP("f16");
    else if constexpr (KIND == 2 || KIND == 3)
        XC_TILE_TENSOR_STEP("i8");
    else if constexpr (KIND == 4 || KIND == 5)
        XC_TILE_TENSOR_STEP("f8f6f4");
    else
        XC_TILE_TENSOR_STEP("tf32");
}
// All that this thread asked for is done: then the gate is told.
XC_DEVICE void xc_tile_tensor_tell(const u64* gate) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                     xc_tile_gate(gate))
                 : "memory");
}
XC_DEVICE void xc_tile_tensor_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
XC_DEVICE void xc_tile_tensor_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
XC_DEVICE bool xc_tile_tensor_one() {  // of the warp's threads, always the same one
    u32 one;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}\n" : "=r"(one));
    return one;
}
// Sixteen lanes by EIGHTS * 8 columns: four registers for each eight, as matrix instructions of a warp have their sums.
#define XC_TILE_TENSOR_4(I) "=r"(w[I]), "=r"(w[I + 1]), "=r"(w[I + 2]), "=r"(w[I + 3])
#define XC_TILE_TENSOR_8(I) XC_TILE_TENSOR_4(I), XC_TILE_TENSOR_4(I + 4)
#define XC_TILE_TENSOR_16(I) XC_TILE_TENSOR_8(I), XC_TILE_TENSOR_8(I + 8)
#define XC_TILE_TENSOR_32(I) XC_TILE_TENSOR_16(I), XC_TILE_TENSOR_16(I + 16)
#define XC_TILE_TENSOR_LOAD(EIGHTS, REGISTERS, NAMES, FROM)                                    \
    asm volatile("tcgen05.ld.sync.aligned.16x256b.x" #EIGHTS ".b32 {" NAMES "}, [%" #FROM "];" \
                 : XC_TILE_TENSOR_##REGISTERS(0)                                               \
                 : "r"(from)                                                                   \
                 : "memory")
template <int EIGHTS>
XC_DEVICE void xc_tile_tensor_load(u32* w, u32 from) {
    if constexpr (EIGHTS == 1)
        XC_TILE_TENSOR_LOAD(1, 4, "%0, %1, %2, %3", 4);
    else if constexpr (EIGHTS == 2)
        XC_TILE_TENSOR_LOAD(2, 8, "%0, %1, %2, %3, %4, %5, %6, %7", 8);
    else if constexpr (EIGHTS == 4)
        XC_TILE_TENSOR_LOAD(4, 16, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15",
                            16);
    else
        XC_TILE_TENSOR_LOAD(
            8, 32,
            "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "
            "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31",
            32);
}
#endif
// The block's tensor memory, which the warp that asks for products takes, before all meet; where it begins is put into `memory`.
template <int COLUMNS, int FIRST>
XC_DEVICE void xc_tile_tensor_take_memory(u32* memory, i64 thread) {
#ifdef __CUDA_ARCH_FEAT_SM100_ALL
    if ((int)thread / 32 == FIRST / 32) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                         (u32)__cvta_generic_to_shared(memory)),
                     "r"((u32)COLUMNS)
                     : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
        xc_tile_tensor_before();
    }
#endif
}
// Given back by the same warp, when the sums of all `tiles` have been read.
template <int COLUMNS>
XC_DEVICE void xc_tile_tensor_give_memory(const u32* memory, const u64* sums, i64 tiles) {
#ifdef __CUDA_ARCH_FEAT_SM100_ALL
    const u32 n = (u32)tiles;
    for (u32 k = n < 2 ? 0 : n - 2; k != n; ++k) xc_tile_pass(sums + 2 + (k & 1), k >> 1 & 1);
    __syncwarp();
    xc_tile_tensor_after();
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(*memory), "r"((u32)COLUMNS)
                 : "memory");
#endif
}
// The thread that asks: the sum of tile `tile` over `turns` depths of K from turn `turn` on, in the half of tensor memory that
// its number's last bit says; sums: gates that are open when a half is summed, and two when it is read.
template <int KIND, int M, int N, int K, int STAGES, u32 FORM, int RA, int CA, u64 LIES_A, bool TA, int RB,
          int CB, u64 LIES_B, bool TB, class T>
XC_DEVICE void xc_tile_tensor_mma(const T* a, const T* b, u64* gates, u64* sums, const u32* memory, i64 turn,
                                  i64 turns, i64 tile) {
#ifdef __CUDA_ARCH_FEAT_SM100_ALL
    constexpr int line = 128 / (int)sizeof(T), step = 32 / (int)sizeof(T), rows = M < 128 ? M : 128;
    if (turns == 0 || !xc_tile_tensor_one()) return;
    const u32 half = (u32)tile & 1, begin = (u32)turn, end = begin + (u32)turns;
    xc_tile_pass(sums + 2 + half, ((u32)tile >> 1 & 1) ^ 1);
    const u32 sum = *memory + half * (M / rows * N);
    const auto lies = [](const T* at, u64 how) {
        return how | ((u64)(u32)__cvta_generic_to_shared(at) & 0x3ffff) >> 4;
    };
#pragma unroll 1
    for (u32 n = begin; n != end; ++n) {
        const u32 stage = n % STAGES;
        xc_tile_pass(gates + stage, n / STAGES & 1);
        xc_tile_tensor_after();
        const T *const of_a = a + stage * (RA * CA), *const of_b = b + stage * (RB * CB);
#pragma unroll
        for (int k = 0; k < K; k += step) {
            const u64 y = lies(TB ? of_b + k / line * RB * line + k % line : of_b + k * line, LIES_B);
#pragma unroll
            for (int up = 0; up < M; up += rows) {
                const T* const x =
                    TA ? of_a + up * RA + k * line : of_a + k / line * RA * line + up * line + k % line;
                xc_tile_tensor_step<KIND>(sum + up / rows * N, lies(x, LIES_A), y, FORM,
                                          n != begin || k != 0);
            }
        }
        xc_tile_tensor_tell(gates + STAGES + stage);
    }
    xc_tile_tensor_tell(sums + half);
#endif
}
// The warps that store: acc (ROWS rows of each, COLUMNS columns, DOWN warps one under the other) becomes the sum of tile
// `tile`; it stays zero where there are no turns.
template <int M, int N, int ROWS, int DOWN, int COLUMNS, class C>
XC_DEVICE void xc_tile_tensor_take(C* acc, u64* sums, const u32* memory, i64 turns, i64 tile, i64 thread) {
#ifdef __CUDA_ARCH_FEAT_SM100_ALL
    constexpr int eights = COLUMNS / 8 < 8 ? COLUMNS / 8 : 8, registers = 4 * eights;
    if (turns == 0) return;
    const u32 half = (u32)tile & 1, warp = (u32)thread / 32, lanes = warp % 4 * 32;
    xc_tile_pass(sums + half, (u32)tile >> 1 & 1);
    xc_tile_tensor_after();
    const u32 from = *memory + half * ((M < 128 ? 1 : M / 128) * N) + warp % DOWN / 4 * N +
                     warp / DOWN * COLUMNS + (lanes << 16);
#pragma unroll
    for (int i = 0; i < ROWS / 16; ++i)
#pragma unroll
        for (int j = 0; j < COLUMNS; j += 8 * eights) {
            u32 w[registers];
            xc_tile_tensor_load<eights>(w, from + ((u32)i << 20) + j);
            asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#pragma unroll
            for (int r = 0; r < registers; ++r) {
                asm volatile("" : "+r"(w[r])::"memory");  // read from here on, not before
                memcpy(acc + (i * COLUMNS + j) / 2 + r, w + r, sizeof(C));
            }
        }
    xc_tile_tensor_before();
    __syncwarp();
    if (((int)thread & 31) == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(xc_tile_gate(sums + 2 + half))
                     : "memory");
#endif
}
#endif

// What tile programs are made of on sm_90: matrix instructions of four warps, and products whose operands the copy engine
// brings while others are multiplied (on sm_100 too).
// Tile n of the result: columns in bands of BAND rows, so that what blocks read at one time lies in the L2.
template <int BAND>
XC_DEVICE void xc_tile_place(i32* at, i64 n, i64 wide, i64 high) {
    const u32 across = (u32)wide, down = (u32)high, layer = across * down;
    const u32 z = (u32)n / layer, flat = (u32)n % layer, top = flat / (across * BAND) * BAND,
              in_band = flat % (across * BAND), rows = down - top < BAND ? down - top : BAND;
    at[0] = (i32)(in_band / rows);
    at[1] = (i32)(top + in_band % rows);
    at[2] = (i32)z;
}
#ifdef XC_CUDA
struct alignas(64) xc_tensor_map {
    u64 words[16];
};
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// Registers of the sum by eights: as they are written in the instruction, and as the statement binds them.
#define XC_TILE_NAMES_32                                                                                   \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, " \
    "%22, %23, "                                                                                           \
    "%24, %25, %26, %27, %28, %29, %30, %31"
#define XC_TILE_NAMES_64                                                                           \
    XC_TILE_NAMES_32                                                                               \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, " \
    "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define XC_TILE_NAMES_128                                                                          \
    XC_TILE_NAMES_64                                                                               \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, " \
    "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, "   \
    "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, "   \
    "%115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define XC_TILE_BOUND_8(C, I) \
    C(d[I]), C(d[I + 1]), C(d[I + 2]), C(d[I + 3]), C(d[I + 4]), C(d[I + 5]), C(d[I + 6]), C(d[I + 7])
#define XC_TILE_BOUND_32(C, I) \
    XC_TILE_BOUND_8(C, I), XC_TILE_BOUND_8(C, I + 8), XC_TILE_BOUND_8(C, I + 16), XC_TILE_BOUND_8(C, I + 24)
#define XC_TILE_BOUND_64(C, I) XC_TILE_BOUND_32(C, I), XC_TILE_BOUND_32(C, I + 32)
#define XC_TILE_BOUND_128(C, I) XC_TILE_BOUND_64(C, I), XC_TILE_BOUND_64(C, I + 64)
// d (64 x N) += a @ b for N = 2 * REGISTERS; A and B: the numbers of the operands after the sum's; REST: what the type has
// beside them.
#define XC_TILE_FOUR_WARPS(N, REGISTERS, DEPTH, TYPES, C, A, B, REST, ...)                            \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\nwgmma.mma_async.sync.aligned.m64n" #N DEPTH \
                 "." TYPES " {" XC_TILE_NAMES_##REGISTERS "}, %" #A ", %" #B ", p" REST ";\n}\n"      \
                 : XC_TILE_BOUND_##REGISTERS(C, 0)                                                    \
                 : "l"(a), "l"(b)__VA_ARGS__)
#define XC_TILE_ALL_KINDS(N, REGISTERS, A, B, TURN_A, TURN_B)                               \
    template <int KIND, bool TA, bool TB>                                                   \
    XC_DEVICE void xc_tile_four_warps(f32(&d)[REGISTERS], u64 a, u64 b) {                   \
        if constexpr (KIND == 0)                                                            \
            XC_TILE_FOUR_WARPS(N, REGISTERS, "k16", "f32.f16.f16", "+f", A, B,              \
                               ", 1, 1, %" #TURN_A ", %" #TURN_B, , "n"(TA), "n"(TB));      \
        else if constexpr (KIND == 1)                                                       \
            XC_TILE_FOUR_WARPS(N, REGISTERS, "k16", "f32.bf16.bf16", "+f", A, B,            \
                               ", 1, 1, %" #TURN_A ", %" #TURN_B, , "n"(TA), "n"(TB));      \
        else if constexpr (KIND == 4)                                                       \
            XC_TILE_FOUR_WARPS(N, REGISTERS, "k32", "f32.e4m3.e4m3", "+f", A, B, ", 1, 1"); \
        else if constexpr (KIND == 5)                                                       \
            XC_TILE_FOUR_WARPS(N, REGISTERS, "k32", "f32.e5m2.e5m2", "+f", A, B, ", 1, 1"); \
        else                                                                                \
            XC_TILE_FOUR_WARPS(N, REGISTERS, "k8", "f32.tf32.tf32", "+f", A, B, ", 1, 1");  \
    }                                                                                       \
    template <int KIND, bool TA, bool TB>                                                   \
    XC_DEVICE void xc_tile_four_warps(i32(&d)[REGISTERS], u64 a, u64 b) {                   \
        if constexpr (KIND == 2)                                                            \
            XC_TILE_FOUR_WARPS(N, REGISTERS, "k32", "s32.s8.s8", "+r", A, B, "");           \
        else                                                                                \
            XC_TILE_FOUR_WARPS(N, REGISTERS, "k32", "s32.u8.u8", "+r", A, B, "");           \
    }
XC_TILE_ALL_KINDS(64, 32, 32, 33, 34, 35)
XC_TILE_ALL_KINDS(128, 64, 64, 65, 66, 67)
XC_TILE_ALL_KINDS(256, 128, 128, 129, 130, 131)

// The same with the first operand, 64 x 16, in registers; X and B: the numbers of its first and of the second's.
#define XC_TILE_HELD(N, REGISTERS, TYPE, X0, X1, X2, X3, B, TURN)                                  \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\nwgmma.mma_async.sync.aligned.m64n" #N    \
                 "k16.f32." TYPE "." TYPE " {" XC_TILE_NAMES_##REGISTERS                           \
                 "}, {%" #X0 ", %" #X1 ", %" #X2 ", %" #X3 "}, %" #B ", p, 1, 1, %" #TURN ";\n}\n" \
                 : XC_TILE_BOUND_##REGISTERS("+f", 0)                                              \
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(b), "n"(TB))
#define XC_TILE_HELD_KINDS(N, REGISTERS, X0, X1, X2, X3, B, TURN)                     \
    template <int KIND, bool TB>                                                      \
    XC_DEVICE void xc_tile_four_warps_held(f32(&d)[REGISTERS], const u32* x, u64 b) { \
        if constexpr (KIND == 0)                                                      \
            XC_TILE_HELD(N, REGISTERS, "f16", X0, X1, X2, X3, B, TURN);               \
        else                                                                          \
            XC_TILE_HELD(N, REGISTERS, "bf16", X0, X1, X2, X3, B, TURN);              \
    }
XC_TILE_HELD_KINDS(64, 32, 32, 33, 34, 35, 36, 37)
XC_TILE_HELD_KINDS(128, 64, 64, 65, 66, 67, 68, 69)
XC_TILE_HELD_KINDS(256, 128, 128, 129, 130, 131, 132, 133)

// Swizzled rows of 128 bytes: where they begin, and the bytes from one column of such rows to the next.
XC_DEVICE u64 xc_tile_matrix(const void* at, int next) {
    const u64 place = (u64)__cvta_generic_to_shared(at);
    return ((place & 0x3ffff) >> 4) | ((u64)(next >> 4) << 16) | ((u64)(1024 >> 4) << 32) | ((u64)1 << 62);
}
// The product of 64 rows from `up` on by a depth of K, under way when it returns; see xc_tile_wgmma.
template <int KIND, int N, int K, int RA, bool TA, int RB, bool TB, class C, class T>
XC_DEVICE void xc_tile_start(C (&d)[N / 2], const T* a, const T* b, int up) {
    constexpr int line = 128 / (int)sizeof(T), step = 32 / (int)sizeof(T);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < K; k += step) {
        const T* const x = TA ? a + up * RA + k * line : a + k / line * RA * line + up * line + k % line;
        const T* const y = TB ? b + k / line * RB * line + k % line : b + k * line;
        xc_tile_four_warps<KIND, TA, !TB>(d, xc_tile_matrix(x, RA * 128), xc_tile_matrix(y, RB * 128));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
#endif
// Four warps' product of 64 rows from `top` on: acc (64, N) += a @ b, which the instructions read from swizzled shared
// memory themselves; RA, RB: its rows.
// ENDS: 0 where it is under way when it returns, until xc_tile_settle.
template <int KIND, int N, int K, int RA, bool TA, int RB, bool TB, int ENDS = 1, class C, class T>
XC_DEVICE void xc_tile_wgmma(C* acc, const T* a, const T* b, i64 top, i64 thread) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    C(&d)[N / 2] = *(C(*)[N / 2]) acc;
    xc_tile_start<KIND, N, K, RA, TA, RB, TB>(d, a, b, (int)top / 64 * 64);
    if constexpr (ENDS) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}
// All but the last UNDER_WAY products begun have ended, and acc, of so many SLOTS, is one of the ended.
template <int UNDER_WAY, int SLOTS, class C>
XC_DEVICE void xc_tile_settle(C* acc) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(UNDER_WAY) : "memory");
#pragma unroll
    for (int i = 0; i < SLOTS; ++i)
        asm volatile("" : "+f"(acc[i])::"memory");  // read from here on, not before
#endif
}
// Four warps' product where each has its sixteen rows of a in registers, see xc_tile_mma_held; PB: of b's rows, below 0.
template <int KIND, int N, int K, int PB, bool TB, int ENDS = 1, class C, class T>
XC_DEVICE void xc_tile_wgmma_held(C* acc, const T* a, const T* b, i64 thread) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    C(&d)[N / 2] = *(C(*)[N / 2]) acc;
    constexpr int line = 128 / (int)sizeof(T), rows = -PB;
    u32 x[K / 4];
    memcpy(x, a, sizeof x);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < K; k += 16) {
        const T* const y = TB ? b + k / line * rows * line + k % line : b + k * line;
        xc_tile_four_warps_held<KIND, !TB>(d, x + k / 4, xc_tile_matrix(y, rows * 128));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if constexpr (ENDS) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}

// Gates of shared memory (mbarrier): the first STAGES open when a stage's operands are there, the others when all warps are
// done with it. Turn n uses stage n % STAGES, for the n / STAGES-th time.
XC_DEVICE u32 xc_tile_gate(const u64* gate) { return (u32)__cvta_generic_to_shared(gate); }
template <int STAGES, int WARPS>
XC_DEVICE void xc_tile_flow_gates(u64* gates, i64 thread) {
#if __CUDA_ARCH__ >= 900
    if (thread == 0) {
        for (int s = 0; s < STAGES; ++s) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(xc_tile_gate(gates + s)) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(xc_tile_gate(gates + STAGES + s)),
                         "n"(WARPS)
                         : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
#endif
}
XC_DEVICE void xc_tile_pass(const u64* gate, u32 parity) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n.reg .pred p;\nXC_AGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra.uni "
        "XC_DONE;\n"
        "bra.uni XC_AGAIN;\nXC_DONE:\n}\n" ::"r"(xc_tile_gate(gate)),
        "r"(parity)
        : "memory");
#endif
}
// A box whose first element lies at (z, y, x); elements outside the array come as zeros.
template <int AXES>
XC_DEVICE void xc_tile_box(void* to, const xc_tensor_map& map, u64* gate, i32 x, i32 y, i32 z) {
#if __CUDA_ARCH__ >= 900
    const u32 at = (u32)__cvta_generic_to_shared(to), open = xc_tile_gate(gate);
    if constexpr (AXES == 2)
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
            "{%3, "
            "%4}], [%2];" ::"r"(at),
            "l"(&map), "r"(open), "r"(x), "r"(y)
            : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
            "{%3, "
            "%4, %5}], [%2];" ::"r"(at),
            "l"(&map), "r"(open), "r"(x), "r"(y), "r"(z)
            : "memory");
#endif
}

// A product over `turns` depths of K from turn `turn` on, its operands tiles of RA and RB rows of shared memory and of CA
// and CB columns, at (z, y, x) of their arrays first and DX columns or DY rows further at each turn.
// The warp that fetches: one thread of it does, as early as stages are free.
template <int STAGES, int AXES_A, int RA, int CA, int DXA, int DYA, int AXES_B, int RB, int CB, int DXB,
          int DYB>
struct xc_tile_flow_give {
    const xc_tensor_map &map_a, &map_b;
    template <class T>
    __device__ __forceinline__ void operator()(T* a, T* b, u64* gates, i64 turn, i64 turns, i64 xa, i64 ya,
                                               i64 za, i64 xb, i64 yb, i64 zb, i64 thread) const {
#if __CUDA_ARCH__ >= 900
        constexpr int line = 128 / (int)sizeof(T);
        if (((int)thread & 31) != 0) return;
        u32 n = (u32)turn;
        const u32 end = n + (u32)turns;
        i32 x = (i32)xa, y = (i32)ya, u = (i32)xb, v = (i32)yb;
#pragma unroll 1
        for (; n != end; ++n) {
            const u32 stage = n % STAGES, round = n / STAGES;
            u64* const gate = gates + stage;
            xc_tile_pass(gates + STAGES + stage, (round & 1) ^ 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(xc_tile_gate(gate)),
                         "r"((u32)((RA * CA + RB * CB) * sizeof(T)))
                         : "memory");
#pragma unroll
            for (int c = 0; c < CA; c += line)
                xc_tile_box<AXES_A>(a + stage * (RA * CA) + c * RA, map_a, gate, x + c, y, (i32)za);
#pragma unroll
            for (int c = 0; c < CB; c += line)
                xc_tile_box<AXES_B>(b + stage * (RB * CB) + c * RB, map_b, gate, u + c, v, (i32)zb);
            x += DXA;
            y += DYA;
            u += DXB;
            v += DYB;
        }
#endif
    }
};
// The warps that multiply: acc (16 rows of each, N columns) += what was fetched.
template <int KIND, int N, int K, int STAGES, int AXES_A, int RA, int CA, int DXA, int DYA, bool TA,
          int AXES_B, int RB, int CB, int DXB, int DYB, bool TB>
struct xc_tile_flow_take {
    const xc_tensor_map &map_a, &map_b;
    template <class C, class T>
    __device__ __forceinline__ void operator()(C* acc, const T* a, const T* b, u64* gates, i64 turn,
                                               i64 turns, i64, i64, i64, i64, i64, i64, i64 thread) const {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
        C(&d)[N / 2] = *(C(*)[N / 2]) acc;
        const int up = (int)thread / 128 * 64;
        const int lane = (int)thread & 31;
        u32 n = (u32)turn;
        const u32 begin = n, end = n + (u32)turns;
        const auto done = [&](u32 m) {
            const u32 gate = xc_tile_gate(gates + STAGES + m % STAGES);
            if (lane == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(gate) : "memory");
        };
        for (; n != end; ++n) {
            const u32 stage = n % STAGES;
            xc_tile_pass(gates + stage, n / STAGES & 1);
            xc_tile_start<KIND, N, K, RA, TA, RB, TB>(d, a + stage * (RA * CA), b + stage * (RB * CB), up);
            if (n != begin) {  // the one before is over: its stage is free
                asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
                done(n - 1);
            }
        }
        if (begin != end) {
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            done(end - 1);
        }
#endif
    }
};
// What chained products are made of where the copy engine brings the operands: turn n's is at gate n % STAGES.
template <int STAGES>
XC_DEVICE void xc_tile_flow_there(const u64* gates, i64 n) {
    xc_tile_pass(gates + (u32)n % STAGES, (u32)n / STAGES & 1);
}
template <int STAGES>
XC_DEVICE void xc_tile_flow_done(const u64* gates, i64 n, i64 thread) {
#if __CUDA_ARCH__ >= 900
    const u32 gate = xc_tile_gate(gates + STAGES + (u32)n % STAGES);
    if (((int)thread & 31) == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(gate) : "memory");
#endif
}
// One operand's box of turn n, when its stage is free.
template <int STAGES, int AXES, int R, int C, class T>
XC_DEVICE void xc_tile_flow_ask(T* to, const xc_tensor_map& map, u64* gates, u32 n, i32 x, i32 y, i32 z) {
#if __CUDA_ARCH__ >= 900
    constexpr int line = 128 / (int)sizeof(T);
    const u32 stage = n % STAGES;
    u64* const gate = gates + stage;
    xc_tile_pass(gates + STAGES + stage, (n / STAGES & 1) ^ 1);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(xc_tile_gate(gate)),
                 "r"((u32)(R * C * sizeof(T)))
                 : "memory");
#pragma unroll
    for (int c = 0; c < C; c += line) xc_tile_box<AXES>(to + stage * (R * C) + c * R, map, gate, x + c, y, z);
#endif
}
template <int STAGES, int AXES_A, int RA, int CA, int DXA, int DYA, int AXES_B, int RB, int CB, int DXB,
          int DYB>
struct xc_tile_chain_give {
    const xc_tensor_map &map_a, &map_b;
    template <class T>
    __device__ __forceinline__ void operator()(T* a, T* b, u64* gates_a, u64* gates_b, i64 turns, i64 xa,
                                               i64 ya, i64 za, i64 xb, i64 yb, i64 zb, i64 thread) const {
        if (((int)thread & 127) != 0) return;
        const u32 end = (u32)turns;
#pragma unroll 1
        for (u32 n = 0; n != end; ++n) {
            xc_tile_flow_ask<STAGES, AXES_A, RA, CA>(a, map_a, gates_a, n, (i32)xa + (i32)n * DXA,
                                                     (i32)ya + (i32)n * DYA, (i32)za);
            xc_tile_flow_ask<STAGES, AXES_B, RB, CB>(b, map_b, gates_b, n, (i32)xb + (i32)n * DXB,
                                                     (i32)yb + (i32)n * DYB, (i32)zb);
        }
    }
};
// Of the registers that four warps do not need others have more: what ptxas gives them from here on.
template <int N>
XC_DEVICE void xc_tile_fewer_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
#endif
}
template <int N>
XC_DEVICE void xc_tile_more_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
#endif
}
// Groups of four warps take turns: each passes on to the next; the last begins, and the first ends.
template <int GROUPS>
XC_DEVICE void xc_tile_turn_take(i64 thread) {
    asm volatile("bar.sync %0, 256;" ::"r"(4 + (int)thread / 128) : "memory");
}
template <int GROUPS>
XC_DEVICE void xc_tile_turn_pass(i64 thread) {
    asm volatile("bar.arrive %0, 256;" ::"r"(4 + ((int)thread / 128 + 1) % GROUPS) : "memory");
}
template <int GROUPS>
XC_DEVICE void xc_tile_turn_begin(i64 thread) {
    if ((int)thread / 128 == GROUPS - 1) xc_tile_turn_pass<GROUPS>(thread);
}
template <int GROUPS>
XC_DEVICE void xc_tile_turn_end(i64 thread) {
    if ((int)thread / 128 == 0) xc_tile_turn_take<GROUPS>(thread);
}
// All have ended, but no sooner than two numbers are known that take long to compute: ptxas puts a wait as early as it can, and
// only what the number of the barrier before it is made of holds it back. Four warps meet there.
template <int SLOTS, class C>
XC_DEVICE void xc_tile_settle_after(C* acc, const f32* known) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    u32 none;  // by 64 places and more: nothing is left, which ptxas can't tell
    asm volatile("shr.b32 %0, %1, %2;"
                 : "=r"(none)
                 : "r"(__float_as_uint(known[0]) ^ __float_as_uint(known[1])), "r"((u32)blockDim.x));
    asm volatile("bar.sync %0, 128;" ::"r"(8 + threadIdx.x / 128 + none) : "memory");
    xc_tile_settle<0, SLOTS>(acc);
#endif
}
#else
// device::Device::describe_boxes: the address, lengths and steps of up to five axes, the contiguous one first.
struct xc_tensor_map {
    i64 words[16];
    template <class T>
    T at(int axes, i64 x, i64 y, i64 z) const {
        const i64 place[3] = {x, y, z};
        i64 offset = 0;
        for (int d = 0; d < axes; ++d) {
            if (place[d] < 0 || place[d] >= words[1 + d]) return (T)0.0f;
            offset += place[d] * words[6 + d];
        }
        return ((const T*)words[0])[offset];
    }
};
template <int KIND, int N, int K, int RA, bool TA, int RB, bool TB, int ENDS = 1, class C, class T>
XC_DEVICE void xc_tile_wgmma(C* acc, const T* a, const T* b, i64 top, i64 thread) {
    xc_tile_mma<KIND, 16, N, K, -RA, TA, -RB, TB>(acc, a, b, top, 0, thread);
}
template <int KIND, int N, int K, int PB, bool TB, int ENDS = 1, class C, class T>
XC_DEVICE void xc_tile_wgmma_held(C* acc, const T* a, const T* b, i64 thread) {
    xc_tile_mma_held<KIND, N, K, PB, TB>(acc, a, b, thread);
}
template <int UNDER_WAY, int SLOTS, class C>
XC_DEVICE void xc_tile_settle(C*) {}
template <int SLOTS, class C>
XC_DEVICE void xc_tile_settle_after(C*, const f32*) {}
template <int STAGES, int WARPS>
XC_DEVICE void xc_tile_flow_gates(u64*, i64) {}
// A box at once, each thread its part.
template <int AXES, int R, int C, int THREADS>
struct xc_tile_flow_now {
    const xc_tensor_map& map;
    template <class T>
    void operator()(T* to, i64 x, i64 y, i64 z, i64 thread) const {
        for (i64 n = thread; n < R * C; n += THREADS)
            to[xc_tile_at<-R, T>((int)(n / C), (int)(n % C))] =
                map.template at<T>(AXES, x + n % C, y + n / C, z);
    }
};
// As CUDA's, each lane its own sums, straight from memory: of ROWS rows and N columns a warp, DOWN of them one under the other.
template <int ROWS, int DOWN, int N, int K, int AXES_A, int DXA, int DYA, bool TA, int AXES_B, int DXB,
          int DYB, bool TB>
struct xc_tile_take_now {
    const xc_tensor_map &map_a, &map_b;
    template <class T, class C>
    void take(C* acc, i64 turns, i64 xa, i64 ya, i64 za, i64 xb, i64 yb, i64 zb, i64 thread) const {
        const i64 lane = thread & 31, warp = thread / 32, top = warp % DOWN * ROWS, left = warp / DOWN * N;
        for (i64 n = 0; n < turns; ++n, xa += DXA, ya += DYA, xb += DXB, yb += DYB)
            for (int i = 0; i < ROWS / 8; ++i)
                for (int j = 0; j < N / 4; ++j) {
                    const i64 row = top + i * 8 + lane / 4, column = left + j / 2 * 8 + lane % 4 * 2 + j % 2;
                    const int slot = (i / 2 * (N / 8) + j / 2) * 4 + i % 2 * 2 + j % 2;
                    C sum = acc[slot];
                    for (int k = 0; k < K; ++k)
                        sum += (C)map_a.template at<T>(AXES_A, xa + (TA ? row : k), ya + (TA ? k : row), za) *
                               (C)map_b.template at<T>(AXES_B, xb + (TB ? k : column), yb + (TB ? column : k),
                                                       zb);
                    acc[slot] = sum;
                }
    }
};
template <int KIND, int N, int K, int STAGES, int AXES_A, int RA, int CA, int DXA, int DYA, bool TA,
          int AXES_B, int RB, int CB, int DXB, int DYB, bool TB>
struct xc_tile_flow_take {
    const xc_tensor_map &map_a, &map_b;
    template <class C, class T>
    void operator()(C* acc, const T*, const T*, u64*, i64, i64 turns, i64 xa, i64 ya, i64 za, i64 xb, i64 yb,
                    i64 zb, i64 thread) const {
        xc_tile_take_now<16, 1 << 10, N, K, AXES_A, DXA, DYA, TA, AXES_B, DXB, DYB, TB>{map_a, map_b}
            .template take<T>(acc, turns, xa, ya, za, xb, yb, zb, thread);
    }
};
// What sm_100's sums in tensor memory are (prelude_tensors.hpp), in its lanes' registers at once.
template <int KIND, int M, int N, int K, int ROWS, int DOWN, int COLUMNS, int AXES_A, int DXA, int DYA,
          bool TA, int AXES_B, int DXB, int DYB, bool TB>
struct xc_tile_tensor_now {
    const xc_tensor_map &map_a, &map_b;
    template <class C, class T>
    void operator()(C* acc, const T*, const T*, i64 turns, i64 xa, i64 ya, i64 za, i64 xb, i64 yb, i64 zb,
                    i64 thread) const {
        xc_tile_take_now<ROWS, DOWN, COLUMNS, K, AXES_A, DXA, DYA, TA, AXES_B, DXB, DYB, TB>{map_a, map_b}
            .template take<T>(acc, turns, xa, ya, za, xb, yb, zb, thread);
    }
};
#endif

// grid.sync(): all threads of all blocks. A part of the text only where it is used.
#ifdef XC_CPU
#define xc_grid_sync(site) W->grid_barrier(W, (i32)(site))
#else
#define xc_grid_sync(site) xc_grid_meet(XC_HERE)
XC_DEVICE void xc_grid_meet(XC_HERE_PARAMETERS) {
    __shared__ volatile u32 leader;  // one of the block's threads that still live, whoever wrote last
    const u32 me = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    __syncthreads();
    leader = me;
    __syncthreads();
    if (leader == me) {
        // Each block adds one, the first as much as flips the top bit once all have.
        volatile u32* const gate = (volatile u32*)F->gate;
        const u32 blocks = gridDim.x * gridDim.y * gridDim.z;
        const bool first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
        __threadfence();
        const u32 old = atomicAdd((u32*)gate, first ? 0x80000000u - (blocks - 1) : 1u);
        for (u32 turns = 0; !((old ^ *gate) & 0x80000000u); ++turns)
            if ((turns & 1023) == 1023) {  // a block that has faulted will not come
                xc_poll(F);
                if (((volatile xc_fault*)F)->taken != 0) asm volatile("exit;");
            }
        __threadfence();
    }
    __syncthreads();
}
#endif

#include "teaching.cuh"

constexpr int TPB = 256;

static __global__ void kernel(float* __restrict__ sums, const float* __restrict__ a, int n) {
    __shared__ float part[TPB];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int step = 1; step < TPB; step *= 2) {
        if (t % (2 * step) == 0) part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}

TEACHING(reduce_interleaved) { kernel<<<a[0].length(), TPB, 0, stream>>>(a[0], a[1], a[1].length()); }

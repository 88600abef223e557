#include "teaching.cuh"

constexpr int TPB = 256;

static __global__ void kernel(float* out, const float* __restrict__ a, int n) {
    __shared__ float part[TPB];
    const int t = threadIdx.x;
    float total = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) total += a[i];
    part[t] = total;
    __syncthreads();
    for (int step = TPB / 2; step > 0; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, part[0]);
}

TEACHING(reduce_grid_stride) { kernel<<<1056, TPB, 0, stream>>>(a[0], a[1], a[1].length()); }

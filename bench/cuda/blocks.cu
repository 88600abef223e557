#include "teaching.cuh"

static __global__ void kernel(float* __restrict__ out, const float* __restrict__ a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] * a[i] + 10;
}

TEACHING(blocks) { kernel<<<1056, 256, 0, stream>>>(a[0], a[1], a[0].length()); }

#include "teaching.cuh"

static __global__ void kernel(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

TEACHING(vector_add) {
    const int n = a[0].length();
    kernel<<<blocks_for(n, 256), 256, 0, stream>>>(a[0], a[1], a[2], n);
}

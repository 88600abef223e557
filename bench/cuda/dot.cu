#include "teaching.cuh"

constexpr int TPB = 256;

static __global__ void kernel(float* out, const float* __restrict__ a, const float* __restrict__ b, int n) {
    __shared__ float products[TPB];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    products[t] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    for (int step = TPB / 2; step > 0; step /= 2) {
        if (t < step) products[t] += products[t + step];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, products[0]);
}

TEACHING(dot) {
    const int n = a[1].length();
    kernel<<<blocks_for(n, TPB), TPB, 0, stream>>>(a[0], a[1], a[2], n);
}

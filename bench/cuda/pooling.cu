#include "teaching.cuh"

constexpr int TPB = 256;

static __global__ void kernel(float* __restrict__ out, const float* __restrict__ a, int n) {
    __shared__ float window[TPB + 2];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i < n) window[t + 2] = a[i];
    if (t < 2) window[t] = i >= 2 ? a[i - 2] : 0;
    __syncthreads();
    if (i < n) out[i] = window[t] + window[t + 1] + window[t + 2];
}

TEACHING(pooling) {
    const int n = a[0].length();
    kernel<<<blocks_for(n, TPB), TPB, 0, stream>>>(a[0], a[1], n);
}

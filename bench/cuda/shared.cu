#include "teaching.cuh"

constexpr int TPB = 256;

static __global__ void kernel(float* __restrict__ out, const float* __restrict__ a, int n) {
    __shared__ float part[TPB];
    const int t = threadIdx.x, first = blockIdx.x * TPB, i = first + t;
    const int length = min(TPB, n - first);
    if (i < n) part[t] = a[i];
    __syncthreads();
    if (i < n) out[i] = part[length - 1 - t] + 10;
}

TEACHING(shared) {
    const int n = a[0].length();
    kernel<<<blocks_for(n, TPB), TPB, 0, stream>>>(a[0], a[1], n);
}

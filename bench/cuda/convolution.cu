#include "teaching.cuh"

constexpr int TPB = 256, TAPS = 16;

static __global__ void kernel(float* __restrict__ out, const float* __restrict__ a,
                              const float* __restrict__ weights, int n) {
    __shared__ float tile[TPB + TAPS], taps[TAPS];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? a[i] : 0;
    if (t < TAPS) {
        taps[t] = weights[t];
        tile[TPB + t] = i + TPB < n ? a[i + TPB] : 0;
    }
    __syncthreads();
    float total = 0;
    for (int k = 0; k < TAPS; ++k) total += tile[t + k] * taps[k];
    if (i < n) out[i] = total;
}

TEACHING(convolution) {
    const int n = a[0].length();
    kernel<<<blocks_for(n, TPB), TPB, 0, stream>>>(a[0], a[1], a[2], n);
}

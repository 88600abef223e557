#include "teaching.cuh"

constexpr int TPB = 256;

static __global__ void kernel(float* __restrict__ out, const float* __restrict__ a, int columns) {
    __shared__ float part[TPB];
    const int t = threadIdx.x, row = blockIdx.x;
    float total = 0;
    for (int j = t; j < columns; j += TPB) total += a[row * columns + j];
    part[t] = total;
    __syncthreads();
    for (int step = TPB / 2; step > 0; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0) out[row] = part[0];
}

TEACHING(axis_sum) { kernel<<<a[0].length(), TPB, 0, stream>>>(a[0], a[1], a[1].length(1)); }

#include "teaching.cuh"

static __global__ void kernel(float* a, int n, int step, int run) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ step;
    if (other > i && other < n) {
        const bool ascending = (i & run) == 0;
        const float x = a[i], y = a[other];
        if ((x > y) == ascending) {
            a[i] = y;
            a[other] = x;
        }
    }
}

TEACHING(bitonic_sort) {
    const int n = a[0].length();
    for (int run = 2; run <= n; run *= 2)
        for (int step = run / 2; step > 0; step /= 2)
            kernel<<<blocks_for(n, 256), 256, 0, stream>>>(a[0], n, step, run);
}

#include "teaching.cuh"

static __global__ void kernel(float* __restrict__ y, const float* __restrict__ values, const int* __restrict__ columns,
                              const int* __restrict__ starts, const float* __restrict__ x, int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float total = 0;
        for (int k = starts[row]; k < starts[row + 1]; ++k) total += values[k] * x[columns[k]];
        y[row] = total;
    }
}

TEACHING(spmv_csr) {
    const int n = a[0].length();
    kernel<<<blocks_for(n, 128), 128, 0, stream>>>(a[0], a[1], a[2], a[3], a[4], n);
}

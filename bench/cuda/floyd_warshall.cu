#include "teaching.cuh"

static __global__ void kernel(float* d, int n, int k) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) d[i * n + j] = fminf(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

TEACHING(floyd_warshall) {
    const int n = a[0].length();
    for (int k = 0; k < n; ++k)
        kernel<<<dim3(blocks_for(n, 32), blocks_for(n, 8)), dim3(32, 8), 0, stream>>>(a[0], n, k);
}

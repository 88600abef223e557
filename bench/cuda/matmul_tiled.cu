#include "teaching.cuh"

constexpr int TILE = 16;

static __global__ void kernel(float* __restrict__ C, const float* __restrict__ A, const float* __restrict__ B, int n,
                              int inner, int m) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int j = blockIdx.x * TILE + tx, i = blockIdx.y * TILE + ty;
    float total = 0;
    for (int t = 0; t < (inner + TILE - 1) / TILE; ++t) {
        a[ty][tx] = i < n && t * TILE + tx < inner ? A[i * inner + t * TILE + tx] : 0;
        b[ty][tx] = t * TILE + ty < inner && j < m ? B[(t * TILE + ty) * m + j] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) total += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (i < n && j < m) C[i * m + j] = total;
}

TEACHING(matmul_tiled) {
    const int n = a[0].length(0), m = a[0].length(1), inner = a[1].length(1);
    kernel<<<dim3(blocks_for(m, TILE), blocks_for(n, TILE)), dim3(TILE, TILE), 0, stream>>>(a[0], a[1], a[2], n,
                                                                                          inner, m);
}

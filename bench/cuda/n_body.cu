#include "teaching.cuh"

constexpr int TPB = 128;

static __global__ void kernel(float* __restrict__ acceleration, const float* __restrict__ bodies, int n) {
    __shared__ float tile[4][TPB];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    const float x = i < n ? bodies[i] : 0, y = i < n ? bodies[n + i] : 0, z = i < n ? bodies[2 * n + i] : 0;
    float ax = 0, ay = 0, az = 0;
    for (int first = 0; first < n; first += TPB) {
        for (int c = 0; c < 4; ++c) tile[c][t] = first + t < n ? bodies[c * n + first + t] : 0;
        __syncthreads();
        for (int j = 0; j < TPB; ++j) {
            const float dx = tile[0][j] - x, dy = tile[1][j] - y, dz = tile[2][j] - z;
            const float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 1e-2f);
            const float s = tile[3][j] * inverse * inverse * inverse;
            ax += s * dx;
            ay += s * dy;
            az += s * dz;
        }
        __syncthreads();
    }
    if (i < n) {
        acceleration[i] = ax;
        acceleration[n + i] = ay;
        acceleration[2 * n + i] = az;
    }
}

TEACHING(n_body) {
    const int n = a[1].length(1);
    kernel<<<blocks_for(n, TPB), TPB, 0, stream>>>(a[0], a[1], n);
}

#include "teaching.cuh"

constexpr int TPB = 512;

static __global__ void scan_blocks(int* out, int* sums, const int* a, int n) {
    __shared__ int part[TPB];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int step = 1; step < TPB; step *= 2) {
        int value = part[t];
        if (t >= step) value += part[t - step];
        __syncthreads();
        part[t] = value;
        __syncthreads();
    }
    if (i < n) out[i] = part[t];
    if (t == TPB - 1) sums[blockIdx.x] = part[t];
}

static __global__ void add_offsets(int* out, const int* __restrict__ offsets, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n) out[i] += offsets[blockIdx.x - 1];
}

TEACHING(prefix_sum) {
    const int n = a[0].length(), blocks = a[2].length(), groups = a[3].length();
    scan_blocks<<<blocks, TPB, 0, stream>>>(a[0], a[2], a[1], n);
    scan_blocks<<<groups, TPB, 0, stream>>>(a[2], a[3], a[2], blocks);
    scan_blocks<<<1, TPB, 0, stream>>>(a[3], a[4], a[3], groups);
    add_offsets<<<groups, TPB, 0, stream>>>(a[2], a[3], blocks);
    add_offsets<<<blocks, TPB, 0, stream>>>(a[0], a[2], n);
}

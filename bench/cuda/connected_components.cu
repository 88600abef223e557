#include "teaching.cuh"

static __global__ void reset(int* labels, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) labels[i] = i;
}

static __global__ void hook(int* labels, const int* __restrict__ edges, int lines) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < lines) {
        const int a = labels[edges[e]], b = labels[edges[lines + e]];
        if (a < b)
            atomicMin(&labels[b], a);
        else if (b < a)
            atomicMin(&labels[a], b);
    }
}

static __global__ void shorten(int* labels, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int label = labels[i];
        while (labels[label] != label) label = labels[label];
        labels[i] = label;
    }
}

TEACHING(connected_components) {
    const int n = a[0].length(), lines = a[1].length(1);
    reset<<<blocks_for(n, 256), 256, 0, stream>>>(a[0], n);
    for (int k = 0; k < 10; ++k) {
        hook<<<blocks_for(lines, 256), 256, 0, stream>>>(a[0], a[1], lines);
        shorten<<<blocks_for(n, 256), 256, 0, stream>>>(a[0], n);
    }
}

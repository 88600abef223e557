#include "teaching.cuh"

constexpr int TPB = 512, PART = 2 * TPB;

static __global__ void kernel(int* __restrict__ out, const int* __restrict__ a) {
    __shared__ int tree[PART];
    const int t = threadIdx.x, first = blockIdx.x * PART;
    tree[2 * t] = a[first + 2 * t];
    tree[2 * t + 1] = a[first + 2 * t + 1];
    int offset = 1;
    for (int nodes = PART / 2; nodes > 0; nodes /= 2) {
        __syncthreads();
        if (t < nodes) {
            const int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            tree[right] += tree[left];
        }
        offset *= 2;
    }
    if (t == 0) tree[PART - 1] = 0;
    for (int nodes = 1; nodes < PART; nodes *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < nodes) {
            const int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            const int held = tree[left];
            tree[left] = tree[right];
            tree[right] += held;
        }
    }
    __syncthreads();
    out[first + 2 * t] = tree[2 * t];
    out[first + 2 * t + 1] = tree[2 * t + 1];
}

TEACHING(blelloch_scan) { kernel<<<a[1].length() / PART, TPB, 0, stream>>>(a[0], a[1]); }

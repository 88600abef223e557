#include "teaching.cuh"

constexpr int AXES = 4;

static __global__ void kernel(int* __restrict__ labels, const float* __restrict__ points,
                              const float* __restrict__ centres, int n, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int nearest = 0;
        float least = INFINITY;
        for (int c = 0; c < count; ++c) {
            float distance = 0;
            for (int axis = 0; axis < AXES; ++axis) {
                const float step = points[axis * n + i] - centres[c * AXES + axis];
                distance += step * step;
            }
            if (distance < least) {
                least = distance;
                nearest = c;
            }
        }
        labels[i] = nearest;
    }
}

TEACHING(kmeans_assign) {
    const int n = a[0].length();
    kernel<<<blocks_for(n, 256), 256, 0, stream>>>(a[0], a[1], a[2], n, a[2].length());
}

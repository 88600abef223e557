#include "teaching.cuh"

static __device__ unsigned shuffled(unsigned state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static __global__ void kernel(int* hits, const unsigned* __restrict__ seeds, int n, int throws) {
    constexpr float scale = 1 / 4294967296.0f;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned state = seeds[i];
        int inside = 0;
        for (int k = 0; k < throws; ++k) {
            state = shuffled(state);
            const float x = state * scale;
            state = shuffled(state);
            const float y = state * scale;
            if (x * x + y * y < 1) ++inside;
        }
        hits[i] = inside;
    }
}

TEACHING(monte_carlo_pi) {
    const int n = a[0].length();
    kernel<<<blocks_for(n, 256), 256, 0, stream>>>(a[0], a[1], n, static_cast<int>(a[2].value));
}

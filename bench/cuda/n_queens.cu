#include "teaching.cuh"

constexpr int PLACED = 3, DEEPEST = 20;

static __global__ void kernel(int* counts, int tasks, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tasks) return;
    const int full = (1 << n) - 1;
    int columns = 0, left = 0, right = 0, rest = i;
    for (int k = 0; k < PLACED; ++k) {
        const int queen = 1 << (rest % n);
        rest /= n;
        if (queen & (columns | left | right)) {
            counts[i] = 0;
            return;
        }
        columns |= queen;
        left = (left | queen) << 1;
        right = (right | queen) >> 1;
    }
    int stack[4][DEEPEST];
    int depth = 0, free = full & ~(columns | left | right), found = 0;
    while (true) {
        if (free == 0) {
            if (depth == 0) break;
            --depth;
            columns = stack[0][depth];
            left = stack[1][depth];
            right = stack[2][depth];
            free = stack[3][depth];
            continue;
        }
        const int queen = free & -free;
        free ^= queen;
        if ((columns | queen) == full) {
            ++found;
            continue;
        }
        stack[0][depth] = columns;
        stack[1][depth] = left;
        stack[2][depth] = right;
        stack[3][depth] = free;
        ++depth;
        columns |= queen;
        left = (left | queen) << 1;
        right = (right | queen) >> 1;
        free = full & ~(columns | left | right);
    }
    counts[i] = found;
}

TEACHING(n_queens) {
    const int tasks = a[0].length();
    kernel<<<blocks_for(tasks, 64), 64, 0, stream>>>(a[0], tasks, static_cast<int>(a[1].value));
}

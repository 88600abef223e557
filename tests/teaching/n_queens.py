"""N queens: each thread places the first three and searches on with a stack of its own."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 7}
BENCH = {"n": 11}
GPU = {"n": 15}
PLACED, DEEPEST = 3, 20


@cuda.jit
def n_queens(counts, n):
    i = cuda.grid(1)
    if i >= counts.size:
        return
    full = np.int32((1 << n) - 1)
    columns = np.int32(0)
    left = np.int32(0)
    right = np.int32(0)
    rest = i
    for _ in range(PLACED):
        queen = np.int32(1 << (rest % n))
        rest //= n
        if queen & (columns | left | right):
            counts[i] = 0
            return
        columns |= queen
        left = (left | queen) << 1
        right = (right | queen) >> 1

    stack = cuda.local.array((4, DEEPEST), np.int32)
    depth = 0
    free = full & ~(columns | left | right)
    found = 0
    while True:
        if free == 0:
            if depth == 0:
                break
            depth -= 1
            columns = stack[0, depth]
            left = stack[1, depth]
            right = stack[2, depth]
            free = stack[3, depth]
            continue
        queen = free & -free
        free ^= queen
        if columns | queen == full:
            found += 1
            continue
        stack[0, depth] = columns
        stack[1, depth] = left
        stack[2, depth] = right
        stack[3, depth] = free
        depth += 1
        columns |= queen
        left = (left | queen) << 1
        right = (right | queen) >> 1
        free = full & ~(columns | left | right)
    counts[i] = found


def inputs(rng, n):
    return {"counts": np.zeros(n**PLACED, np.int32), "n": n}


def launch(k, counts, n):
    k.n_queens[-(-counts.size // 64), 64](counts, n)


def agree(found, right):
    assert found["counts"].sum() == right["counts"].sum()


def reference(counts, n):
    def search(columns, left, right):
        free = ((1 << n) - 1) & ~(columns | left | right)
        found = 0
        while free:
            queen = free & -free
            free ^= queen
            done = columns | queen == (1 << n) - 1
            found += done or search(columns | queen, (left | queen) << 1, (right | queen) >> 1)
        return found

    return {"counts": np.array([search(0, 0, 0)])}

"""Levenshtein distances of many pairs of words: a block a pair, its threads walk the table's diagonals together."""

import numpy as np
from xcuda import core as cuda

SMALL = {"pairs": 7}
BENCH = {"pairs": 500}
GPU = {"pairs": 1 << 15}
LENGTH = 128


@cuda.jit
def levenshtein(out, a, b):
    table = cuda.shared.array((3, LENGTH + 1), np.int32)
    pair = cuda.blockIdx.x
    i = cuda.threadIdx.x + 1
    mine = a[pair, i - 1]
    for diagonal in range(2, 2 * LENGTH + 1):
        j = diagonal - i
        if 1 <= j <= LENGTH:
            up = j if i == 1 else table[(diagonal - 1) % 3, i - 1]
            left = i if j == 1 else table[(diagonal - 1) % 3, i]
            corner = i + j - 2 if i == 1 or j == 1 else table[(diagonal - 2) % 3, i - 1]
            if mine != b[pair, j - 1]:
                corner += 1
            table[diagonal % 3, i] = min(up + 1, left + 1, corner)
        cuda.syncthreads()
    if i == LENGTH:
        out[pair] = table[(2 * LENGTH) % 3, LENGTH]


def inputs(rng, pairs):
    return {
        "out": np.zeros(pairs, np.int32),
        "a": rng.integers(97, 103, (pairs, LENGTH), dtype=np.uint8),
        "b": rng.integers(97, 103, (pairs, LENGTH), dtype=np.uint8),
    }


def launch(k, out, a, b):
    k.levenshtein[out.size, LENGTH](out, a, b)


def reference(out, a, b):
    return {"out": np.array([distance(bytes(x), bytes(y)) for x, y in zip(a, b, strict=True)], np.int32)}


def distance(x, y):
    row = list(range(len(y) + 1))
    for i, p in enumerate(x, 1):
        corner, row[0] = row[0], i
        for j, q in enumerate(y, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (p != q))
    return row[-1]

"""Sparse matrix (compressed rows) times vector: a thread a row."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 500}
BENCH = {"n": 200_000}
GPU = {"n": 1 << 21}
RTOL = 1e-4
ATOL = 1e-4


@cuda.jit
def spmv_csr(y, values, columns, starts, x):
    row = cuda.grid(1)
    if row < y.size:
        total = 0.0
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


def inputs(rng, n):
    """0 to 31 numbers a row, most of them near the diagonal."""
    lengths = rng.integers(0, 32, n)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    rows = np.repeat(np.arange(n), lengths)
    columns = (rows + rng.integers(-500, 501, rows.size)) % n
    return {
        "y": np.zeros(n, np.float32),
        "values": rng.random(rows.size, np.float32),
        "columns": columns.astype(np.int32),
        "starts": starts,
        "x": rng.random(n, np.float32),
    }


def launch(k, y, values, columns, starts, x):
    k.spmv_csr[-(-y.size // 128), 128](y, values, columns, starts, x)


def reference(y, values, columns, starts, x):
    rows = np.repeat(np.arange(y.size), np.diff(starts))
    return {"y": np.bincount(rows, values.astype(np.float64) * x[columns], y.size)}

"""Compiles two kernels in this fresh process and prints JSON: the first kernel's milliseconds, a later one's.

python bench/_compile_once.py xcuda|numba
"""

import json
import sys
import time

import numpy as np

who = sys.argv[1]
a = np.ones((32, 32), np.float32)
x = np.ones(1000, np.float32)
started = time.perf_counter()
if who == "xcuda":
    import _ours
    from xcuda import core as cuda

    imported = time.perf_counter()

    def matmul():
        _ours.matrix_multiply[(2, 2), (16, 16)](a, a, np.zeros_like(a))
        cuda.synchronize()

    def saxpy():
        _ours.saxpy[4, 256](2.0, x, x, np.zeros_like(x))
        cuda.synchronize()
else:
    import _numba

    imported = time.perf_counter()

    def matmul():
        _numba.matmul(a, a, np.zeros_like(a))

    def saxpy():
        _numba.saxpy(np.float32(2), x, x, np.zeros_like(x))


def milliseconds(call):
    begin = time.perf_counter()
    call()
    return (time.perf_counter() - begin) * 1e3


told = {"import": (imported - started) * 1e3, "first": milliseconds(matmul), "later": milliseconds(saxpy)}
print(json.dumps(told))

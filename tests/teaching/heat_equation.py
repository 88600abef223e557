"""The heat equation in two dimensions, explicit steps, a launch a step."""

import numpy as np
from xcuda import core as cuda

SMALL = {"height": 33, "width": 50}
BENCH = {"height": 1000, "width": 1000}
GPU = {"height": 8192, "width": 8192}
STEPS = 6
RTOL = 1e-5


@cuda.jit
def heat_equation(after, before, c):
    j, i = cuda.grid(2)
    if 0 < i < before.shape[0] - 1 and 0 < j < before.shape[1] - 1:
        here = before[i, j]
        around = before[i - 1, j] + before[i + 1, j] + before[i, j - 1] + before[i, j + 1]
        after[i, j] = here + c * (around - 4 * here)


def inputs(rng, height, width):
    u = rng.random((height, width), np.float32)
    return {"u": u, "other": u.copy(), "c": 0.2}


def launch(k, u, other, c):
    height, width = u.shape
    shape = (-(-width // 32), -(-height // 8)), (32, 8)
    for _ in range(STEPS // 2):
        k.heat_equation[shape](other, u, c)
        k.heat_equation[shape](u, other, c)


def reference(u, other, c):
    u = u.astype(np.float64)
    for _ in range(STEPS):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += c * (around - 4 * u[1:-1, 1:-1])
    return {"u": u}

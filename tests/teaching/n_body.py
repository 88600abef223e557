"""All-pairs gravity: the bodies pass through shared memory in tiles, as in GPU Gems 3."""

import math

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 300}
BENCH = {"n": 4096}
GPU = {"n": 65536}
TPB = 128
SOFTENING = 1e-2
RTOL = 1e-3


@cuda.jit(device=True)
def pull(dx, dy, dz, mass):
    distance2 = dx * dx + dy * dy + dz * dz + SOFTENING
    inverse = 1 / math.sqrt(distance2)
    return mass * inverse * inverse * inverse


@cuda.jit
def n_body(acceleration, bodies):
    tile = cuda.shared.array((4, TPB), np.float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    n = bodies.shape[1]
    x = bodies[0, i] if i < n else 0
    y = bodies[1, i] if i < n else 0
    z = bodies[2, i] if i < n else 0
    ax = ay = az = 0.0
    for first in range(0, n, TPB):
        for c in range(4):
            tile[c, t] = bodies[c, first + t] if first + t < n else 0
        cuda.syncthreads()
        for j in range(TPB):
            dx = tile[0, j] - x
            dy = tile[1, j] - y
            dz = tile[2, j] - z
            s = pull(dx, dy, dz, tile[3, j])
            ax += s * dx
            ay += s * dy
            az += s * dz
        cuda.syncthreads()
    if i < n:
        acceleration[0, i] = ax
        acceleration[1, i] = ay
        acceleration[2, i] = az


def inputs(rng, n):
    return {"acceleration": np.zeros((3, n), np.float32), "bodies": rng.random((4, n), np.float32)}


def launch(k, acceleration, bodies):
    k.n_body[-(-bodies.shape[1] // TPB), TPB](acceleration, bodies)


def reference(acceleration, bodies):
    place, mass = bodies[:3].astype(np.float64), bodies[3].astype(np.float64)
    d = place[:, None, :] - place[:, :, None]
    s = mass * ((d**2).sum(axis=0) + SOFTENING) ** -1.5
    return {"acceleration": (s * d).sum(axis=2)}

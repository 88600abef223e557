"""The assignment step of k-means: the nearest of the centres for each point."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 1000, "centres": 7}
BENCH = {"n": 200_000, "centres": 32}
GPU = {"n": 1 << 24, "centres": 64}
AXES = 4


@cuda.jit
def kmeans_assign(labels, points, centres):
    i = cuda.grid(1)
    if i < labels.size:
        nearest = 0
        least = np.inf
        for c in range(centres.shape[0]):
            distance = 0.0
            for axis in range(AXES):
                step = points[axis, i] - centres[c, axis]
                distance += step * step
            if distance < least:
                least = distance
                nearest = c
        labels[i] = nearest


def inputs(rng, n, centres):
    """Whole numbers, so that every distance is exact and ties are decided alike everywhere."""
    return {
        "labels": np.zeros(n, np.int32),
        "points": rng.integers(0, 1000, (AXES, n)).astype(np.float32),
        "centres": rng.integers(0, 1000, (centres, AXES)).astype(np.float32),
    }


def launch(k, labels, points, centres):
    k.kmeans_assign[-(-labels.size // 256), 256](labels, points, centres)


def reference(labels, points, centres):
    squares = ((points.T[:, None, :] - centres) ** 2).sum(axis=2)
    return {"labels": squares.argmin(axis=1).astype(np.int32)}

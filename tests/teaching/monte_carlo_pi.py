"""Pi by throwing darts: each thread has a generator of its own (xorshift)."""

import numpy as np
from xcuda import core as cuda

SMALL = {"threads": 300, "throws": 50}
BENCH = {"threads": 16384, "throws": 200}
GPU = {"threads": 1 << 20, "throws": 1000}
SCALE = 1 / 2**32


@cuda.jit(device=True)
def shuffled(state):
    state ^= state << np.uint32(13)
    state ^= state >> np.uint32(17)
    state ^= state << np.uint32(5)
    return state


@cuda.jit
def monte_carlo_pi(hits, seeds, throws):
    i = cuda.grid(1)
    if i < hits.size:
        state = seeds[i]
        inside = 0
        for _ in range(throws):
            state = shuffled(state)
            x = np.float32(state) * SCALE
            state = shuffled(state)
            y = np.float32(state) * SCALE
            if x * x + y * y < 1:
                inside += 1
        hits[i] = inside


def inputs(rng, threads, throws):
    seeds = rng.integers(1, 2**32, threads, dtype=np.uint32)
    return {"hits": np.zeros(threads, np.int32), "seeds": seeds, "throws": throws}


def launch(k, hits, seeds, throws):
    k.monte_carlo_pi[-(-hits.size // 256), 256](hits, seeds, throws)


def agree(found, right):
    """A dart on the very edge falls either way with a fused multiply-add: few do."""
    difference = np.abs(found["hits"].astype(int) - right["hits"])
    assert difference.max() <= 1
    assert difference.sum() <= max(1, found["hits"].sum() // 10**6)


def reference(hits, seeds, throws):
    state = seeds.copy()
    count = np.zeros(hits.size, np.int32)
    for _ in range(throws):
        place = []
        for _ in range(2):
            state ^= state << np.uint32(13)
            state ^= state >> np.uint32(17)
            state ^= state << np.uint32(5)
            place.append(state.astype(np.float32) * np.float32(SCALE))
        count += place[0] * place[0] + place[1] * place[1] < 1
    return {"hits": count}

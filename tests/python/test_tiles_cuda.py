"""Tile kernels' CUDA text compiles for three generations of GPU, with what the plan promises in it."""

import numpy as np
import pytest
from tile_kernels import compiles
from xcuda import tiles


@tiles.tile_kernel(tile_size=(16, 16))
def product(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))


@pytest.mark.parametrize(
    ("dtype", "into"), [("float16", "f4"), ("float32", "f4"), ("float64", "f8"), ("int8", "i4")]
)
def test_the_articles_product(dtype, into):
    A, C = np.ones((64, 64), dtype), np.ones((64, 64), into)
    made = compiles(product, (A, A, C))
    assert made["local_bytes"] == 0, "the accumulators are to live in registers"
    assert ("xc_tile_mma<" in made["text"]) == (dtype == "float16")
    assert "xc_tile_async<" in made["text"]


def test_rows_and_their_reductions():
    @tiles.tile_kernel
    def normal(X, Y, order, n: tiles.Constant[int]):
        i = tiles.bid(0)
        x = tiles.load(X, (i, 0), (1, n), padding=-np.inf)
        e = tiles.exp(x - tiles.max(x))
        tiles.store(Y, (i, 0), tiles.cumsum(e / tiles.sum(e), axis=1))
        tiles.store(order, (i,), tiles.argmax(x, axis=1))

    X = np.ones((4, 1000), "f")
    made = compiles(normal, (X, X, np.ones(4, np.int64), 1024), ("sm_90",))
    assert made["local_bytes"] == 0


def test_attention():
    @tiles.tile_kernel
    def attention(Q, K, V, out, d: tiles.Constant[int]):
        i = tiles.bid(0)
        q = tiles.load(Q, (i, 0), (64, d))
        top = tiles.full((64, 1), -np.inf, tiles.float32)
        total, acc = tiles.zeros((64, 1)), tiles.zeros((64, d))
        for j in range(tiles.num_tiles(K, 0, (64, d))):
            k, v = tiles.load(K, (j, 0), (64, d)), tiles.load(V, (j, 0), (64, d))
            s = q @ k.T
            now = tiles.maximum(top, tiles.max(s, axis=1, keepdims=True))
            p, less = tiles.exp(s - now), tiles.exp(top - now)
            total = total * less + tiles.sum(p, axis=1, keepdims=True)
            acc = tiles.mma(p.astype(V.dtype), v, acc * less)
            top = now
        tiles.store(out, (i, 0), acc / total)

    Q = np.ones((128, 64), np.float16)
    made = compiles(attention, (Q, Q, Q, np.ones((128, 64), "f"), 64), ("sm_80", "sm_100"))
    assert made["text"].count("xc_tile_mma<") == 2


def test_tiles_too_large_for_a_block_are_refused_with_the_limit():
    @tiles.tile_kernel
    def large(A, C):
        a = tiles.load(A, (0, 0), (512, 512))
        tiles.store(C, (0, 0), a @ a.T)

    A = np.ones((512, 512))
    with pytest.raises(ValueError, match=r"large: its tiles take \d+ bytes of shared memory; sm_90 has \d+"):
        compiles(large, (A, A), ("sm_90",))

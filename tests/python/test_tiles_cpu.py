"""Tile kernels as the CPU device runs them: loops that the compiler makes vectors of."""

import numpy as np
import pytest
from xcuda import core, tiles

pytestmark = pytest.mark.skipif(core.Device().kind != "cpu", reason="of the CPU device")


def softmax(X, Y, n: tiles.Constant[int]):
    i = tiles.bid(0)
    x = tiles.load(X, (i, 0), (1, n), padding=-np.inf)
    e = tiles.exp(x - tiles.max(x))
    tiles.store(Y, (i, 0), e / tiles.sum(e))


def test_no_element_of_a_tile_is_polled_or_tested():
    kernel = tiles.tile_kernel(softmax)
    X = np.random.default_rng(3).standard_normal((5, 1000)).astype("f")
    Y = np.zeros_like(X)
    kernel(X, Y, 1024)
    e = np.exp(X - X.max(1, keepdims=True))
    assert np.allclose(Y, e / e.sum(1, keepdims=True), atol=1e-6)
    version, *_ = kernel.variant((X, Y, 1024))
    text = version.inspect_source()
    assert text.count("xc_poll(") == 1, "once a program"
    assert "&& ((0 + i" not in text, "rows end in shorter loops, not in masks"


def test_long_loops_are_polled_nests_of_short_ones_are_not():
    def polls(m, n):
        @core.kernel
        def summed(A):
            s = 0
            for i in range(m):
                for j in range(n):
                    s += i * j
            A[cuda.grid(1)] = s

        from xcuda import core as cuda  # the name that kernels know

        A = np.zeros(3, np.int64)
        summed[1, 3](A)
        assert (A == m * (m - 1) // 2 * (n * (n - 1) // 2)).all()
        return summed.inspect_source().split('extern "C" void')[1].count("xc_poll(")

    short = polls(100, 100)
    assert polls(3000, 1000) > short
    assert polls(1000, 200) == short

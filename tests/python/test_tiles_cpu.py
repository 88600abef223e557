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


def plain(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))


def both_turned(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A).T @ tiles.load_shared(B).T))


def written_out(A, B, C):
    acc = tiles.zeros((64, 64), tiles.float64)
    for k in range(tiles.num_tiles(A, 1, (64, 64))):
        acc = tiles.mma(tiles.load(A, (0, k), (64, 64)), tiles.load(B, (k, 0), (64, 64)), acc)
    tiles.store(C, (0, 0), acc)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16"])
@pytest.mark.parametrize("kernel", [plain, both_turned])
@pytest.mark.parametrize("shape", [(300, 77, 257), (1, 300, 130), (257, 1, 9), (1100, 130, 1025)], ids=str)
def test_tiles_at_the_edges_are_multiplied_as_far_as_there_is_something(kernel, shape, dtype):
    m, k, n = shape
    random = np.random.default_rng(9)
    A, B = (random.integers(-2, 3, s).astype(dtype) for s in ((m, k), (k, n)))
    C = np.full((m, n), 77, "f4" if dtype == "float16" else dtype)
    made = tiles.tile_kernel(
        kernel, tile_size=(16, 16), plan={"products": "fma"}
    )  # loops of our own, no BLAS
    args = (A, B) if kernel is plain else (A.T.copy(), B.T.copy())
    made(*args, C)
    assert np.array_equal(C, A.astype("d") @ B)
    assert "xc_tile_product_to<" in made.inspect_source()


def test_what_a_program_pads_is_multiplied_as_written():
    """Zeros beyond the edge times an infinity are no numbers, which the program could look at."""
    A, B, C = np.ones((3, 70)), np.full((70, 64), np.inf), np.zeros((64, 64))
    made = tiles.tile_kernel(written_out)
    tiles.launch(None, 1, made, (A, B, C))
    assert np.isinf(C[:3]).sum() + np.isnan(C[:3]).sum() == 3 * 64 and np.isnan(C[3:]).all()
    assert "xc_tile_product_to<" not in made.inspect_source()

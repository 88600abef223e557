"""Tiles as the article writes them: each program sees arrays through its tile, the compiler makes the loops."""

import numpy as np
import pytest
from tile_kernels import close, plans, tile_kernel
from xcuda import tiles

RANDOM = np.random.default_rng(7)
PLANS = plans()


@tiles.tile_kernel(tile_size=(16, 16))
def tiled_matrix_ops(A, B, result):
    """The article's kernel."""
    tile_A = tiles.load_shared(A)
    tile_B = tiles.load_shared(B)
    computed_tile = tiles.compute(tile_A @ tile_B)
    tiles.store(result, computed_tile)


def matmul(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))


SHAPES = [
    *((n, n, n) for n in (1, 7, 16, 17, 100)),
    *((1, 50, 1), (1, 1, 70), (70, 1, 1), (1, 33, 130), (130, 33, 1)),
    *((0, 5, 5), (5, 5, 0), (5, 0, 5), (129, 65, 257)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_articles_kernel_is_a_matrix_product(shape):
    m, k, n = shape
    A, B = RANDOM.standard_normal((m, k)), RANDOM.standard_normal((k, n))
    C = np.full((m, n), np.nan, np.float32)
    tiled_matrix_ops(A.astype("f"), B.astype("f"), C)
    close(C, A.astype("f").astype("d") @ B.astype("f"), 1e-6 * max(k, 1))


@pytest.mark.parametrize("n", [1000, 4096])
def test_large_products_of_whole_numbers_are_exact(n):
    """Against NumPy in float64, rows and columns of each edge and of the middle; each element has its own sum."""
    A, B = (RANDOM.integers(-4, 5, (n, n)).astype("f") for _ in range(2))
    C = np.full((n, n), 77, "f")
    tile_kernel(matmul, tile_size=(16, 16))(A, B, C)
    some = np.r_[0:20, n // 2 : n // 2 + 20, n - 20 : n]
    assert np.array_equal(C[some], A[some].astype("d") @ B)
    assert np.array_equal(C[:, some], A.astype("d") @ B[:, some])
    assert np.array_equal(C.sum(axis=0, dtype="d"), A.sum(axis=0, dtype="d") @ B)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("size", [(16, 16), (8, 32), (3, 5), (64,)], ids=str)
def test_the_tile_size_written_changes_nothing(plan, size):
    A, B = RANDOM.standard_normal((45, 77)), RANDOM.standard_normal((77, 130))
    C = np.full((45, 130), np.nan)
    tile_kernel(matmul, tile_size=size, plan=plan)(A, B, C)
    close(C, A @ B, 1e-13)


TYPES = [
    ("float16", "float32", 2e-6),
    ("float16", "float16", 1e-3),
    ("float32", "float32", 1e-5),
    ("float64", "float64", 1e-13),
    ("int8", "int32", 0),
    ("uint8", "int32", 0),
    ("int32", "int32", 0),
    ("int64", "int64", 0),
]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize(("dtype", "into", "tolerance"), TYPES)
def test_products_of_each_type(plan, dtype, into, tolerance):
    made = np.asarray(
        RANDOM.integers(0, 100, (40, 70)) if dtype[0] in "ui" else RANDOM.standard_normal((40, 70))
    )
    A = made.astype(dtype)
    B = A[:33].T.copy()
    C = np.zeros((40, 33), into)
    tile_kernel(matmul, tile_size=(16, 16), plan=plan)(A, B, C)
    close(C, A.astype("d") @ B.astype("d"), tolerance)


@pytest.mark.parametrize("plan", PLANS)
def test_products_of_bfloat16(plan):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    A, B = (RANDOM.standard_normal(s).astype(bfloat16) for s in ((40, 70), (70, 33)))
    C = np.zeros((40, 33), "f")
    tile_kernel(matmul, tile_size=(16, 16), plan=plan)(A, B, C)
    close(C, A.astype("d") @ B.astype("d"), 2e-6)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("turned", ["", "a", "b", "ab"])
def test_transposes_inside_and_outside(plan, dtype, turned):
    A, B = (RANDOM.standard_normal(s).astype(dtype) for s in ((50, 37), (37, 65)))
    wanted = A.astype("d") @ B.astype("d")

    def inside_a(X, Y, C):
        tiles.store(C, tiles.compute(tiles.load_shared(X).T @ tiles.load_shared(Y)))

    def inside_b(X, Y, C):
        tiles.store(C, tiles.compute(tiles.load_shared(X) @ tiles.load_shared(Y).T))

    def inside_both(X, Y, C):
        tiles.store(C, tiles.compute(tiles.load_shared(X).T @ tiles.load_shared(Y).T))

    kernel = {"": matmul, "a": inside_a, "b": inside_b, "ab": inside_both}[turned]
    x = A.T.copy() if "a" in turned else A
    y = B.T.copy() if "b" in turned else B
    C = np.zeros((50, 65), "f")
    tile_kernel(kernel, tile_size=(16, 16), plan=plan)(x, y, C)
    close(C, wanted, 1e-5)
    outside = np.zeros((50, 65), "f")  # as strides of the arguments
    tile_kernel(matmul, tile_size=(16, 16), plan=plan)(
        A.T.copy().T if "a" in turned else A, B.T.copy().T if "b" in turned else B, outside
    )
    close(outside, wanted, 1e-5)


@pytest.mark.parametrize("plan", PLANS)
def test_stacks_of_matrices(plan):
    kernel = tile_kernel(matmul, tile_size=(16, 16), plan=plan)
    A, B = RANDOM.standard_normal((3, 20, 33)), RANDOM.standard_normal((3, 33, 18))
    C = np.zeros((3, 20, 18))
    kernel(A, B, C)
    close(C, A @ B, 1e-13)
    kernel(A, B[0].copy(), C)
    close(C, A @ B[0], 1e-13)


@pytest.mark.parametrize("plan", PLANS)
def test_a_product_with_an_epilogue(plan):
    @tile_kernel(tile_size=(16, 16), plan=plan)
    def layer(A, B, bias, residual, C, scale):
        product = tiles.load_shared(A) @ tiles.load_shared(B)
        whole = scale * product + tiles.load_shared(bias) + tiles.load_shared(residual)
        tiles.store(C, tiles.compute(tiles.where(whole > 0, whole, 0.25 * whole)))

    A, B = RANDOM.standard_normal((50, 40)), RANDOM.standard_normal((40, 70))
    bias, residual = RANDOM.standard_normal(70), RANDOM.standard_normal((50, 70))
    C = np.zeros((50, 70))
    layer(A, B, bias, residual, C, 0.5)
    whole = 0.5 * (A @ B) + bias + residual
    close(C, np.where(whole > 0, whole, 0.25 * whole), 1e-13)


@pytest.mark.parametrize("plan", PLANS)
def test_a_chain_of_products(plan):
    @tile_kernel(tile_size=(16, 16), plan=plan)
    def chain(A, B, C, out):
        tiles.store(out, tiles.compute((tiles.load_shared(A) @ tiles.load_shared(B)) @ tiles.load_shared(C)))

    A, B, C = (RANDOM.standard_normal(s) for s in ((20, 40), (40, 17), (17, 33)))
    out = np.zeros((20, 33))
    chain(A, B, C, out)
    close(out, A @ B @ C, 1e-12)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (17, 33), (64, 2048), (0, 4)], ids=str)
def test_sums_of_arrays(plan, shape):
    @tile_kernel(tile_size=(16, 16), plan=plan)
    def added(A, B, C):
        tile_A, tile_B = tiles.load_shared(A), tiles.load_shared(B)
        tiles.store(C, tile_A + tile_B)

    A, B = RANDOM.standard_normal(shape), RANDOM.standard_normal(shape)
    C = np.full(shape, np.nan)
    added(A, B, C)
    assert np.array_equal(C, A + B)


@pytest.mark.parametrize("plan", PLANS)
def test_vectors_go_along_rows_and_columns(plan):
    @tile_kernel(tile_size=(16, 16), plan=plan)
    def added(A, B, C):
        tiles.store(C, tiles.load_shared(A) * 2 - tiles.load_shared(B))

    A = RANDOM.standard_normal((40, 25))
    for B in (RANDOM.standard_normal(25), RANDOM.standard_normal((1, 25)), RANDOM.standard_normal((40, 1))):
        C = np.zeros((40, 25))
        added(A, B, C)
        assert np.array_equal(C, A * 2 - B)
        added(B if B.ndim == 2 else B[None, :].copy(), A, C)
        assert np.array_equal(C, B * 2 - A)


@pytest.mark.parametrize("plan", PLANS)
def test_reductions_along_an_axis(plan):
    @tile_kernel(tile_size=(16, 16), plan=plan)
    def normal(A, out):
        a = tiles.load_shared(A)
        e = tiles.exp(a - tiles.max(a, axis=1, keepdims=True))
        tiles.store(out, tiles.compute(e / tiles.sum(e, axis=1, keepdims=True)))

    @tile_kernel(tile_size=(16,), plan=plan)
    def columns(A, out):
        tiles.store(out, tiles.compute(tiles.load_shared(A).sum(axis=0)))

    for shape in ((5, 3), (33, 300), (4, 1)):
        A = RANDOM.standard_normal(shape)
        out, sums = np.zeros(shape), np.zeros(shape[1])
        normal(A, out)
        e = np.exp(A - A.max(1, keepdims=True))
        close(out, e / e.sum(1, keepdims=True), 1e-14)
        columns(A, sums)
        close(sums, A.sum(0), 1e-14)


@pytest.mark.parametrize("plan", PLANS)
def test_slices_and_views_are_arrays_too(plan):
    @tile_kernel(tile_size=(16, 16), plan=plan)
    def doubled(A, C):
        tiles.store(C, tiles.load_shared(A[1:, ::2]) * 2)

    A = RANDOM.standard_normal((30, 41))
    C = np.zeros((29, 21))
    doubled(A, C)
    assert np.array_equal(C, A[1:, ::2] * 2)
    turned = np.zeros((21, 29)).T  # the result's strides are its own
    doubled(A, turned)
    assert np.array_equal(turned, C)


def test_shapes_that_do_not_go_together_raise():
    C = np.zeros((4, 4))
    with pytest.raises(ValueError, match="another number of columns"):
        tiled_matrix_ops(np.ones((4, 3)), np.ones((4, 4)), C)
    with pytest.raises(ValueError, match="another shape than the array"):
        tiled_matrix_ops(np.ones((3, 4)), np.ones((4, 4)), C)
    assert not C.any()

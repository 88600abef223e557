"""numeric's products and numeric.linalg against NumPy's, with nothing left to the fallback."""

import numpy
import pytest
import xcuda.numeric as np
from xcuda.numeric import linalg

DTYPES = ["float32", "float64", "complex64", "complex128", "int64"]


@pytest.fixture(autouse=True)
def no_fallback():
    before, np.config.fallback = np.config.fallback, "error"
    yield
    np.config.fallback = before


@pytest.fixture
def rng():
    return numpy.random.default_rng(5)


def values(rng, shape, dtype):
    if numpy.dtype(dtype).kind in "iu":
        return rng.integers(-5, 6, shape).astype(dtype)
    made = rng.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        made = made + 1j * rng.standard_normal(shape)
    return made.astype(dtype)


def same(got, want, scale=200):
    if isinstance(want, tuple):
        assert type(got).__name__ == type(want).__name__
        for g, w in zip(got, want, strict=True):
            same(g, w, scale)
        return
    want = numpy.asarray(want)
    got = numpy.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    exact = want.dtype.kind not in "fc"
    tolerance = 0 if exact else numpy.finfo(want.dtype).eps * scale
    numpy.testing.assert_allclose(
        got, want, rtol=tolerance, atol=tolerance * max(1, numpy.abs(want).max(initial=0))
    )


def both(function, *arrays, scale=200, **how):
    """The function's result with numeric and its arrays, and with NumPy and its."""
    mine = function(np, *(np.asarray(a) for a in arrays), **how)
    same(mine, function(numpy, *arrays, **how), scale)


PRODUCTS = [
    ((3, 4), (4, 5)), ((4,), (4,)), ((4,), (4, 2)), ((2, 4), (4,)), ((2, 3, 4), (4, 5)), ((5, 1, 3, 4), (2, 4, 2)),
    ((0, 4), (4, 2)), ((3, 0), (0, 2)), ((2, 3, 4), (2, 4, 1)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "uint8", "float16"])
@pytest.mark.parametrize("a, b", PRODUCTS)
def test_matmul(rng, dtype, a, b):
    x, y = (
        values(rng, shape, "int64" if dtype == "bool" else dtype if dtype != "uint8" else "int64").astype(
            dtype
        )
        for shape in (a, b)
    )
    both(lambda m, p, q: p @ q, x, y, scale=20)


def test_matmul_of_mixed_dtypes_views_and_out(rng):
    a, b = values(rng, (6, 8), "float32"), values(rng, (8, 6), "int32")
    both(lambda m, p, q: m.matmul(p[::2, ::-1], q[:, 1::2]), a, b)
    both(lambda m, p, q: m.matmul(p.T, q.T), a, b)
    out = np.zeros((6, 6))
    assert np.matmul(np.asarray(a), np.asarray(b), out=out) is out
    same(out, a @ b)
    with pytest.raises(TypeError, match="Cannot cast"):
        np.matmul(np.asarray(a), np.asarray(b), out=np.zeros((6, 6), "int32"))


@pytest.mark.parametrize("a, b", [((3, 4), (3, 4)), ((), (3,)), ((2, 3), (2,))])
def test_matmul_s_errors_are_numpy_s(a, b):
    with pytest.raises(ValueError) as theirs:
        numpy.matmul(numpy.zeros(a), numpy.zeros(b))
    with pytest.raises(ValueError) as mine:
        np.matmul(np.zeros(a), np.zeros(b))
    assert str(mine.value) == str(theirs.value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_other_products(rng, dtype):
    a, b, v, w = (
        values(rng, (3, 4), dtype),
        values(rng, (4, 3), dtype),
        values(rng, 4, dtype),
        values(rng, 4, dtype),
    )
    c, d = values(rng, (2, 3, 4), dtype), values(rng, (5, 4, 3), dtype)
    for function in (
        lambda m: m.dot, lambda m: m.inner, lambda m: m.outer, lambda m: m.vdot, lambda m: m.kron, lambda m: m.vecdot,
        lambda m: m.linalg.outer,
    ):  # fmt: skip
        both(lambda m, p, q, f=function: f(m)(p, q), v, w)
    both(lambda m, p, q: m.dot(p, q), a, b)
    both(lambda m, p, q: m.dot(p, q), c, d)
    both(lambda m, p, q: m.dot(p, q), c, b)
    both(lambda m, p, q: m.inner(p, q), c, a)
    both(lambda m, p, q: m.kron(p, q), a, b)
    both(lambda m, p, q: m.tensordot(p, q, 1), c, b)
    both(lambda m, p, q: m.tensordot(p, q, ([1, 2], [2, 1])), c, d)
    both(lambda m, p, q: m.vecdot(p, q, axis=0), a, b.T)
    both(lambda m, p, q: m.matvec(p, q), c, v)
    both(lambda m, p, q: m.vecmat(p, q), v[:3], c)
    both(lambda m, p: m.linalg.trace(p), c)
    both(lambda m, p: m.cross(p, p + 1), c[..., :3])
    both(lambda m, p: m.linalg.cross(p, p * 2 + 1), c[..., :3])


def square(rng, dtype, shape=(2, 5, 5)):
    return values(rng, shape, dtype) + (4 * numpy.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_solvers(rng, dtype):
    a, b = square(rng, dtype), values(rng, (2, 5, 3), dtype)
    both(lambda m, p, q: m.linalg.solve(p, q), a, b, scale=2000)
    both(lambda m, p, q: m.linalg.solve(p, q), a[0], b[0, :, 0], scale=2000)
    both(lambda m, p, q: m.linalg.solve(p, q), a, b[0], scale=2000)
    both(lambda m, p: m.linalg.inv(p), a, scale=2000)
    both(lambda m, p: m.linalg.det(p), a, scale=2000)
    both(lambda m, p: m.linalg.slogdet(p), a, scale=2000)
    for n in (-2, -1, 0, 1, 2, 5):
        if dtype != "int64" or n >= 0:
            both(lambda m, p, n=n: m.linalg.matrix_power(p, n), a, scale=5000)
    both(lambda m, p: m.linalg.pinv(p), values(rng, (2, 6, 4), dtype), scale=2000)
    both(lambda m, p: m.linalg.cond(p), a, scale=5000)
    both(lambda m, p: m.linalg.cond(p, 1), a, scale=5000)
    both(lambda m, p: m.linalg.matrix_rank(p), a)
    both(
        lambda m, p, q: m.linalg.tensorsolve(p, q),
        square(rng, dtype, (6, 6)).reshape(2, 3, 6),
        values(rng, (2, 3), dtype),
        scale=2000,
    )
    both(lambda m, p: m.linalg.tensorinv(p), square(rng, dtype, (6, 6)).reshape(2, 3, 6), scale=2000)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(7, 3), (3, 3), (3, 6)])
def test_least_squares(rng, dtype, shape):
    a, b = values(rng, shape, dtype), values(rng, (shape[0], 2), dtype)
    for right in (b, b[:, 0].copy()):
        x, residuals, rank, s = linalg.lstsq(np.asarray(a), np.asarray(right))
        want = numpy.linalg.lstsq(a, right)
        same(x, want[0], 3000)
        same(s, want[3])
        assert rank == want[2]
        numpy.testing.assert_allclose(numpy.asarray(residuals).ravel(), want[1], rtol=1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factorisations(rng, dtype):
    a = values(rng, (2, 6, 4), dtype)
    kind = numpy.result_type(dtype, numpy.float32) if dtype != "int64" else numpy.dtype(float)
    for full in (True, False):
        u, s, vh = linalg.svd(np.asarray(a), full)
        want = numpy.linalg.svd(a, full)
        assert u.shape == want.U.shape and vh.shape == want.Vh.shape
        same(s, want.S)
        same((u[..., :4] * s[..., None, :]) @ vh, a.astype(kind))
    both(lambda m, p: m.linalg.svdvals(p), a)
    q, r = linalg.qr(np.asarray(a))
    same(q @ r, a.astype(kind))
    spd = (a.swapaxes(1, 2).conj() @ a + 5 * numpy.eye(4)).astype(dtype)
    both(lambda m, p: m.linalg.cholesky(p), spd)
    both(lambda m, p: m.linalg.eigvalsh(p), spd)
    w, v = linalg.eigh(np.asarray(spd))
    same(np.asarray(spd).astype(kind) @ v, numpy.asarray(v) * numpy.asarray(w)[:, None, :], 500)
    general = values(rng, (2, 4, 4), dtype)
    w, v = linalg.eig(np.asarray(general))
    w, v = numpy.asarray(w), numpy.asarray(v)
    numpy.testing.assert_allclose(
        general @ v, v * w[:, None, :], atol=1e-4 if w.dtype == "complex64" else 1e-10
    )
    assert w.dtype == numpy.linalg.eigvals(general).dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_norms(rng, dtype):
    a, v = values(rng, (3, 4, 5), dtype), values(rng, 7, dtype)
    inf = numpy.inf
    for ord in (None, 0, 1, 2, 3, 0.5, inf, -inf):
        both(lambda m, p, o=ord: m.linalg.norm(p, o), v)
        both(lambda m, p, o=ord: m.linalg.norm(p, o, axis=1, keepdims=True), a)
    for ord in (None, "fro", "nuc", 1, -1, 2, -2, inf, -inf):
        both(lambda m, p, o=ord: m.linalg.norm(p, o, axis=(0, 2)), a)
        both(lambda m, p, o=ord: m.linalg.norm(p, o, axis=(2, 0), keepdims=True), a)
        both(lambda m, p, o=ord: m.linalg.matrix_norm(p, ord=o or "fro"), a)
    both(lambda m, p: m.linalg.norm(p), a)
    both(lambda m, p: m.linalg.vector_norm(p, axis=(0, 2), keepdims=True), a)
    both(lambda m, p: m.linalg.multi_dot([p[0], p[1].T, p[2], p[0].T]), a, scale=500)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.linalg.inv(m.zeros((2, 3))),
        lambda m: m.linalg.inv(m.zeros(3)),
        lambda m: m.linalg.inv(m.zeros((3, 3))),
        lambda m: m.linalg.solve(m.zeros((3, 3)), m.ones(3)),
        lambda m: m.linalg.solve(m.eye(3), m.ones((2, 2))),
        lambda m: m.linalg.cholesky(-m.eye(3)),
        lambda m: m.linalg.qr(m.eye(3), "economic2"),
        lambda m: m.linalg.eigh(m.eye(3), "X"),
        lambda m: m.linalg.norm(m.zeros((2, 2, 2)), "fro"),
        lambda m: m.linalg.norm(m.zeros(3), "fro"),
        lambda m: m.linalg.norm(m.zeros((3, 3)), 7),
        lambda m: m.linalg.inv(m.eye(3, dtype="float16")),
        lambda m: m.linalg.matrix_power(m.eye(3), 1.5),
        lambda m: m.linalg.eig(m.eye(3) * m.inf),
        lambda m: m.linalg.multi_dot([m.eye(3)]),
        lambda m: m.dot(m.zeros((2, 3)), m.zeros((2, 3))),
    ],
)
def test_errors_are_numpy_s(call):
    np.config.fallback = "silent"  # of eye
    with numpy.errstate(all="ignore"), pytest.raises(Exception) as theirs:
        call(numpy)
    with pytest.raises(type(theirs.value)) as mine:
        call(np)
    assert str(mine.value) == str(theirs.value)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_products_of_views_of_all_kinds(dtype):
    """On a GPU those that BLAS can read as they lie go to it at once; the others are copied before."""
    R = numpy.random.default_rng(5)
    A, B, L = (
        R.random((12, 9)).astype(dtype),
        R.random((9, 12)).astype(dtype),
        R.random((20, 24)).astype(dtype),
    )
    v, w = R.random(9).astype(dtype), R.random(12).astype(dtype)
    programs = [
        *(lambda A, B, L, v, w: A @ B, lambda A, B, L, v, w: A.T @ B.T, lambda A, B, L, v, w: A @ v),
        *(lambda A, B, L, v, w: w @ A, lambda A, B, L, v, w: v @ v, lambda A, B, L, v, w: A.T @ w),
        *(lambda A, B, L, v, w: A[:, ::2] @ B[::2], lambda A, B, L, v, w: A[2:5] @ B[:, 3:4]),
        *(
            lambda A, B, L, v, w: A[:1] @ B,
            lambda A, B, L, v, w: v[:1] @ v[:1],
            lambda A, B, L, v, w: L[0, ::2] @ A,
        ),
        *(lambda A, B, L, v, w: L[3:12, 2:11] @ v, lambda A, B, L, v, w: A[:, ::-1] @ v),
        *(
            lambda A, B, L, v, w: A[:, :1] @ v[:1],
            lambda A, B, L, v, w: A[:, 2] @ A,
            lambda A, B, L, v, w: A @ A.T,
        ),
        *(lambda A, B, L, v, w: (A + 1) @ (B * 2) + 1, lambda A, B, L, v, w: A @ L[::2, 0][:9]),
    ]
    hosts = A, B, L, v, w
    given = [np.array(x) for x in hosts]
    for program in programs:
        expected, found = program(*hosts), program(*given)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        numpy.testing.assert_allclose(found.get(), expected, rtol=1e-5)

"""NVIDIA's libraries over device arrays (`_runtime.cuda_math`), with NumPy as the reference. On a GPU, but for what is said without one."""

import numpy as np
import pytest
from xcuda import _runtime
from xcuda import core as cuda

math = getattr(_runtime, "cuda_math", None)
if math is None:
    pytest.skip("built without the CUDA device", allow_module_level=True)
on_gpu = cuda.is_available() and cuda.Device().kind == "cuda"
gpu = pytest.mark.skipif(not on_gpu, reason="the current device is no GPU")

EPS = {"f": 1e-5, "d": 1e-12, "F": 1e-5, "D": 1e-12, "e": 4e-3}
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


@pytest.fixture
def rng():
    return np.random.default_rng(2026)


def values(rng, shape, dtype):
    out = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        out = out + 1j * rng.standard_normal(shape)
    return out.astype(dtype)


def columns(array):
    """On the device, column-major."""
    return cuda.to_device(np.ascontiguousarray(array.T)).T


def lying(array, order):
    return cuda.to_device(array) if order == "C" else columns(array)


def close(got, want, scale=1.0):
    want = np.asarray(want)
    tolerance = EPS[np.dtype(np.asarray(got).dtype).char] * scale
    np.testing.assert_allclose(
        got, want, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(want).max(initial=0)))
    )


def info():
    return cuda.to_device(np.full(1, -7, np.int32))


@pytest.mark.skipif(on_gpu, reason="there is a GPU")
def test_arrays_of_the_cpu_device_are_refused_in_a_sentence():
    a = cuda.to_device(np.eye(3, dtype=np.float32))
    with pytest.raises(TypeError, match="cuBLAS works on a GPU's arrays; this one is on"):
        math.matmul(a, a, a)


@gpu
@pytest.mark.parametrize("dtype", [*DTYPES, np.float16])
@pytest.mark.parametrize("order_a", "CF")
@pytest.mark.parametrize("order_b", "CF")
@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 3, 5), (1, 9, 4), (6, 1, 2), (64, 33, 1), (130, 70, 90)])
def test_products_in_every_order(rng, dtype, order_a, order_b, shape):
    m, k, n = shape
    a, b = values(rng, (m, k), dtype), values(rng, (k, n), dtype)
    for order_out in "CF":
        out = lying(np.zeros((m, n), dtype), order_out)
        math.matmul(lying(a, order_a), lying(b, order_b), out)
        wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
        close(out.copy_to_host(), (a.astype(wide) @ b.astype(wide)).astype(dtype), scale=np.sqrt(k))


@gpu
@pytest.mark.parametrize("dtype", DTYPES)
def test_stacks_views_and_repeated_matrices(rng, dtype):
    a, b = values(rng, (2, 3, 4, 5), dtype), values(rng, (2, 3, 5, 6), dtype)
    out = cuda.to_device(np.zeros((2, 3, 4, 6), dtype))
    math.matmul(cuda.to_device(a), cuda.to_device(b), out)
    close(out.copy_to_host(), a @ b, 5)
    one = np.broadcast_to(b[0, 0], b.shape)
    there = cuda.to_device(b)
    repeated = there[0:1, 0:1]
    stacked = _runtime.ArrayBase(repeated, 0, b.shape, (0, 0, 6, 1), np.dtype(dtype).name)
    math.matmul(cuda.to_device(a), stacked, out)
    close(out.copy_to_host(), a @ one, 5)
    # Leading axes that don't lie evenly take several calls.
    swapped = cuda.to_device(np.ascontiguousarray(a.transpose(1, 0, 2, 3))).transpose(1, 0, 2, 3)
    math.matmul(swapped, cuda.to_device(b), out)
    close(out.copy_to_host(), a @ b, 5)


@gpu
def test_alpha_beta_and_conjugates(rng):
    a, b, c = (values(rng, (8, 8), np.complex64) for _ in range(3))
    out = cuda.to_device(c.copy())
    math.matmul(cuda.to_device(a).T, cuda.to_device(b), out, alpha=2.0, beta=-1.0, conjugate_a=True)
    close(out.copy_to_host(), 2 * a.conj().T @ b - c, 8)


@gpu
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_matrix_with_its_transpose_fills_the_lower_triangle(rng, dtype):
    a = values(rng, (9, 4), dtype)
    out = cuda.to_device(np.full((9, 9), 3, dtype))
    math.self_product(cuda.to_device(a), out)
    got = out.copy_to_host()
    close(np.tril(got), np.tril(a @ a.conj().T), 8)
    assert (np.triu(got, 1) == np.triu(np.full((9, 9), 3, dtype), 1)).all()


@gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, first, rank", [((100,), 0, 1), ((3, 4, 7), 2, 1), ((3, 4, 7), 1, 2), ((5, 6, 7), 0, 3),
                                                ((4, 9, 5), 1, 1), ((8, 3), 0, 1), ((2, 3, 4, 5), 1, 2), ((1, 1), 0, 2)])  # fmt: skip
def test_transforms_along_neighbouring_axes(rng, dtype, shape, first, rank):
    a = values(rng, shape, dtype)
    axes = tuple(range(first, first + rank))
    if np.dtype(dtype).kind == "c":
        out = cuda.to_device(np.zeros(shape, dtype))
        math.fourier(cuda.to_device(a), out, first, rank, False)
        close(out.copy_to_host(), np.fft.fftn(a, axes=axes).astype(dtype), 10)
        back = cuda.to_device(np.zeros(shape, dtype))
        math.fourier(out, back, first, rank, True)
        close(back.copy_to_host() / float(np.prod([shape[i] for i in axes])), a, 10)
    else:
        want = np.fft.rfftn(a, axes=axes)
        spectrum = cuda.to_device(np.zeros(want.shape, np.result_type(dtype, np.complex64)))
        math.fourier(cuda.to_device(a), spectrum, first, rank, False)
        close(spectrum.copy_to_host(), want.astype(spectrum.dtype), 10)
        back = cuda.to_device(np.zeros(shape, dtype))
        math.fourier(spectrum, back, first, rank, True)
        close(back.copy_to_host() / float(np.prod([shape[i] for i in axes])), a, 10)


@gpu
def test_plans_are_kept_up_to_a_bound(rng):
    try:
        math.keep_fourier_plans(2)
        for n in (8, 9, 10, 8):
            a = values(rng, (n,), np.complex64)
            out = cuda.to_device(np.zeros(n, np.complex64))
            math.fourier(cuda.to_device(a), out, 0, 1, False)
            close(out.copy_to_host(), np.fft.fft(a).astype(np.complex64), 10)
        assert math.fourier_plans() == (2, 2)
    finally:
        math.keep_fourier_plans(64)


@gpu
@pytest.mark.parametrize("dtype", DTYPES)
def test_lu(rng, dtype):
    n = 20
    a, b = values(rng, (n, n), dtype), values(rng, (n, 3), dtype)
    factors, pivots, x, i = columns(a), cuda.to_device(np.zeros(n, np.int64)), columns(b), info()
    math.lu_factor(factors, pivots, i)
    assert i.copy_to_host()[0] == 0
    math.lu_solve(factors, pivots, x, False, i)
    close(a @ x.copy_to_host(), b, 200)
    x = columns(b)
    math.lu_solve(factors, pivots, x, True, i)
    close(a.T @ x.copy_to_host(), b, 200)
    singular, i = columns(np.zeros((3, 3), dtype)), info()
    math.lu_factor(singular, cuda.to_device(np.zeros(3, np.int64)), i)
    assert i.copy_to_host()[0] == 1


@gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_and_triangles(rng, dtype, lower):
    n = 12
    a = values(rng, (n, n), dtype)
    a = (a @ a.conj().T + n * np.eye(n)).astype(dtype)
    b = values(rng, (n, 2), dtype)
    factor, x, i = columns(a), columns(b), info()
    math.cholesky_factor(factor, lower, i)
    assert i.copy_to_host()[0] == 0
    got = factor.copy_to_host()
    triangle = np.tril(got) if lower else np.triu(got)
    close(triangle @ triangle.conj().T if lower else triangle.conj().T @ triangle, a, 100)
    math.cholesky_solve(factor, lower, x, i)
    close(a @ x.copy_to_host(), b, 100)
    y = columns(b)
    math.solve_triangular(factor, y, lower)
    close(triangle @ y.copy_to_host(), b, 100)
    y = columns(b)
    math.solve_triangular(factor, y, lower, conjugated=True)
    close(triangle.conj().T @ y.copy_to_host(), b, 100)
    indefinite, i = columns(-np.eye(3).astype(dtype)), info()
    math.cholesky_factor(indefinite, lower, i)
    assert i.copy_to_host()[0] == 1


@gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m, n", [(8, 5), (6, 6), (4, 9)])
def test_qr(rng, dtype, m, n):
    a = values(rng, (m, n), dtype)
    k = min(m, n)
    factors, tau, i = columns(a), cuda.to_device(np.zeros(k, dtype)), info()
    math.qr_factor(factors, tau, i)
    r = np.triu(factors.copy_to_host()[:k])
    applied = columns(a)
    math.qr_apply_adjoint(factors[:, :k], tau, applied, i)
    close(np.triu(applied.copy_to_host()[:k]), r, 100)
    q = columns(factors.copy_to_host()[:, :k])
    math.qr_form(q, tau, i)
    q = q.copy_to_host()
    close(q @ r, a, 100)
    close(q.conj().T @ q, np.eye(k), 100)


@gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
def test_hermitian_eigenvalues(rng, dtype, lower):
    n = 11
    a = values(rng, (n, n), dtype)
    a = ((a + a.conj().T) / 2).astype(dtype)
    real = a.real.dtype
    v, w, i = columns(a), cuda.to_device(np.zeros(n, real)), info()
    math.eigen_hermitian(v, w, True, lower, i)
    w, v = w.copy_to_host(), v.copy_to_host()
    close(w, np.linalg.eigvalsh(a), 100)
    close(a @ v, v * w, 100)


@gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m, n, full", [(8, 5, True), (8, 5, False), (6, 6, True)])
def test_singular_values(rng, dtype, m, n, full):
    a = values(rng, (m, n), dtype)
    real = a.real.dtype
    s, i = cuda.to_device(np.zeros(n, real)), info()
    u, vh = columns(np.zeros((m, m if full else n), dtype)), columns(np.zeros((n, n), dtype))
    math.singular_values(columns(a), s, u, vh, i)
    assert i.copy_to_host()[0] == 0
    s, u, vh = s.copy_to_host(), u.copy_to_host(), vh.copy_to_host()
    close(s, np.linalg.svd(a, compute_uv=False), 100)
    close((u[:, :n] * s) @ vh, a, 100)
    close(u.conj().T @ u, np.eye(u.shape[1]), 100)
    alone = cuda.to_device(np.zeros(n, real))
    math.singular_values(columns(a), alone, None, None, info())
    close(alone.copy_to_host(), s, 100)


@gpu
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_general_eigenvalues(rng, dtype):
    n = 9
    a = values(rng, (n, n), dtype)
    w, v, i = cuda.to_device(np.zeros(n, dtype)), columns(np.zeros((n, n), dtype)), info()
    try:
        math.eigen_general(columns(a), w, v, i)
    except RuntimeError as error:
        pytest.skip(str(error))
    w, v = w.copy_to_host(), v.copy_to_host()
    close(a @ v, v * w, 200)
    close(np.sort_complex(w), np.sort_complex(np.linalg.eigvals(a)), 200)

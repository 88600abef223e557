"""Products, solvers and Fourier transforms over device arrays, against NumPy, on either device."""

import numpy as np
import pytest
from xcuda import core as cuda
from xcuda._dense import fourier, layout, placement, products, solvers

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


@pytest.fixture(autouse=True, params=placement.PLACES)
def place(request):
    """Small as these matrices are, a GPU's own libraries are tested, too."""
    with placement.everywhere(request.param):
        yield request.param


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def values(rng, shape, dtype):
    out = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        out = out + 1j * rng.standard_normal(shape)
    return out.astype(dtype)


def close(got, want, scale=100.0):
    got = got.copy_to_host() if isinstance(got, cuda.DeviceArray) else got
    assert got.shape == np.shape(want)
    epsilon = np.finfo(got.dtype).eps * scale
    np.testing.assert_allclose(got, want, rtol=epsilon, atol=epsilon * max(1.0, np.abs(want).max(initial=0)))


def hermitian(rng, count, n, dtype):
    a = values(rng, (count, n, n), dtype)
    return (a @ a.conj().transpose(0, 2, 1) + n * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("dtype", [*DTYPES, np.float16])
@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 3, 4), (3, 0, 2), (0, 3, 2), (40, 17, 33)])
def test_products(rng, dtype, shape):
    m, k, n = shape
    a, b = values(rng, (2, m, k), dtype), values(rng, (2, k, n), dtype)
    out = products.matmul(cuda.to_device(a), cuda.to_device(b))
    assert out.dtype == dtype
    close(out, (a.astype(np.result_type(dtype, np.float32)) @ b).astype(dtype), 10)
    close(
        products.matmul(cuda.to_device(a[0]), cuda.to_device(b[0]), alpha=0.5), (a[0] @ b[0] * dtype(0.5)), 40
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_matrix_with_its_transpose(rng, dtype):
    a = values(rng, (7, 4), dtype)
    close(products.self_product(cuda.to_device(a), 2.0), 2 * a @ a.conj().T)
    close(products.self_product(cuda.to_device(a[:, :0].copy())), np.zeros((7, 7), dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_solving(rng, dtype):
    a, b = values(rng, (3, 9, 9), dtype), values(rng, (3, 9, 2), dtype)
    close(solvers.solve(cuda.to_device(a), cuda.to_device(b)), np.linalg.solve(a, b), 5000)
    close(solvers.inv(cuda.to_device(a)), np.linalg.inv(a), 5000)
    close(solvers.det(cuda.to_device(a)), np.linalg.det(a), 2000)
    sign, logarithm = solvers.slogdet(cuda.to_device(a))
    want = np.linalg.slogdet(a)
    close(sign, want.sign, 2000)
    close(logarithm, want.logabsdet, 2000)
    spd = hermitian(rng, 2, 9, dtype)
    close(
        solvers.solve_positive(cuda.to_device(spd), cuda.to_device(b[:2])), np.linalg.solve(spd, b[:2]), 2000
    )


@pytest.mark.parametrize("function", [lambda a: solvers.solve(a, a), solvers.inv])
def test_singular_matrices_are_told_as_numpy_does(function):
    stack = cuda.to_device(np.stack([np.eye(3), np.zeros((3, 3))]))
    with pytest.raises(np.linalg.LinAlgError, match="^Singular matrix$"):
        function(stack)
    sign, logarithm = solvers.slogdet(stack)
    np.testing.assert_array_equal(sign, [1, 0])
    np.testing.assert_array_equal(logarithm, [0, -np.inf])
    np.testing.assert_array_equal(solvers.det(stack), [1, 0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(rng, dtype, upper):
    a = hermitian(rng, 2, 8, dtype)
    close(solvers.cholesky(cuda.to_device(a), upper), np.linalg.cholesky(a, upper=upper))
    # The other triangle isn't read.
    half = np.triu(a) if upper else np.tril(a)
    close(solvers.cholesky(cuda.to_device(half), upper), np.linalg.cholesky(a, upper=upper))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        solvers.cholesky(cuda.to_device(-a), upper)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 7, 4), (2, 5, 5), (1, 3, 8), (1, 1, 1)])
def test_qr(rng, dtype, shape):
    a = values(rng, shape, dtype)
    for mode in ("reduced", "complete"):
        q, r = solvers.qr(cuda.to_device(a), mode)
        want_q, want_r = np.linalg.qr(a, mode)
        close(r, want_r)
        close(q, want_q)
    close(solvers.qr(cuda.to_device(a), "r"), np.linalg.qr(a, "r"))
    for got, want in zip(solvers.qr(cuda.to_device(a), "raw"), np.linalg.qr(a, "raw"), strict=True):
        close(got, want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 7, 4), (2, 5, 5), (1, 3, 8), (2, 90, 5)])
@pytest.mark.parametrize("function", [solvers.svd, solvers.svd_of_triangle])
def test_svd(rng, dtype, shape, function):
    a = values(rng, shape, dtype)
    m, n = shape[1:]
    k = min(m, n)
    want = np.linalg.svd(a, compute_uv=False)
    close(function(cuda.to_device(a), False, False), want)
    for full in (True, False):
        u, s, vh = function(cuda.to_device(a), full, True)
        close(s, want)
        u, s, vh = u.copy_to_host(), s.copy_to_host(), vh.copy_to_host()
        assert u.shape[1:] == (m, m if full else k) and vh.shape[1:] == (n if full else k, n)
        close((u[:, :, :k] * s[:, None, :]) @ vh[:, :k], a)
        close(
            u.conj().transpose(0, 2, 1) @ u,
            np.broadcast_to(np.eye(u.shape[2]), (shape[0],) + (u.shape[2],) * 2),
        )


def test_small_values_of_long_matrices_are_kept(rng):
    u, _ = np.linalg.qr(rng.standard_normal((200, 6)))
    v, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    want = 10.0 ** -np.arange(0, 12, 2)  # squares of these would be lost: it isn't done by a.T @ a
    made = solvers.svd(cuda.to_device(((u * want) @ v)[None]), compute_uv=False).copy_to_host()[0]
    np.testing.assert_allclose(made, want, rtol=1e-4)


def test_a_matrix_without_singular_values():
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        solvers.svd(cuda.to_device(np.full((1, 40, 3), np.nan)))


@pytest.mark.skipif(cuda.Device().kind != "gpu", reason="host memory is LAPACK's anyhow")
def test_small_matrices_of_a_gpu_are_factored_where_it_is_sooner(place, monkeypatch):
    here, a = [], np.eye(4)[None]
    monkeypatch.setattr(np.linalg, "inv", lambda x: here.append(type(x)) or x)
    solvers.inv(cuda.to_device(a))
    assert here == ([np.ndarray] if place == "host" else [])


def test_places_have_names():
    with pytest.raises(ValueError, match="'device', 'host', not 'moon'"), placement.everywhere("moon"):
        pass


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
def test_hermitian_eigenvalues(rng, dtype, lower):
    a = hermitian(rng, 2, 8, dtype)
    half = np.tril(a) if lower else np.triu(a)
    close(solvers.eigh(cuda.to_device(half), lower, vectors=False), np.linalg.eigvalsh(a))
    w, v = (part.copy_to_host() for part in solvers.eigh(cuda.to_device(half), lower))
    close(a @ v, v * w[:, None, :])


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues(rng, dtype):
    a = values(rng, (2, 9, 9), dtype)
    w, v = (part.copy_to_host() for part in solvers.eig(cuda.to_device(a)))
    assert w.dtype == np.result_type(dtype, np.complex64)
    close(a @ v, v * w[:, None, :], 500)
    close(np.sort_complex(w), np.sort_complex(np.linalg.eigvals(a)), 500)
    symmetric = hermitian(rng, 1, 4, np.dtype(dtype))
    assert solvers.eig(cuda.to_device(symmetric), vectors=False).dtype == np.linalg.eigvals(symmetric).dtype
    both = [part.copy_to_host() for part in solvers.eig(cuda.to_device(symmetric))]
    assert [part.dtype for part in both] == [part.dtype for part in np.linalg.eig(symmetric)]
    close(symmetric @ both[1], both[1] * both[0][:, None, :], 500)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, first, rank", [((9,), 0, 1), ((3, 4, 7), 1, 1), ((3, 4, 7), 1, 2), ((2, 3, 4, 5), 0, 4),
                                                ((2, 3, 4, 6), 1, 2), ((3, 0), 0, 1)])  # fmt: skip
def test_fourier_transforms(rng, dtype, shape, first, rank):
    a = values(rng, shape, dtype)
    axes = list(range(first, first + rank))
    count = float(np.prod([shape[i] for i in axes]))
    if np.dtype(dtype).kind == "c":
        forward = fourier.complex_to_complex(cuda.to_device(a), first, rank, False)
        close(forward, np.fft.fftn(a, axes=axes))
        close(fourier.complex_to_complex(forward, first, rank, True).copy_to_host() / count, a)
        return
    forward = fourier.real_to_complex(cuda.to_device(a), first, rank)
    close(forward, np.fft.rfftn(a, axes=axes))
    spectrum = forward.copy_to_host()
    back = fourier.complex_to_real(forward, shape[first + rank - 1], first, rank)
    close(back.copy_to_host() / count, a)
    np.testing.assert_array_equal(forward.copy_to_host(), spectrum)  # what was given is not written to


def test_layouts(rng):
    a = values(rng, (2, 3, 4), np.float32)
    stack = cuda.to_device(a)
    np.testing.assert_array_equal(layout.transposed(stack).copy_to_host(), a.transpose(0, 2, 1))
    np.testing.assert_array_equal(
        layout.triangle(stack, 2, 0, 1).copy_to_host(), np.triu(np.tril(a, 1))[:, :2]
    )
    np.testing.assert_array_equal(layout.diagonal(stack).copy_to_host(), a.diagonal(axis1=1, axis2=2))
    np.testing.assert_array_equal(layout.identity(2, 3, stack).copy_to_host(), np.stack([np.eye(3)] * 2))
    np.testing.assert_array_equal(
        layout.converted(stack, np.complex128).copy_to_host(), a.astype(np.complex128)
    )

"""Plans with a state: Matmul and FFT."""

import numpy as np
import pytest
import xcuda.math as nvmath
from xcuda import numeric as xnp

RNG = np.random.default_rng(5)
A, B, C = RNG.normal(size=(12, 8)), RNG.normal(size=(8, 6)), RNG.normal(size=(12, 6))
BIAS = RNG.normal(size=6)


def test_a_product_with_everything():
    with nvmath.linalg.Matmul(
        A, B, C, alpha=0.5, beta=2.0, prolog_a=lambda a: a + 1, epilog=lambda y: nvmath.maximum(y + BIAS, 0)
    ) as product:
        product.plan()
        want = np.maximum(0.5 * ((A + 1) @ B) + 2 * C + BIAS, 0)
        np.testing.assert_allclose(product.execute(), want, rtol=1e-12, atol=1e-13)
        told = product.explain()
        assert (len(told.fused), len(told.library)) == (
            2,
            1,
        )  # the prolog, the product, all that comes after it
        product.reset_operands(a=A * 2)
        np.testing.assert_allclose(
            product.execute(), np.maximum(0.5 * ((2 * A + 1) @ B) + 2 * C + BIAS, 0), rtol=1e-12
        )
        assert product._jit.captures == 1
        product.reset_operands(a=A[:5], c=C[:5])  # other lengths need no other plan
        assert product.execute().shape == (5, 6) and product._jit.captures == 1
    with pytest.raises(RuntimeError, match="this Matmul was freed; make another one"):
        product.execute()


def test_a_plain_product_is_the_library_alone():
    product = nvmath.linalg.Matmul(xnp.asarray(A), xnp.asarray(B))
    made = product.execute()
    assert isinstance(made, xnp.ndarray)
    np.testing.assert_allclose(made.get(), A @ B, rtol=1e-13)
    assert (len(product.explain().fused), len(product.explain().library)) == (0, 1)


def test_half_precision_is_summed_in_float32():
    a, b = A.astype("float16"), B.astype("float16")
    made = nvmath.linalg.Matmul(a, b).execute()
    assert made.dtype == np.float16
    np.testing.assert_array_equal(made, (a.astype("float32") @ b.astype("float32")).astype("float16"))


def test_bad_operands():
    with pytest.raises(ValueError, match="there is no c that it could scale"):
        nvmath.linalg.Matmul(A, B, beta=1.0)
    with pytest.raises(
        ValueError,
        match=r"matmul of a of shape \(12,8\) and float64 and b of shape \(12,6\) and float64: 8 columns don't meet 12 rows",
    ):
        nvmath.linalg.Matmul(A, C).plan()
    product = nvmath.linalg.Matmul(A, B)
    with pytest.raises(TypeError, match="there is no operand 'd'; there are a, b, c"):
        product.reset_operands(d=A)
    with pytest.raises(ValueError, match="operand 'c' was left out when this was made"):
        product.reset_operands(c=C)


def test_a_transform_there_and_back():
    x = RNG.normal(size=(6, 8)) + 1j * RNG.normal(size=(6, 8))
    with nvmath.fft.FFT(x, axes=(1,), epilog=lambda z: z * 2) as transform:
        np.testing.assert_allclose(transform.execute(), 2 * np.fft.fft(x, axis=1), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(
            transform.execute("inverse"), 2 * np.fft.ifft(x, axis=1), rtol=1e-12, atol=1e-12
        )
        transform.reset_operands(a=x[:3])
        assert transform.execute().shape == (3, 8)
        assert transform._jit.captures == 2  # a direction each
        with pytest.raises(ValueError, match="the direction is 'forward' or 'inverse', not 'back'"):
            transform.execute("back")
    plain = nvmath.fft.FFT(x.real, prolog=lambda a: a - a.mean())
    np.testing.assert_allclose(plain.execute(), np.fft.fftn(x.real - x.real.mean()), atol=1e-11)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize(("m", "n"), [(7, 3), (3, 7), (4, 4)])
def test_stacks_of_least_squares_are_numpys_one_by_one(dtype, m, n):
    rng = np.random.default_rng(m)
    a = rng.normal(size=(5, 2, m, n)).astype(dtype)
    if a.dtype.kind == "c":
        a = a + 1j * rng.normal(size=a.shape)
    a[0, 0, :, 0] = a[0, 0, :, 1]  # of a lower rank
    near = {"rtol": 1e-3, "atol": 1e-3} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-9}
    for b in (rng.normal(size=(5, 2, m, 3)).astype(dtype), rng.normal(size=(5, 2, m)).astype(dtype)):
        for function in (nvmath.linalg.lstsq, nvmath.jit(lambda a, b: nvmath.linalg.lstsq(a, b))):
            x, residuals, rank, s = (np.asarray(v.get() if hasattr(v, "get") else v) for v in function(a, b))
            for i in np.ndindex(5, 2):
                want = np.linalg.lstsq(a[i], b[i], rcond=None)
                np.testing.assert_allclose(x[i], want[0], **near)
                np.testing.assert_allclose(s[i], want[3], **near)
                assert rank[i] == want[2]
                if want[1].size:
                    np.testing.assert_allclose(residuals[i], want[1] if b.ndim == 4 else want[1][0], **near)
                if rank[i] < n:
                    assert np.isnan(residuals[i]).all()
    with pytest.raises(np.linalg.LinAlgError, match="don't meet right sides"):
        nvmath.linalg.lstsq(a, b[:4])
    with pytest.raises(ValueError, match="don't meet"):
        nvmath.jit(lambda a, b: nvmath.linalg.lstsq(a, b)[0])(a, b[:4])


def test_operands_are_reset_in_order_and_plans_say_what_is_wrong():
    a, b = np.ones((3, 3)), np.eye(3)
    with nvmath.linalg.Matmul(a, b) as plan:
        plan.execute()
        plan.reset_operands(b * 2, a)
        np.testing.assert_array_equal(plan.execute(), 2 * a)
        with pytest.raises(TypeError, match="4 operands were given; there are a, b, c"):
            plan.reset_operands(a, a, a, a)
    with pytest.raises(np.exceptions.AxisError, match="axis 5 is out of bounds"):
        nvmath.fft.FFT(a, axes=(5,))
    with pytest.raises(ValueError, match="norm is 'backward'"):
        nvmath.fft.FFT(a, norm="other")

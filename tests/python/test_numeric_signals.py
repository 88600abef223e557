"""Convolution, interpolation, phases and covariances against NumPy's."""

import numpy
import pytest
from numeric_twins import twins
from xcuda import core as cuda
from xcuda.numeric import _packed_bits, _products, _signals

R = numpy.random.default_rng(1)
A, V, M = R.normal(size=20), R.normal(size=6), R.normal(size=(3, 40))
PLACES, VALUES = numpy.sort(R.normal(size=10)), R.normal(size=10)
X = numpy.concatenate([R.normal(size=50) * 2, PLACES, [numpy.nan, numpy.inf, -numpy.inf]])
PAIRS = [
    (A, V), (V, A), (A, V[:5]), (V[:5], A), (A + 1j, V), ((A * 9).astype(int), (V * 9).astype("i2")), (A > 0, V > 0), (A, A),
    (A.astype("f"), V.astype("f")), (V + 1j, A * 1j), (A[::-2], V[::2]), (A, A[:0]), (A[:0], A), (M, V), (A[:1], V[:1]),
    (A.astype("f2"), V.astype("f2")),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["full", "same", "valid", "wrong", 1, 7])
def test_convolve_and_correlate(mode):
    for a, v in PAIRS:
        twins(lambda m, p, q: m.convolve(p, q, mode), a, v)
        twins(lambda m, p, q: m.correlate(p, q, mode), a, v)


def test_interp():
    for how in ({}, {"left": -1, "right": 2}):
        twins(lambda m, *a: m.interp(*a, **how), X, PLACES, VALUES)
        twins(lambda m, *a: m.interp(*a, **how), X, PLACES, VALUES + 1j * VALUES[::-1])
    twins(lambda m, *a: m.interp(*a, period=1.5), X[:60], PLACES, VALUES)
    twins(lambda m, *a: m.interp(*a, period=0), X, PLACES, VALUES)
    twins(lambda m, *a: m.interp(2.5, *a), PLACES, VALUES)
    twins(
        lambda m, *a: m.interp(*a), X.reshape(7, 9).astype("f"), PLACES[::-1][::-1], (VALUES * 9).astype(int)
    )
    twins(lambda m, *a: m.interp(*a), X, PLACES[:0], VALUES[:0])
    twins(lambda m, *a: m.interp(*a), X, PLACES[:4], VALUES)
    twins(lambda m, *a: m.interp(*a), X, PLACES[:1], VALUES[:1])
    twins(lambda m, *a: m.interp(*a), X, numpy.array([0.0, 0.0, 1.0]), numpy.array([1.0, 2.0, numpy.inf]))


def test_unwrap():
    phases = numpy.cumsum(R.normal(size=(5, 50)), 1)
    twins(lambda m, a: m.unwrap(m.angle(m.exp(1j * a))), phases)
    twins(lambda m, a: m.unwrap(a, axis=0, discont=4), phases * 3)
    twins(lambda m, a: m.unwrap(a, period=4), numpy.array([0, 1, 2, -1, 0]))


@pytest.mark.parametrize(
    "x", [A, A.astype("f"), (A * 9).astype(int), M, numpy.array(0.0), numpy.array([0.0, 40, -80, 700])]
)
def test_functions_of_numbers(x):
    for function in (
        lambda m, a: m.sinc(a), lambda m, a: m.i0(a), lambda m, a: m.fix(a * 3), lambda m, a: m.real_if_close(a),
        lambda m, a: m.real_if_close(a + 1e-15j), lambda m, a: m.real_if_close(a + 1e-3j), lambda m, a: m.fix(a, out=m.zeros(a.shape)),
    ):  # fmt: skip
        twins(function, x)
    twins(lambda m, a: m.i0(a + 1j), x)


WEIGHTS, SHARES = R.integers(1, 4, 40), R.random(40)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "how",
    [
        {}, {"bias": True}, {"ddof": 0}, {"ddof": 50}, {"ddof": 1.5}, {"rowvar": False}, {"fweights": WEIGHTS}, {"aweights": SHARES},
        {"fweights": WEIGHTS, "aweights": SHARES}, {"fweights": WEIGHTS - 3}, {"fweights": SHARES}, {"aweights": SHARES[:4]},
        {"dtype": "float32"},
    ],
)  # fmt: skip
def test_cov(how):
    def given(m):
        return {k: m.asarray(v) if isinstance(v, numpy.ndarray) else v for k, v in how.items()}

    twins(lambda m, x: m.cov(x, **given(m)), M, tolerance=1e-5 if "dtype" in how else None)


def test_cov_and_corrcoef_of_other_shapes():
    twins(lambda m, x: m.cov(x, x * 2), M)
    twins(lambda m, x: m.cov(x), M[0])
    twins(lambda m, x: m.cov(x + 1j * x[::-1]), M)
    twins(lambda m, x: m.cov(x), M.reshape(3, 4, 10))
    for x in (M, M[0], (M * 10).astype("f"), M + 1j * M[::-1]):
        twins(lambda m, x: m.corrcoef(x), x)
    twins(lambda m, x: m.corrcoef(x, x[0]), M)


BYTES = R.integers(0, 256, (3, 5)).astype("uint8")


def test_bits():
    for how in ({}, {"axis": 1}, {"axis": 0, "bitorder": "little"}, {"bitorder": "x"}, {"axis": 3}):
        twins(lambda m, x: m.packbits(x, **how), R.integers(0, 2, (13, 20)))
        twins(lambda m, x: m.packbits(x, **how), M > 0)
    more = ({"axis": 0, "count": 5}, {"axis": 1, "count": -3}, {"axis": 1, "count": 60}, {"count": -999})
    for how in ({}, {"axis": 1}, {"bitorder": "little"}, {"bitorder": "x"}, *more):
        twins(lambda m, x: m.unpackbits(x, **how), BYTES)
    twins(lambda m, x: m.packbits(x), M)
    twins(lambda m, x: m.unpackbits(x), M)


def test_kernels_compile_for_gpus():
    pytest.importorskip("nvidia.cu13", reason="no NVRTC wheel")
    cube, vector = "{}[:, :, ::1]", "{}[::1]"
    for kernel, types in (
        (_signals._convolved(), ", ".join([vector.format("complex128")] * 3) + ", int64"),
        (_signals._convolved_booleans(), ", ".join([vector.format("bool")] * 3) + ", int64"),
        (_signals._bessel(), "float64[::1], float64[::1]"),
        (_signals._interpolating(2), "float64[:, ::1], float64[::1], float64[::1], float64[:, ::1], float64[::1], float64[::1]"),
        (_packed_bits._pack(), "uint8[:, ::1], bool[:, ::1], bool"), (_packed_bits._unpack(), "uint8[:, ::1], uint8[:, ::1], bool"),
        (_products._integer_product(), ", ".join([cube.format("int8")] * 3)),
        (_products._boolean_product(), ", ".join([cube.format("bool")] * 3)),
    ):  # fmt: skip
        assert kernel.compile(types, target="sm_90")["registers"] > 0


def test_integers_multiply_in_their_own_dtype():
    """The kernel that GPUs run, here too."""
    a, b = R.integers(-99, 99, (2, 3, 4)).astype("int8"), R.integers(-99, 99, (2, 4, 5)).astype("int8")
    out = cuda.device_array((2, 3, 5), "int8")
    _products._integer_product()[(1, 1, 1), (2, 3, 5)](out, a, b)
    numpy.testing.assert_array_equal(out.copy_to_host(), a @ b)

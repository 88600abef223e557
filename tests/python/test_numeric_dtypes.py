"""What numeric knows of dtypes, bfloat16 among them, and what importing it leaves undone until it is asked for."""

import subprocess
import sys

import numpy
import pytest
import xcuda.numeric as np
from xcuda.numeric import _dtypes

_IMPORT = """
import sys
from xcuda import core
from xcuda.core import kernels
made = []
def counted(function=None, *args, **options):
    made.append(function)
    return kernel(function, *args, **options)
kernel, core.kernel, kernels.kernel = core.kernel, counted, counted
import xcuda.numeric, xcuda.numeric.linalg, xcuda.numeric.fft, xcuda.numeric.random, xcuda.numeric.polynomial
assert not made, made
assert "ml_dtypes" not in sys.modules
assert str(xcuda.numeric.array([1, 2], sys.argv[1]).dtype) == sys.argv[1]
assert str(xcuda.numeric.zeros(2, sys.argv[1]).dtype) == sys.argv[1] and "ml_dtypes" in sys.modules
assert xcuda.numeric.convolve(xcuda.numeric.arange(9), [1, 2])[1]._one() == 1
"""


def test_an_import_makes_no_kernels_and_leaves_ml_dtypes_alone():
    pytest.importorskip("ml_dtypes")
    ran = subprocess.run(
        [sys.executable, "-c", _IMPORT, "bfloat16"], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr


def test_casts_of_the_same_kind_are_numpys():
    """bfloat16's as ml_dtypes has them since 0.7: to float16, and from no complex numbers."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtypes = [_dtypes.of_place(i) for i in range(len(_dtypes.NAMES))]
    expected = {
        (a, b)
        for a, first in zip(_dtypes.NAMES, dtypes, strict=True)
        for b, second in zip(_dtypes.NAMES, dtypes, strict=True)
        if numpy.can_cast(first, second, "same_kind")
    }
    if numpy.lib.NumpyVersion(ml_dtypes.__version__) < "0.7.0":
        expected -= {("complex64", "bfloat16"), ("complex128", "bfloat16")}
        expected.add(("bfloat16", "float16"))
    assert expected == {(_dtypes.NAMES[i], _dtypes.NAMES[k]) for i, k in _dtypes.SAME_KIND}


@pytest.mark.parametrize(
    "value", [0, 1, 2.5, -1e-3, 3.4e38, 1 / 3, float("nan"), float("-inf"), 1.00390625, 65280]
)
def test_bfloat16_by_its_name(value):
    """Numbers become bfloat16 as in ml_dtypes: the nearest, ties to even."""
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    made, expected = np.full(3, value, "bfloat16"), numpy.full(3, value, bfloat16)
    assert made.dtype == bfloat16
    numpy.testing.assert_array_equal(made.get().view("u2"), expected.view("u2"))
    doubled = np.asarray([value], dtype="bfloat16").astype("float32") * 2
    numpy.testing.assert_array_equal(doubled.get(), expected[:1].astype("float32") * 2)


def test_functions_take_bfloat16_by_its_name():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    x = numpy.arange(6.0).reshape(2, 3)
    for made in (
        np.zeros((2, 3), "bfloat16"), np.ones_like(x, dtype="bfloat16"), np.empty((2, 3), "bfloat16"),
        np.array(x, "bfloat16"), np.asarray(x).astype("bfloat16"), np.concatenate([np.asarray(x)], dtype="bfloat16", casting="unsafe"),
    ):  # fmt: skip
        assert made.dtype == bfloat16 and made.shape == (2, 3)
    assert (
        np.asarray(x, "bfloat16") is not None
        and np.asarray(x).astype("bfloat16").astype("bfloat16").dtype == bfloat16
    )

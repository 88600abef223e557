"""cuda.fp16: numba's functions on float16."""

import numpy as np
import pytest
import xcuda.core as cuda

UNARY = {
    "hneg": np.negative, "habs": np.abs, "hsin": np.sin, "hcos": np.cos, "hlog": np.log, "hlog2": np.log2,
    "hlog10": np.log10, "hexp": np.exp, "hexp2": np.exp2, "hsqrt": np.sqrt, "hceil": np.ceil, "hfloor": np.floor,
    "htrunc": np.trunc, "hrint": np.rint, "hrcp": lambda a: np.float16(1) / a,
    "hrsqrt": lambda a: (1 / np.sqrt(a.astype(np.float32))).astype(np.float16),
    "hexp10": lambda a: (10 ** np.minimum(a, 4).astype(np.float32)).astype(np.float16),
}  # fmt: skip
BINARY = {
    "hadd": np.add,
    "hsub": np.subtract,
    "hmul": np.multiply,
    "hdiv": np.divide,
    "hmax": np.fmax,
    "hmin": np.fmin,
}
COMPARE = {
    "heq": "equal",
    "hne": "not_equal",
    "hge": "greater_equal",
    "hgt": "greater",
    "hle": "less_equal",
    "hlt": "less",
}


def run(function, *arrays):
    if len(arrays) == 1:

        @cuda.jit
        def each(out, a):
            for i in range(a.size):
                out[i] = function(a[i])
    else:

        @cuda.jit
        def each(out, a, b):
            for i in range(a.size):
                out[i] = function(a[i], b[i])

    out = np.zeros(arrays[0].size, np.float16)
    each[1, 1](out, *arrays)
    return out


A = np.array([0.3, 1.5, 2.5, 3.25, 4.0], np.float16)
B = np.array([1.0, 1.5, -2.0, np.nan, 0.1], np.float16)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    np.testing.assert_allclose(run(getattr(cuda.fp16, name), A), UNARY[name](A), rtol=2e-3)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    np.testing.assert_array_equal(run(getattr(cuda.fp16, name), A, B), BINARY[name](A, B))


@pytest.mark.parametrize("name", COMPARE)
def test_comparison(name):
    np.testing.assert_array_equal(run(getattr(cuda.fp16, name), A, B), getattr(np, COMPARE[name])(A, B))


def test_fma_rounds_once_and_converts_its_arguments():
    @cuda.jit
    def f(out, x):
        out[0] = cuda.fp16.hfma(x, x, -1.0)
        out[1] = cuda.fp16.hadd(2049, 0.0)

    out = np.zeros(2)
    x = np.float16(1.001)
    f[1, 1](out, x)
    assert out[0] == np.float16(float(x) * float(x) - 1) and out[1] == 2048
    assert cuda.is_float16_supported()

"""Kernels of the rarer number types, compiled by NVRTC for GPUs that need not be here."""

import cmath

import numpy as np
import pytest
from frontend_source import make
from xcuda import _runtime, core

NVRTC = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
if NVRTC is None or NVRTC["problem"]:
    reason = NVRTC["problem"] if NVRTC else "this build has no CUDA device"
    pytest.skip(f"nothing compiles for a GPU: {reason}", allow_module_level=True)

COMPLEX = """
    def helper(z, w):
        return z * w, abs(z)

    def f(z, o, x, w, total):
        i = cuda.grid(1)
        part = cuda.shared.array(64, z.dtype)
        mine = cuda.local.array(3, z.dtype)
        if i < len(o):
            part[cuda.threadIdx.x] = z[i]
            a = z[i] * 1j + w - z[i] / 3
            if a == 0 or not z[i]:
                a = -a.conjugate() + x[i]
            a, size = helper(a, w)
            for function in (
                np.exp, np.log, np.sqrt, np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh,
                np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh,
                np.exp2, np.expm1, np.log1p, np.log2, np.log10, np.square, np.reciprocal, np.sign, np.rint,
            ):
                a += function(z[i])
            a += a**2 + a**5 + a**w + a**0.5 + cmath.rect(x[i], 2) + complex(x[i], a.imag)
            size += np.angle(a) + cmath.phase(x[i]) + np.isnan(a) + np.isfinite(a)
            mine[i % 3] = a + size
            cuda.atomic.add(total, 0, a)
            cuda.atomic.sub(total, 0, part[63])
            o[i] = mine[1]
"""


def types(dtype, real):
    return (
        np.zeros(4, dtype),
        np.zeros(4, dtype),
        np.zeros(4, real),
        dtype(1),
        np.zeros(1, dtype),
    )


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize(("dtype", "real"), [(np.complex64, np.float32), (np.complex128, np.float64)])
def test_complex_kernels_compile(dtype, real, target):
    kernel = core.kernel(make(COMPLEX, name="f", cmath=cmath))
    made = kernel.compile(types(dtype, real), target=target)
    assert made["bytes"] > 1000 and made["target"] == target


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_literals_without_a_finite_value_compile(dtype):
    kernel = core.kernel(
        make(
            """
        def f(x):
            x[0] = np.nan
            x[1] = np.inf
            x[2] = -math.inf
            x[3] = dtype(1e300) + dtype(NAN)
    """,
            dtype=dtype,
            NAN=float("nan"),
        )
    )
    assert kernel.compile((np.zeros(4, dtype),), target="sm_90")["bytes"] > 1000


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
def test_bfloat16_kernels_compile(target):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kernel = core.kernel(
        make(
            """
        def f(x, s, o):
            i = cuda.grid(1)
            part = cuda.shared.array(64, B)
            if i < len(o):
                part[i % 64] = x[i] * s + 1
                o[i] = np.sqrt(part[0]) if x[i] > 2 else -x[i] ** 2
    """,
            B=ml_dtypes.bfloat16,
        )
    )
    assert kernel.compile("bfloat16[::1], bfloat16, bfloat16[::1]", target=target)["bytes"] > 1000

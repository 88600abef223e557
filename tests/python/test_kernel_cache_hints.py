"""Loads and stores with a cache operator: plain accesses in what they give, PTX' operators in the text for CUDA."""

import numpy as np
import pytest
from frontend_source import make, run
from test_frontend_refusals import refusal
from xcuda import _runtime, core

LOADS = ["ldca", "ldcg", "ldcs", "ldlu", "ldcv"]
STORES = ["stcg", "stcs", "stwb", "stwt"]
DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


def copy_kernel(load, store, ndim=1):
    at = "i" if ndim == 1 else "(j, i)"
    return make(
        f"def f(x, y):\n    i = cuda.grid(1)\n    if i < x.shape[{ndim - 1}]:\n"
        + ("" if ndim == 1 else "        for j in range(x.shape[0]):\n    ")
        + f"        cuda.{store}(y, {at}, cuda.{load}(x, {at}))\n"
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_they_read_and_write(dtype):
    x = np.arange(70).astype(dtype)
    for load, store in zip(LOADS, [*STORES, "stcg"], strict=True):
        y = np.zeros_like(x)
        run(copy_kernel(load, store), x, y, grid=2, block=64)
        np.testing.assert_array_equal(y, x)


def test_of_two_dimensions_strided_and_with_negative_indices():
    x = np.arange(60.0).reshape(5, 12)[:, ::2]
    y = np.zeros((5, 6), "f4")
    run(copy_kernel("ldcs", "stwt", 2), x, y, block=16)
    np.testing.assert_array_equal(y, x)
    out = np.zeros(1)
    run(make("def f(x, o):\n    cuda.stcg(o, -1, cuda.ldcg(x, (-1, -2)) + 1)\n"), x, out)
    assert out[0] == x[-1, -2] + 1


def test_an_index_out_of_range_is_told():
    with pytest.raises(IndexError, match="index 7"):
        run(make("def f(x):\n    x[0] = cuda.ldcg(x, 7)\n"), np.zeros(3))
    with pytest.raises(IndexError, match="index 3"):
        run(make("def f(x):\n    cuda.stcg(x, 3, 1.0)\n"), np.zeros(3))


def test_what_a_loop_reads_is_read_each_time():
    @core.kernel
    def f(x, out):
        total = 0
        for i in range(5):
            core.stcg(x, 0, i)
            total += core.ldcv(x, 0)
        out[0] = total

    out = np.zeros(1, "i8")
    f[1, 1](np.zeros(1, "i8"), out)
    core.synchronize()
    assert out[0] == 10


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
def test_the_cuda_text_compiles(target):
    nvrtc = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
    if nvrtc is None or nvrtc["problem"]:
        pytest.skip("no NVRTC here, so nothing compiles for CUDA")
    for dtype in DTYPES:
        for load, store in zip(LOADS, [*STORES, "stcg"], strict=True):
            kernel = core.kernel(copy_kernel(load, store))
            x = np.zeros(4, dtype)
            assert kernel.compile((x, x), (64, 1, 1), target=target)["registers"] > 0
            if target == "sm_80":
                text = cuda_text(kernel, dtype)
                assert (
                    f"xc_{load.replace('ld', 'ld_')}(" in text and f"xc_{store.replace('st', 'st_')}(" in text
                )


def cuda_text(kernel, dtype):
    from xcuda.core.source import capture

    c = capture(kernel.py_func)
    types = [("array", np.dtype(dtype).name, 1, "contiguous")] * 2
    return _runtime.emit_text(c.name, c.file, c.ast_json, c.names_json, types, True, "cuda", None)


@pytest.mark.parametrize(
    "body, words",
    [
        ("x = cuda.ldcs(b, 1.0)", "float64 is not a valid index"),
        ("x = cuda.ldcs(b, (1, 2))", "Expected 1 indices, got 2"),
        ("x = cuda.ldcs(A, 1)", "Expected 2 indices, got a scalar"),
        ("x = cuda.ldcs(n, 1)", "works on an array's element"),
        ("t = cuda.shared.array(4, np.float32)\nx = cuda.ldca(t, 0)", "arrays in global memory"),
        ("t = cuda.local.array(4, complex)\nx = cuda.ldcs(t, 0)", "requires array of integer or float type"),
    ],
)
def test_what_is_refused(body, words):
    error, _ = refusal(body)
    assert words in str(error)

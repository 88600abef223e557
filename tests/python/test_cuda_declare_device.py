"""Functions in CUDA C++ (declare_device): compiled by NVRTC with the kernel; on the CPU device a launch is refused."""

import os
import pickle

import numpy as np
import pytest
from xcuda import _runtime, core
from xcuda.core import types

TIMES2 = core.CUSource('extern "C" __device__ int times2(int* out, int a) { *out = a * 2; return 0; }\n')
ADD = core.CUSource(
    """
#include <cuda_fp16.h>
typedef double f64_of_mine;
static __device__ f64_of_mine half_of(f64_of_mine x) { return x / 2; }
extern "C" __device__ double add_half(double a, float b) { return half_of(a) + __half2float(__float2half(b)); }
extern "C" __device__ long long first(long* p, const float* q) { return p[0] + (long)q[1]; }
extern "C" __device__ void put(unsigned char* p, int at) { p[at] = 7; }
"""
)
times2 = core.declare_device("times2", "int32(int32)", link=TIMES2)
add_half = core.declare_device("add_half", "float64(float64, float32)", link=ADD, abi="c")
first = core.declare_device(
    "first", types.int64(types.CPointer(types.int64), types.CPointer(types.float32)), link=[ADD], abi="c"
)
put = core.declare_device("put", "void(CPointer(uint8), int32)", link=(ADD,), abi="c")


def on_gpu():
    return core.get_current_device().kind == "cuda" if hasattr(core.get_current_device(), "kind") else False


def compiled(kernel, args, target="sm_80"):
    nvrtc = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
    if nvrtc is None or nvrtc["problem"]:
        pytest.skip("no NVRTC here, so nothing compiles for CUDA")
    return kernel.compile(args, (64, 1, 1), target=target)


@core.kernel
def numbers(x, y, o):
    i = core.grid(1)
    if i < len(o):
        o[i] = times2(x[i]) + times2(y[i]) + add_half(y[i], x[i])


@core.device_function
def helper(p, q):
    return first(p, q) + times2(3)


@core.kernel
def pointers(p, q, b, o):
    o[0] = helper(p, q)
    o[1] = first(p[1:], q[1:])
    o[2] = first(p.ctypes.data, q.ctypes.data)
    put(b, 2)


def arguments():
    return np.arange(4, dtype="i4"), np.arange(4, dtype="f4"), np.zeros(4, "f8")


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
def test_compiles(target):
    assert compiled(numbers, arguments(), target)["registers"] > 0
    p, q, b = np.arange(3, dtype="i8"), np.arange(3, dtype="f4"), np.zeros(4, "u1")
    assert compiled(pointers, (p, q, b, np.zeros(3, "i8")), target)["registers"] > 0


def test_runs_or_is_refused():
    x, y, o = arguments()
    if not on_gpu():
        with pytest.raises(RuntimeError, match="is CUDA C\\+\\+ .*runs on a GPU") as caught:
            numbers[1, 4](x, y, o)
        assert "write the function in Python" in str(caught.value)
        return
    numbers[1, 4](x, y, o)
    core.synchronize()
    np.testing.assert_array_equal(o, x * 2 + y.astype("i4") * 2 + y / 2 + x)
    p, q, b, sums = (
        np.arange(3, dtype="i8"),
        np.arange(3, dtype="f4") + 5,
        np.zeros(4, "u1"),
        np.zeros(3, "i8"),
    )
    pointers[1, 1](p, q, b, sums)
    core.synchronize()
    np.testing.assert_array_equal(sums, [0 + 6 + 6, 1 + 7, 0 + 6])
    np.testing.assert_array_equal(b, [0, 0, 7, 0])


def test_cffi_s_from_buffer_is_the_address():
    from frontend_source import ir

    class FFI:
        def from_buffer(self, buffer):
            raise AssertionError

    FFI.__module__ = "cffi.api"
    text = ir(
        "def k(f, o):\n    o[0] = first(ffi.from_buffer(o), ffi.from_buffer(f))\n",
        "float32[1], int64[1]",
        first=first,
        ffi=FFI(),
    )
    assert "first" in text


def test_the_declaration():
    assert times2.name == "times2" and times2.sig.return_type == types.int32
    assert times2.sig.args == (types.int32,)
    whole = core.declare_device("f1", "int32(float32[:])")
    assert whole.sig.args == (types.float32[:],)
    again = pickle.loads(pickle.dumps(times2))
    assert again.sig == times2.sig and again.meaning() == times2.meaning()
    with pytest.raises(RuntimeError, match="call it in a kernel"):
        times2(3)


@pytest.mark.parametrize("sig", ["(float32,)", (types.float32,), "float32"])
def test_a_signature_without_a_result(sig):
    with pytest.raises(TypeError, match="Return type"):
        core.declare_device("f1", sig)


def test_sources_in_files_and_of_the_kernel(tmp_path):
    file = tmp_path / "own.cu"
    file.write_text('extern "C" __device__ float own(float a) { return a + 1; }\n')
    own = core.declare_device("own", "float32(float32)", abi="c")

    @core.kernel(link=[str(file)])
    def linked(o):
        o[0] = own(o[0])

    assert compiled(linked, (np.zeros(1, "f4"),))["registers"] > 0

    @core.kernel
    def unlinked(o):
        o[0] = own(o[0])

    with pytest.raises(core.KernelSyntaxError, match="own\\(\\) has no source to compile"):
        compiled(unlinked, (np.zeros(1, "f4"),))


def test_a_fault_in_the_text_is_told_with_its_own_lines():
    broken = core.CUSource(
        'extern "C" __device__ int broken(int a) {\n  return a + nothing;\n}\n', name="mine.cu"
    )
    f = core.declare_device("broken", "int32(int32)", link=broken, abi="c")

    @core.kernel
    def kernel(o):
        o[0] = f(o[0])

    with pytest.raises(RuntimeError, match="does not compile") as caught:
        compiled(kernel, (np.zeros(1, "i4"),))
    assert "mine.cu(2)" in str(caught.value) and "nothing" in str(caught.value)


@pytest.mark.parametrize(
    "call, words",
    [
        ("times2()", "takes 1 argument, found 0"),
        ("times2(a=1)", "by place"),
        ("first(f, f)", "takes a pointer to int64, found an array of float32"),
        ("first(1.5, f)", "takes a pointer, found a Python float"),
    ],
)
def test_what_is_refused(call, words):
    from frontend_source import ir

    with pytest.raises(core.KernelSyntaxError, match=words):
        ir(f"def k(f, o):\n    o[0] = {call}\n", "float32[1], int32[1]", times2=times2, first=first)


@pytest.mark.parametrize("link", ["lib.ptx", [3], "lib.a"])
def test_what_can_t_be_linked(link):
    with pytest.raises(TypeError, match="link= takes"):
        core.declare_device("f", "int32(int32)", link=link)


def test_arrays_in_a_signature_are_refused_at_the_call():
    f = core.declare_device("f", "int32(float32[:])", link=TIMES2)

    @core.kernel
    def kernel(o):
        o[0] = f(o)

    with pytest.raises(TypeError, match="CPointer"):
        kernel[1, 1](np.zeros(1, "f4"))


def test_the_name_of_a_file_keeps_its_place(tmp_path):
    file = tmp_path / "a b.cu"
    file.write_text('extern "C" __device__ int one(int a) { return a + missing_here; }\n')
    f = core.declare_device("one", "int32(int32)", link=os.fspath(file), abi="c")

    @core.kernel
    def kernel(o):
        o[0] = f(o[0])

    with pytest.raises(RuntimeError, match="a b.cu\\(1\\)"):
        compiled(kernel, (np.zeros(1, "i4"),))

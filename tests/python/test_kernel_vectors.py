"""CUDA's vector types, float32x4 and its like: values in kernels, named tuples on the host."""

import numpy as np
import pytest
from frontend_source import compiles, make
from xcuda import core as cuda
from xcuda.core import vectors
from xcuda.core.errors import KernelSyntaxError


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64", "float32", "float64"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_type_holds_its_numbers(dtype, count):
    names = "xyzw"[:count]
    lines = "".join(f"    o[{k}] = v.{name}\n" for k, name in enumerate(names))
    numbers = ", ".join(str(k + 1.75) for k in range(count))
    f = make(f"def f(o):\n    v = cuda.{dtype}x{count}({numbers})\n{lines}")
    out = np.zeros(4)
    cuda.kernel(f)[1, 1](out)
    expected = np.array([k + 1.75 for k in range(count)]).astype(dtype)
    np.testing.assert_array_equal(out[:count], expected)
    assert getattr(cuda, f"{dtype}x{count}")(*expected) == tuple(expected)


def test_of_shorter_vectors_and_in_loops():
    f = make(
        """
        def f(a, o):
            v = cuda.float4(a[0], cuda.float2(a[1], 2), 3)
            for _ in range(5):
                v = cuda.float4(v.y, v.z, v.w, v.x + v[0])
            o[0], o[1], o[2], o[3] = v
        """
    )
    a, out = np.array([0.5, 1.5]), np.zeros(4)
    kernel = cuda.kernel(f)
    kernel[1, 1](a, out)
    v = [np.float32(x) for x in (0.5, 1.5, 2, 3)]
    for _ in range(5):
        v = [v[1], v[2], v[3], v[0] + v[0]]
    np.testing.assert_array_equal(out, v)
    compiles(kernel, (a, out))


def test_as_arguments():
    f = make("def f(v, o):\n    o[0] = v.x + v.y\n")
    out = np.zeros(1, np.int32)
    kernel = cuda.kernel(f)
    kernel[1, 1](cuda.int2(3, 4), out)
    assert out[0] == 7
    compiles(kernel, (cuda.int2(3, 4), out))


def test_cuda_cs_names():
    assert cuda.uchar4 is cuda.uint8x4 and cuda.float3 is cuda.float32x3 and cuda.longlong2 is cuda.int64x2
    assert cuda.long1 is cuda.int64x1 and vectors.BY_NAME["double2"] is cuda.float64x2
    with pytest.raises(AttributeError):
        cuda.float5


def test_a_wrong_count_is_told():
    with pytest.raises(KernelSyntaxError, match="float32x4\\(\\) takes 4 numbers, found 3"):
        cuda.kernel(make("def f(o):\n    o[0] = cuda.float32x4(1, 2, 3).x\n"))[1, 1](np.zeros(1))
    with pytest.raises(TypeError, match="int32x2\\(\\) takes 2 numbers, found 1"):
        cuda.int2(1)

"""Device arrays that a kernel names outside itself: globals, closure cells and module members, by helpers too."""

import types

import numpy as np
import pytest
from xcuda import core as cuda
from xcuda.core.errors import KernelSyntaxError


def test_a_global_device_array_is_read_and_written():
    table, counts = cuda.to_device(np.arange(6.0)), cuda.to_device(np.zeros(6, np.int32))

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = table[i] * 2
            counts[i] += 1

    out = np.zeros(6)
    kernel[1, 8](out)
    kernel[1, 8](out)
    np.testing.assert_array_equal(out, np.arange(6.0) * 2)
    np.testing.assert_array_equal(counts.copy_to_host(), np.full(6, 2))


def test_its_values_are_those_of_the_call_and_so_is_the_array():
    holder = types.ModuleType("holder")
    holder.data = cuda.to_device(np.arange(4.0))

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = holder.data[i]

    out = np.zeros(4)
    kernel[1, 4](out)
    np.testing.assert_array_equal(out, np.arange(4.0))
    holder.data.copy_to_device(np.arange(4.0) + 10)
    kernel[1, 4](out)
    np.testing.assert_array_equal(out, np.arange(4.0) + 10)
    holder.data = cuda.to_device(np.arange(8, dtype=np.float32)[::2])
    kernel[1, 4](out)
    np.testing.assert_array_equal(out, [0, 2, 4, 6])


def test_a_name_that_turns_into_an_array_and_back():
    factor = 3.0

    def change(value):
        nonlocal factor
        factor = value

    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = x[i] * np.max(factor)

    out, x = np.zeros(3), np.arange(3.0)
    for value, most in ((3.0, 3), (cuda.to_device(np.array([1.0, 7.0])), 7), (5.0, 5)):
        change(value)
        kernel[1, 4](out, x)
        np.testing.assert_array_equal(out, x * most)


def test_helpers_lambdas_and_tuples_name_them_too():
    left, right = cuda.to_device(np.arange(5.0)), cuda.to_device(np.arange(5.0) * 10)

    def both(i):
        return one(i) + right[i]

    def one(i):
        return left[i]

    @cuda.jit
    def kernel(out, pair):
        i = cuda.grid(1)
        f = lambda k: both(k) + left[k]  # noqa: E731
        if i < out.shape[0]:
            out[i] = f(i) + pair[0] * pair[1]

    out = np.zeros(5)
    kernel[1, 5](out, (2, 3))
    np.testing.assert_array_equal(out, np.arange(5.0) * 12 + 6)


def test_kernels_without_parameters_and_arrays_without_axes():
    number, target = cuda.to_device(np.array(21.0)), cuda.device_array(3)

    @cuda.jit
    def kernel():
        i = cuda.grid(1)
        if i < 3:
            target[i] = number[()] * 2

    kernel[1, 4]()
    np.testing.assert_array_equal(target.copy_to_host(), [42, 42, 42])


def test_an_index_out_of_range_names_the_array():
    table = cuda.to_device(np.zeros(3))

    @cuda.jit
    def kernel(out):
        out[0] = table[cuda.grid(1) + 3]

    with pytest.raises(IndexError, match="table"):
        kernel[1, 1](np.zeros(1))


def test_streams_wait_for_the_work_on_them():
    stream, table = cuda.stream(), cuda.to_device(np.zeros(1000))

    @cuda.jit
    def kernel(value):
        i = cuda.grid(1)
        if i < table.shape[0]:
            table[i] += value

    for k in range(5):
        kernel[4, 256, stream](k)
    np.testing.assert_array_equal(table.copy_to_host(), np.full(1000, 10.0))


def test_compiling_without_a_call_says_what_is_missing():
    table = cuda.to_device(np.zeros(3))

    @cuda.jit
    def kernel(out):
        out[0] = table[0]

    with pytest.raises(TypeError, match="uses device arrays from outside.*pass them as arguments"):
        kernel.compile("float64[::1]")
    outside = object()

    @cuda.jit
    def other(out):
        out[0] = outside[0]

    with pytest.raises(KernelSyntaxError, match="made outside the kernel"):
        other[1, 1](np.zeros(1))

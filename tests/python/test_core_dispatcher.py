"""What numba's users ask of kernels and device functions."""

import numpy as np
import pytest
import xcuda.core as cuda
from xcuda.core import float32, int32, int64


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@pytest.mark.parametrize("count", [0, 1, 11, 1000])
def test_forall_covers_every_element(count):
    a = np.arange(count)
    add_one.forall(count)(a)
    add_one.forall(count, tpb=32)(a)
    add_one.configure(max(1, count), 1)(a)
    assert (a == np.arange(count) + 3).all()
    with pytest.raises(ValueError, match="negative task count"):
        add_one.forall(-1)


def test_specialize_gives_one_kernel_for_the_same_types():
    @cuda.jit
    def f(x):
        x[0] = 2

    made = f.specialize(float32[::1])
    assert f.specialize(np.zeros(3, np.float32)) is made and len(f.specializations) == 1
    assert f.specialize(int32[::1]) is not made and made.specialized and not f.specialized
    with pytest.raises(RuntimeError, match="already specialized"):
        made.specialize(float32[::1])
    a = np.zeros(1, np.float32)
    made[1, 1](a)
    assert a[0] == 2


def test_overloads_hold_the_compiled_versions_by_types():
    @cuda.jit
    def f(x, y):
        x[0] = y

    assert f.overloads == {}
    for value in (1, 2, 1.5):
        f[1, 1](np.zeros(1), value)
    assert list(f.overloads) == [(cuda.float64[::1], int64), (cuda.float64[::1], cuda.float64)]


def test_figures_of_a_version():
    @cuda.jit("void(float32[::1])")
    def f(x):
        tile = cuda.shared.array(100, float32)
        tile[cuda.threadIdx.x] = x[0]
        cuda.syncthreads()
        x[0] = tile[0]

    f[1, 100](np.zeros(1, np.float32))
    if cuda.get_current_device().label == "cpu":
        with pytest.raises(RuntimeError, match="no such figure"):
            f.get_regs_per_thread()
    else:
        assert f.get_regs_per_thread() > 0 and f.get_shared_mem_per_block(cuda.void(float32[::1])) >= 400


def test_a_kernel_calls_another_one_as_its_function():
    @cuda.jit
    def helper(x, i):
        x[i] *= 3

    @cuda.jit
    def outer(x):
        helper(x, cuda.grid(1))

    a = np.arange(4)
    outer[1, 4](a)
    assert (a == np.arange(4) * 3).all()


def test_declared_types_convert_what_comes_in_and_out():
    @cuda.jit("int32(int32, int32)", device=True)
    def rounded(a, b):
        return (a + b) * 1.5

    @cuda.jit(["float32(float32, float32)", "float64(float64, float64)"], device=True)
    def add(a, b):
        return a + b

    @cuda.jit
    def f(out, x, y):
        out[0] = rounded(x, y)
        out[1] = add(np.float32(1), np.float32(2.0**-25))
        out[2] = add(1.0, b=2.0**-25)

    out = np.zeros(3)
    f[1, 1](out, np.float32(1.9), 2.9)
    assert out.tolist() == [4, 1, 1 + 2.0**-25]
    assert rounded(2, 2) == 6 and rounded.py_func(2, 2) == 6


def test_literals_are_constants_where_a_helper_needs_them():
    def total(a, count, shape, step):
        tile = cuda.shared.array(count, np.float32)
        square = cuda.local.array(shape, np.float32)
        i = cuda.threadIdx.x
        tile[i] = a[i]
        cuda.syncthreads()
        square[1, 2] = 0
        for k in range(0, count, step):
            square[1, 2] += tile[k]
        a[i] = square[1, 2]

    def outer(a, count):
        total(a, count, (2, 3), 2)

    @cuda.kernel
    def f(a):
        outer(a, 8)

    a = np.arange(8, dtype=np.float32)
    f[1, 8](a)
    assert (a == 12).all()

    @cuda.kernel
    def g(a, n):
        outer(a, n)

    with pytest.raises(SyntaxError, match="the shape of cuda.shared.array must be known"):
        g[1, 8](a, 8)

"""In-place operations on arrays whose elements lie apart: nothing beyond them is written."""

import gc

import numpy
import pytest
from numeric_alike import alike
from xcuda import core as cuda
from xcuda import numeric as np

# The result has memory of its own first, of the elements' size without the gaps; these reach far beyond it.
PROGRAMS = [
    "z = np.ones((300, 40), 'c16')[::2, ::3]\nr = z.real\nr += np.arange(14)\n[z, r]",
    "z = np.ones((300, 40), 'c16')[::2, ::3]\nr = z.real\nz = None\nr += 1\nr",
    "z = np.ones((300, 40), 'c8')[::-2, ::-3]\nr = z.imag\nr -= np.arange(14)\n[z, r]",
    "z = np.ones((300, 40), 'c8').T[::2]\nr = z.real\nz = None\nr *= r\nr",
    "x = np.ones((64, 64), 'f8')\nr = x.view('f4')[:, 1::2]\nx = None\nr /= 2\nr",
    "x = np.ones((64, 64), 'f8')\nr = x.view('f4')[:, ::-2]\nr[...] = np.arange(64)\nr",
    "x = np.zeros(4000, [('a', 'f4'), ('b', 'f8')])\nr = x['b']\nx = None\nr += 3\nr",
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("small", [0, 10**6])  # by kernels, and on the host
def test_as_in_numpy(program, small, small_limit):
    small_limit(small)
    alike(program)


@pytest.fixture
def small_limit():
    before = np._runtime.numeric_small_limit()
    yield np._runtime.set_numeric_small_limit
    np._runtime.set_numeric_small_limit(before)


def test_device_arrays_with_gaps():
    x = cuda.to_device(numpy.ones((200, 60)))
    seen = np.asarray(x[::3, ::2])
    seen += numpy.arange(30)
    del x
    gc.collect()
    seen *= 2
    numpy.testing.assert_array_equal(seen.get(), 2 * numpy.tile(numpy.arange(1, 31.0), (67, 1)))

"""What the first mistakes are told: no guard, arithmetic of device arrays, a cell's file in a warning."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
import xcuda.numeric as xp
from xcuda import _runtime, profiler
from xcuda import core as cuda
from xcuda.core.elsewhere import INSTEAD, OF_ARRAYS, OF_KERNELS
from xcuda.numeric._elsewhere import OF_ARRAYS as OF_NUMERICS_ARRAYS

GUARD = "a guard such as `if i < {}:` keeps them out"


@cuda.kernel
def add(a, b, c):
    i = cuda.grid(1)
    c[i] = a[i] + b[i]


@cuda.kernel
def transposed(a, b):
    i, j = cuda.grid(2)
    b[j, i] = a[i, j]


@cuda.kernel
def shifted(a, b):
    i = cuda.grid(1)
    if i < b.size:
        b[i] = a[i + 1]


@pytest.mark.parametrize(
    "n, shape", [(5, None), (5, (1, 64)), (1000, (4, 256)), (1000, (8, 128)), (33, (2, 32))]
)
def test_a_missing_guard_is_named(n, shape):
    with pytest.raises(IndexError, match=r"thread \(\d+, 0, 0\)") as told:
        (add[shape] if shape else add)(np.ones(n), np.ones(n), np.zeros(n))
    assert GUARD.format("a.shape[0]") in str(told.value)


def test_a_missing_guard_of_two_axes_names_the_axis():
    a = np.arange(20.0 * 32).reshape(32, 20)
    with pytest.raises(IndexError, match="axis 1 of a") as told:
        transposed[(1, 1), (32, 32)](a, np.zeros((20, 32)))
    assert GUARD.format("a.shape[1]") in str(told.value)


@pytest.mark.parametrize("n", [10, 1000])
def test_an_index_that_is_not_the_threads_own_gets_no_such_advice(n):
    with pytest.raises(IndexError) as told:
        shifted(np.ones(n), np.zeros(n))
    assert "guard" not in str(told.value)


@cuda.kernel
def before_the_start(a, b):
    i = cuda.grid(1)
    if i < b.size:
        b[i] = a[i - 1000]


def test_nor_does_one_before_the_start():
    with pytest.raises(IndexError) as told:
        before_the_start(np.ones(10), np.zeros(10))
    assert "guard" not in str(told.value)


ADVICE = r"xcuda.numeric.asarray\(d\) computes with the same memory"


@pytest.mark.parametrize(
    "use",
    [
        lambda d: d + 1, lambda d: 2.0 * d, lambda d: d - d, lambda d: d @ d, lambda d: d < 3, lambda d: 1j / d,
        lambda d: d % 2, lambda d: d**2,
    ],
)  # fmt: skip
def test_device_arrays_say_where_arithmetic_is(use):
    with pytest.raises(TypeError, match=ADVICE):
        use(cuda.to_device(np.arange(4.0)))


@pytest.mark.parametrize("name", ["sum", "mean", "max", "argsort", "clip"])
def test_device_arrays_say_where_numpys_methods_are(name):
    d = cuda.to_device(np.arange(4.0))
    with pytest.raises(AttributeError, match=rf"no \.{name}; {ADVICE}"):
        getattr(d, name)
    assert not hasattr(d, name)


def test_other_attributes_are_missing_as_ever():
    d = cuda.to_device(np.arange(4.0))
    with pytest.raises(AttributeError, match="'DeviceArray' object has no attribute 'nonsense'"):
        d.nonsense
    if d.device.kind == "cpu":  # a property's own words are kept
        with pytest.raises(AttributeError) as told:
            d.__cuda_array_interface__
        assert "has no attribute" not in str(told.value)


def test_arrays_that_have_arithmetic_do_it():
    d = cuda.to_device(np.arange(4.0))
    np.testing.assert_array_equal(np.asarray(d + xp.asarray(d)), 2 * np.arange(4.0))
    np.testing.assert_array_equal(np.asarray(xp.asarray(d) * d), np.arange(4.0) ** 2)
    np.testing.assert_array_equal(np.ones(4) + d, 1 + np.arange(4.0))


def test_the_advice_is_true():
    d = cuda.to_device(np.arange(4.0))
    shared = xp.asarray(d)
    d[0] = 9.0
    assert float(shared.sum()) == 15
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float((shared + 1).max()) == 10


@cuda.kernel
def doubled(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


class Model:
    @cuda.kernel
    def step(self, x):
        x[0] = self.weight


@pytest.mark.parametrize("name", sorted(_runtime.LAUNCH_WORDS))
def test_what_belongs_in_brackets_is_told_so(name):
    with pytest.raises(TypeError, match=r"doubled\[grid, block, stream\]\(\.\.\.\)"):
        doubled(np.ones(3), **{name: 1})
    with pytest.raises(TypeError) as told:
        doubled(np.ones(3), y=1)
    assert str(told.value) == "doubled(x) has no parameter 'y'"


def test_a_kernel_is_no_method():
    with pytest.raises(
        TypeError, match="was called without 'x'; a kernel in a class is not given the object"
    ):
        Model().step(np.ones(3))


def test_what_may_only_be_read_is_copied_as_it_can_be():
    """A pandas column and the like: its own copy() may only be read as well."""

    class Column:
        def __array__(self, dtype=None, copy=None):
            return np.ones(3)

    read_only = np.ones(3)
    read_only.flags.writeable = False
    for value, advice in (
        (Column(), r"pass a copy \(numpy.array\(x\)\)"),
        (read_only, r"pass a copy \(x.copy\(\)\)"),
    ):
        with pytest.raises(ValueError, match=advice):
            doubled(value)
    doubled(np.array(Column()))


@pytest.mark.parametrize(
    "name, advice",
    [
        ("RawKernel", "@cuda.kernel"),
        ("ElementwiseKernel", "@cuda.vectorize"),
        ("cuda", "from xcuda import core as cuda"),
        ("get_array_module", "leave it out"),
        ("get_default_memory_pool", "%cuda_mem"),
    ],
)
def test_names_of_cupy_that_numpy_lacks(name, advice):
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; .*{advice}"):
        getattr(xp, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'$"):
        xp.nonsense


def test_every_piece_of_advice_is_of_a_missing_name():
    from xcuda.core.elsewhere import INSTEAD as OF_CORE
    from xcuda.numeric._elsewhere import INSTEAD

    assert not [name for name in INSTEAD if hasattr(np, name) or hasattr(xp, name)]
    assert not [name for name in OF_CORE if hasattr(cuda, name)]


@pytest.mark.parametrize("name, advice", [("array", "cuda.to_device"), ("arange", r"np.arange\(\.\.\.\)")])
def test_arrays_that_cuda_does_not_make(name, advice):
    with pytest.raises(AttributeError, match=advice):
        getattr(cuda, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'$"):
        cuda.nonsense


@pytest.fixture
def untold(monkeypatch):
    from xcuda.magics import names

    monkeypatch.setattr(names, "_told", set())
    return names.installed_instead


@pytest.mark.parametrize(
    "code", ["import cupy as cp", "x = 1; from cupy import linalg", "import cupyx, cupy.fft"]
)
def test_importing_a_missing_cupy_is_told_what_there_is(code, untold, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(sys.modules, "cupy")
    expected = [] if code.startswith("import cupyx") else 1
    found = untold(code)
    assert len(found) == (expected or 0)
    assert all("import xcuda.numeric as cp" in line for line in found)
    assert untold(code) == []  # once


def test_numba_without_a_gpu_is_told_where_its_kernels_run(untold):
    if any(device.kind != "cpu" for device in cuda.devices()):
        assert untold("from numba import cuda") == []
    else:
        assert "from xcuda import core as cuda" in untold("from numba import cuda")[0]
    assert untold("from numba import njit") == untold("import cupy.numeric as np") == []


def test_packages_that_xcuda_only_stands_in_for_say_so():
    from xcuda import _names

    _names.install()
    if _names.provided_elsewhere("cupy.numeric"):
        pytest.skip("cupy is installed")
    __import__("cupy.numeric")
    import cupy

    with pytest.raises(AttributeError, match="no package cupy is installed, .* `import cupy.numeric as cp`"):
        cupy.arange
    assert not hasattr(cupy, "__file__")


@pytest.mark.parametrize("which", ["cuda", "cuda:0", "gpu", 1, 77])
def test_where_no_gpu_was_found_the_doctor_is_named(which):
    if any(device.kind != "cpu" for device in cuda.devices()):
        pytest.skip("there is a GPU")
    with pytest.raises(
        ValueError, match=r"there is no device .* here; there are: .*cpu.*; `xcuda doctor` says why"
    ):
        cuda.Device(which)


@pytest.mark.parametrize("name", sorted(OF_ARRAYS))
def test_attributes_of_other_libraries_arrays(name):
    d = cuda.to_device(np.arange(4.0))
    assert not hasattr(d, name)
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; ") as told:
        getattr(d, name)
    assert str(told.value).endswith(OF_ARRAYS[name].format(d="d"))


@pytest.mark.parametrize("name", sorted(OF_NUMERICS_ARRAYS))
def test_attributes_that_numerics_arrays_have_not(name):
    x = xp.arange(4.0)
    assert not hasattr(x, name) and not hasattr(np.ndarray, name) and name not in dir(x)
    with pytest.raises(AttributeError, match=f"'ndarray' object has no attribute '{name}'; ") as told:
        getattr(x, name)
    assert str(told.value).endswith(OF_NUMERICS_ARRAYS[name])


def test_what_is_written_instead_does_it():
    d, x = cuda.to_device(np.arange(4.0)), xp.arange(4.0)
    assert type(d.copy_to_host()) is type(x.get()) is np.ndarray
    with cuda.Device("cpu"):
        assert cuda.to_device(d).device == xp.array(x).device == cuda.Device("cpu")
    xp.flush()
    cuda.synchronize()


@cuda.kernel
def doubling(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@pytest.mark.parametrize("name", sorted(OF_KERNELS))
def test_attributes_of_other_libraries_kernels(name):
    with pytest.raises(AttributeError, match=f"the kernel doubling has no attribute '{name}'; .*doubling"):
        getattr(doubling, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'$"):
        doubling.nonsense


@pytest.mark.parametrize("option", sorted(_runtime.LAUNCH_WORDS))
def test_the_shape_stands_at_the_launch(option):
    with pytest.raises(TypeError, match=f"no option '{option}'; it stands at the launch: name"):
        cuda.kernel(**{option: 256})


def test_a_profile_shows_its_report():
    p = profiler.profile(label="two launches")
    assert repr(p) == "<profile of two launches, not run yet>"
    with p:
        doubling(np.ones(3))
    assert repr(p) == repr(p.report) and "two launches" in repr(p)
    bundle = p._repr_mimebundle_()  # with a page in it only where an earlier test has loaded the magics
    assert str(bundle) == str(p.report._repr_mimebundle_()) and "doubling" in str(bundle)
    with p:
        pass
    assert repr(p) == "<profile of two launches: no device was used>"


@pytest.mark.parametrize("name", sorted(INSTEAD))
def test_names_of_other_libraries_say_what_to_write(name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'") as told:
        getattr(cuda, name)
    assert str(told.value).endswith(INSTEAD[name])


def test_memory_info_reads_as_a_text():
    held = cuda.zeros(7)
    assert repr(cuda.memory_info()) == str(cuda.memory_info()) and "held (56 bytes" in repr(
        cuda.memory_info()
    )
    del held


def test_attributes_of_other_libraries_reports(tmp_path):
    with profiler.profile() as p:
        cuda.to_device(np.arange(4.0)).copy_to_host()
    with pytest.raises(AttributeError, match="no attribute 'save'; .*to_json"):
        p.report.save("x")
    with pytest.raises(AttributeError, match="no attribute 'plot'; .*--roofline"):
        p.report.plot()
    with pytest.raises(AttributeError, match="no attribute 'nonsense'$"):
        p.report.nonsense
    p.report.to_json(tmp_path / "r.json")
    assert (tmp_path / "r.json").stat().st_size


class Layer:
    """Holds arrays, as a layer of a network does."""

    def __init__(self, **held):
        self.__dict__.update(held)


@pytest.mark.parametrize(
    "held, advice",
    [
        ({"n": 3, "weights": np.ones(3)}, "; pass what it holds, such as x.weights$"),
        ({"n": 3, "raw": b"ab"}, "kernels take arrays and numbers$"),
        ({}, "kernels take arrays and numbers$"),
    ],
)
def test_an_object_that_holds_arrays(held, advice):
    with pytest.raises(TypeError, match=f"'x' is a Layer; .*{advice}"):
        doubling(Layer(**held))

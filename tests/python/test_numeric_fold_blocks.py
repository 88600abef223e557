"""Folds by the threads of a block, as a GPU has them: the same values, and few launches. Here on whatever device there is."""

import numpy
import pytest
import xcuda.numeric as np
from numeric_compiled import compiled
from xcuda import _runtime


@pytest.fixture(autouse=True)
def by_blocks():
    limit = _runtime.numeric_small_limit()
    _runtime.set_numeric_fold_by_blocks(True)
    _runtime.set_numeric_small_limit(0)
    yield
    _runtime.set_numeric_fold_by_blocks(None)
    _runtime.set_numeric_small_limit(limit)


SHAPES = [(65,), (4099,), (70_001,), (129, 513), (5, 7, 301)]
FOLDS = ["sum", "max", "min", "mean", "prod", "any", "all", "count_nonzero"]


def values(shape, dtype, seed=3):
    rng = numpy.random.default_rng(seed)
    if dtype == "complex128":
        return (rng.integers(-3, 4, shape) + 1j * rng.integers(-3, 4, shape)).astype(dtype)
    if dtype == "bool":
        return rng.random(shape) > 0.5
    return rng.integers(-3, 4, shape).astype(dtype)


def check(name, x, **options):
    if name == "prod":
        x = numpy.where(x == 0, x.dtype.type(1), numpy.sign(x) if x.dtype.kind != "c" else x / abs(x)).astype(
            x.dtype
        )
    want = getattr(numpy, name)(x, **options)
    got = getattr(np, name)(np.array(x), **options).get()
    assert got.dtype == want.dtype and got.shape == want.shape
    numpy.testing.assert_allclose(got, want, rtol=1e-9 if x.dtype.itemsize > 4 else 1e-4, atol=1e-9)


CASES = [
    *((name, "float64") for name in FOLDS),
    *(("sum", d) for d in ("float32", "int16", "bool", "complex128")),
    ("max", "int64"),
]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_whole_arrays_and_axes(name, dtype):
    for shape in SHAPES:
        x = values(shape, dtype)
        check(name, x)
        for axis in range(len(shape)):
            check(name, x, axis=axis)
        if len(shape) == 3:
            for axes in ((0, 2), (1, 2), (0, 1)):
                check(name, x, axis=axes)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x[::-1, ::-2],
        lambda x: x[3:, 5:],
        lambda x: x[:, ::7].T,
        lambda x: x[None, :, None],
        lambda x: x * 2 + x[:1],
    ],
)
@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 1}, {"axis": -1, "keepdims": True}])
def test_views_and_what_is_computed_on_the_way(view, options):
    x = values((130, 517), "float64")
    want = view(x).sum(**options)
    numpy.testing.assert_allclose(view(np.array(x)).sum(**options).get(), want)


def test_nan_and_an_initial_number():
    x = values((4099,), "float64")
    x[4098] = numpy.nan
    assert numpy.isnan(np.array(x).max().get())
    assert np.nanmax(np.array(x)).get() == numpy.nanmax(x)
    assert np.sum(np.array(x[:4098]), initial=7).get() == x[:4098].sum() + 7


@pytest.mark.parametrize(
    ("shape", "axis", "most"), [((10_000_001,), None, 3), ((4096,), None, 1), ((4096, 300), 1, 1)]
)
def test_few_launches(shape, axis, most):
    x = np.array(values(shape, "float32"))
    np.flush()
    before = _runtime.numeric_counts()[0]
    x.sum(axis=axis).get()
    assert _runtime.numeric_counts()[0] - before <= most


PROGRAM = """
import json, sys
import numpy
import xcuda.numeric as np
from xcuda import _runtime

np.config.host_elements = 0
_runtime.set_numeric_fold_by_blocks(True)
for dtype in ("float64", "float32", "float16", "int8", "complex64", "bool"):
    x = np.array(numpy.ones((130, 4099)).astype(dtype))
    made = [x.sum(), x.sum(1), x.any(), (x + x).sum(), x[::2, 1:].max() if dtype != "complex64" else x.sum()]
    for each in made:
        each.get()
print(json.dumps(_runtime.numeric_compile_for(sys.argv[1])))
"""


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_they_compile_for_gpus(architecture):
    found = compiled(PROGRAM, architecture)
    assert len(found) >= 15 and all(registers and registers < 256 for _, _, registers in found)
    assert any("__syncthreads" in text or "xc_barrier" in text for _, text, _ in found)

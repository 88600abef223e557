"""How results lie in memory: values and strides as NumPy has them, by kernels and on the host."""

import itertools

import numpy
import pytest
from numeric_alike import outcome
from xcuda import numeric as np

pytestmark = pytest.mark.filterwarnings("ignore")
LAYOUTS = {
    "C order": "np.arange(24.0).reshape(2, 3, 4)",
    "Fortran order": "np.arange(24.0).reshape(4, 3, 2).T",
    "axes 1, 0, 2": "np.arange(24.0).reshape(3, 2, 4).transpose(1, 0, 2)",
    "axes 0, 2, 1": "np.arange(24.0).reshape(2, 4, 3).transpose(0, 2, 1)",
    "axes 2, 0, 1": "np.arange(24.0).reshape(3, 4, 2).transpose(2, 0, 1)",
    "axes 1, 2, 0": "np.arange(24.0).reshape(4, 2, 3).transpose(1, 2, 0)",
    "reversed": "np.arange(24.0).reshape(4, 3, 2).T[::-1, :, ::-1]",
    "every other one": "np.arange(192.0).reshape(8, 6, 4).T[::2, ::-2, 1::2]",
    "broadcast at both ends": "np.broadcast_to(np.arange(3.0)[:, None], (2, 3, 4))",
    "broadcast and transposed": "np.broadcast_to(np.arange(12.0).reshape(4, 3).T, (2, 3, 4))",
    "an axis of length 1": "np.arange(12.0).reshape(4, 1, 3).T",
    "an axis of length 1, moved": "np.arange(12.0).reshape(1, 4, 3).transpose(2, 0, 1)",
    "no elements": "np.zeros((4, 0, 3)).T",
    "all alike": "np.full((2, 3, 4), 3.0).T",
    "still to be computed": "np.arange(24.0).reshape(4, 3, 2).T * 2 + 1",
    "of operands that disagree": "np.arange(24.0).reshape(4, 3, 2).T + np.arange(24.0).reshape(2, 3, 4)",
    "four axes": "np.arange(120.0).reshape(2, 3, 4, 5).transpose(2, 0, 3, 1)",
    "integers": "np.arange(24).reshape(4, 3, 2).T",
    "truth values": "np.arange(24).reshape(4, 3, 2).T % 2 == 0",
    "float32": "np.arange(24, dtype='f4').reshape(4, 3, 2).T",
    "complex numbers": "np.arange(24, dtype='c16').reshape(4, 3, 2).T",
}
BY_KERNELS = ("Fortran order", "axes 2, 0, 1", "reversed", "still to be computed", "broadcast and transposed")
FOLDS = (
    *("sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "ptp", "average", "count_nonzero", "median"),
    *("nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd", "nanmedian", "argmin", "argmax"),
    *("nanargmin", "nanargmax"),
)  # fmt: skip
UFUNCS = ("add", "fmax", "hypot", "subtract")
ROUNDED = ("float32",)  # means are computed wider and then cast: axes of length 1 lie as the cast has them


def axes_of(ndim):
    return [None, *range(-1, ndim), *itertools.combinations(range(ndim), 2), tuple(range(ndim)), ()]


def folds(ndim):
    """Every fold along every choice of axes, as text over `x`."""
    for axis, keep in itertools.product(axes_of(ndim), (False, True)):
        how = f"axis={axis}, keepdims={keep}"
        for name in FOLDS:
            if "arg" not in name or not isinstance(axis, tuple):
                yield f"np.{name}(x, {how})"
        for name in UFUNCS:
            yield f"np.{name}.reduce(x, {how})"
        yield f"np.quantile(x, 0.5, {how})"
        yield f"np.nanquantile(x, [0.25, 0.75], {how})"
        yield f"np.percentile(x, [25, 75], {how})"
        yield f"np.sum(x, {how}, dtype='f4')"
        yield f"np.sum(x, {how}, where=x != 2)"
        yield f"np.max(x, {how}, initial=1)"


def runs(ndim):
    """Functions along one axis that give as many elements, or some more or less."""
    for axis in range(-1, ndim):
        for name in ("cumsum", "cumprod", "nancumsum", "nancumprod", "sort", "argsort", "diff", "flip"):
            yield f"np.{name}(x, axis={axis})"
        for name in ("cumulative_sum", "cumulative_prod"):
            yield f"np.{name}(x, axis={axis}, include_initial=True)"
        for name in UFUNCS:
            yield f"np.{name}.accumulate(x, axis={axis})"
            yield f"np.{name}.reduceat(x, [0, 1, 1], axis={axis})"


def steps(a):
    """Strides that can be told apart: not those of what has no elements."""
    return tuple(a.strides) if a.size else ()


def expect_alike(text, lengths_of_1=True):
    """The same error, or the same dtype, shape, values and strides."""
    expected, found = outcome(text, numpy), outcome(text, np)
    if isinstance(expected, Exception):
        assert isinstance(expected, type(found)) and isinstance(found, Exception), (
            f"{text}: {found!r}, in NumPy {expected!r}"
        )
        return
    expected = numpy.asarray(expected)
    assert not isinstance(found, Exception), f"{text}: {found!r}"
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), f"{text}: {found!r}"
    values = found.get() if hasattr(found, "get") else numpy.asarray(found)
    near = 2e-3 if expected.dtype == "float16" else 1e-6
    numpy.testing.assert_allclose(values, expected, near, near, err_msg=text)
    ours, theirs = steps(found), steps(expected)
    if not lengths_of_1:
        ours, theirs = (
            [s for s, n in zip(all_, expected.shape, strict=False) if n > 1] for all_ in (ours, theirs)
        )
    assert ours == theirs, f"{text}: strides {ours}, in NumPy {theirs}"


@pytest.fixture
def placed(monkeypatch):
    def place(elements):
        monkeypatch.setattr(np.config, "host_elements", elements)
        monkeypatch.setattr(np.config, "_fallback", "silent")

    return place


PLACES = [(512, layout) for layout in LAYOUTS] + [(0, layout) for layout in BY_KERNELS]


@pytest.mark.parametrize(("elements", "layout"), PLACES)
def test_folds_lie_as_numpys(placed, elements, layout):
    placed(elements)
    text = LAYOUTS[layout]
    for fold in folds(4 if layout == "four axes" else 3):
        expect_alike(f"x = {text}\n{fold}", lengths_of_1=layout not in ROUNDED)


@pytest.mark.parametrize(("elements", "layout"), PLACES)
def test_functions_along_an_axis_lie_as_numpys(placed, elements, layout):
    placed(elements)
    for run in runs(4 if layout == "four axes" else 3):
        expect_alike(f"x = {LAYOUTS[layout]}\n{run}", lengths_of_1=False)


@pytest.mark.parametrize("elements", [0, 512])
@pytest.mark.parametrize("order", ["C", "F"])
def test_folds_into_an_array_keep_its_layout(placed, elements, order):
    placed(elements)
    for name, axis, keep in itertools.product(
        ("sum", "min", "mean", "std", "any", "argmax", "nanmax"), range(3), (False, True)
    ):
        shape = [1 if i == axis else n for i, n in enumerate((2, 3, 4)) if keep or i != axis]
        dtype = {"any": "bool", "argmax": "int64"}.get(name, "float64")
        expect_alike(
            f"x = {LAYOUTS['axes 2, 0, 1']}\nout = np.zeros({shape}, '{dtype}', order='{order}')\n"
            f"np.{name}(x, axis={axis}, keepdims={keep}, out=out)\nout"
        )


@pytest.mark.parametrize("elements", [0, 512])
def test_what_a_fold_is_seen_as_is_a_view_or_a_copy_as_in_numpy(placed, elements):
    """Fuzz seed 906398: a shape that is a view of one layout is a copy of the other."""
    placed(elements)
    for shape in ("2, -1", "-1", "3, 2", "-1, 2"):
        for name in ("min", "sum", "mean", "argmin"):
            expect_alike(
                f"a = np.{name}(np.arange(24.0).reshape(4, 3, 2).T, axis=2)\nb = a.reshape({shape})\nb[...] = 7\na"
            )


OF_ONE = ("x + 1", "-x", "abs(x)", "x * x", "np.sqrt(x)", "x > 1", "np.where(x > 1, x, 0)", "np.clip(x, 0, 1)",
          "x.copy()", "x.copy('K')", "x.copy('A')", "np.copy(x)", "np.array(x)", "x.astype('f4')", "x.astype(x.dtype)",
          "x.astype('f4', order='F')", "x.astype('f4', order='C')", "x.astype('f4', order='A')", "x.ravel('K')",
          "x.flatten('K')", "np.round(x)", "np.fix(x)", "np.nan_to_num(x)", "x.imag", "np.zeros_like(x)",
          "np.empty_like(x) * 0", "np.fft.fftshift(x)", "x + x[::-1]", "x + x.copy()", "x.copy() + x",
          "x + np.ones(x.shape[-1])", "np.ones((x.shape[-2], 1)) + x", "np.isclose(x, x)")  # fmt: skip


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if not name.startswith("broadcast")])
def test_functions_of_elements_and_copies_lie_as_numpys(placed, layout):
    placed(512)
    for text in OF_ONE:
        expect_alike(f"x = {LAYOUTS[layout]}\n{text}", lengths_of_1=False)


@pytest.mark.parametrize("elements", [0, 512])
def test_operands_that_disagree_leave_axes_in_c_order(placed, elements):
    placed(elements)
    operands = [
        f"np.arange(24.0).reshape{tuple((2, 3, 4)[i] for i in p)}.transpose({[p.index(i) for i in range(3)]})"
        for p in itertools.permutations(range(3))
    ]
    operands += [
        "np.arange(4.0)",
        "np.arange(3.0)[:, None]",
        "np.broadcast_to(np.arange(12.0).reshape(4, 3).T, (2, 3, 4))",
    ]
    for a, b in itertools.product(operands, operands):
        expect_alike(f"{a} + {b}")
        expect_alike(f"np.where({a} > 3, {b}, {operands[3]})")


def test_a_cast_in_another_order_is_a_copy(placed):
    placed(512)
    expect_alike("z = np.ones((2, 3), complex)\nx = z.astype(float)\nz += 1\nx")
    expect_alike("z = np.ones((2, 3), complex)\nx = z.astype(float, order='F')\nz += 1\nx")

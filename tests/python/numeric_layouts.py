"""What tests/python/test_numeric_layouts.py and the fake driver's test of layouts ask of: how operands lie, and functions."""

import itertools
import re

import numpy
from numeric_alike import outcome
from xcuda import numeric as np

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


def long_steps(a):
    """Strides along axes of more than one element."""
    return [s for s, n in zip(steps(a), a.shape, strict=False) if n > 1]


def expect_alike(text, lengths_of_1=True, computed=True):
    """The same error, or the same dtype, shape, values and strides.

    computed: False where values are nothing, as those that the fake driver's kernels leave.
    """
    expected, found = outcome(text, numpy), outcome(text, np)
    if not computed and _of_values(expected, found):
        return
    if isinstance(expected, Exception):
        assert isinstance(expected, type(found)) and isinstance(found, Exception), (
            f"{text}: {found!r}, in NumPy {expected!r}"
        )
        return
    expected = numpy.asarray(expected)
    assert not isinstance(found, Exception), f"{text}: {found!r}"
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), f"{text}: {found!r}"
    if computed:
        values = found.get() if hasattr(found, "get") else numpy.asarray(found)
        near = 2e-3 if expected.dtype == "float16" else 1e-6
        numpy.testing.assert_allclose(values, expected, near, near, err_msg=text)
    ours, theirs = map(steps if lengths_of_1 else long_steps, (found, expected))
    assert ours == theirs, f"{text}: strides {ours}, in NumPy {theirs}"


def _of_values(expected, found):
    """True for errors that only values tell of."""
    told = isinstance(found, Exception) and "All-NaN" in str(found)
    return told or isinstance(expected, (ValueError, IndexError, ZeroDivisionError))


OF_ONE = ("x + 1", "-x", "abs(x)", "x * x", "np.sqrt(x)", "x > 1", "np.where(x > 1, x, 0)", "np.clip(x, 0, 1)",
          "x.copy()", "x.copy('K')", "x.copy('A')", "np.copy(x)", "np.array(x)", "x.astype('f4')", "x.astype(x.dtype)",
          "x.astype('f4', order='F')", "x.astype('f4', order='C')", "x.astype('f4', order='A')", "x.ravel('K')",
          "x.flatten('K')", "np.round(x)", "np.fix(x)", "np.nan_to_num(x)", "x.imag", "np.zeros_like(x)",
          "np.empty_like(x) * 0", "np.fft.fftshift(x)", "x + x[::-1]", "x + x.copy()", "x.copy() + x",
          "x + np.ones(x.shape[-1])", "np.ones((x.shape[-2], 1)) + x", "np.isclose(x, x)")  # fmt: skip
# What moves elements; A is an axis.
MOVES = (
    *("np.partition(x, 0, axis=A)[..., :0]", "np.argpartition(x, 0, axis=A)[..., :0]", "np.sort(x, axis=None)"),
    *("np.sort(x, axis=A, kind='stable')", "np.sort_complex(x)", "np.take(x, [0, 0], axis=A)", "np.roll(x, 1)"),
    *("np.roll(x, 1, axis=A)", "np.roll(x, (1, 2), axis=(A, 0))", "np.tile(x, 2)", "np.tile(x, (2, 1, 1))"),
    *("np.repeat(x, 2, axis=A)", "np.pad(x, 1)", "np.pad(x, 1, mode='edge')", "np.pad(x, 0)", "np.delete(x, 0, axis=A)"),
    *("np.delete(x, [0, -1], axis=A)", "np.insert(x, 0, 7, axis=A)", "np.insert(x, [0, 0], 7, axis=A)"),
    *("np.concatenate((x, x), axis=A)", "np.concatenate((x, np.ones(x.shape)), axis=A)", "np.stack((x, x), axis=A)"),
    *("np.concatenate((x, np.ones(x.shape, order='F')), axis=A)", "np.append(x, x, axis=A)", "np.vstack((x, x))"),
    *("np.hstack((x, x))", "np.dstack((x, x))", "np.block([[x, x]])", "np.block(x)", "np.gradient(x, axis=A)"),
    *("np.diff(x, axis=A, prepend=0)", "np.select([x > 3], [x])", "np.quantile(x, [0.1, 0.2], axis=A, method='nearest')"),
    *("np.nanpercentile(x, [[10.0, 20.0]], axis=A)", "np.flip(x, A)", "np.rot90(x)", "np.moveaxis(x, 0, 1) + 0"),
    *("x[[0, 0]]", "x[:, [0, 0]]", "x[..., [0, 0]]", "x[[0, 0], [0, 0]]", "x[[0, 0], :, [0, 0]]", "x[0, :, [0, 0]]"),
    *("x[:, [[0], [0]]]", "x[::-1, [0, 0]]", "x[None, [0, 0]]"),
)  # fmt: skip
BY_VALUES = (  # what their shapes are depends on values, or whether they raise
    *("np.lexsort((x, x), axis=A)", "np.take_along_axis(x, np.argsort(x, A), A)", "np.repeat(x, [1] * x.shape[A], axis=A)"),
    *("np.compress([True], x, axis=A)", "np.unique(x, axis=A)", "np.choose(x.astype(int) % 2, (x, x))", "x[x > 3]"),
    *("x[:, np.zeros((2, 3), int, order='F')]", "x[:, x[0, :, 0] >= 0]", "x[x[..., 0] >= 0]"),
)  # fmt: skip


def moves(texts):
    """The functions along each axis."""
    for text in texts:
        yield from dict.fromkeys(re.sub(r"\bA\b", axis, text) for axis in ("0", "1", "-1"))

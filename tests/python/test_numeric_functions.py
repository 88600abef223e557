"""Functions that move elements about, on arrays of any shape, dtype and order of axes: NumPy's results by both ways."""

import os

import numpy
import pytest
import xcuda.numeric as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numeric_calls import WAYS, compare, no_fallback, outcome  # noqa: F401

EXAMPLES = int(os.environ.get("XCUDA_EXAMPLES", "60"))

pytestmark = pytest.mark.usefixtures("no_fallback")

SPECIAL = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.5, numpy.nan, numpy.inf, -numpy.inf])
NUMBERS = {"f8": SPECIAL | st.integers(-3, 3).map(float), "i8": st.integers(-4, 4)}

# Each of an array and an axis; what they have in common is that equal elements and nan have one place only.
FUNCTIONS = {
    "sort": lambda m, a, k: m.sort(a, k),
    "argsort": lambda m, a, k: m.argsort(a, k, kind="stable"),
    "median": lambda m, a, k: m.median(a, k),
    "quantile": lambda m, a, k: m.nanquantile(a, 0.3, k),
    "unique": lambda m, a, k: m.unique(a, return_index=True, return_inverse=True, return_counts=True),
    "rows": lambda m, a, k: m.unique(a, axis=k, return_counts=True) if a.dtype.kind == "i" else None,
    "searchsorted": lambda m, a, k: m.searchsorted(m.sort(a.ravel()), a, "right"),
    "cumsum": lambda m, a, k: m.cumsum(m.nan_to_num(a, posinf=5, neginf=-5), k),
    "maxima": lambda m, a, k: m.maximum.accumulate(a, k),
    "reduceat": lambda m, a, k: m.minimum.reduceat(a, [0], k),
    "argmax": lambda m, a, k: m.argmax(a, k),
    "nonzero": lambda m, a, k: m.nonzero(a),
    "roll": lambda m, a, k: m.roll(a, 2, k),
    "repeat": lambda m, a, k: m.repeat(a, m.arange(a.shape[k]) % 3, k),
    "pad": lambda m, a, k: m.pad(a, (1, 2), "reflect"),
    "concatenate": lambda m, a, k: m.concatenate((a, a[::-1], a.astype("f4")), k),
    "isin": lambda m, a, k: m.isin(a, a.ravel()[::3]),
    "diff": lambda m, a, k: m.diff(m.nan_to_num(a, posinf=5, neginf=-5), axis=k),
    "take": lambda m, a, k: m.take(a, [-1, 0], k),
    "delete": lambda m, a, k: m.delete(a, 0, k),
    "insert": lambda m, a, k: m.insert(a, [0, 1], 9, k),
    "histogram": lambda m, a, k: m.histogram(a, [-2, 0, 1, 3]),
    "tile": lambda m, a, k: m.tile(a, (2, 1)),
}


@st.composite
def arrays(draw):
    dtype = draw(st.sampled_from(sorted(NUMBERS)))
    shape = draw(hnp.array_shapes(max_dims=3, max_side=7))
    made = draw(hnp.arrays(dtype, shape, elements=NUMBERS[dtype]))
    view = draw(st.sampled_from([lambda a: a, lambda a: a.T, lambda a: a[::-1], lambda a: a[..., ::2]]))
    return made, view, draw(st.integers(-len(shape), len(shape) - 1))


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(arrays(), st.sampled_from(sorted(FUNCTIONS)), st.sampled_from(sorted(WAYS)))
def test_as_numpy(array, name, way):
    host, view, axis = array
    theirs, error = outcome(FUNCTIONS[name], (numpy, view(host), axis), {})
    with WAYS[way]():
        ours, our_error = outcome(FUNCTIONS[name], (np, view(np.array(host)), axis), {})
    assert (type(our_error), str(our_error)) == (type(error), str(error))
    if error is None:
        compare(ours, theirs, (name, way, host, axis), tolerance=1e-12)

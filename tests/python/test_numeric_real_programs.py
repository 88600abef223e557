"""The programs of bench/_numeric_programs.py at small sizes: numeric gives what NumPy gives."""

import sys
from pathlib import Path

import numpy
import pytest
import xcuda.numeric as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from _numeric_programs import PROGRAMS, outcome


@pytest.mark.filterwarnings("ignore::xcuda.numeric.FallbackWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_agrees_with_numpy(name):
    program = PROGRAMS[name]
    arrays = program.data(program.small, numpy.random.default_rng(5))
    given = [np.array(a) if isinstance(a, numpy.ndarray) else a for a in arrays]
    theirs, ours = outcome(numpy, program, arrays), outcome(np, program, given)
    assert len(theirs) == len(ours)
    for want, got in zip(theirs, ours, strict=True):
        assert (want.shape, want.dtype) == (got.shape, got.dtype)
        numpy.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * max(1, numpy.abs(want).max()))
    for before, after in zip(arrays, given, strict=True):  # what was given is as it was
        numpy.testing.assert_array_equal(numpy.asarray(after), before)

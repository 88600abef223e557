"""Arrays of more axes than kernels have: up to NumPy's 64."""

import numpy
import pytest
from xcuda import numeric as np

AXES = 10
ORDER = (0, 9, 1, 8, 2, 7, 3, 6, 4, 5)


def apart(module, dtype="f8"):
    """2 ** 10 elements whose ten axes can't be joined in memory."""
    whole = module.arange(3**AXES).astype(dtype).reshape((3,) * AXES)
    return whole.transpose(ORDER)[(slice(None, None, 2),) * AXES]


def deep(module):
    return module.arange(120.0).reshape((2, 3) + (1,) * 34 + (4, 5))


def filled(module):
    out = module.zeros((3,) * AXES)
    out[(slice(None, None, 2),) * AXES] = apart(module)
    return out


PROGRAMS = {
    "a loop": lambda m: apart(m) * 2 + 1,
    "a loop of two orders": lambda m: m.where(apart(m) > 999, apart(m), apart(m).T),
    "a copy": lambda m: apart(m).copy(),
    "a write": filled,
    "a whole fold": lambda m: apart(m).sum(),
    "a fold of half the axes": lambda m: apart(m).sum(axis=(0, 2, 4, 6, 8)),
    "a fold of the other half": lambda m: (apart(m) - 7).max(axis=(1, 3, 5, 7, 9), keepdims=True),
    "a fold of one axis": lambda m: apart(m).min(axis=5),
    "a fold of nine axes": lambda m: apart(m).sum(axis=tuple(range(9))),
    "a product of integers": lambda m: apart(m, "i4").prod(axis=(2, 3, 4, 5, 9)),
    "functions of the host's": lambda m: m.cumsum(m.sort(apart(m), axis=0), axis=3),
    "joining": lambda m: m.concatenate([apart(m), apart(m)], axis=4),
    "forty axes": lambda m: (m.ones((1,) * 38 + (2, 3)) + m.arange(3.0)).sum(axis=-1),
    "rows along axes beyond the thirty-second": lambda m: deep(m) - deep(m).mean(axis=-2, keepdims=True),
    "rows along the first of many axes": lambda m: deep(m).max(axis=0, keepdims=True) - deep(m),
    "64 axes": lambda m: m.arange(6).reshape((1,) * 62 + (2, 3)).T,
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("host_elements", [0, 4096])
def test_as_in_numpy(program, host_elements):
    before = np.config.host_elements
    np.config.host_elements = host_elements
    try:
        made, expected = PROGRAMS[program](np), PROGRAMS[program](numpy)
        assert made.shape == expected.shape and made.dtype == expected.dtype
        numpy.testing.assert_array_equal(made.get(), expected)
    finally:
        np.config.host_elements = before


@pytest.mark.parametrize(
    "make", [lambda m: m.zeros((1,) * 65), lambda m: m.zeros((1,) * 64)[None], lambda m: m.zeros(2).reshape((1,) * 64 + (2,))]
)  # fmt: skip
def test_numpys_error_where_there_are_too_many(make):
    with pytest.raises((ValueError, IndexError)) as theirs:
        make(numpy)
    with pytest.raises(type(theirs.value)) as ours:
        make(np)
    assert str(ours.value) == str(theirs.value)

"""Joining, splitting, rolling, triangles, running sums and places of extremes against NumPy, by both native ways."""

import numpy
import pytest
import xcuda.numeric as np
from numeric_calls import WAYS, no_fallback, same_call  # noqa: F401
from xcuda import _runtime

R = numpy.random.default_rng(7)
A = numpy.arange(12.0).reshape(3, 4)
T = numpy.arange(24, dtype="i4").reshape(2, 3, 4)
V = numpy.array([3, 1, 4, 1, 5], "i2")
F = numpy.array([[1.0, numpy.nan, 3.0], [numpy.nan, 9.0, 2.0]], "f4")
C = numpy.array([1 + 2j, 3 - 1j, 3 + 5j, 0])
E = numpy.zeros((0, 4))

pytestmark = pytest.mark.usefixtures("no_fallback")

CASES = [
    ("concatenate", ((A, T[0], E),)),
    ("concatenate", ((A, T[0].astype("f4")), 1)),
    ("concatenate", ((A, T), None)),
    ("concatenate", ((A, V),)),
    ("concatenate", ((A, A[:, :2]), 0)),
    ("concatenate", ((A, A), 2)),
    ("concatenate", ((),)),
    ("concatenate", ((numpy.float64(1), V),)),
    ("concatenate", ((V, V),), {"dtype": "f4"}),
    ("concatenate", ((A, A),), {"dtype": "i4"}),
    ("concatenate", ((A, A),), {"dtype": "i4", "casting": "unsafe"}),
    ("concatenate", ((V, V), 0, numpy.zeros(10, "f8"))),
    ("concatenate", (A,)),
    ("stack", ((A, A), -1)),
    ("stack", ((A, A[:2]), 0)),
    ("stack", ((A, A), 5)),
    ("vstack", ((V, V),)),
    ("vstack", ((),)),
    ("stack", ((),)),
    ("vstack", (([1, 2], [[3, 4]]),)),
    ("hstack", ((V, [7]),)),
    ("hstack", ((A, A),)),
    ("dstack", ((V, V),)),
    ("column_stack", ((V, V, numpy.ones((5, 2))),)),
    ("block", ([[A, A], [V[:4], V[:4]]],)),
    ("block", ([1, V],)),
    ("block", ([[1], 2],)),
    ("block", ([],)),
    ("append", (A, [1])),
    ("append", (A, [[1, 2, 3, 4]], 0)),
    ("append", (A, [1], 0)),
    ("delete", (V, 1)),
    ("delete", (A, [0, -1], 1)),
    ("delete", (A, slice(None, None, 2), 0)),
    ("delete", (A, numpy.array([True, False, True]), 0)),
    ("delete", (A, 9, 1)),
    ("delete", (A, [1])),
    ("insert", (V, 1, 9)),
    ("insert", (V, [1, 3, 3], [7, 8, 9])),
    ("insert", (A, 1, [[1], [2], [3]], 1)),
    ("insert", (A, 1, [1, 2, 3, 4], 0)),
    ("insert", (A, [1], [[1], [2], [3]], 1)),
    ("insert", (A, [0, 2], 5, 1)),
    ("insert", (V, slice(1, 4), [7, 8, 9])),
    ("insert", (V, 9, 1)),
    ("insert", (A, -1, 5.5)),
    ("resize", (V, (2, 6))),
    ("resize", (V, 3)),
    ("resize", (V, (-1, 2))),
    ("array_split", (V, 3)),
    ("array_split", (A, [1, 3], 1)),
    ("array_split", (V, 0)),
    ("split", (A, 2, 1)),
    ("split", (A, 2)),
    ("hsplit", (A, 2)),
    ("vsplit", (A, [1])),
    ("dsplit", (T, 2)),
    ("dsplit", (A, 2)),
    ("vsplit", (V, 2)),
    ("unstack", (T,), {"axis": 1}),
    ("trim_zeros", (numpy.array([0, 0, 1, 0, 2, 0]),)),
    ("trim_zeros", (numpy.array([0, 0, 1, 0, 2, 0]), "f")),
    ("trim_zeros", (numpy.zeros(3), "b")),
    ("trim_zeros", (numpy.zeros(3), "x")),
    ("trim_zeros", (numpy.pad(A + 1, 1),)),
    ("tile", (V, 3)),
    ("tile", (A, (2, 1, 2))),
    ("tile", (A, (0, 2))),
    ("tile", (T, 2)),
    ("repeat", (V, 2)),
    ("repeat", (A, [1, 0, 2], 0)),
    ("repeat", (A, [1, 2], 0)),
    ("repeat", (A, -1)),
    ("repeat", (A, 3, -1)),
    ("repeat", (V, [2])),
    ("repeat", (V, 1.5)),
    ("roll", (A, 5)),
    ("roll", (A, (1, -1), (0, 1))),
    ("roll", (A, 1, 2)),
    ("roll", (A, 2, (0, 0))),
    ("flip", (A, (0, 1))),
    ("rot90", (T, 3, (1, 2))),
    ("rollaxis", (T, 2)),
    ("tri", (3, 4, 1), {"dtype": "i4"}),
    ("tri", (3,)),
    ("tril", (T, -1)),
    ("triu", (A, 1)),
    ("triu", (V,)),
    ("diag", (A, 1)),
    ("diag", (V, -2)),
    ("diag", (T,)),
    ("diagflat", (A[:2, :2], 1)),
    ("fill_diagonal", (A, 9)),
    ("fill_diagonal", (numpy.zeros((7, 3)), [1, 2], True)),
    ("fill_diagonal", (V, 1)),
    ("fill_diagonal", (T, 1)),
    ("tril_indices", (3, 1)),
    ("triu_indices_from", (A, 1)),
    ("diag_indices", (3, 3)),
    ("mask_indices", (3, numpy.triu, 1)),
    ("vander", (V, 3)),
    ("vander", (A[1], None, True)),
    ("cumsum", (T,)),
    ("cumsum", (T, 1), {"dtype": "f4"}),
    ("cumsum", (numpy.arange(6000), 0)),
    ("cumsum", (V > 2,)),
    ("cumsum", (T, 4)),
    ("cumprod", (C,)),
    ("cumprod", (A + 1, 1, None, numpy.zeros((3, 4)))),
    ("nancumsum", (F,)),
    ("nancumprod", (F, 1)),
    ("cumulative_sum", (V,), {"include_initial": True}),
    ("cumulative_sum", (A,)),
    ("cumulative_prod", (A + 1,), {"axis": 1}),
    ("diff", (V,)),
    ("diff", (A, 2, 0), {"prepend": 1, "append": A[:1]}),
    ("diff", (V > 2,)),
    ("diff", (V, -1)),
    ("diff", (A, 1, 2)),
    ("ediff1d", (V, 7, [1, 2])),
    ("ediff1d", (V, 7.5)),
    ("gradient", (A,)),
    ("gradient", (A[1], 2.0), {"edge_order": 2}),
    ("gradient", (A**2, numpy.array([0.0, 1, 4]), 3.0)),
    ("gradient", (A[0] ** 2, numpy.array([0.0, 1, 4, 5])), {"edge_order": 2}),
    ("gradient", (T, 1, 2), {"axis": (0, 2)}),
    ("gradient", (F[0],)),
    ("gradient", (V[:1],)),
    ("gradient", (A, 1, 2, 3)),
    ("trapezoid", (A,)),
    ("trapezoid", (A, numpy.array([0.0, 1, 4]), 1.0, 0)),
    ("trapezoid", (V, numpy.array([0.0, 1, 4, 5, 7]))),
    ("argmax", (T, 1)),
    ("argmin", (F,)),
    ("argmax", (C,)),
    ("argmin", (C.reshape(2, 2), 0)),
    ("argmax", (T, None), {"keepdims": True}),
    ("argmax", (T, 1, numpy.zeros((2, 4), "i8"))),
    ("argmin", (V > 2,)),
    ("argmax", (E, 0)),
    ("argmax", (E, 1)),
    ("argmax", (T, 3)),
    ("nanargmax", (F, 1)),
    ("nanargmin", (F,)),
    ("nanargmin", (F, 0), {"keepdims": True}),
    ("nanargmax", (numpy.array([[numpy.nan], [1.0]]), 1)),
    ("count_nonzero", (T % 3, 1)),
    ("count_nonzero", (T % 3, (0, 2)), {"keepdims": True}),
    ("ptp", (T, 1)),
    ("average", (A, 0, [1, 2, 3])),
    ("average", (T, (2, 0), numpy.arange(8.0).reshape(4, 2))),
    ("average", (A, 1, numpy.arange(4.0), True)),
    ("average", (A, None, [1, 2, 3])),
    ("average", (A, 1, [1, 2, 3])),
    ("average", (A, 1, [0, 0, 0, 0])),
    ("average", (V, None, None, True)),
    ("nanmax", (F, 0)),
    ("nanmin", (C, 0)),
    ("nanmax", (E,)),
    ("nansum", (F, 1)),
    ("nanprod", (F,)),
    ("nanmean", (F, 0)),
    ("nanvar", (F, 1), {"ddof": 1}),
    ("nanstd", (F,)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_as_numpy(case):
    path, args, kwargs = (*case, {})[:3]
    same_call(path, *args, tolerance=1e-6, **kwargs)


@pytest.mark.parametrize("way", WAYS)
def test_parts_are_views(way):
    with WAYS[way]():
        a = np.array(A)
        for part in (
            np.split(a, 3)[1],
            np.array_split(a, 2)[0],
            np.unstack(a)[1],
            np.hsplit(a, 2)[1],
            np.diag(a),
        ):
            assert part._same_memory(a)
        np.vsplit(a, 3)[2][...] = -1
    assert (a.get()[2] == -1).all() and (a.get()[:2] == A[:2]).all()


def launches(function):
    """What the function launches, and its result's elements."""
    np.flush()
    made, found = _runtime.numeric_watched(lambda: [a._compute() or a for a in [function()]][0])
    return found, made.get()


@pytest.fixture
def by_kernels():
    limit, host = _runtime.numeric_small_limit(), np.config.host_elements
    _runtime.set_numeric_small_limit(0)
    np.config.host_elements = 0
    yield
    _runtime.set_numeric_small_limit(limit)
    np.config.host_elements = host


def test_parts_are_computed_where_they_belong(by_kernels):
    """One kernel for parts of one shape, whatever they are made of; a kernel each for parts of different lengths."""
    x, y = R.normal(size=(20, 64)), R.normal(size=(20, 32))
    a, b = np.asarray(x), np.asarray(y)
    half = 32

    def turned(m, x, y):
        left, right = x[:, :half], x[:, half:]
        return m.concatenate([left * y - right, left + right * y], axis=-1)

    found, got = launches(lambda: turned(np, a, b))
    assert len(found) == 1 and found[0]["arrays_written"] == 2
    numpy.testing.assert_allclose(got, turned(numpy, x, y))
    found, got = launches(lambda: np.concatenate([a + 1, b * 2, b], 1))
    assert len(found) == 2  # 64 columns, and twice 32
    numpy.testing.assert_allclose(got, numpy.concatenate([x + 1, y * 2, y], 1))
    found, got = launches(lambda: np.stack([b, np.exp(b), b.astype("f4")]))
    assert len(found) == 1
    numpy.testing.assert_allclose(got, numpy.stack([y, numpy.exp(y), y.astype("f4")]))
    found, got = launches(lambda: np.stack([b * 2, np.exp(b), b - 1], 1))
    assert len(found) == 1
    numpy.testing.assert_allclose(got, numpy.stack([y * 2, numpy.exp(y), y - 1], 1))
    line, flat = np.asarray(y[0]), y[0]
    found, got = launches(lambda: np.vstack([line * 2, np.exp(line), line - 1]))
    assert len(found) == 1
    numpy.testing.assert_allclose(got, numpy.vstack([flat * 2, numpy.exp(flat), flat - 1]))


def test_parts_that_fold_or_are_seen_otherwise_are_in_memory_before(by_kernels):
    x = R.normal(size=(24, 24))
    a = np.asarray(x)

    def function(m, x):
        part = m.exp(x)
        share = part / part.sum(axis=-1, keepdims=True)
        return m.concatenate([share, part.T, part[::-1], x - x.mean(), part], axis=0)

    numpy.testing.assert_allclose(function(np, a).get(), function(numpy, x))


def test_a_part_that_has_a_name_keeps_its_value(by_kernels):
    x = R.normal(size=(16, 16))
    a = np.asarray(x)
    dear, cheap = np.exp(np.sin(a)), a + 1
    np.concatenate([dear, cheap])
    found, got = launches(lambda: dear)
    assert not found  # computed once, with the parts
    numpy.testing.assert_allclose(got, numpy.exp(numpy.sin(x)))
    a[...] = 0  # whoever still has to read it reads it before
    numpy.testing.assert_allclose(cheap.get(), x + 1)

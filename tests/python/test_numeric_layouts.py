"""How results lie in memory: values and strides as NumPy has them, by kernels and on the host."""

import itertools
from contextlib import nullcontext

import numpy
import pytest
from numeric_layouts import (
    BY_KERNELS,
    BY_VALUES,
    LAYOUTS,
    MOVES,
    OF_ONE,
    ROUNDED,
    expect_alike,
    folds,
    long_steps,
    moves,
    runs,
)
from xcuda import numeric as np
from xcuda.numeric import _paths

pytestmark = pytest.mark.filterwarnings("ignore")
OWN = "our own kernels"  # where the host's memory is not NumPy's to work on, as a GPU's is not


@pytest.fixture
def placed(monkeypatch):
    ways = []

    def place(elements):
        way = _paths.kernels_everywhere() if elements == OWN else nullcontext()
        way.__enter__()
        ways.append(way)
        monkeypatch.setattr(np.config, "host_elements", 512 if elements == OWN else elements)
        monkeypatch.setattr(np.config, "_fallback", "silent")

    yield place
    for way in ways:
        way.__exit__(None, None, None)


PLACES = [(512, layout) for layout in LAYOUTS] + [(way, layout) for layout in BY_KERNELS for way in (0, OWN)]
PLACES += [
    (OWN, layout)
    for layout in ("C order", "broadcast at both ends", "an axis of length 1", "complex numbers")
]


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


@pytest.mark.parametrize("layout", ["C order", "axes 1, 0, 2", "every other one", "four axes", *BY_KERNELS])
def test_functions_that_move_elements_lie_as_numpys_by_our_own_kernels(placed, layout):
    placed(OWN)
    for text in moves((*MOVES, *BY_VALUES)):
        expect_alike(f"x = {LAYOUTS[layout]}\n{text}", lengths_of_1=False)


@pytest.mark.parametrize("n", [599, 600, 700])
def test_medians_of_many_elements_lie_as_numpys(placed, n):
    """numpy.nanmedian has another way for rows of 600."""
    placed(OWN)
    for axes, axis in itertools.product(itertools.permutations(range(3)), range(3)):
        shape = [2, 3]
        shape.insert(axis, n)
        lengths = tuple(shape[k] for k in axes)
        back = [axes.index(k) for k in range(3)]
        for name, keep in itertools.product(("median", "nanmedian"), (False, True)):
            expect_alike(
                f"x = np.arange({6 * n}.0).reshape{lengths}.transpose({back})\n"
                f"np.{name}(x, axis={axis}, keepdims={keep})"
            )


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if not name.startswith("broadcast")])
def test_host_copies_keep_the_order_of_axes(layout):
    expected = eval(LAYOUTS[layout], {"np": numpy})
    x = eval(LAYOUTS[layout], {"np": np})
    wanted = expected.copy("K")
    for host in (x.get(), x.to_device_array().copy_to_host()):
        numpy.testing.assert_array_equal(host, expected)
        assert long_steps(host) == long_steps(wanted)
    for order in "KAFC":
        assert long_steps(np.array(expected, order=order)) == long_steps(
            numpy.array(expected, order=order)
        ), order
    numpy.testing.assert_array_equal(np.array(expected).get(), expected)


def test_host_copies_of_more_axes_than_kernels_take_keep_their_order():
    expected = numpy.arange(1024.0).reshape((2,) * 10).transpose(3, 0, 9, 1, 5, 2, 8, 4, 7, 6)
    x = np.array(expected)
    assert x.strides == x.get().strides == expected.strides
    numpy.testing.assert_array_equal(x.get(), expected)


def test_places_in_an_array_are_counted_without_a_copy_of_it(placed):
    """The ramp of places then has the array's axes."""
    placed(OWN)
    np.config.host_elements = 0
    for text in ("np.argmin(x)", "np.argmax(-x)", "np.nanargmax(x.T, keepdims=True)"):
        expect_alike(f"x = np.arange(24.0).reshape(4, 3, 2).T\n{text}")

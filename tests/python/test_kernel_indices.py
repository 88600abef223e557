"""np.ndindex and np.ndenumerate in kernels, and reshape to lengths of which the run tells one to be -1: as NumPy's own."""

import numpy as np
import pytest
from frontend_source import make, run

LOOPS = {
    "a shape": ("np.ndindex(a.shape)", "idx[0] * 100 + idx[1] * 10 + idx[2]"),
    "starred": ("np.ndindex(*a.shape)", "idx[0] * 100 + idx[1] * 10 + idx[2]"),
    "numbers": ("np.ndindex(n, 2)", "idx[0] * 10 + idx[1]"),
    "one": ("np.ndindex(n)", "idx[0]"),
    "none": ("np.ndindex(n, 0)", "idx[0]"),
    "a tuple": ("np.ndindex((2, n))", "idx[0] * 10 + idx[1]"),
    "elements": ("np.ndenumerate(a)", "idx[0][0] * 100 + idx[0][2] + idx[1]"),
    "elements of a view": ("np.ndenumerate(a[1, ::-1])", "idx[0][0] * 100 + idx[0][1] + idx[1]"),
}


@pytest.mark.parametrize("name", LOOPS)
def test_all_indices(name):
    loop, item = LOOPS[name]
    a, n = np.arange(24.0).reshape(2, 3, 4), 3
    body = f"k = 0\nfor idx in {loop}:\n    o[k] = {item}\n    k += 1\no[30] = k\n"
    out, want = np.full(31, -1.0), np.full(31, -1.0)
    exec(body, {"np": np, "a": a, "n": n, "o": want})
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    run(make("def f(a, n, o):\n" + lines), a, n, out, grid=1, block=1)
    np.testing.assert_array_equal(out, want)


def test_a_negative_length():
    f = make("def f(n, o):\n    for i, j in np.ndindex(2, n):\n        o[i] = j\n")
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        run(f, -1, np.zeros(4), grid=1, block=1)


@pytest.mark.parametrize("shape", [(-1, 4), (3, -1), (4, 3), (12, 1), (-1, 12)])
def test_reshape_to_lengths_of_the_run(shape):
    a, (m, n) = np.arange(12.0), shape
    f = make(
        "def f(a, m, n, o):\n    v = a.reshape(m, n)\n    o[0] = v.shape[0]\n    o[1] = v.shape[1]\n"
        "    o[2] = v[-1, 0]\n    o[3] = v[0, -1]\n"
    )
    out, v = np.zeros(4), a.reshape(shape)
    run(f, a, m, n, out, grid=1, block=1)
    np.testing.assert_array_equal(out, [*v.shape, v[-1, 0], v[0, -1]])


@pytest.mark.parametrize(
    "shape, why",
    [
        ((-1, -1), "only specify one unknown"),
        ((-1, 5), "cannot reshape"),
        ((-2, -6), "cannot reshape"),
        ((-1, 0), "cannot reshape"),
    ],
)
def test_reshape_that_cannot_be(shape, why):
    f = make("def f(a, m, n, o):\n    v = a.reshape(m, n)\n    o[0] = v.shape[0]\n")
    with pytest.raises(ValueError):
        np.arange(12.0).reshape(shape)
    with pytest.raises(ValueError, match=why):
        run(f, np.arange(12.0), *shape, np.zeros(1), grid=1, block=1)

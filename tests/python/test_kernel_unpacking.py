"""`a, b = v` where v is no tuple: rows of arrays, local arrays, records, short ranges, generators; and lengths that differ."""

import numpy as np
import pytest
from frontend_source import compiles, ir, make, run
from xcuda import core

point = np.dtype([("x", np.float32), ("y", np.int32)], align=True)


def test_a_pixel_becomes_its_channels():
    def gray(image, out):
        x, y = core.grid(2)
        if x < image.shape[1] and y < image.shape[0]:
            r, g, b = image[y, x]
            out[y, x] = np.uint8(0.299 * r + 0.587 * g + 0.114 * b + 0.5)

    image = np.random.default_rng(1).integers(0, 256, (5, 9, 3)).astype(np.uint8)
    for given in (image, image[:, ::-1], np.asfortranarray(image)):
        out = np.zeros(given.shape[:2], np.uint8)
        run(gray, given, out, grid=(2, 1), block=(8, 8))
        r, g, b = np.moveaxis(given, 2, 0)
        np.testing.assert_array_equal(out, (0.299 * r + 0.587 * g + 0.114 * b + 0.5).astype(np.uint8))
    compiles(core.kernel(gray), (image, out), (8, 8, 1))


@pytest.mark.parametrize(
    ("columns", "words"), [(2, "not enough values to unpack"), (4, "too many values to unpack")]
)
def test_another_length_is_a_value_error_of_its_thread(columns, words):
    f = make("def f(a, o):\n    i = cuda.grid(1)\n    x, y, z = a[i]\n    o[i] = x + y + z\n")
    o = np.zeros(4)
    with pytest.raises(ValueError, match=rf"{words} \(expected 3\), at line 3 .*thread \(0, 0, 0\)"):
        run(f, np.ones((4, columns)), o, block=4)
    run(f, np.ones((4, 3)), o, block=4)
    assert o.tolist() == [3] * 4


BODIES = {
    "local": "t = cuda.local.array(3, np.float64)\n    for j in range(3): t[j] = a[j] + i\n    x, y, z = t\n    o[i] = x + 10*y + 100*z",
    "rotated": "x = y = z = 0.0\n    t = cuda.local.array(3, np.float64)\n    t[:] = a[:3]\n    t[2], t[0], t[1] = t\n"
    "    x, y, z = t\n    o[i] = x + 10*y + 100*z",
    "starred": "t = cuda.local.array(4, np.float64)\n    t[:] = a[:4]\n    x, *r, y = t\n    o[i] = x + 10*r[0] + 100*r[1] + y",
    "swapped": "x = a[i]\n    y = a[i + 1]\n    x, y = (v * 2 for v in (y, x))\n    o[i] = x + 100*y",
    "range": "x, y, z = range(2, 5)\n    o[i] = x + 10*y + 100*z + i",
    "enumerated": "(j, x), (k, y) = enumerate((a[i], 2.0))\n    o[i] = j + 10*x + 100*k + y",
    "slice": "x, y = a[i:i + 2]\n    o[i] = x + 10*y",
    "reversed": "x, y = a[i:i + 2][::-1]\n    o[i] = x + 10*y",
    "rows": "for k, (x, y) in enumerate(m):\n        o[i] += k * x + 10*y",
    "generator": "o[i] = sum(x * y for x, y in m)",
    "nested": "(x, y), (u, v) = m[i:i + 2]\n    o[i] = x + 10*y + 100*u + 1000*v",
    "row views": "x, y = m[i:i + 2]\n    o[i] = x[0] + 10*y[1]",
    "bits": "x, y = a[i:i + 1].view(np.int32)\n    o[i] = x + y",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_unpacks_is_as_in_python(body):
    text = f"def f(a, m, o, i):\n    {body}\n"
    a, m = np.random.default_rng(2).normal(size=12), np.random.default_rng(3).integers(0, 9, (5, 2))
    o, w = np.zeros(4), np.zeros(4)
    run(make(text.replace(", i)", ")").replace(":\n", ":\n    i = cuda.grid(1)\n", 1)), a, m, o, block=4)
    local = type("L", (), {"array": staticmethod(lambda n, d: np.zeros(n, d))})
    twin = make(text, cuda=type("C", (), {"local": local}))
    for i in range(4):
        if "t[2], t[0], t[1] = t" in text:  # each is read before the first is assigned
            w[i] = a[1] + 10 * a[2] + 100 * a[0]
        else:
            twin(a, m, w, i)
    np.testing.assert_allclose(o, w, rtol=1e-12)


def test_a_record_gives_its_fields():
    f = make("def f(p, o):\n    i = cuda.grid(1)\n    x, y = p[i]\n    o[i] = x * 2 + y\n")
    p, o = np.array([(1.5, 2), (3, 4)], point), np.zeros(2)
    run(f, p, o, block=2)
    assert o.tolist() == [5, 10]
    f = make("def f(p, o):\n    a, b = p\n    o[0] = a.x + b.y\n")
    run(f, p, o)
    assert o[0] == 5.5
    with pytest.raises(ValueError, match=r"too many values to unpack \(expected 1\)"):
        run(make("def f(p, o):\n    a, = p\n    o[0] = a.x\n"), p, o)


def test_lengths_that_the_compiler_knows_are_refused():
    with pytest.raises(SyntaxError, match="2 names for a tuple of 3"):
        ir(
            "def f(o):\n    t = cuda.local.array(3, np.float32)\n    t[:] = 1\n    x, y = t\n    o[0] = x + y\n",
            "float32[1]",
        )
    with pytest.raises(SyntaxError, match=r"\* needs a length known when the kernel is compiled"):
        ir("def f(o):\n    x, *y = o\n    o[0] = x\n", "float32[1]")
    with pytest.raises(
        SyntaxError, match="2 names for a Python int; only a tuple or an array can be unpacked"
    ):
        ir("def f(o, n):\n    x, y = n\n    o[0] = x\n", "float32[1], weak int64")

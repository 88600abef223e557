"""Random chains of slices and indices, read and written by kernels that the CPU device runs as vectors; against NumPy."""

import numpy as np
import pytest
from frontend_source import make
from xcuda import core


def laid_out(rng, shape):
    """An array of a random layout: C, Fortran, every other element, reversed."""
    kind = rng.integers(4)
    if kind == 0:
        return rng.normal(size=shape).astype(np.float32)
    if kind == 1:
        return np.asfortranarray(rng.normal(size=shape).astype(np.float32))
    if kind == 2:
        return rng.normal(size=tuple(2 * n for n in shape)).astype(np.float32)[
            (slice(None, None, 2),) * len(shape)
        ]
    return rng.normal(size=shape).astype(np.float32)[(slice(None, None, -1),) * len(shape)]


def random_slice(rng, n):
    """The text of a slice that leaves something of n elements."""
    while True:
        ends = [None if rng.random() < 0.4 else int(rng.integers(-n - 2, n + 3)) for _ in range(2)]
        step = None if rng.random() < 0.5 else int(rng.choice([-3, -2, -1, 1, 2, 3]))
        if len(range(n)[slice(*ends, step)]) >= min(n, 2):
            return ":".join(
                "" if p is None else str(p) for p in (*ends, *([step] if step is not None else []))
            )


def random_view(rng, name, array, ndim):
    """Statements that make `v_name` of the array, with ndim axes, and NumPy's view."""
    lines, now, text = [], array, name
    while True:
        parts = []
        drop = now.ndim - ndim
        for axis in range(now.ndim):
            if drop > 0 and rng.random() < 0.6 or drop >= now.ndim - axis:
                parts.append(str(rng.integers(-now.shape[axis], now.shape[axis])))
                drop -= 1
            else:
                parts.append(random_slice(rng, now.shape[axis]) if rng.random() < 0.8 else ":")
        while parts and parts[-1] == ":" and rng.random() < 0.5:
            parts.pop()
        if not parts:
            parts = ["..."]
        lines.append(f"v_{name} = {text}[{', '.join(parts)}]")
        now, text = eval(f"a[{', '.join(parts)}]", {"a": now}), f"v_{name}"
        if now.ndim == ndim and rng.random() < 0.5:
            return lines, now


@pytest.mark.parametrize("seed", range(25))
def test_one_axis(seed):
    rng = np.random.default_rng(seed)
    a = laid_out(rng, tuple(rng.integers(2, 9, rng.integers(0, 2))) + (int(rng.integers(40, 90)),))
    b = laid_out(rng, (int(rng.integers(40, 90)),))
    la, va = random_view(rng, "a", a, 1)
    lb, vb = random_view(rng, "b", b, 1)
    n = min(len(va), len(vb))
    out = np.zeros(2 * n + 3, np.float32)
    body = "".join(f"    {line}\n" for line in la + lb)
    inside = rng.random() < 0.5
    guard = "    if i < n:\n"
    place = guard + body.replace("    v_", "        v_") if inside else body + guard
    text = f"def f(a, b, o, n):\n    i = cuda.grid(1)\n{place}        o[1::2][i] = v_a[i] + 2 * v_b[n - 1 - i] - v_b[i - len(v_b)]\n"
    want = out.copy()
    index = np.arange(n)
    want[1::2][:n] = va[:n] + 2 * vb[n - 1 - index] - vb[index - len(vb)]
    core.kernel(make(text))[3, 64](a, b, out, n)
    np.testing.assert_allclose(out, want, rtol=1e-6, err_msg=text)


@pytest.mark.parametrize("seed", range(25))
def test_two_axes_and_a_loop(seed):
    rng = np.random.default_rng(1000 + seed)
    shape = lambda extra: tuple(rng.integers(18, 34, 2)) + tuple(rng.integers(2, 5, extra))  # noqa: E731
    a, b = laid_out(rng, shape(rng.integers(0, 2))), laid_out(rng, shape(0))
    la, va = random_view(rng, "a", a, 2)
    lb, vb = random_view(rng, "b", b, 2)
    k = min(va.shape[1], vb.shape[0])
    rows, columns = va.shape[0], vb.shape[1]
    out = np.zeros((rows + 1, columns + 2), np.float32)
    body = "".join(f"    {line}\n" for line in la + lb)
    text = (
        f"def f(a, b, o, n):\n    i, j = cuda.grid(2)\n{body}    t = o[1:, ::-1]\n"
        "    if i < v_a.shape[0] and j < v_b.shape[1]:\n        s = np.float32(0)\n"
        "        for k in range(n):\n            s += v_a[i, k] * v_b[k, j]\n        t[i, j] = s + v_a[-1, 0]\n"
    )
    want = out.copy()
    want[1:, ::-1][:rows, :columns] = va[:, :k] @ vb[:k] + va[-1, 0]
    core.kernel(make(text))[(3, 3), (16, 16)](a, b, out, k)
    np.testing.assert_allclose(out, want, rtol=1e-4, atol=1e-4, err_msg=text)


@pytest.mark.parametrize("seed", range(12))
def test_out_of_range_is_found_whatever_the_view(seed):
    """One thread of many reads past the view's end, though not past the array's."""
    rng = np.random.default_rng(2000 + seed)
    a = laid_out(rng, (64,))
    lines, v = random_view(rng, "a", a[:60], 1)
    body = "".join(f"    {line}\n" for line in lines)
    text = f"def f(a, o, n):\n    i = cuda.grid(1)\n    w = a[:60]\n{body.replace('a[', 'w[', 1)}    if i < n:\n        o[i] = v_a[i]\n"
    out = np.zeros(len(v) + 8, np.float32)
    f = core.kernel(make(text))
    f[1, 128](a, out, len(v))
    np.testing.assert_array_equal(out[: len(v)], v, err_msg=text)
    with pytest.raises(
        IndexError, match=rf"index {len(v)} is out of range for axis 0 of a.* with (length {len(v)}\b|shape)"
    ):
        f[1, 128](a, out, len(v) + 1)

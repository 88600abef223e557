"""nvmath's fused functions beside NumPy, numexpr and numba on the same cores: the same formulas, in one run.

./run bench math                 all of it, a minute or two
python bench/math.py --size 1e6
numexpr and numba are left out where they are not installed. On a GPU the peers are CuPy and torch (bench/gpu.py).
"""

import argparse
import importlib
import math
import sys
import time
import warnings
from pathlib import Path

# This file's own name must not stand in for the standard library's module.
sys.path[:] = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).resolve().parent]
sys.path.append(str(Path(__file__).resolve().parent))

import _measure  # noqa: E402
import numpy  # noqa: E402
import xcuda.math as nvmath  # noqa: E402
import xcuda.numeric as xnp  # noqa: E402

OURS = "xcuda"
INV_SQRT_2 = 1 / math.sqrt(2)


def pipeline(m, x, y, z):
    """The article's expression."""
    return m.sqrt(m.sin(x) * m.cos(y) + m.exp(-(z**2)) + m.log(x + 1))


def polynomial(m, x):
    """Five multiplications and additions."""
    return ((((2 * x + 3) * x - 5) * x + 7) * x - 1) * x + 0.5


def gelu(m, x, b, r):
    """GELU (tanh's form) of x + bias, and a residual."""
    u = x + b
    return 0.5 * u * (1 + m.tanh(0.7978845608028654 * (u + 0.044715 * u * u * u))) + r


def softmax(m, x):
    """Of rows."""
    e = m.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(m, x, scale, shift):
    """Of rows."""
    away = x - x.mean(axis=-1, keepdims=True)
    return away / m.sqrt((away * away).mean(axis=-1, keepdims=True) + 1e-5) * scale + shift


def rms_norm(m, x, scale):
    """Of rows."""
    return x / m.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6) * scale


def adamw(m, p, g, a, b):
    """One step; gives the weights and both moments."""
    a = 0.9 * a + 0.1 * g
    b = 0.999 * b + 0.001 * g * g
    return p - 1e-3 * (a / (m.sqrt(b) + 1e-8) + 0.01 * p), a, b


def squares(m, x, y):
    """A distance."""
    return ((x - y) ** 2).sum()


NUMEXPR = {
    "the article's expression": ("sqrt(sin(x)*cos(y) + exp(-z**2) + log(x + 1))", "xyz"),
    "polynomial of degree 5": ("((((2*x + 3)*x - 5)*x + 7)*x - 1)*x + 0.5", "x"),
    "sum of squared differences": ("sum((x - y)**2)", "xy"),
}


def numba_twins():
    """{title: a parallel loop over flat arrays}; none where numba is not installed."""
    try:
        numba = importlib.import_module("numba")
    except ImportError:
        return {}
    njit = numba.njit(parallel=True, fastmath=False)

    def article(x, y, z):
        out = numpy.empty_like(x)
        for i in numba.prange(x.size):
            out[i] = math.sqrt(math.sin(x[i]) * math.cos(y[i]) + math.exp(-(z[i] ** 2)) + math.log(x[i] + 1))
        return out

    def horner(x):
        out = numpy.empty_like(x)
        for i in numba.prange(x.size):
            v = x[i]
            out[i] = ((((2 * v + 3) * v - 5) * v + 7) * v - 1) * v + 0.5
        return out

    def distance(x, y):
        total = 0.0
        for i in numba.prange(x.size):
            total += (x[i] - y[i]) ** 2
        return total

    return {
        "the article's expression": njit(article),
        "polynomial of degree 5": njit(horner),
        "sum of squared differences": njit(distance),
    }


def contests(n):
    """(title, function of module and arrays, host arrays)."""
    rng = numpy.random.default_rng(0)
    x, y, z = (rng.random(n) for _ in range(3))
    side = int(math.sqrt(n))
    a, r = rng.normal(size=(side, side)), rng.normal(size=(side, side))
    row, shift = rng.normal(size=side), rng.normal(size=side)
    yield "the article's expression", pipeline, (x, y, z)
    yield "polynomial of degree 5", polynomial, (x,)
    yield "sum of squared differences", squares, (x, y)
    yield "GELU of x + bias, residual", gelu, (a, row, r)
    yield "softmax of rows", softmax, (a,)
    yield "layer norm", layer_norm, (a, row, shift)
    yield "RMS norm", rms_norm, (a, row)
    yield "AdamW step, three results", adamw, (x, y, z, z + 1)
    small = x[:100].copy()
    yield "the article's expression, 100 elements", pipeline, (small, small, small)


def algebra(n):
    """(title, function of module and matrices, host matrices)."""
    rng = numpy.random.default_rng(1)
    a, b = rng.normal(size=(n, n)), rng.normal(size=(n, n // 10))
    vector = rng.normal(size=n)
    yield (
        f"solve(a @ a.T + c eye, b), {n}",
        lambda m, a, b: m.linalg.solve(a @ a.T + 0.01 * m.eye(n), b),
        (a, b),
    )
    yield f"inv(a) @ b, {n}", lambda m, a, b: m.linalg.inv(a) @ b, (a, b)
    yield f"a @ a @ v, {n}", lambda m, a, v: a @ a @ v, (a, vector)
    yield f"trace(a @ a.T), {n}", lambda m, a: m.trace(a @ a.T), (a,)


def contest(title, function, hosts, twins):
    """All contestants on arrays of their own; all must agree."""
    fused = nvmath.jit(lambda *given: function(nvmath, *given))
    device = [xnp.asarray(h) for h in hosts]
    begin = time.perf_counter()
    fused(*device)
    first = time.perf_counter() - begin
    seen = []

    def check(result):
        values = [numpy.asarray(v) for v in (result if isinstance(result, tuple) else (result,))]
        seen.append(values)
        for got, want in zip(values, seen[0], strict=True):
            numpy.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-7)

    made = _measure.Contest(title, check)
    made.contestants["NumPy"] = lambda: function(numpy, *hosts)
    if title in NUMEXPR:
        try:
            numexpr = importlib.import_module("numexpr")
        except ImportError:
            pass
        else:
            text, names = NUMEXPR[title]
            made.contestants["numexpr"] = lambda: numexpr.evaluate(text, dict(zip(names, hosts, strict=True)))
    if title in twins:
        made.contestants["numba"] = lambda: twins[title](*hosts)
    made.contestants["xcuda, host arrays"] = lambda: fused(*hosts)
    made.contestants[OURS] = lambda: fused(*device)
    return made, first, fused.explain(*hosts)


def main():
    """Prints the table and the geometric mean over NumPy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=float, default=1e7, help="elements of the large arrays")
    parser.add_argument("--side", type=int, default=1000, help="of the matrices")
    options = parser.parse_args()
    warnings.simplefilter("ignore", xnp.FallbackWarning)
    rows, ratios, told = [], [], []
    twins = numba_twins()
    for title, function, hosts in (*contests(int(options.size)), *algebra(options.side)):
        made, first, explained = contest(title, function, hosts, twins)
        times = made.run()
        rows += _measure.result_rows(made, times)
        ratios.append(times["NumPy"] / times[OURS])
        told.append(
            (
                title,
                f"{len(explained.fused)} + {len(explained.library)}",
                str(explained.unfused_kernels),
                f"{explained.bytes / explained.unfused_bytes:.2f}",
                f"{first * 1e3:.0f}",
            )
        )
    print(f"{_measure.machine()}; {_measure.today()}; {int(options.size):,} elements of float64\n")
    print(_measure.table(rows, ("what", "by", "ms", "/ xcuda", "goal")))
    print()
    print(
        _measure.table(told, ("what", "kernels + calls", "operations", "bytes / unfused", "first call, ms"))
    )
    print(f"\nGeometric mean: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}x NumPy")


if __name__ == "__main__":
    main()

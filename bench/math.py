"""nvmath's fused functions beside NumPy, numexpr and numba on the same cores: the same formulas, in one run.

./run bench math                 all of it, a minute or two
python bench/math.py --size 1e6
numexpr and numba are left out where they are not installed. On a GPU the peers are CuPy, torch, torch.compile and a
copy of the same bytes (bench/_math_on_a_gpu.py), all within --seconds.
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


def cross_entropy(m, x, labels):
    """Of rows of logits, the label's place given."""
    top = x.max(axis=-1)
    own = m.where(labels[:, None] == m.arange(x.shape[1]), x, 0).sum(axis=-1)
    return m.log(m.exp(x - top[:, None]).sum(axis=-1)) + top - own


def rope(m, x, cos, sin):
    """Rotary position embedding: the halves of each row turned by its position's angles."""
    half = x.shape[-1] // 2
    a, b = x[:, :half], x[:, half:]
    return m.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def squares(m, x, y):
    """A distance."""
    return ((x - y) ** 2).sum()


NUMEXPR = {
    "the article's expression": ("sqrt(sin(x)*cos(y) + exp(-z**2) + log(x + 1))", "xyz"),
    "polynomial of degree 5": ("((((2*x + 3)*x - 5)*x + 7)*x - 1)*x + 0.5", "x"),
    "sum of squared differences": ("sum((x - y)**2)", "xy"),
    "GELU of x + bias, residual": (
        "0.5*(x+y)*(1 + tanh(0.7978845608028654*((x+y) + 0.044715*(x+y)*(x+y)*(x+y)))) + z",
        "xyz",
    ),
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

    def gelu_bias(x, b, r):
        out = numpy.empty_like(x)
        for i in numba.prange(x.shape[0]):
            for j in range(x.shape[1]):
                u = x[i, j] + b[j]
                out[i, j] = (
                    0.5 * u * (1 + math.tanh(0.7978845608028654 * (u + 0.044715 * u * u * u))) + r[i, j]
                )
        return out

    def softmax_rows(x):
        out = numpy.empty_like(x)
        for i in numba.prange(x.shape[0]):
            top, total = x[i].max(), 0.0
            for j in range(x.shape[1]):
                out[i, j] = math.exp(x[i, j] - top)
                total += out[i, j]
            for j in range(x.shape[1]):
                out[i, j] /= total
        return out

    def layer(x, scale, shift):
        out = numpy.empty_like(x)
        n = x.shape[1]
        for i in numba.prange(x.shape[0]):
            mean = x[i].sum() / n
            spread = 0.0
            for j in range(n):
                spread += (x[i, j] - mean) ** 2
            root = math.sqrt(spread / n + 1e-5)
            for j in range(n):
                out[i, j] = (x[i, j] - mean) / root * scale[j] + shift[j]
        return out

    def rms(x, scale):
        out = numpy.empty_like(x)
        for i in numba.prange(x.shape[0]):
            total = 0.0
            for j in range(x.shape[1]):
                total += x[i, j] * x[i, j]
            root = math.sqrt(total / x.shape[1] + 1e-6)
            for j in range(x.shape[1]):
                out[i, j] = x[i, j] / root * scale[j]
        return out

    def step(p, g, a, b):
        p_out, a_out, b_out = numpy.empty_like(p), numpy.empty_like(p), numpy.empty_like(p)
        for i in numba.prange(p.size):
            a_out[i] = 0.9 * a[i] + 0.1 * g[i]
            b_out[i] = 0.999 * b[i] + 0.001 * g[i] * g[i]
            p_out[i] = p[i] - 1e-3 * (a_out[i] / (math.sqrt(b_out[i]) + 1e-8) + 0.01 * p[i])
        return p_out, a_out, b_out

    def losses(x, labels):
        out = numpy.empty(x.shape[0])
        for i in numba.prange(x.shape[0]):
            top, total = x[i].max(), 0.0
            for j in range(x.shape[1]):
                total += math.exp(x[i, j] - top)
            out[i] = math.log(total) + top - x[i, labels[i]]
        return out

    def turned(x, cos, sin):
        out = numpy.empty_like(x)
        half = x.shape[1] // 2
        for i in numba.prange(x.shape[0]):
            for j in range(half):
                a, b = x[i, j], x[i, half + j]
                out[i, j] = a * cos[i, j] - b * sin[i, j]
                out[i, half + j] = a * sin[i, j] + b * cos[i, j]
        return out

    return {
        "the article's expression": njit(article),
        "polynomial of degree 5": njit(horner),
        "sum of squared differences": njit(distance),
        "GELU of x + bias, residual": njit(gelu_bias),
        "softmax of rows": njit(softmax_rows),
        "layer norm": njit(layer),
        "RMS norm": njit(rms),
        "AdamW step, three results": njit(step),
        "cross-entropy of rows": njit(losses),
        "RoPE": njit(turned),
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
    yield "cross-entropy of rows", cross_entropy, (a, rng.integers(0, side, side))
    even = side // 2 * 2
    angles = rng.random((side, even // 2))
    yield "RoPE", rope, (a[:, :even].copy(), numpy.cos(angles), numpy.sin(angles))
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
    parser.add_argument("--seconds", type=float, default=40, help="that it may take on a GPU")
    options = parser.parse_args()
    if xnp.zeros(1)._device_label.startswith("cuda"):
        import _math_on_a_gpu

        _math_on_a_gpu.main(options.seconds)
        return
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

"""numeric beside NumPy on the same cores: element-wise chains, folds, small operations and programs, in one run.

./run bench numeric             all of it, a minute or so
python bench/numeric.py --size 1e6
python bench/numeric.py --only programs    or operations, random
On a GPU CuPy is the peer, and all of it takes --seconds (45) at most (_numeric_gpu.py).
"""

import argparse
import math

import _measure
import _numeric_gpu
import numpy
import xcuda.numeric as ours
from _numeric_programs import PROGRAMS, outcome

OURS = "xcuda"


def expression(m, x):
    """DESIGN section 9's fused expression."""
    return m.sqrt(m.sin(x) * m.cos(x) + m.exp(-(x**2)) + m.log(x + 1))


def black_scholes(m, s):
    """Prices of calls, with a logistic stand-in for the normal distribution, which NumPy lacks."""
    d1 = (m.log(s / 100) + (0.02 + 0.5 * 0.3**2)) / 0.3
    d2 = d1 - 0.3
    return s / (1 + m.exp(-1.702 * d1)) - 100 * math.exp(-0.02) / (1 + m.exp(-1.702 * d2))


def heat(m, u):
    """Ten steps of the heat equation, written into the array."""
    for _ in range(10):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def normalised(m, x):
    """Rows with mean 0 and variance 1."""
    return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)


def contests(n):
    """(title, function of module and array, host array)."""
    rng = numpy.random.default_rng(0)
    flat, single = rng.random(n), rng.random(n, dtype="float32")
    side = int(n**0.5)
    square = rng.random((side, side))
    yield "2x + 1, float32", lambda m, x: 2 * x + 1, single
    yield "sqrt(sin cos + exp + log), float64", expression, flat
    yield "sqrt(sin cos + exp + log), float32", expression, single
    yield "Black-Scholes, float64", black_scholes, flat * 100 + 50
    yield "sum, float64", lambda m, x: x.sum(), flat
    yield "sum, float32", lambda m, x: x.sum(), single
    yield "max, float32", lambda m, x: x.max(), single
    yield "sum over rows", lambda m, x: x.sum(0), square
    yield "sum over columns", lambda m, x: x.sum(1), square
    yield "rows with mean 0 and variance 1", normalised, square
    yield "heat equation, 10 steps", heat, square
    yield "x + 1, 10 elements", lambda m, x: x + 1, numpy.arange(10.0)
    yield "sum of 10 elements", lambda m, x: x.sum(), numpy.arange(10.0)
    yield "where of 10 elements", lambda m, x: m.where(x > 2, x, 0), numpy.arange(10.0)


def contest(title, function, host):
    """NumPy and ours on arrays of their own; both must agree."""
    device = ours.array(host)
    device._compute()
    theirs = host.copy()

    def peer():
        return function(numpy, theirs)

    def here():
        made = function(ours, device)
        made._compute()
        return made

    seen = []

    def check(result):
        seen.append(numpy.asarray(result).copy())
        if len(seen) == 2:
            numpy.testing.assert_allclose(*seen, rtol=2e-4)

    made = _measure.Contest(title, check)
    made.contestants = {"NumPy": peer, OURS: here}
    return made


def program_contests():
    """The programs of _numeric_programs at full size."""
    for title, program in PROGRAMS.items():
        arrays = program.data(program.full, numpy.random.default_rng(0))
        given = [ours.array(a) if isinstance(a, numpy.ndarray) else a for a in arrays]
        seen = []

        def check(result, seen=seen):
            seen.append(result)
            for theirs, mine in zip(seen[0], result, strict=True):
                size = max(1.0, float(numpy.abs(theirs).max()))
                numpy.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6 * size)

        made = _measure.Contest(title, check)
        made.contestants = {
            "NumPy": lambda p=program, a=arrays: outcome(numpy, p, a),
            OURS: lambda p=program, a=given: outcome(ours, p, a),
        }
        yield made


def random_contests(n):
    """NumPy's numbers, drawn by either."""
    draws = {
        "random, PCG64": ("PCG64", lambda r: r.random(n)),
        "random, Philox": ("Philox", lambda r: r.random(n)),
        "standard_normal, PCG64": ("PCG64", lambda r: r.standard_normal(n)),
        "standard_normal, Philox": ("Philox", lambda r: r.standard_normal(n)),
        "standard_normal float32, PCG64": ("PCG64", lambda r: r.standard_normal(n, dtype="float32")),
        "integers below 10, PCG64": ("PCG64", lambda r: r.integers(0, 10, n)),
        "gamma(2), PCG64": ("PCG64", lambda r: r.standard_gamma(2.0, n)),
        "poisson(5), PCG64": ("PCG64", lambda r: r.poisson(5.0, n)),
        "binomial(100, 0.4), PCG64": ("PCG64", lambda r: r.binomial(100, 0.4, n)),
    }
    for title, (stream, draw) in draws.items():
        made = _measure.Contest(title, lambda _: None)
        for name, module in (("NumPy", numpy), (OURS, ours)):
            generator = module.random.Generator(getattr(module.random, stream)(1))
            made.contestants[name] = lambda g=generator, draw=draw: draw(g)
        yield made


def ratio_of(made, rows):
    """Runs a contest into the table's rows; NumPy's time over ours."""
    times = made.run()
    rows += _measure.result_rows(made, times)
    return times["NumPy"] / times[OURS]


def geometric_mean(ratios):
    """Of figures above zero."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main():
    """Prints the tables, each with the geometric mean of NumPy's times over ours."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=float, default=1e7, help="elements of the large arrays")
    parser.add_argument("--only", choices=["operations", "programs", "random"])
    parser.add_argument(
        "--seconds", type=float, default=45, help="on a GPU: what there is no time for is left out"
    )
    asked = parser.parse_args()
    size = int(asked.size)
    if ours.ones(1).device.label != "cpu":
        _numeric_gpu.tell(contests, size, asked.seconds)
        return
    print(f"{_measure.machine()}; {_measure.today()}; {size:,} elements")
    parts = {
        "operations": lambda: (contest(*c) for c in contests(size)),
        "programs": program_contests,
        "random": lambda: random_contests(size),
    }
    for part, made in parts.items():
        if asked.only not in (None, part):
            continue
        if part != "operations":  # long ones: fewer turns
            _measure.ROUNDS, _measure.REPEATS = 3, 2
        rows, ratios = [], []
        for one in made():
            ratio = ratio_of(one, rows)
            if "10 elements" not in one.title:
                ratios.append(ratio)
        print(f"\n{_measure.table(rows, (part, 'by', 'ms', '/ xcuda', 'goal'))}")
        print(f"\nLarge arrays, geometric mean: {geometric_mean(ratios):.2f}x NumPy")


if __name__ == "__main__":
    main()

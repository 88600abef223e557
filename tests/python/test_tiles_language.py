"""What the language of tile kernels has beside tiles: helpers, lambdas, folds of one's own, loops that carry tiles."""

import numpy as np
import pytest
from tile_kernels import close, plans, tile_kernel
from xcuda import tiles

RANDOM = np.random.default_rng(17)
both_plans = pytest.mark.parametrize("plan", plans())
WIDTH = 32


def normalised(x, axis):
    """A helper that reduces: it needs the tile whole."""
    low = tiles.min(x, axis=axis, keepdims=True)
    span = tiles.max(x, axis=axis, keepdims=True) - low
    return (x - low) / span


def sized(n, value=1.5):
    """A helper that makes a tile of a length it is given."""
    half = n // 2
    return tiles.cat((tiles.full((half,), value, tiles.float64), tiles.zeros((half,), tiles.float64)), 0)


def both_ends(x):
    """A helper of two results."""
    return tiles.min(x), tiles.max(x)


def folded_sign(x, up):
    """Returns early, in branches."""
    if up:
        return abs(x)
    y = -abs(x)
    return y * 2


def moved(out, x):
    """A helper that stores and returns nothing."""
    tiles.store(out, (1, 0), x + np.float64(WIDTH))


def through(f, x):
    """Takes a function."""
    return f(f(x))


@both_plans
def test_helpers_take_and_give_tiles(plan):
    @tile_kernel(plan=plan)
    def helped(X, out, n: tiles.Constant[int], up: tiles.Constant[bool]):
        x = tiles.load(X, (0, 0), (8, n))
        low, high = both_ends(x)
        x = normalised(x, 1) + normalised(x=x, axis=0)
        scale = 2.0

        def scaled(t):
            m = t * scale
            return m + low

        x = through(scaled, x) + sized(n) + sized(value=high, n=n)
        tiles.store(out, (0, 0), folded_sign(x, up))
        moved(out, x)
        tiles.store(out, (2, 0), through(lambda t: tiles.sum(t, axis=1, keepdims=True) + t, x))

    X = RANDOM.standard_normal((8, WIDTH))
    x = (X - X.min(1, keepdims=True)) / np.ptp(X, 1, keepdims=True) + (X - X.min(0)) / np.ptp(X, 0)
    x = (x * 2 + X.min()) * 2 + X.min()
    x += np.repeat([1.5 + X.max(), 0], WIDTH // 2)
    twice = x.sum(1, keepdims=True) + x
    twice = twice.sum(1, keepdims=True) + twice
    for up in (True, False):
        out = np.zeros((24, WIDTH))
        helped[1, 1](X, out, WIDTH, up)
        wanted = np.concatenate((abs(x) if up else -abs(x) * 2, x + WIDTH, twice))
        close(out, wanted, 1e-13)


@both_plans
def test_helpers_in_loops_and_of_numbers(plan):
    def clamped(v, most):
        while v > most:
            v -= most
        return v

    def step(x, i):
        if i % 2 == 0:
            x = x + 1
        else:
            x = x * 2
        return x

    @tile_kernel(plan=plan)
    def stepped(X, out, n):
        x = tiles.load(X, (0,), (16,))
        for i in range(clamped(n, 5)):
            x = step(x, i)
        for part in (0.5, 0.25):
            x = x + step(x, 0) * part
        tiles.store(out, (0,), x)

    X, out = RANDOM.random(16), np.zeros(16)
    stepped[1, 1](X, out, 13)
    x = X
    for i in range(3):
        x = step(x, i)
    for part in (0.5, 0.25):
        x = x + step(x, 0) * part
    close(out, x, 1e-14)


def test_what_helpers_may_not():
    def looped(x):
        for i in range(3):
            if i == 2:
                return x
        return x + 1

    def partly(x, n):
        if n > 1:
            return x

    def again(x):
        return again(x)

    for helper, sentence in (
        (looped, r"looped\(\) returns from within a loop; set a variable there"),
        (lambda x: partly(x, 3), r"partly\(\) returns a value on some paths only"),
        (again, r"again\(\) calls itself: recursion"),
    ):

        @tiles.tile_kernel
        def calls(X, helper=helper):
            tiles.store(X, (0,), helper(tiles.load(X, (0,), (4,))))

        with pytest.raises(SyntaxError, match=sentence):
            calls[1, 1](np.zeros(4))


@both_plans
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_folds_and_scans_of_ones_own(plan, dtype):
    def larger(a, b):
        return tiles.where(abs(a) > abs(b), a, b)

    @tile_kernel(plan=plan)
    def folded(X, rows, columns, every, runs, back):
        x = tiles.load(X, (0, 0), (8, 32))
        tiles.store(rows, (0, 0), tiles.reduce(x, 1, larger, 0, keepdims=True))
        tiles.store(columns, (0,), tiles.reduce(x, 0, lambda a, b: a + b, 0))
        tiles.store(every, (0,), tiles.reduce(x, None, tiles.maximum, -100))
        tiles.store(runs, (0, 0), tiles.scan(x, axis=1, func=larger, identity=0))
        tiles.store(back, (0, 0), tiles.scan(x, 0, lambda a, b: a + b, 0, reverse=True))

    X = RANDOM.permutation(np.arange(256) - 100).reshape(8, 32).astype(dtype)
    X[X < 0] -= np.asarray(200, dtype)  # no two of one size
    rows, columns, every = np.zeros((8, 1), dtype), np.zeros(32, dtype), np.zeros(1, dtype)
    runs, back = np.zeros_like(X), np.zeros_like(X)
    folded[1, 1](X, rows, columns, every, runs, back)

    def largest(row):
        return row[np.argmax(abs(row))]

    assert np.array_equal(rows[:, 0], [largest(r) for r in X])
    close(columns, X.astype("d").sum(0), 1e-3)
    assert every[0] == X.max()
    assert np.array_equal(runs, [[largest(r[: i + 1]) for i in range(32)] for r in X])
    close(back, X[::-1].astype("d").cumsum(0)[::-1], 2e-3)


def test_what_folds_may_not():
    def two(a, b):
        c = a + b
        return c

    bodies = (
        ("tiles.reduce(x, 0, lambda a: a, 0)", "a function of two numbers"),
        ("tiles.reduce(x, 0, two, 0)", "is one expression"),
        ("tiles.scan(x, None, lambda a, b: a, 0)", "runs along one axis"),
        ("tiles.reduce(x, 0, 3, 0)", "a function of two numbers, found"),
        ("tiles.reduce(3, 0, two, 0)", "takes a tile, found one number"),
    )
    for text, sentence in bodies:
        names = {"tiles": tiles, "two": two}
        made = f"def fold(X):\n    x = tiles.load(X, (0,), (8,))\n    tiles.store(X, (0,), {text})\n"
        with pytest.raises(SyntaxError, match=sentence):
            written(made, names)[1, 1](np.zeros(8))


def written(text, names):
    """The last function of a source, as a tile kernel."""
    import linecache

    file = f"<tiles {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = dict(names)
    exec(compile(text, file, "exec"), space)
    return tiles.tile_kernel([f for f in space.values() if getattr(f, "__code__", None)][-1])


@both_plans
def test_lengths_by_names(plan):
    """A length that a constant gives through variables of the kernel."""

    @tile_kernel(plan=plan)
    def lengths(X, out, n: tiles.Constant[int]):
        half = n // 2
        pairs = (half, n // half)
        x = tiles.load(X, (0,), (n,)).reshape(pairs)
        tiles.store(out, (0, 0), tiles.broadcast_to(tiles.sum(x, axis=1, keepdims=True), pairs))

    X, out = RANDOM.random(16), np.zeros((8, 2))
    lengths[1, 1](X, out, 16)
    close(out, X.reshape(8, 2).sum(1, keepdims=True).repeat(2, 1), 1e-14)


@both_plans
def test_atomics_on_tiles(plan):
    operations = {
        "add": np.add,
        "max": np.maximum,
        "min": np.minimum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }

    @tile_kernel(plan=plan)
    def counted(A, X, places, op: tiles.Constant[str]):
        x, at = tiles.load(X, (tiles.bid(0),), (16,)), tiles.load(places, (tiles.bid(0),), (16,), padding=-1)
        if op == "add":
            tiles.atomic_add(A, at, x, mask=at >= 0)
        elif op == "max":
            tiles.atomic_max(A, at, x, mask=at >= 0)
        elif op == "min":
            tiles.atomic_min(A, at, x, mask=at >= 0)
        elif op == "and":
            tiles.atomic_and(A, at, x, mask=at >= 0)
        elif op == "or":
            tiles.atomic_or(A, at, x, mask=at >= 0)
        else:
            tiles.atomic_xor(A, at, x, mask=at >= 0)

    X, places = RANDOM.integers(0, 100, 50).astype(np.int32), RANDOM.integers(0, 5, 50).astype(np.int32)
    for name, ufunc in operations.items():
        A = RANDOM.integers(0, 100, 5).astype(np.int32)
        wanted = A.copy()
        ufunc.at(wanted, places, X)
        tiles.launch(None, 4, counted, (A, X, places, name))
        assert np.array_equal(A, wanted), name


@both_plans
def test_exchanged_values_come_back(plan):
    @tile_kernel(plan=plan)
    def exchanged(A, old):
        x = tiles.arange(8, dtype=tiles.int32)
        tiles.store(old, (0,), tiles.atomic_xchg(A, x, x * 10))

    A, old = np.arange(100, 108, dtype=np.int32), np.zeros(8, np.int32)
    exchanged[1, 1](A, old)
    assert np.array_equal(old, np.arange(100, 108)) and np.array_equal(A, np.arange(8) * 10)


@both_plans
def test_a_while_loop_carries_tiles(plan):
    """Newton's square root until all elements stand still; the test is of the carried tile."""

    @tile_kernel(plan=plan)
    def roots(X, out, turns):
        x = tiles.load(X, (0,), (16,))
        y, n = x, 0
        while tiles.max(abs(y * y - x)) > 1e-12 * tiles.max(x) and n < 100:
            y, n = (y + x / y) / 2, n + 1
        tiles.store(out, (0,), y)
        tiles.store(turns, (0,), n)

    X, out, turns = RANDOM.uniform(1, 9, 16), np.zeros(16), np.zeros(1, np.int64)
    roots[1, 1](X, out, turns)
    close(out, np.sqrt(X), 1e-12)
    assert 3 < turns[0] < 100

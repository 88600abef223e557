"""Random programs of statements over arrays, views and in-place writes: the device's and NumPy's arrays agree in the end."""

import os

import numpy
import xcuda.numeric as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

DTYPES = ["float64", "float32", "int64", "int32", "bool"]
SHAPES = [(6,), (4, 6), (3, 1), (1, 6), (2, 4, 6), ()]
# More than the usual number looks for new ones.
PROGRAMS = int(os.environ.get("XCUDA_PROGRAMS", "60"))


class Pair:
    """The same array on both sides."""

    def __init__(self, ours, theirs):
        self.ours, self.theirs = ours, theirs


def fresh(draw):
    shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(DTYPES))
    rng = numpy.random.default_rng(draw(st.integers(0, 50)))
    host = rng.integers(-4, 5, shape).astype(dtype)
    if draw(st.booleans()):
        host = numpy.asarray(host, order="F")
    return Pair(np.array(host), host.copy(order="K"))


def view_key(draw, shape):
    key = []
    for n in shape:
        kind = draw(st.integers(0, 4))
        if kind == 0 and n > 1:
            key.append(slice(draw(st.integers(0, n - 1)), None, draw(st.sampled_from([1, 2, -1]))))
        elif kind == 1:
            key.append(draw(st.integers(-n, n - 1)))
        elif kind == 2:
            key.append(slice(None, None, -1))
        else:
            key.append(slice(None))
    if draw(st.integers(0, 5)) == 0:
        key.insert(draw(st.integers(0, len(key))), None)
    return tuple(key)


def both(function, *pairs):
    """Runs it on either side: a new pair, or nothing where NumPy raises (and ours raises the same)."""
    with numpy.errstate(all="ignore"):
        try:
            theirs = function(numpy, *(p.theirs for p in pairs))
        except (ValueError, TypeError, IndexError) as error:
            try:
                function(np, *(p.ours for p in pairs))
            except type(error):
                return None
            raise AssertionError(f"NumPy raises {error!r}, ours does not") from error
        ours = function(np, *(p.ours for p in pairs))
    return Pair(ours, theirs)


def binary(name):
    return lambda m, a, b: getattr(m, name)(a, b)


BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "less", "equal", "logical_or", "divide"]
UNARY = [
    lambda m, a: -a, lambda m, a: abs(a), lambda m, a: a * 2 + 1, lambda m, a: m.sqrt(abs(a)), lambda m, a: a.T,
    lambda m, a: a.astype("float32"), lambda m, a: a.astype("int64"), lambda m, a: a.reshape(-1),
    lambda m, a: a.sum(), lambda m, a: a.sum(0), lambda m, a: a.max(-1, keepdims=True), lambda m, a: a.mean(),
    lambda m, a: m.where(a > 0, a, 0), lambda m, a: a.copy(), lambda m, a: m.square(a), lambda m, a: a[..., None],
]  # fmt: skip


def statement(draw, env):
    kind = draw(st.integers(0, 8))
    a = draw(st.sampled_from(env))
    if kind == 0:
        env.append(fresh(draw))
    elif kind == 1:
        b = draw(st.sampled_from(env))
        env.append(both(binary(draw(st.sampled_from(BINARY))), a, b))
    elif kind == 2:
        env.append(both(draw(st.sampled_from(UNARY)), a))
    elif kind == 3:
        key = view_key(draw, a.theirs.shape)
        if any(isinstance(k, slice) for k in key):
            env.append(both(lambda m, x: x[key], a))
    elif kind == 4:
        key, b = view_key(draw, a.theirs.shape), draw(st.sampled_from(env))

        def write(m, x, y):
            x[key] = y

        if a.theirs.flags.writeable:
            both(write, a, b)
    elif kind == 5:
        key, number = view_key(draw, a.theirs.shape), draw(st.sampled_from([0, 1, -2, 2.5, True]))

        def put(m, x):
            x[key] = number

        if not isinstance(a.theirs, numpy.generic):
            both(put, a)
    elif kind == 6:
        b = draw(st.sampled_from(env))
        op = draw(st.sampled_from(["__iadd__", "__imul__", "__isub__"]))
        if not isinstance(a.theirs, numpy.generic):
            both(lambda m, x, y: getattr(x, op)(y), a, b)
    elif kind == 7 and len(env) > 2:
        env.remove(a)
    elif kind == 8:
        check(a)
    env[:] = [p for p in env if p is not None]


def check(pair):
    ours, theirs = pair.ours.get(), numpy.asarray(pair.theirs)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    tolerance = 1e-5 if theirs.dtype == "float32" else 1e-12
    numpy.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@settings(
    max_examples=PROGRAMS,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=PROGRAMS <= 60,
)
@given(st.data())
def test_programs(data):
    env = [fresh(data.draw) for _ in range(2)]
    for _ in range(data.draw(st.integers(5, 30))):
        statement(data.draw, env)
    for pair in env:
        check(pair)

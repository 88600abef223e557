"""Arguments that are no arrays or numbers: None, tuples, NamedTuples, dataclasses, strings, dtypes, functions, enums."""

import asyncio
import dataclasses
import enum
import math
from typing import NamedTuple

import numpy as np
import pytest
from frontend_source import make
from xcuda import core
from xcuda.core import signatures
from xcuda.core.errors import KernelSyntaxError


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Grid:
    values: np.ndarray
    scale: float = 1.0
    origin: Point = Point(0, 0)


class Mode(enum.Enum):
    ADD = "add"
    MUL = "mul"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


def once(function, *args, **named):
    core.kernel(function)[1, 1](*args, **named)


def test_none_and_optional_arrays():
    @core.kernel
    def f(o, a=None, scale=None):
        i = core.grid(1)
        if i < len(o):
            o[i] = i
            if a is not None and a[i] > 0:
                o[i] += a[i]
            if scale is not None:
                o[i] *= scale
            o[i] += 0 if a is None else 100

    n, a = 1000, np.arange(1000) % 7 - 3
    for args, want in [
        ((), np.arange(n)),
        ((None,), np.arange(n)),
        ((a,), np.arange(n) + np.maximum(a, 0) + 100),
        ((a, 2), (np.arange(n) + np.maximum(a, 0)) * 2 + 100),
        ((None, 3), np.arange(n) * 3),
    ]:
        o = np.zeros(n, int)
        f[4, 256](o, *args)
        np.testing.assert_array_equal(o, want)
    o = np.zeros(n, int)
    f[4, 256](o, scale=5)
    np.testing.assert_array_equal(o, np.arange(n) * 5)


def test_tuples_of_numbers_and_arrays():
    def f(o, t, arrays):
        x, (y, z) = t
        o[0] = x * 100 + y * 10 + z
        for k, a in enumerate(arrays):
            o[k + 1] = a[1] + len(arrays)
        arrays[0][0] = t[0]

    o, a, b = np.zeros(3, int), np.arange(4), np.arange(4.0) + 5
    once(f, o, (1, (2, 3)), (a, b))
    assert o.tolist() == [123, 3, 8]
    assert a[0] == 1


def test_named_tuples_and_dataclasses():
    def f(o, p, g):
        o[0] = p.x + p[1] * 2
        x, y = p
        o[1] = x * y
        o[2] = g.values[1] * g.scale + g.origin.y
        o[3] = len(p)
        g.values[0] = g.origin.x

    o, g = np.zeros(4), Grid(np.arange(5.0), 3, Point(7, 0.5))
    once(f, o, Point(2, 5.5), g)
    assert o.tolist() == [13, 11, 3.5, 2]
    assert g.values[0] == 7


def test_structs_reach_helpers():
    text = """
    def norm(p): return p.x * p.x + p.y * p.y
    def scaled(g, i): return g.values[i] * g.scale + norm(g.origin)
    def f(o, g):
        i = cuda.grid(1)
        if i < o.size:
            h = g
            o[i] = scaled(h, i)
    """
    a, o = np.random.default_rng(0).normal(size=777), np.zeros(777)
    core.kernel(make(text, name="f"))[4, 256](o, Grid(a, 2.0, Point(3, 4)))
    np.testing.assert_allclose(o, a * 2 + 25)


@dataclasses.dataclass
class Pair:
    a: int
    b: int = 4


def test_structs_made_in_kernels():
    text = """
    def plus(p, q): return Point(p.x + q.x, p.y + q.y)
    def scaled(p, k=2): return Point(y=p.y * k, x=p.x * k)
    def f(o, p):
        q = Point(1.0, 2.0)
        for i in range(3):
            q = plus(q, scaled(p))
        o[0], o[1] = q
        o[2] = q.x * 100 + q.y
        r = Pair(3)
        s = Pair(b=7, a=r.b)
        o[3] = r.a * 1000 + r.b * 100 + s.a * 10 + s.b
        best = q if q.x > 100 else Point(5.0, 6.0)
        o[4] = best.x * 10 + best.y
    """
    o = np.zeros(5)
    core.kernel(make(text, name="f", Point=Point, Pair=Pair))[1, 1](o, Point(2.0, 0.5))
    assert o.tolist() == [13, 5, 1305, 3447, 56]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("q = Point(1)", "Point() needs its argument 'y'"),
        ("q = Point(1, 2, 3)", "Point() takes 2 arguments, found 3"),
        ("q = Point(1, z=2)", "Point() has no argument 'z'"),
        ("o[0] = Point", "'Point' is a class, not a number"),
        ("q = Own(1)", "'Own' is a class: objects can't live"),
    ],
)
def test_refusals_of_structs_made_in_kernels(body, words):
    own = type("Own", (), {"__init__": lambda self, x: None})
    with pytest.raises(KernelSyntaxError) as caught:
        once(make(f"def f(o):\n    {body}\n", Point=Point, Own=own), np.zeros(1))
    assert words in caught.value.found


def test_strings_dtypes_and_enums_are_constants():
    namespace = {"Mode": Mode, "Level": Level}
    text = """
    def f(o, how, dtype, mode, level):
        if how == "sum":
            o[0] = 1
        elif how == "prod":
            o[0] = 2
        t = cuda.local.array(2, dtype)
        t[0] = 100 + level * 0
        o[1] = t[0]
        if mode is Mode.ADD:
            o[2] = 10
        if mode == Mode.MUL:
            o[2] = 20
        o[3] = level + (1 if level == Level.HIGH else 0)
        if dtype == np.float32:
            o[0] += 0.5
    """
    f = core.kernel(make(text, name="f", **namespace))
    for args, want in [
        (("sum", np.uint8, Mode.ADD, Level.LOW), [1, 100, 10, 1]),
        (("prod", np.float32, Mode.MUL, Level.HIGH), [2.5, 100, 20, 6]),
        (("none", np.dtype("int16"), Mode.ADD, 5), [0, 100, 10, 6]),
        (("sum", np.uint8, Mode.MUL, Level.LOW), [1, 100, 20, 1]),
    ]:
        o = np.zeros(4)
        f[1, 1](o, *args)
        assert o.tolist() == want


class Ratio(float, enum.Enum):
    HALF = 0.5
    TWICE = 2.0


class Rights(enum.IntFlag):
    READ = 1
    WRITE = 2


def test_members_that_are_numbers_have_a_value_and_a_name():
    @core.kernel
    def f(o, level, ratio, a, levels):
        i = core.grid(1)
        if i < a.size:
            o[i] = level * a[i] + level.value * ratio + ratio.value + len(level.name) + levels[1].value
            if level is Level.HIGH and level.name == "HIGH":
                o[i] += a[level]

    a = np.arange(8.0)
    for level, ratio in ((Level.LOW, Ratio.HALF), (Level.HIGH, Ratio.TWICE), (Level.HIGH, Ratio.HALF)):
        o = np.zeros(8)
        f[1, 8](o, level, ratio, a, (Level.LOW, Level.HIGH))
        want = level * a + level * ratio + ratio.value + len(level.name) + 5 + (5 if level == 5 else 0)
        np.testing.assert_array_equal(o, want)


def test_a_member_is_an_int_like_another():
    @core.kernel
    def f(o, a, n):
        n += 1
        for i in range(n):
            o[0] += a[i] * n

    for dtype in ("float32", "float64", "int8"):
        a, o, plain = np.arange(9).astype(dtype), np.zeros(1, dtype), np.zeros(1, dtype)
        f[1, 1](o, a, Level.HIGH)
        f[1, 1](plain, a, 5)
        assert o == plain
    with pytest.raises(IndexError, match="index 3 is out of range"):
        f[1, 1](np.zeros(1), np.zeros(3), Level.HIGH)
    with pytest.raises(KernelSyntaxError, match="a Python int has no 'value'"):
        core.kernel(make("def f(o, n):\n    o[0] = n.value\n"))[1, 1](np.zeros(1), 5)


def test_flags_stay_numbers():
    @core.kernel
    def f(o, rights):
        o[0] = rights & Rights.READ
        o[1] = (rights & Rights.WRITE) // 2

    for rights in (Rights.READ, Rights.READ | Rights.WRITE, Rights(0)):
        o = np.zeros(2)
        f[1, 1](o, rights)
        assert o.tolist() == [Rights.READ in rights, Rights.WRITE in rights]
    assert "1 compiled version" in repr(f)


def test_functions_as_arguments():
    @core.kernel
    def apply(o, a, f, g=None):
        i = core.grid(1)
        if i < a.size:
            o[i] = f(a[i])
            if g is not None:
                o[i] = g(o[i], 2)

    a, o = np.linspace(-2, 2, 501), np.zeros(501)

    def cube(x):
        return x * x * x

    apply[2, 256](o, a, cube)
    np.testing.assert_allclose(o, a**3)
    apply[2, 256](o, a, lambda x: x + 1)
    np.testing.assert_allclose(o, a + 1)
    apply[2, 256](o, a, cube, g=lambda x, n: x * n)
    np.testing.assert_allclose(o, 2 * a**3)
    apply[2, 256](o, a, cube)
    np.testing.assert_allclose(o, a**3)
    apply[2, 256](o, a, math.sin, np.maximum)
    np.testing.assert_allclose(o, np.maximum(np.sin(a), 2))


def test_a_factory_called_with_another_helper():
    """CASES 23: a kernel made twice by one factory runs each time with its own helper; a changed global is seen."""

    def factory(helper):
        @core.kernel
        def k(o):
            o[0] = helper(1)

        return k

    o = np.zeros(1, int)
    for helper, want in [(lambda x: x, 1), (lambda x: x + 1, 2)]:
        factory(helper)[1, 1](o)
        assert o[0] == want


def test_variants_are_compiled_once_and_bounded():
    @core.kernel
    def f(o, word):
        o[0] = 1 if word == "a" else 2

    o = np.zeros(1, int)
    for _ in range(3):
        f[1, 1](o, "a")
        assert o[0] == 1
        f[1, 1](o, "b")
        assert o[0] == 2
    assert len(f.variants) == 2
    assert len(f.specialisations) == 2
    f[1, 1](o, word="a")
    assert len(f.variants) == 2 and o[0] == 1


def test_a_changed_global_recompiles_a_variant():
    f = core.kernel(make("k = 5\ndef f(o, t):\n    o[0] = k + t[0]\n", name="f"))
    o = np.zeros(1, int)
    f[1, 1](o, (1,))
    f.py_func.__globals__["k"] = 10
    f[1, 1](o, (1,))
    assert o[0] == 11


def test_errors_name_the_part():
    def f(o, g):
        i = core.grid(1)
        o[0] = g.values[i]

    with pytest.raises(IndexError, match=r"index 5 is out of range for axis 0 of g.values with shape \(5,\)"):
        core.kernel(f)[1, 8](np.zeros(1), Grid(np.arange(5.0)))
    frozen = np.arange(5.0)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="'t\\[0\\]' is read-only"):
        once(make("def f(t):\n    t[0][0] = 1\n"), (frozen,))
    with pytest.raises(TypeError, match=r"'t\[1\]' is a list"):
        once(make("def f(t):\n    t[0][0] = 1\n"), (frozen, [1]))


def test_automatic_launch_and_async():
    f = make("def f(o, p):\n    i = cuda.grid(1)\n    if i < o.shape[0]:\n        o[i] = i * p.x\n")
    o = np.zeros(1000)
    core.kernel(f)(o, Point(2, 0))
    np.testing.assert_array_equal(o, np.arange(1000) * 2)

    async def go():
        q = np.zeros(1000)
        return await core.kernel(f).async_call(q, Point(3, 0)), q

    result, q = asyncio.run(go())
    assert result is q
    np.testing.assert_array_equal(q, np.arange(1000) * 3)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("o[0] = p.weight", "Point has no 'weight'; it has x, y"),
        ("p.x = 3", "attributes can't be assigned"),
        ("o[0] = g[0]", "Grid is no sequence"),
        ("x, y, z = g", "Grid is no sequence"),
        ("o[0] = g.valeus[0]", "did you mean 'values'"),
        ("o[0] = p", "expected a number, found a tuple of 2"),
    ],
)
def test_refusals(body, words):
    f = make(f"def f(o, p, g):\n    {body}\n")
    with pytest.raises(KernelSyntaxError, match=words):
        once(f, np.zeros(1), Point(1, 2), Grid(np.zeros(3)))


def test_what_no_kernel_takes():
    with pytest.raises(TypeError, match=r"'a' is a dict"):
        once(make("def f(a):\n    pass\n"), {})
    with pytest.raises(TypeError, match=r"'a' is a list.*numpy.asarray"):
        once(make("def f(a):\n    pass\n"), [1])


@core.kernel
def permuted(x, order=None, change=None):
    i = core.grid(1)
    if i < x.shape[0]:
        y = x[i] if order is None else x[order[i]]
        x[i] = y if change is None else change(y)


def test_versions_are_compiled_for_arguments_that_are_none():
    for x in (np.zeros(8, np.float32), "float32[::1]", core.float32[::1]):
        made = permuted.compile((x, None, None))
        assert "order" not in made["text"] and made["signature"] == "(float32[::1])"
        assert "order" in permuted.compile((x, "int64[::1]", None))["text"]
        assert permuted.compile((x, None, lambda y: y * 3))["text"] != made["text"]
    assert len(permuted.about.variants) == 2 + 3  # each lambda is a function of its own


def test_none_alone_is_no_type():
    with pytest.raises(TypeError, match=r"None is no argument type; k.compile\(\(x, None\)\)"):
        signatures.types_from(("float32[::1]", None))

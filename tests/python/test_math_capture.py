"""nvmath.jit: what is captured and how often, what is read at each call, what is refused and in which words."""

import math
import warnings
from collections import namedtuple

import numpy as np
import pytest
import xcuda.math as nvmath
from xcuda import core as cuda
from xcuda import numeric as xnp

X = np.linspace(0.1, 2, 12)


def test_lengths_are_no_reason_to_capture_again():
    f = nvmath.jit(lambda x, y: nvmath.sqrt(x) + y)
    for n in (3, 5, 7):
        np.testing.assert_array_equal(f(X[:n], X[:n]), np.sqrt(X[:n]) + X[:n])
    assert f.captures == 1
    np.testing.assert_array_equal(f(X[:3].reshape(3, 1), X[:4]), np.sqrt(X[:3, None]) + X[:4])  # another rank
    f(X.astype("float32"), X.astype("float32"))
    assert f.captures == 3


def test_results_are_where_the_arrays_are():
    f = nvmath.jit(lambda x: (x * 2, {"total": x.sum()}))
    doubled, more = f(X)
    assert type(doubled) is np.ndarray and type(more["total"]) is np.float64
    assert isinstance(f(xnp.asarray(X))[0], xnp.ndarray)
    device = cuda.to_device(X)
    assert isinstance(f(device)[0], cuda.DeviceArray)
    np.testing.assert_array_equal(f(device)[0].copy_to_host(), X * 2)
    mixed = nvmath.jit(lambda x, y: x + y)
    assert isinstance(mixed(xnp.asarray(X), X), xnp.ndarray)


def test_trees_in_and_out():
    Pair = namedtuple("Pair", "left right")
    f = nvmath.jit(
        lambda params, pair: Pair(params["w"] * pair.left, [pair.right + params["b"][0], None, "kept", 3])
    )
    made = f({"w": X, "b": [1.5]}, Pair(X, X))
    assert type(made) is Pair and made.right[1:] == [None, "kept", 3]
    np.testing.assert_array_equal(made.left, X * X)
    np.testing.assert_array_equal(made.right[0], X + 1.5)


def test_numbers_differ_from_call_to_call_without_a_capture():
    f = nvmath.jit(lambda x, a, n: a * x + math.sqrt(a) / n)
    for a, n in ((2.0, 3), (0.5, 4)):
        np.testing.assert_allclose(f(X, a, n), a * X + math.sqrt(a) / n, rtol=1e-15)
    assert f.captures == 1
    assert f(X.astype("float32"), 2.0, 3).dtype == np.float32  # Python's numbers are weak


def test_a_number_that_decides_is_a_constant_of_its_capture():
    @nvmath.jit
    def f(x, n, kind):
        total = x
        for _ in range(n):
            total = total * x
        return total if kind == "plain" else -total

    np.testing.assert_allclose(f(X, 2, "plain"), X**3, rtol=1e-15)
    np.testing.assert_allclose(f(X, 3, "plain"), X**4, rtol=1e-15)
    np.testing.assert_allclose(f(X, 3, "turned"), -(X**4), rtol=1e-15)
    before = f.captures
    f(X, 2, "plain")
    assert f.captures == before == 3


@pytest.mark.filterwarnings("ignore::xcuda.numeric.FallbackWarning")
def test_shapes_can_be_computed_with_and_looked_at():
    f = nvmath.jit(lambda x: x.sum() / x.shape[0] + x.size)
    assert f(X) == X.sum() / 12 + 12 and f(X[:5]) == X[:5].sum() / 5 + 5
    assert f.captures == 1

    @nvmath.jit
    def rows(x):
        m, n = x.shape
        return x.reshape(n, m) if m > n else nvmath.stack([row * 2 for row in x])

    np.testing.assert_array_equal(rows(X.reshape(4, 3)), X.reshape(3, 4))
    np.testing.assert_array_equal(rows(X.reshape(3, 4)), X.reshape(3, 4) * 2)


SCALE = 2.0
TABLE = {"w": X}


def helper(x):
    return nvmath.exp(x) * SCALE


def test_other_functions_are_part_of_it():
    inner = nvmath.jit(lambda x: nvmath.sin(x) + 1)
    f = nvmath.jit(lambda x: inner(helper(x)) + np.cos(x) + xnp.tanh(x))
    np.testing.assert_allclose(f(X), np.sin(np.exp(X) * 2) + 1 + np.cos(X) + np.tanh(X), rtol=1e-13)
    assert len(f.explain(X).kernels) == 1


def test_globals_and_cells_are_read_at_each_call(monkeypatch):
    weight = X.copy()
    f = nvmath.jit(lambda x: helper(x) + weight + TABLE["w"])
    np.testing.assert_allclose(f(X), np.exp(X) * 2 + X + X, rtol=1e-13)
    weight[:] = 7  # contents
    np.testing.assert_allclose(f(X), np.exp(X) * 2 + 7 + X, rtol=1e-13)
    assert f.captures == 1
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    np.testing.assert_allclose(f(X), np.exp(X) * 3 + 7 + X, rtol=1e-13)
    monkeypatch.setitem(TABLE, "w", X * 10)
    np.testing.assert_allclose(f(X), np.exp(X) * 3 + 7 + X * 10, rtol=1e-13)
    weight = X  # the cell
    np.testing.assert_allclose(f(X), np.exp(X) * 3 + X + X * 10, rtol=1e-13)
    monkeypatch.setitem(globals(), "helper", lambda x: x)
    np.testing.assert_allclose(f(X), X + X + X * 10, rtol=1e-13)


def test_random_numbers_are_drawn_at_each_call():
    f = nvmath.jit(lambda x: x + nvmath.random.normal(0, 1, x.shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (f(X) != f(X)).all()


def test_an_array_made_inside_may_be_written():
    @nvmath.jit
    def f(x):
        y = nvmath.zeros(12)
        y[2:5] = x[2:5]
        y += 1
        z = x.copy()
        z[0] = 100.0
        z *= 2
        return y, z

    y, z = f(X)
    want = np.ones(12)
    want[2:5] += X[2:5]
    np.testing.assert_array_equal(y, want)
    assert z[0] == 200 and (z[1:] == X[1:] * 2).all()
    assert X[0] == 0.1


def test_an_argument_that_comes_back_is_itself():
    f = nvmath.jit(lambda x, y: (x, y + 1))
    assert f(X, X)[0] is X


def test_strided_and_other_inputs():
    f = nvmath.jit(lambda x: x * 2 + 1)
    for x in (
        X[::-1],
        X.reshape(3, 4).T,
        X.astype(">f8"),
        X[::3],
        X.astype("float16"),
        np.arange(5),
        X[:0],
        np.float64(3) * np.ones(()),
    ):
        np.testing.assert_allclose(f(x), x * 2 + 1, rtol=1e-3)
        assert np.asarray(f(x)).dtype == (x * 2 + 1).dtype


def test_every_way_to_call_numpy():
    f = nvmath.jit(
        lambda x, a: (
            np.hypot(np.where(x > 1, x, a), np.mean(x, axis=-1, keepdims=True)).clip(0, 2).T
            @ np.linalg.norm(x, axis=1)
        )
    )
    m = X.reshape(3, 4)
    want = np.hypot(np.where(m > 1, m, 0.5), np.mean(m, axis=-1, keepdims=True)).clip(
        0, 2
    ).T @ np.linalg.norm(m, axis=1)
    np.testing.assert_allclose(f(m, 0.5), want, rtol=1e-13)


def test_a_method_says_what_its_self_is():
    class Model:
        @nvmath.jit
        def scaled(self, x):
            return x * self.factor

    model = Model()
    model.factor = 2.0
    with pytest.raises(TypeError, match="was given a Model: a captured function takes arrays, numbers"):
        model.scaled(X)


def test_precision_fast_is_a_program_of_its_own():
    f = nvmath.jit(lambda x: x * x + x, precision="fast")
    np.testing.assert_allclose(f(X), X * X + X, rtol=1e-14)
    with pytest.raises(ValueError, match="precision is one of 'numpy', 'fast', not 'low'"):
        nvmath.jit(precision="low")


def test_only_what_is_asked_for_is_checked_for_nan():
    f = nvmath.jit(lambda x: nvmath.log(x))
    with np.errstate(all="ignore"):
        assert np.isnan(f(np.array([-1.0, 1.0]))[0])
    nvmath.config.check_finite = True
    try:
        with pytest.raises(FloatingPointError, match="1 of 2 elements of the result are nan or inf"):
            f(np.array([-1.0, 1.0]))
    finally:
        nvmath.config.check_finite = False


# -- refusals: (function, words of the message, what stands at the caret's line) ----------------------


def by_values(x):
    if x.sum() > 0:
        return x
    return -x


def by_loop(x):
    while x.max() > 1:
        x = x / 2
    return x


def by_chain(x):
    return x if 0 < x[0] < 1 else -x


def by_and(x):
    return (x > 0) and x


def to_float(x):
    return float(x[0]) + x


def to_item(x):
    return x * x.max().item()


def to_numpy(x):
    return np.linalg.norm(np.array([x, x]))


def masked(x):
    return x[x > 1]


def nonzeros(x):
    return nvmath.nonzero(x)


def in_place(x):
    x += 1
    return x


def item_of_argument(x):
    x[0] = 5
    return x


def through_view(x):
    y = x + 1
    z = y[1:]
    y[0] = 5
    return y, z


def out_given(x):
    return np.add(x, 1, out=x)


def numpy_random(x):
    return x + np.random.normal(size=3)


def seeded(x):
    nvmath.random.seed(3)
    return x


REFUSED = [
    (by_values, "this if is decided by the values of an array.*nvmath.where", "x.sum() > 0"),
    (by_loop, "this while is decided by the values.*fixed n", "x.max() > 1"),
    (by_chain, "this comparison chain is decided.*[(]a < b[)] & [(]b < c[)]", "0 < x[0] < 1"),
    (by_and, "this and/or is decided.*logical_and", "(x > 0) and x"),
    (to_float, "a Python number is made of an array's element", "float(x[0])"),
    (to_item, ".item asks for values.*outside of the function", "x.max().item"),
    (
        to_numpy,
        "a NumPy array is made of an array whose values are not known.*nvmath.stack",
        "np.array([x, x])",
    ),
    (masked, "how many elements a mask selects depends on its values.*nvmath.where", "x[x > 1]"),
    (nonzeros, "what nonzero[(][)] gives depends on the arrays' values", "nvmath.nonzero(x)"),
    (in_place, r"x \+= ... writes to an array that the function was given; write x = x.copy", "x += 1"),
    (item_of_argument, r"x\[...\] = ... writes to an array that the function was given", "x[0]"),
    (through_view, "writes to memory that two arrays share", "y[0]"),
    (out_given, "out= writes to an array.*return the result instead", "np.add(x, 1, out=x)"),
    (
        numpy_random,
        "draws once, when the function is captured.*nvmath.random.normal draws anew",
        "np.random.normal(size=3)",
    ),
    (seeded, "random.seed would happen when the function is captured", "nvmath.random.seed(3)"),
]


@pytest.mark.parametrize(("function", "words", "at"), REFUSED, ids=[r[0].__name__ for r in REFUSED])
def test_what_is_refused_is_told_at_its_line(function, words, at):
    with pytest.raises(nvmath.CaptureError, match=words) as told:
        nvmath.jit(function)(X[:3].copy())
    error = told.value
    assert error.filename == __file__
    first = function.__code__.co_firstlineno
    assert first <= error.lineno <= first + 6
    shown = error.text[error.offset - 1 : error.end_offset - 1]
    assert at in shown, (shown, error.text)


COUNT = 0
SEEN = []


def counts(x):
    global COUNT
    COUNT += 1
    return x


def collects(x):
    SEEN.append(x)
    return x


def sets_item(x):
    TABLE["last"] = x
    return x


def sets_attribute(x):
    math.last = x
    return x


SIDE_EFFECTS = [
    (counts, "writes the global 'COUNT'", "global COUNT"),
    (collects, r"SEEN.append\(...\) changes what is not the function's own", "SEEN.append(x)"),
    (sets_item, "writes an item of 'TABLE', which is not its own", 'TABLE["last"]'),
    (sets_attribute, "writes the attribute 'last' of 'math'", "math.last"),
]


@pytest.mark.parametrize(("function", "words", "at"), SIDE_EFFECTS, ids=[r[0].__name__ for r in SIDE_EFFECTS])
def test_side_effects_are_told_at_their_line(function, words, at):
    with pytest.raises(nvmath.CaptureError, match=words + ".*captured, and not at each of its calls") as told:
        nvmath.jit(function)
    assert at in told.value.text[told.value.offset - 1 : told.value.end_offset - 1]
    with pytest.raises(nvmath.CaptureError, match=words):  # in a function that it calls, too
        nvmath.jit(lambda x: function(x) + 1)(X)
    assert COUNT == 0 and not SEEN and "last" not in TABLE


def test_a_list_that_is_given_may_not_be_changed():
    def f(items):
        items[0] = items[0] + 1
        return items[0]

    with pytest.raises(nvmath.CaptureError, match="the function changes an argument"):
        nvmath.jit(f)([X, X])


def test_print_is_told_and_happens_once(capsys):
    @nvmath.jit
    def f(x):
        print("x is", x)
        return x + 1

    with pytest.warns(nvmath.CaptureWarning, match=r"line \d+: print\(\) runs when the function is captured"):
        f(X)
    f(X)
    assert capsys.readouterr().out.count("x is <x: float64 (12,)>") == 1


def test_shape_and_dtype_faults_name_both_operands():
    f = nvmath.jit(lambda x, w: nvmath.sin(x) @ w)
    with pytest.raises(
        ValueError,
        match=r"matmul of sin\(x\) of shape \(3,4\) and float64 and w of shape \(3,4\) and float64: 4 columns don't meet 3 rows \(line \d+",
    ):
        f(X.reshape(3, 4), X.reshape(3, 4))
    g = nvmath.jit(lambda a, b: a + 2 * b)
    with pytest.raises(
        ValueError,
        match=r"add of a of shape \(3,\) and float64 and 2 \* b of shape \(4,\) and float64: their shapes don't broadcast",
    ):
        g(X[:3], X[:4])
    with pytest.raises(
        TypeError,
        match=r"bitwise_and of a of shape \(3,\) and float64 and b of shape \(3,\) and int64: no loop takes their dtypes",
    ):
        nvmath.jit(lambda a, b: a & b)(X[:3], np.arange(3))
    g(X[:3], X[:3])
    with pytest.raises(
        ValueError, match="could not be broadcast together with shapes"
    ) as told:  # a later call
        g(X[:3], X[:4])
    assert told.value.__notes__ == ["in <lambda>(a (3,) float64, b (4,) float64)"]


def test_arguments_of_other_kinds_are_refused():
    f = nvmath.jit(lambda x: x)
    with pytest.raises(TypeError, match="was given a object: a captured function takes arrays, numbers"):
        f(object())
    with pytest.raises(TypeError, match="device arrays hold no <U1"):
        f(np.array(["a"]))
    with pytest.raises(TypeError, match="takes a plain Python function, not a int"):
        nvmath.jit(3)


def test_errors_of_the_function_are_its_own():
    @nvmath.jit
    def f(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        f(X)
    assert (
        math.sin.__name__ == "sin" and type(math).__name__ == "module"
    )  # the watched modules are as they were
    assert print.__module__ == "builtins"


LATER = np.ones(12)
WEIGHTS = {"scale": np.ones(12), "parts": [np.ones(12)]}


def of_a_global(x):
    return (LATER * 2 + 1) @ x


def test_what_is_computed_of_arrays_from_outside_is_computed_at_each_call():
    held, defaulted = np.ones(12), np.ones(12)

    def f(x, w=defaulted):
        return (
            of_a_global(x),
            np.exp(held).sum() * x,
            (w + 1) * x,
            WEIGHTS["scale"] * 3 + WEIGHTS["parts"][0] * 2 + x,
        )

    jitted = nvmath.jit(f)
    for factor in (1, 2):
        for got, want in zip(jitted(X), f(X), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-13)
        for each in (LATER, held, defaulted, WEIGHTS["scale"], WEIGHTS["parts"][0]):
            each *= factor + 1
    for got, want in zip(jitted(X), f(X), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)
    assert jitted.captures == 1


def scaled_by_settings(x):
    return x * settings.factor + settings.bias


def test_attributes_of_the_users_modules_are_read_at_each_call(monkeypatch):
    import types

    settings = types.ModuleType("settings")
    settings.factor, settings.bias = 2.0, np.ones(12)
    monkeypatch.setitem(globals(), "settings", settings)
    f = nvmath.jit(scaled_by_settings)
    inner = nvmath.jit(lambda x: x * settings.factor)  # the module in a cell
    np.testing.assert_allclose(inner(X), X * 2)
    np.testing.assert_allclose(f(X), X * 2 + 1)
    settings.factor = 3.0
    np.testing.assert_allclose(f(X), X * 3 + 1)
    np.testing.assert_allclose(inner(X), X * 3)
    settings.bias = X
    np.testing.assert_allclose(f(X), X * 3 + X)


def test_copies_are_copies():
    @nvmath.jit
    def f(x):
        y, z, u = x.astype(float), np.copy(x), nvmath.array(x)
        y[0], z[1], u[2] = 7.0, 8.0, 9.0
        return y, z, u, x * 1

    y, z, u, same = f(X)
    assert (y[0], z[1], u[2]) == (7, 8, 9)
    np.testing.assert_array_equal(same, X)
    assert y[1] == X[1] and z[0] == X[0] and X[0] == 0.1


@pytest.mark.parametrize(
    "view",
    [
        lambda x: np.reshape(x, (3, 4)),
        lambda x: np.split(x, 3)[0],
        lambda x: np.flip(x),
        lambda x: x.T,
        lambda x: np.ravel(x),
    ],
)
def test_a_view_may_not_be_written_in_either_direction(view):
    def through(x):
        y = x + 1
        v = view(y)
        v[0] = 1.0
        return y, v

    def under(x):
        y = x + 1
        v = view(y)
        y[0] = 1.0
        return y, v

    for f in (through, under):
        with pytest.raises(
            nvmath.CaptureError, match="writes to memory that two arrays share; write x = x.copy"
        ):
            nvmath.jit(f)(X)


def test_threads_may_call_and_capture_at_once():
    import threading

    f = nvmath.jit(lambda x, n: sum(nvmath.sin(x) * i for i in range(n)))
    wrong = []

    def work(n):
        for _ in range(3):
            if not np.allclose(f(X, n), sum(np.sin(X) * i for i in range(n))) or math.sin(0.5) != np.sin(0.5):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(2, 8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong and type(math).__name__ == "module"

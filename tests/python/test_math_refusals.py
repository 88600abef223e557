"""What nvmath.jit refuses, in which words and at which place; errors name the operands."""

import math
import time
from time import sleep

import numpy as np
import pytest
import xcuda.math as nvmath

X = np.linspace(0.1, 2, 12)
TABLE = {"w": X}


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


def asserted(x):
    assert (x > -1).all(), "negative"
    return x


def greatest(x):
    return max(x[0], x[1])


def least_of_rows(x):
    return min(a * 2 for a in x)


def any_of(x):
    return any(x > 1)


def in_order(x):
    return sorted(x)


REFUSED = [
    (asserted, "this assert is decided.*outside of the function", "(x > -1).all()"),
    (greatest, r"this max\(\) is decided.*nvmath.maximum", "max(x[0], x[1])"),
    (least_of_rows, r"this min\(\) is decided.*nvmath.minimum", "min(a * 2 for a in x)"),
    (any_of, r"this any\(\) is decided.*nvmath.any", "any(x > 1)"),
    (in_order, r"this sorted\(\) is decided.*nvmath.sort", "sorted(x)"),
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


def of_a_file(x):
    return x * len(open(__file__).read())


def of_the_clock(x):
    return x * time.perf_counter()


def waits(x):
    sleep(0.1)
    return x


def asks(x):
    return x * float(input())


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (of_a_file, r"open\(\) opens a file: it would happen when the function is captured.*as an argument"),
        (of_the_clock, r"time.perf_counter\(\) reads or waits for a clock.*pass the time"),
        (waits, r"sleep\(\) reads or waits for a clock"),
        (asks, r"input\(\) asks for input"),
    ],
)
def test_what_reads_the_world_is_refused_at_the_decorator(function, words):
    with pytest.raises(nvmath.CaptureError, match=words) as told:
        nvmath.jit(function)
    assert told.value.filename == __file__
    assert 0 < told.value.lineno - function.__code__.co_firstlineno < 3


def test_a_name_of_ones_own_is_no_clock():
    def open(x):
        return x + 1

    class time:
        @staticmethod
        def sleep(x):
            return x * 2

    def both(x):
        return open(x) + time.sleep(x)

    np.testing.assert_array_equal(nvmath.jit(both)(X), X + 1 + X * 2)


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
        ValueError, match=r"add of a of shape \(3,\) and float64 and 2 \* b of shape \(4,\) and float64"
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

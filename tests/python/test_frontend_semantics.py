"""Kernels give Python's and NumPy's values: the cases that peers got wrong, and every operator on every dtype."""

import itertools
import re

import numpy as np
import pytest
from frontend_source import ir, make, run

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
PYTHON = {"weak int64": 3, "weak float64": 2.5, "weak bool": True}
OPERATORS = "+ - * / // % & | ^ << >> < <= == !=".split()


def samples(dtype, count=200, seed=1):
    rng = np.random.default_rng(seed)
    d = np.dtype(dtype)
    if d.kind == "b":
        return rng.random(count) < 0.5
    if d.kind == "f":
        return (rng.normal(size=count) * 50).astype(d)
    limits = np.iinfo(d)
    wide = rng.integers(limits.min, limits.max, count, dtype=d, endpoint=True)
    small = rng.integers(max(limits.min, -9), 9, count).astype(d)
    return np.where(rng.random(count) < 0.5, wide, small)


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_type_of_every_operator_is_numpys(operator):
    wrong = []
    for a, b in itertools.product(DTYPES + list(PYTHON), repeat=2):
        x, y = (PYTHON[t] if t in PYTHON else np.dtype(t).type(1) for t in (a, b))
        try:
            with np.errstate(all="ignore"):
                value = eval(f"x {operator} y")
        except TypeError:
            value = None
        if value is None:
            want = "refused"
        elif isinstance(value, np.generic):
            want = value.dtype.name
        else:
            want = {int: "int64 (weak)", float: "float64 (weak)", bool: "bool (weak)"}[type(value)]
        try:
            text = ir(f"def f(a, b):\n    t = a {operator} b\n", f"{a}, {b}")
            got = re.search(r"var t: (.*)", text).group(1)
        except SyntaxError:
            got = "refused"
        if got != want:
            wrong.append((a, operator, b, "want", want, "got", got))
    assert not wrong


@pytest.mark.parametrize(
    ("a", "b"),
    [(t, t) for t in DTYPES[1:]]
    + [
        ("int8", "uint8"),
        ("int32", "float32"),
        ("int64", "uint64"),
        ("uint64", "int32"),
        ("float32", "float64"),
        ("int16", "float32"),
        ("uint32", "int64"),
        ("uint8", "float64"),
    ],
)
def test_the_value_of_every_operator_is_numpys(a, b):
    operators = ["+", "-", "*", "/", "//", "%", "<", "<=", "==", ">", ">=", "!="]
    lines = "".join(f"    o{i}[i] = a[i] {op} b[i]\n" for i, op in enumerate(operators))
    names = "".join(f", o{i}" for i in range(len(operators)))
    x, y = samples(a), samples(b, seed=2)
    y[y == 0] = 1
    with np.errstate(all="ignore"):
        wanted = [eval(f"x {op} y", {"x": x, "y": y}) for op in operators]
    outs = [np.zeros_like(w) for w in wanted]
    run(make(f"def f(a, b{names}):\n    i = cuda.grid(1)\n{lines}"), x, y, *outs, block=200)
    for op, want, got in zip(operators, wanted, outs, strict=True):
        np.testing.assert_array_equal(got, want, err_msg=f"{a} {op} {b}")


def test_signed_division_and_remainder():
    f = make("def f(a, b, q, r):\n    i = cuda.grid(1)\n    q[i] = a[i] // b[i]\n    r[i] = a[i] % b[i]\n")
    for dtype in ("int32", "int64", "float64"):
        a, b = np.array([-6, 6, -7, -7, 7, -1], dtype), np.array([5, -5, 3, 2, -2, 2], dtype)
        q, r = np.zeros_like(a), np.zeros_like(a)
        run(f, a, b, q, r, block=6)
        assert q.tolist() == [-2, -2, -3, -4, -4, -1]
        assert r.tolist() == [4, -4, 2, 1, -1, 1]
    a, b = np.array([-9, 9, -0.5, -1.0, 4]), np.array([2, -2, 2, 0.1, -2])
    q, r = np.zeros(5), np.zeros(5)
    run(f, a, b, q, r, block=5)
    assert r.tolist()[:3] == [1.0, -1.0, 1.5] and r[3] == 5.551115123125783e-17
    assert r[4] == 0 and np.signbit(r[4])
    a = np.array([-4.4, 5.6650004, 105.880005], np.float32)
    q, r = np.zeros(3, np.float32), np.zeros(3, np.float32)
    run(f, a, np.full(3, 0.1, np.float32), q, r, block=3)
    assert q.tolist() == [-45, 56, 1058]


def test_the_lowest_integer_by_minus_one():
    f = make("def f(a, q, r):\n    q[0] = a[0] // a[1]\n    r[0] = a[0] % a[1]\n")
    for dtype in ("int8", "int16", "int32", "int64"):
        low = np.iinfo(dtype).min
        q, r = np.zeros(1, dtype), np.ones(1, dtype)
        run(f, np.array([low, -1], dtype), q, r)
        assert q[0] == low and r[0] == 0


def test_shifts_stay_in_their_width():
    f = make("def f(a, n, l, r):\n    i = cuda.grid(1)\n    l[i] = a[i] << n[i]\n    r[i] = a[i] >> n[i]\n")
    for dtype in DTYPES[1:9]:
        a, n = samples(dtype), np.arange(200).astype(dtype) % 70
        left, right = np.zeros_like(a), np.zeros_like(a)
        run(f, a, n, left, right, block=200)
        np.testing.assert_array_equal(left, a << n, err_msg=dtype)
        np.testing.assert_array_equal(right, a >> n, err_msg=dtype)
    g = make("def g(a, o):\n    o[0] = (a[0] << 4) >> 4\n")
    out8, outu8 = np.zeros(1, np.int8), np.ones(1, np.uint8)
    run(g, np.array([8], np.int8), out8)
    run(g, np.array([48], np.uint8), outu8)
    assert out8[0] == -8 and outu8[0] == 0


def test_uint64_never_goes_through_float():
    out = np.zeros(4, np.uint64)
    f = make("""
        def f(a, o):
            o[0] = (a[0] + 5) * 2
            o[1] = a[1] * 1000
            val = 0
            val = ~a[2]
            o[2] = val
            if a[0] > -1 and a[0] > 5 and not a[0] < 0:
                o[3] = 1
    """)
    run(f, np.array([2**63, 10**15 + 234567, 2**64 - 1 - 17968697197503137375], np.uint64), out)
    assert out.tolist() == [10, 1000000000234567000, 17968697197503137375, 1]


def test_casts_out_of_range_are_numpys():
    values = [
        0,
        1.5,
        -1.5,
        255,
        256,
        300,
        -1,
        -129,
        3e9,
        -3e9,
        5e9,
        -1e10,
        9.3e18,
        -9.3e18,
        1.9e19,
        1e20,
        65536.7,
        np.nan,
        np.inf,
        -np.inf,
        -0.0,
        2147483648.0,
        -2147483649.0,
    ]
    for source, target in itertools.product(("float32", "float64"), DTYPES):
        a = np.array(values, source)
        out = np.zeros(len(a), target)
        run(make("def f(a, o):\n    i = cuda.grid(1)\n    o[i] = a[i]\n"), a, out, block=len(a))
        with np.errstate(all="ignore"):
            want = np.array([x.astype(target) for x in a])
        np.testing.assert_array_equal(out, want, err_msg=f"{source} to {target}")


def test_least_and_greatest_with_nan():
    f = make("""
        def f(x, o):
            n = x[0]
            o[0] = max(1, n)
            o[1] = max(n, 2)
            o[2] = min(-1, n)
            o[3] = np.maximum(n, 1)
            o[4] = np.fmax(n, 1)
            o[5] = np.minimum(1, n)
            o[6] = np.fmin(1, n)
            o[7] = np.clip(2.0, 6, 3)
            o[8] = max((n, 3, 5), 2)[0] if False else max((4, 3, 5))
    """)
    out = np.zeros(9)
    run(f, np.array([np.nan]), out)
    np.testing.assert_array_equal(out, [1, np.nan, -1, np.nan, 1, np.nan, 1, 3, 5])


def test_powers():
    f = make("""
        def f(x, o, k):
            o[0] = 2**-2
            o[1] = int(pow(3, 1))
            o[2] = math.pow(-1.0, 2.0)
            o[3] = x[0] ** 2
            o[4] = x[0] ** 3
            o[5] = x[0] ** -1
            o[6] = x[0] ** 0.5
            o[7] = k**7
            o[8] = k**k
            o[9] = x[0] ** k
            o[10] = k**-2
            o[11] = (-x[0]) ** 2.0
    """)
    out = np.zeros(12)
    run(f, np.array([3.0]), out, 5)
    np.testing.assert_allclose(out, [0.25, 3, 1, 9, 27, 1 / 3, 3**0.5, 5**7, 5**5, 243, 0.04, 9], rtol=1e-15)
    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
        run(make("def f(o, n):\n    o[0] = 2 ** n\n"), np.zeros(1), -1)


def test_loops_continue_break_and_else():
    f = make("""
        def f(o, n):
            k = 0
            for i in range(10):
                if i % 2 == 0:
                    continue
                o[k] = i
                k += 1
            i = 0
            rounds = 0
            while i < n:
                i += 1
                if i == 3:
                    continue
                rounds += 1
            else:
                rounds += 100
            o[5] = rounds
            for _ in range(0):
                pass
            else:
                o[6] = 7
            for j in range(n, 0, -2):
                o[7] = j
            for j in range(n):
                if j == 2:
                    break
                if False:
                    break
            else:
                o[8] = 99
            o[9] = j
            step = -3
            for j in range(10, n, step * k // 5):
                o[10] += j
            total = 0
            for d in (1, -1, 2.5):
                total += d
            o[11] = total
    """)
    out = np.zeros(12)
    run(f, out, 5)
    assert out.tolist() == [1, 3, 5, 7, 9, 104, 7, 1, 0, 2, 17, 2.5]


def test_a_loop_that_changes_its_own_variable_goes_on_as_python():
    f = make("def f(o):\n    for i in range(4):\n        o[i] += 1\n        i = 10\n    o[4] = i\n")
    out = np.zeros(5)
    run(f, out)
    assert out.tolist() == [1, 1, 1, 1, 10]


def test_a_while_with_an_effect_in_its_test():
    f = make("""
        def f(h, o):
            while cuda.atomic.add(h, 0, 1) < 5:
                if o[0] == 3:
                    break
                o[0] += 1
            else:
                o[1] = 1
    """)
    counter, out = np.zeros(1, np.int32), np.zeros(2)
    run(f, counter, out)
    assert counter[0] == 4 and out.tolist() == [3, 0]
    counter, out = np.array([4], np.int32), np.zeros(2)
    run(f, counter, out)
    assert counter[0] == 6 and out.tolist() == [1, 1]


def test_comparisons_chain_and_logic_short_circuits():
    f = make(
        """
        def touch(h):
            h[0] += 1
            return h[0]
        def f(a, o, h):
            i = cuda.grid(1)
            o[0] = (1 < touch(h) < 5) + 10 * (3 < 2 < touch(h))
            o[1] = a[5] if i > 100 and a[10**6] > 0 else -1
            o[2] = a[0] or 7
            o[3] = a[0] and 7
            o[4] = 5 if not a[0] else a[10**6]
    """,
        name="f",
    )
    a, out, calls = np.arange(10), np.full(5, 3), np.ones(1)
    run(f, a, out, calls)
    assert calls[0] == 2
    assert out.tolist() == [1, -1, 7, 0, 5]
    out = np.full(10, 3)
    run(make("def f(a, o):\n    i = cuda.grid(1)\n    o[i] = 0 < a[i] < 1\n"), a, out, block=10)
    assert not out.any()


def test_rounding_is_half_to_even():
    f = make("""
        def f(x, whole, tenth, up):
            i = cuda.grid(1)
            whole[i] = round(x[i])
            tenth[i] = round(x[i], 1)
            up[i] = math.ceil(x[i]) + np.rint(x[i]) * 100
    """)
    x = np.array([0.5, 1.5, 2.5, -1.25, -0.5])
    whole, tenth, up = np.zeros(5, np.int64), np.zeros(5), np.zeros(5)
    run(f, x, whole, tenth, up, block=5)
    assert whole.tolist() == [round(v) for v in x]
    np.testing.assert_array_equal(tenth, np.round(x, 1))
    np.testing.assert_array_equal(up, np.ceil(x) + np.rint(x) * 100)


@pytest.mark.parametrize(
    ("body", "argument", "error", "message"),
    [
        ("a[10**6] = 1", 0, IndexError, "index 1000000 is out of range for axis 0 of a with shape (3,)"),
        ("a[-4] = 1", 0, IndexError, "index -4 is out of range"),
        ("a[0] = 5 // n", 0, ZeroDivisionError, "integer division or modulo by zero"),
        ("a[0] = 5 % n", 0, ZeroDivisionError, "integer division or modulo by zero"),
        ("for i in range(n):\n        pass\n    a[0] = i", 0, UnboundLocalError, "'i'"),
        ('assert n > 3, "too small"', 0, AssertionError, "too small"),
        ('if n == 0:\n        raise KeyError("no such key")', 0, KeyError, "no such key"),
        ("for i in range(0, 9, n): a[0] = 1", 0, ValueError, "range() arg 3 must not be zero"),
    ],
)
def test_faults_are_pythons(body, argument, error, message):
    function = make(f"def f(a, n):\n    {body}\n")
    a = np.zeros(3)
    with pytest.raises(error) as caught:
        run(function, a, argument)
    assert message in str(caught.value)
    assert a.tolist() == [0, 0, 0]


def test_an_index_past_a_helpers_array_names_the_kernels_shape():
    function = make("def put(x, i):\n    x[i] = 1\ndef f(a, n):\n    put(a, n)\n", name="f")
    with pytest.raises(
        IndexError, match=r"index 7 is out of range for axis 0 of x with shape \(3,\), at line 2"
    ):
        run(function, np.zeros(3), 7)


def test_helpers_with_tuples_and_defaults_and_none():
    f = make(
        """
        def scaled(x, scale=None, by=2):
            if scale is not None:
                return x * scale
            return x * by
        def ordered(x, y):
            if x < y:
                return x, y
            return y, x
        def f(a, o):
            low, high = ordered(a[0], a[1])
            o[0] = low
            o[1] = high
            o[2] = scaled(a[0]) + scaled(a[1], 10) + scaled(by=100, x=1)
            pair = (low, high)
            pair = (pair[1], pair[0])
            o[3] = pair[0] * 10 + pair[1]
            o[4], o[5] = divmod(17, -5)
    """,
        name="f",
    )
    out = np.zeros(6)
    run(f, np.array([3.0, 2.0]), out)
    assert out.tolist() == [2, 3, 126, 32, -4, -3]


def test_augmented_elements_evaluate_their_index_once():
    f = make("""
        def f(h, a):
            a[cuda.atomic.add(h, 0, 1)] += 5
            a[h[0] + 1] *= 3
    """)
    counter, a = np.zeros(1, np.int32), np.ones(4)
    run(f, counter, a)
    assert counter[0] == 1 and a.tolist() == [6, 1, 3, 1]


def test_atomics_give_the_old_value():
    f = make("""
        def f(h, o):
            o[0] = cuda.atomic.add(h, 0, 5)
            o[1] = cuda.atomic.sub(h, 0, 2)
            o[2] = cuda.atomic.max(h, 0, 100)
            o[3] = cuda.atomic.min(h, 0, 7)
            o[4] = cuda.atomic.exch(h, 0, 9)
            o[5] = cuda.atomic.cas(h, 0, 9, 4)
            o[6] = cuda.atomic.compare_and_swap(h, 9, 1)
            o[7] = cuda.atomic.or_(h, 0, 3)
            o[8] = h[0]
    """)
    h, out = np.array([1], np.int64), np.zeros(9, np.int64)
    run(f, h, out)
    assert out.tolist() == [1, 6, 4, 100, 7, 9, 4, 4, 7]


def test_one_variable_one_type():
    f = make("""
        def f(x, o):
            t = 0
            for i in range(3):
                t += x[i] * 0.5
            o[0] = t
            flag = False
            if x[0] > 0:
                flag = 3
            o[1] = flag
    """)
    x, out = np.array([1, 2, 3], np.float32), np.zeros(2, np.float32)
    run(f, x, out)
    assert out.tolist() == [3, 3]


def test_zero_dimensions_and_eight():
    f = make("def f(a, b):\n    a[()] = b[0, 0, 0, 0, 0, 0, 1, 2] + b.ndim\n")
    a, b = np.zeros(()), np.arange(6.0).reshape(1, 1, 1, 1, 1, 1, 2, 3)
    run(f, a, b)
    assert a[()] == 13


def test_is_true_and_is_false():
    f = make("""
        def f(flag, number, out):
            out[0] = flag is True
            out[1] = flag is not False
            out[2] = number is True
            out[3] = (number > 0) is False
    """)
    out = np.zeros(4, np.int64)
    run(f, True, 1, out)
    assert out.tolist() == [1, 1, 0, 0]
    run(f, False, -1, out)
    assert out.tolist() == [0, 0, 0, 1]

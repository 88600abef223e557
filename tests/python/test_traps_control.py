"""Known traps of control flow and variables: loops and what is left after them, types that change, short circuits."""

import numpy as np
import pytest
from frontend_source import make, run
from test_kernel_loops import check, data
from xcuda import _runtime, core
from xcuda.core.errors import KernelSyntaxError

# Python itself, run on the same arrays, is the reference.
BODIES = {
    "the loop variable after the loop": "for i in range(5):\n    o[i] = i\no[5] = i",
    "the loop variable after a break": "for i in range(9):\n    if i * i > 20:\n        break\no[0] = i",
    "the loop variable changed in the body": "for i in range(4):\n    i = i * 10\n    o[i // 10] = i\no[4] = i",
    "a loop variable shadows a variable": "i = 7\no[0] = i\nfor i in range(3):\n    o[1] += i\no[2] = i",
    "nested loops of one name": "for i in range(3):\n    for i in range(4):\n        o[0] += i\n    o[1] += i",
    "break in nested loops with else": "for i in range(4):\n    for j in range(4):\n        if j == i:\n            break\n"
    "        o[0] += 1\n    else:\n        o[1] += 1\n    if i == 2:\n        break\nelse:\n    o[2] = 9\no[3] = i * 10 + j",
    "continue in a while with else": "k = 0\nwhile k < 5:\n    k += 1\n    if k == 2:\n        continue\n    o[0] += k\nelse:\n    o[1] = k",
    "range downward": "for i in range(10, 0, -3):\n    o[0] = o[0] * 20 + i",
    "range that is empty": "for i in range(3, 3):\n    o[0] = 1\nelse:\n    o[1] = 2",
    "x = x or y": "x = a[0]\ny = 5\nx = x or y\no[0] = x\nx = a[1]\nx = x or y\no[1] = x\nz = 0\nz = z or a[1]\no[2] = z",
    "what the compiler knows decides as Python does": "q = np.uint32(a[3])\nfor k in (4, -2):\n"
    "    o[k + 2] = ((k - 8) or q) // 5\n    o[k + 3] = ((k - 8) if k > -9 else q) // 5\no[1] = (0 or q) // 5",
    "x = x and y": "x = a[0]\nx = x and 7\no[0] = x\nx = a[1] and a[2]\no[1] = x",
    "two targets of one value": "x = a[1]\ny = 0\nx = y = x + x\no[0] = x\no[1] = y\no[2] = o[3] = o[0] + 1",
    "two targets of one tuple": "x = a[1]\ny = 2\nt = x, y = (y, x + y)\no[0] = t[0]\no[1] = t[1]\no[2] = x\no[3] = y",
    "a swap of elements": "o[0] = 1\no[1] = 2\no[0], o[1] = o[1], o[0]\ni = 1\ni, o[i] = 3, 9\no[4] = i",
    "the bounds are read once": "n = 3\nfor i in range(n):\n    n = 10\n    o[0] += 1\no[1] = n",
    "a condition with a store before": "k = 0\nwhile (k := k + 1) < 5:\n    o[k] = k\no[0] = k",
    "a chain stops at the first false": "i = 100\no[0] = 1 if 0 <= i < len(a) and a[i] > 0 else 2\no[1] = a[i] if i < len(a) else 3",
    "nested conditional expressions": "for i in range(6):\n    o[i] = 1 if i < 2 else 2 if i < 4 else 3",
    "an index that only seems constant": "k = 9\nfor i in range(3):\n    if i > 0:\n        o[i] = (10, 20, 30)[k]\n    k = i",
    "a step that only seems constant": "s = 0\nfor i in range(3):\n    if i > 0:\n        for j in range(0, 6, s):\n            o[i] += j\n    s = i + 1",
    "a shift that only seems too wide": "n = 200\nfor i in range(3):\n    if i > 0:\n        o[i] = 1 << n\n    n = i",
    "a divisor that only seems 0": "d = 0\nwhile d < 4:\n    if d:\n        o[d] = 100 // d\n    d += 1",
    "a number of each turn written out": "for m in (3, 1, 2):\n    k = m\n    o[m] = k * 10\n    if k == 1:\n        o[5] = 7\no[4] = k",
    "range over the whole of int64": "n = 0\nfor i in range(2**63 - 3, 2**63 - 1):\n    n += 1\n    o[0] = i % 1000\no[1] = n",
    "range that steps past int64": "n = 0\nfor i in range(2**63 - 8, 2**63 - 1, 5):\n    n += 1\no[1] = n\n"
    "for i in range(-2**63 + 7, -2**63, -5):\n    n += 10\no[2] = n",
}


@pytest.mark.parametrize("name", BODIES)
def test_as_python(name):
    body = "".join(f"    {line}\n" for line in BODIES[name].split("\n"))
    a = data(4)
    a[0] = 0
    check(make(f"def f(a, o):\n{body}"), a, np.zeros(8, int))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "uint64", "int64"])
def test_range_over_any_integer_dtype(dtype):
    """A step past the end must not start anew: uint8 250 + 10."""
    f = make("""
        def f(a, o):
            for i in range(a[0], a[1], a[2]):
                o[0] += 1
                o[1] = i
            for i in range(a[1], a[0], -3):
                o[2] += 1
            o[3] = i
    """)
    check(f, np.array([2, 250 if dtype == "uint8" else 300, 100], dtype), np.zeros(4, int))


def test_a_range_with_a_step_known_at_run_time_ends_at_the_edge_of_int64():
    f = make("""
        def f(a, o):
            n = 0
            for i in range(a[0], a[1], a[2]):
                n += 1
                if n > 10:
                    break
            o[0] = n
            o[1] = i
    """)
    for bounds in ([2**63 - 8, 2**63 - 1, 5], [-(2**63) + 7, -(2**63), -5], [0, 2**63 - 1, 2**62]):
        check(f, np.array(bounds, np.int64), np.zeros(2, np.int64))


def test_a_type_that_a_first_literal_suggests():
    """Found by the fuzzer: with v taken for 0, `v | w` was a constant, and the number kept p's type for good."""
    f = make("""
        def f(p, o):
            w = np.int32(1)
            v = 0
            for i in range(2):
                v ^= int(v | w and p)
                o[i] = v
    """)
    o = np.zeros(2, np.int64)
    run(f, np.uint64(5), o)
    assert o.tolist() == [5, 0]


def test_a_variable_first_int_then_float():
    """One type for the whole function: t is float64 from its first line, and no value is cut."""
    f = make("""
        def f(x, o):
            t = 1
            for v in x:
                t = t / 2 + v
            o[0] = t
            k = 0
            if x[0] > 0:
                k = 2.5
            o[1] = k
            n = 3
            n /= 2
            o[2] = n
    """)
    check(f, np.array([0.25, 4.0]), np.zeros(3))


def test_a_variable_takes_the_arrays_dtype():
    """`s = 0.0` beside float32 is float32: no sum in float64, which a GPU pays for."""
    f = make("def f(x, o):\n    s = 0.0\n    for v in x:\n        s += v * 0.1\n    o[0] = s\n")
    x = np.random.default_rng(3).normal(size=100).astype(np.float32)
    total = np.float32(0)
    for v in x:
        total += v * np.float32(0.1)
    out = np.zeros(1, np.float64)
    from xcuda import core

    core.kernel(f, fma=False)[1, 1](x, out)
    assert out[0] == total


def test_signed_and_unsigned_64_bits_in_one_variable_are_refused():
    f = make("def f(u, s, o):\n    x = u[0]\n    if s[0] > 0:\n        x = s[0]\n    o[0] = x\n")
    with pytest.raises(KernelSyntaxError, match="no integer type holds both"):
        run(f, np.zeros(1, np.uint64), np.ones(1, np.int64), np.zeros(1))


def test_a_loop_of_no_rounds_leaves_no_variable():
    f = make("def f(n, o):\n    for i in range(n):\n        o[0] += 1\n    o[1] = i\n")
    with pytest.raises(UnboundLocalError, match=r"'i' is read before it has a value, at line 4"):
        run(f, 0, np.zeros(2))
    out = np.zeros(2)
    run(f, 3, out)
    assert out.tolist() == [3, 2]


def test_faults_come_in_pythons_order():
    """The value before the index, the left side before the right: the first fault is the one told."""
    cases = [
        ("o[9] = 1 // a[0]", ZeroDivisionError),
        ("o[9] += 1 // a[0]", IndexError),
        ("o[0] = a[9] + 1 // a[0]", IndexError),
        ("o[0] = 1 // a[0] + a[9]", ZeroDivisionError),
        ("o[0], o[9] = 1, 2", IndexError),
        ("o[0] = min(a[9], 1 // a[0])", IndexError),
        ("o[0] = 1 if a[1] == 1 or a[9] else 2", None),
    ]
    for body, error in cases:
        f = make(f"def f(a, o):\n    {body}\n")
        if error is None:
            run(f, np.array([0, 1]), np.zeros(2))
            continue
        with pytest.raises(error):
            run(f, np.array([0, 1]), np.zeros(2))


def test_a_range_that_steps_past_int64_wraps_in_cuda_too():
    """nvcc takes a signed counter that overflows for one that never does: such a loop ran for ever on a GPU."""
    f = make("""
        def f(o):
            n = 0
            for i in range(2**63 - 8, 2**63 - 1, 5):
                n += 1
            o[0] = n
    """)
    row = next(row for row in _runtime.libraries() if row["name"] == "NVRTC")
    if row["problem"]:
        pytest.skip("no NVRTC here")
    text = core.kernel(f).compile("int64[::1]", target="sm_90")["text"]
    assert "(u64)xc_i0 + (u64)5" in text and "xc_i0 += 5" not in text

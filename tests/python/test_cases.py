"""The kernel language's share of the cases that users of other compilers reported: one test a row, by its number."""

import linecache

import numpy as np
import pytest
from frontend_source import ir, make, run
from xcuda import core


def result(text, *args, out=float, size=1, **names):
    """What a kernel `def f(o, ...)` of one thread leaves in o."""
    o = np.zeros(size, out)
    run(make(text, **names), o, *args)
    return o.tolist()


@pytest.mark.parametrize("dtype", ["int32", "int64", "int16", "int8"])
def test_case_1_division_of_mixed_signs(dtype):
    f = make("def f(a, b, q, r):\n    i = cuda.grid(1)\n    q[i] = a[i] // b[i]\n    r[i] = a[i] % b[i]\n")
    a, b = np.array([-6, 6, -7, -7, 7, -1], dtype), np.array([5, -5, 3, 2, -2, 2], dtype)
    q, r = np.zeros(6, dtype), np.zeros(6, dtype)
    run(f, a, b, q, r, block=6)
    assert r.tolist()[:3] == [4, -4, 2]
    assert q.tolist() == [-2, -2, -3, -4, -4, -1]


def test_case_3_remainders_of_floats():
    a, b = np.array([-9.0, 9.0, -0.5, -1.0, 4.0]), np.array([2.0, -2.0, 2.0, 0.1, -2.0])
    o = np.full(5, 7.0)
    run(make("def f(o, a, b):\n    i = cuda.grid(1)\n    o[i] = a[i] % b[i]\n"), o, a, b, block=5)
    assert o.tolist() == [1.0, -1.0, 1.5, 5.551115123125783e-17, 0.0]
    assert np.signbit(o[4])


def test_case_5_shifts_in_their_own_width():
    text = "def f(o, x, n, m):\n    o[0] = (x[0] << n[0]) >> m[0]\n"
    for dtype, x, n, m, want in [
        (np.int8, 8, 4, 4, -8),
        (np.uint8, 0xF3, 4, 4, 3),
        (np.uint8, 48, 4, 4, 0),
        (np.int32, 1, 40, 0, 0),
        (np.int64, -7, 0, 1, -4),
    ]:
        o = np.zeros(1, dtype)
        run(make(text), o, *(np.array([v]).astype(dtype) for v in (x, n, m)))
        assert o[0] == want, dtype


def test_case_7_uint64_never_goes_through_float():
    def f(o, word, signed):
        o[0] = word[0] * 2
        val = 0
        val = ~word[1]
        o[1] = val
        o[2] = word[2] * 1000

    word = np.array([2**63 + 5, 2**64 - 1 - 17968697197503137375, 10**15 + 234567], np.uint64)
    o = np.zeros(3, np.uint64)
    run(f, o, word, np.zeros(1, np.int64))
    assert o.tolist() == [10, 17968697197503137375, 1000000000234567000]
    assert "var t: float64" in ir("def f(a, b):\n    t = a[0] + b[0]\n", "uint64[1], int64[1]")


def test_case_9_more_threads_than_31_bits():
    first = 22121216 * 256 - 3

    @core.kernel
    def f(o, first):
        i = core.grid(1)
        if i >= first:
            o[i - first] = i

    o = np.zeros(3, np.int64)
    f[22121216, 256](o, first)
    assert o.tolist() == [5663031293, 5663031294, 5663031295]

    @core.kernel
    def g(o):
        i = core.grid(1)
        if i >= 2147551327 and i < 2147551328:
            o[0] = i

    g[22121216, 256](o)
    assert o[0] == 2147551327


def test_case_11_views():
    text = (
        "def f(o, a, z):\n    o[0] = a[::-1][0]\n    o[1] = a[slice(-3, 3)][0]\n    o[2] = a[::-1].shape[0]\n"
        "    v = a[::-2]\n    o[3] = v[0]\n    o[4] = v[1]\n    o[5] = len(v)\n    o[6] = z[0:0].shape[0]\n"
    )
    assert result(text, np.arange(4), np.zeros(3), size=7) == [3, 1, 4, 3, 1, 2, 0]
    reversed_on_device = core.to_device(np.arange(4)[::-1].copy())
    assert result("def f(o, a):\n    o[0] = a[0]\n    o[1] = a.shape[0]\n", reversed_on_device, size=2) == [
        3,
        4,
    ]
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        ir("def f(a):\n    a[0] = a[::0][0]\n", "int64[1]")


def test_case_13_minimum_and_maximum_with_nan():
    text = (
        "def f(o, n, x, y):\n    o[0] = max(x, n)\n    o[1] = max(n, y)\n    o[2] = min(-x, n)\n    o[3] = np.maximum(n, x)\n"
        "    o[4] = np.minimum(x, n)\n    o[5] = np.fmax(x, n)\n    o[6] = np.fmin(n, y)\n"
    )
    for number in (np.float64, np.float32):
        got = result(text, number("nan"), number(1), number(2), size=7)
        np.testing.assert_array_equal(got, [1, np.nan, -1, np.nan, np.nan, 1, 2])


@pytest.mark.parametrize("fastmath", [False, True])
def test_case_15_powers(fastmath):
    f = make(
        "def f(o, n, x, y):\n    o[0] = 2**-2\n    o[1] = int(pow(n, 1))\n    o[2] = pow(x, y)\n    o[3] = x**2.0\n"
    )
    o = np.zeros(4)
    core.kernel(f, fastmath=fastmath)[1, 1](o, 3, -1.0, 2.0)
    assert o.tolist() == [0.25, 3, 1, 1]
    with pytest.raises(ValueError, match="negative integer powers"):
        run(make("def f(a, n):\n    a[0] = a[0] ** n\n"), np.ones(1, np.int64), np.int64(-2))


def test_case_17_continue_and_break():
    text = """
    def f(o, image, stop):
        i, k = 0, 0
        while i < 10:
            i += 1
            if i % 2 == 0:
                continue
            o[k] = i
            k += 1
        rounds = 0
        for i in range(3):
            if stop:
                break
            rounds += 1
        o[5] = rounds
        for y in range(2):
            for x in range(2):
                if x + y == 0:
                    image[y, x] = 1
                    continue
                image[y, x] = 0
    """
    image = np.full((2, 2), 9)
    assert result(text, image, False, size=6) == [1, 3, 5, 7, 9, 3]
    assert image.tolist() == [[1, 0], [0, 0]]


def test_case_19_a_variable_that_no_round_assigned():
    f = make(
        "def f(o, n):\n    i = cuda.grid(1)\n    for k in range(n):\n        last = k\n    o[i] = last\n"
    )
    with pytest.raises(
        UnboundLocalError, match=r"'last' is read before it has a value, at line 5 .*thread \("
    ):
        run(f, np.zeros(2), 0, block=2)
    o = np.zeros(2)
    run(f, o, 3, block=2)
    assert o.tolist() == [2, 2]


def test_case_21_chains_none_and_conditions():
    text = "def f(o):\n    i = cuda.grid(1)\n    o[i] = 0 < i < 1\n"
    o = np.ones(10)
    run(make(text), o, block=10)
    assert not o.any()

    def g(o, arr, idx):
        if arr is not None and idx >= 0 and arr[idx] > 0:
            o[0] = arr[idx]
        o[1] = arr[idx] if arr is not None and idx >= 0 else -1
        if arr and idx >= 0:
            o[2] = 1

    def h(out, x=None):
        if x is not None:
            out[0] = x[0]
        else:
            out[0] = 1.0

    for args, want in [((None, 5), [0, -1, 0]), ((None, -1), [0, -1, 0])]:
        o = np.zeros(3)
        run(g, o, *args)
        assert o.tolist() == want
    o = np.zeros(1)
    run(h, o, None)
    assert o.tolist() == [1.0]
    # Only the side taken is touched: the index of the other would be out of range.
    assert result("def f(o, a, i):\n    o[0] = a[i] if i < 3 else 7\n", np.zeros(3), 100) == [7]


def test_case_23_what_changed_is_what_runs():
    f = make("k = 5\ndef helper(x): return x + k\ndef f(o):\n    o[0] = helper(0)\n", name="f")
    kernel, o = core.kernel(f), np.zeros(1)
    kernel[1, 1](o)
    assert o[0] == 5
    f.__globals__["k"] = 10
    kernel[1, 1](o)
    assert o[0] == 10
    file = "<test cell of an edited helper>"
    text = "def helper(x): return x - k\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), f.__globals__)
    kernel[1, 1](o)
    assert o[0] == -10

    def factory(part):
        @core.kernel
        def made(o):
            o[0] = part()

        return made

    for part, want in [(lambda: 1, 1), (lambda: 2, 2)]:
        factory(part)[1, 1](o)
        assert o[0] == want


def test_case_25_strides_are_honoured():
    f = make(
        "def f(a, o):\n    i, j = cuda.grid(2)\n    if i < a.shape[0] and j < a.shape[1]:\n        o[i, j] = a[i, j]\n"
    )
    base = np.arange(12).reshape(3, 4)
    arrays = [
        base.T[::-1],
        np.broadcast_to(np.arange(4), (3, 4)),
        base[1:, 1:],
        base[:, ::-2],
        np.asfortranarray(base),
    ]
    assert arrays[0].shape == (4, 3) and arrays[0].strides == (-8, 32) and arrays[0][0].tolist() == [3, 7, 11]
    for a in arrays:
        o = np.full(a.shape, -1)
        run(f, a, o, grid=(1, 1), block=(8, 8))
        np.testing.assert_array_equal(o, a)


def test_case_29_float32_stays_float32():
    assert "var t: float32" in ir("def f(x):\n    h = 0.5\n    t = x[0] * (2.0 * h)\n", "float32[1]")
    text = "def f(o, x, h):\n    o[0] = 1.0 - (x[0] * x[0]) / (h * h)\n"
    assert "float32" in ir(text, "float32[1], float32[1], weak float64")
    x = np.array([0.3], np.float32)
    assert result(text, x, 0.7, out=np.float32) == [float(1.0 - (x[0] * x[0]) / (0.7 * 0.7))]


def test_case_31_floor_division_of_float32():
    a, o = np.array([-4.4, 5.6650004, 105.880005], np.float32), np.zeros(3, np.float32)
    run(make("def f(o, a, d):\n    i = cuda.grid(1)\n    o[i] = a[i] // d\n"), o, a, np.float32(0.1), block=3)
    assert o.tolist() == [-45, 56, 1058]


def test_case_35_an_index_past_the_end_is_an_error():
    f = make("def f(o, a, at):\n    i = cuda.grid(1)\n    o[i] = a[at[i]]\n")
    o = np.zeros(7, int)
    with pytest.raises(
        IndexError, match=r"index 5 is out of range for axis 0 of a with shape \(5,\).*thread \(5, 0, 0\)"
    ):
        run(f, o, np.arange(5), np.array([0, 1, 2, 3, 4, 5, 4]), block=7)


def test_rule_2_what_numpy_gives_on_x86():
    text = (
        "def f(o, big, nan, low, one, n):\n    o[0] = int(big)\n    o[1] = int(nan)\n    o[2] = low // -one\n"
        "    o[3] = one << n\n    o[4] = abs(low)\n    o[5] = low % -one\n"
    )
    low = np.int64(-(2**63))
    got = result(text, 1e20, float("nan"), low, np.int64(1), np.int64(70), out=np.int64, size=6)
    assert got == [low, low, low, 0, low, 0]


def test_rule_3_division_by_zero():
    f = make("def f(o, a, b):\n    i = cuda.grid(1)\n    o[i] = a[i] // b[i]\n")
    with pytest.raises(ZeroDivisionError, match=r"at line 3 .*thread \(1, 0, 0\)"):
        run(f, np.zeros(2, int), np.ones(2, int), np.array([1, 0]), block=2)
    o = np.zeros(3)
    run(
        make("def f(o, a):\n    i = cuda.grid(1)\n    o[i] = a[i] / 0.0\n"),
        o,
        np.array([1.0, -1.0, 0.0]),
        block=3,
    )
    np.testing.assert_array_equal(o, [np.inf, -np.inf, np.nan])


def test_rule_5_one_type_for_a_variable():
    text = "def f(o, n):\n    t = 1\n    for k in range(n):\n        t = t * 0.5\n    o[0] = t\n"
    assert result(text, 3) == [0.125]
    assert result(text, 0) == [1]
    with pytest.raises(SyntaxError, match="'x' is uint64 in line 2 and int64 here"):
        ir("def f(a, b):\n    x = a[0]\n    x = b[0]\n", "uint64[1], int64[1]")


def test_rule_7_fast_math_leaves_integers_nan_and_powers():
    f = make(
        "def f(o, x, n):\n    o[0] = x != x\n    o[1] = np.isnan(x)\n    o[2] = (-2.0) ** n\n    o[3] = 7 // n\n"
    )
    o = np.zeros(4)
    core.kernel(f, fastmath=True)[1, 1](o, float("nan"), 3)
    assert o.tolist() == [1, 1, -8, 2]

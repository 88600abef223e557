"""Known traps of numbers: overflow, mixed signs, shifts, casts out of range, nan, rounding; NumPy's and Python's values."""

import numpy as np
import pytest
from frontend_source import make, run
from test_kernel_loops import check

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("-7 // 2", -4), ("-7 % 3", 2), ("7 // -2", -4), ("-7.5 % 2", 0.5), ("5 % -np.inf", -np.inf),
        ("5 % np.inf", 5.0), ("True + True", 2), ("~True", -2), ("-True", -1), ("1 << 40", 2**40),
        ("round(2.5)", 2), ("round(3.5)", 4), ("round(-0.5)", 0), ("2**-1", 0.5), ("0**0", 1), ("0.0**0", 1.0),
        ("min(np.nan, 1)", np.nan), ("min(1, np.nan)", 1), ("max(np.nan, 1)", np.nan), ("max(1, np.nan)", 1),
        ("np.minimum(1.0, np.nan)", np.nan), ("np.maximum(np.nan, 1.0)", np.nan), ("np.fmin(np.nan, 1.0)", 1.0),
        ("int(-2.7)", -2), ("divmod(-7, 2)[0]", -4), ("divmod(-7, 2)[1]", 1), ("True & 3", 1), ("3 > 2 > 1", 1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["literals", "variables"])
def test_pythons_values(text, want, how):
    """The same expression of literals, which the compiler folds, and of numbers that only the run tells."""
    if how == "variables":
        text, numbers = moved_out(text)
    else:
        numbers = []
    names = "".join(f"p{i}, " for i in range(len(numbers)))
    out = np.zeros(1)
    run(make(f"def f({names}o):\n    o[0] = {text}\n"), *numbers, out)
    np.testing.assert_equal(out[0], want)


def moved_out(text):
    """The expression with its numbers as arguments, and these; powers keep a literal exponent."""
    import ast

    numbers = []

    class Move(ast.NodeTransformer):
        def visit_Constant(self, node):
            numbers.append(node.value)
            return ast.Name(f"p{len(numbers) - 1}", ast.Load())

        def visit_BinOp(self, node):
            if isinstance(node.op, ast.Pow):
                node.left = self.visit(node.left)
                return node
            return self.generic_visit(node)

        def visit_Subscript(self, node):
            node.value = self.visit(node.value)
            return node

    tree = Move().visit(ast.parse(text, mode="eval"))
    return ast.unparse(tree), numbers


@pytest.mark.parametrize("dtype", INTS)
def test_integers_wrap_around(dtype):
    limits = np.iinfo(dtype)
    a = np.array([limits.max, limits.min, 1, 2], dtype)
    f = make("""
        def f(a, o):
            o[0] = a[0] + a[2]
            o[1] = a[1] - a[2]
            o[2] = a[0] * a[3]
            o[3] = -a[1]
            o[4] = abs(a[1])
            o[5] = a[2] - a[3]
            o[6] = a[0] + 1
            o[7] = ~a[2]
    """)
    check(f, a, np.zeros(8, dtype))


def test_uint64_beside_int64():
    """The operators go through float64 as NumPy's do; comparisons are exact; a Python int keeps uint64."""
    u, s = np.array([2**63 + 1, 5], np.uint64), np.array([-1, 5], np.int64)
    f = make("""
        def f(u, s, o, w):
            o[0] = u[0] + s[0]
            o[1] = u[1] - s[1]
            o[2] = u[0] > s[0]
            o[3] = s[0] < u[1]
            o[4] = s[1] == u[1]
            o[5] = u[0] == u[0] + s[1] - s[1]
            w[0] = u[0] + 3
            w[1] = u[0] * 2 // 2
    """)
    check(f, u, s, np.zeros(6), np.zeros(2, np.uint64))


@pytest.mark.parametrize("left", INTS + ["float32", "float64"])
@pytest.mark.parametrize("right", INTS)
def test_signed_with_unsigned_compare_by_value(left, right):
    f = make("""
        def f(a, b, o):
            k = 0
            for x in a:
                for y in b:
                    o[k] = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * (x >= y)
                    k += 1
    """)

    def numbers(dtype):
        if dtype.startswith("f"):
            return np.array([-1.0, 0.0, 5.0, np.nan, 2.0**40], dtype)
        limits = np.iinfo(dtype)
        return np.array([limits.min, 0, 5, limits.max, limits.max - 1], dtype)

    a, b, out = numbers(left), numbers(right), np.zeros(25, np.int64)
    run(f, a, b, out)
    if left.startswith("f"):
        a, b = a.astype(np.result_type(a, b)), b.astype(np.result_type(a, b))
    x, y = np.meshgrid([v.item() for v in a], [v.item() for v in b], indexing="ij")
    x, y = x.astype(object), y.astype(object)
    want = [(p < q) + 2 * (p <= q) + 4 * (p == q) + 8 * (p != q) + 16 * (p > q) + 32 * (p >= q)
            for p, q in zip([v.item() for v in a for _ in b], [v.item() for _ in a for v in b], strict=True)]  # fmt: skip
    assert out.tolist() == want


@pytest.mark.parametrize("dtype", INTS)
def test_a_shift_by_the_width_or_more(dtype):
    width = np.dtype(dtype).itemsize * 8
    a = np.array([1, np.iinfo(dtype).min, np.iinfo(dtype).max, 5], dtype)
    n = np.array([width - 1, width, width + 1, 100], dtype)
    f = make("""
        def f(a, n, left, right):
            k = 0
            for x in a:
                for m in n:
                    left[k] = x << m
                    right[k] = x >> m
                    k += 1
    """)
    check(f, a, n, np.zeros(16, dtype), np.zeros(16, dtype))


def test_a_literal_that_does_not_fit_is_refused():
    from xcuda.core.errors import KernelSyntaxError

    with pytest.raises(KernelSyntaxError, match="300 does not fit int8"):
        run(make("def f(a, o):\n    o[0] = a[0] + 300\n"), np.zeros(1, np.int8), np.zeros(1))
    with pytest.raises(KernelSyntaxError, match="this integer does not fit 64 bits"):
        run(make("def f(o):\n    o[0] = 1 << 70\n"), np.zeros(1))


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", [*INTS, "int"])
def test_floats_to_integers_out_of_range(source, target):
    """int(1e20), int(nan), np.uint8(-1.0): what NumPy's astype leaves."""
    numbers = np.array(
        [1e20, -1e20, np.nan, np.inf, -np.inf, -1.0, 255.9, 256.0, 3e9, -3e9, 0.99, -0.99], "f8"
    )
    with np.errstate(all="ignore"):
        a = numbers.astype(source)
        dtype = "int64" if target == "int" else target
        want = np.array([x.astype(dtype) for x in a])
    cast = "int" if target == "int" else f"np.{target}"
    out = np.zeros(len(a), dtype)
    run(make(f"def f(a, o):\n    for i in range(len(a)):\n        o[i] = {cast}(a[i])\n"), a, out)
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("target", INTS)
def test_literals_to_integers_out_of_range(target):
    """Found by the fuzzer: a folded cast of a float out of range was not what the same cast leaves at run time."""
    numbers = [
        "1e30",
        "-1e30",
        "np.nan",
        "np.inf",
        "-1.0",
        "256.0",
        "3e9",
        "-3e9",
        "1e19",
        "9.3e18",
        "65536.7",
    ]
    body = "".join(f"    o[{i}] = np.{target}({x})\n" for i, x in enumerate(numbers))
    out = np.zeros(len(numbers), target)
    run(make(f"def f(o):\n{body}"), out)
    with np.errstate(all="ignore"):
        want = [np.float64(eval(x, {"np": np})).astype(target) for x in numbers]
    np.testing.assert_array_equal(out, want)


def test_half_precision_is_rounded_at_each_step():
    """A float16 sum stops growing where the next number is half a spacing: the accumulator says its type."""
    a = np.full(3000, 1.0, np.float16)
    f = make("""
        def f(a, o, w):
            s = np.float16(0)
            t = np.float32(0)
            for x in a:
                s += x
                t += x
            o[0] = s
            w[0] = t
    """)
    o, w = np.zeros(1, np.float16), np.zeros(1, np.float32)
    run(f, a, o, w)
    assert (o[0], w[0]) == (2048, 3000)


def test_numpys_bools_are_no_integers():
    a = np.array([True, True, False])
    f = make("""
        def f(a, o):
            o[0] = a[0] + a[1]
            o[1] = a[0] * a[2]
            o[2] = ~a[0]
            o[3] = a[0] // a[1]
            o[4] = (a[0] + 1) * 2
            o[5] = bool(a[0]) + bool(a[1])
    """)
    out = np.zeros(6)
    run(f, a, out)
    assert out.tolist() == [1, 0, 0, 1, 4, 2]


@pytest.mark.filterwarnings("ignore")
def test_whole_numbers_and_tests_of_math_are_pythons():
    """Found by the fuzzer: math.floor of an int64 was an int64, and min() of it and an int32 was one too."""
    f = make("""
        def f(a, x, o):
            n = a[0] * math.floor(np.int64(3))
            o[0] = n
            o[1] = a[1] + math.ceil(np.int32(100)) + math.trunc(float(a[1]))
            o[2] = math.isnan(x[0]) + math.isnan(x[0])
            o[3] = -math.isinf(x[1])
            o[4] = np.isnan(x[0]) + np.isnan(x[0])
            o[5] = math.isfinite(x[2]) * 5 + a[0]
            o[6] = min(a[0], math.ceil(x[2] + 0.5))
    """)
    check(
        f,
        np.array([100, 27], np.int8),
        np.array([np.nan, np.inf, 4], np.float32),
        np.zeros(7, np.int64),
    )


def test_the_integers_of_math_take_the_others_type():
    f = make("def f(a, o):\n    for i in range(len(a)):\n        o[i] = min(a[i], math.ceil(a[i] + 0.5))\n")
    o = np.zeros(3, np.int64)
    run(f, np.array([2**31 - 1, -(2**31), 5], np.int32), o)
    assert o.tolist() == [-(2**31), -(2**31), 5]  # 2**31 as an int32 is the least one


def test_an_exponent_beyond_int64():
    """Found by the fuzzer: a uint64 exponent of 2**63 or more was taken for a negative one."""
    a = np.array([2**64 - 1, 3, 1, 0], np.uint64)
    f = make(
        "def f(a, o):\n    k = 0\n    for x in a:\n        for n in a:\n            o[k] = x ** n\n            k += 1\n"
    )
    check(f, a, np.zeros(16, np.uint64))


def test_constants_that_are_nan_infinite_or_minus_zero():
    """Found by the fuzzer: a variable that only ever was nan never settled, and -0.0 was taken for 0.0."""
    f = make("""
        def f(a, o):
            worst = np.nan
            none = float('nan')
            top = -math.inf
            z = 0.0
            if a[0] > 0:
                z = -0.0
            o[0] = worst
            o[1] = none
            o[2] = top
            o[3] = math.copysign(1.0, z)
            o[4] = math.copysign(1.0, -0.0)
    """)
    for a, sign in ((1, -1.0), (-1, 1.0)):
        out = np.zeros(5)
        run(f, np.array([a]), out)
        np.testing.assert_equal(out, [np.nan, np.nan, -np.inf, sign, -1.0])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_and_infinity_compile_for_a_gpu(dtype):
    """Found by the fuzzer: their CUDA text named what NVRTC does not have."""
    from test_cuda_compile import NVRTC  # skips where there is none
    from xcuda import core

    assert NVRTC
    f = make(f"""
        def f(o):
            i = cuda.grid(1)
            o[i] = np.nan if i == 0 else np.inf if i == 1 else -np.inf
            if o[i] == np.{dtype}(np.inf) or o[i] != np.{dtype}(np.nan):
                o[i] = np.{dtype}(-np.inf)
    """)
    assert core.kernel(f).compile((np.zeros(3, dtype),), target="sm_90")["bytes"] > 0


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16"])
def test_narrow_integers_in_vector_lanes(dtype):
    """Found by the fuzzer: the opposite and the inverse of 8 and 16 bit lanes did not compile."""
    f = make("""
        def f(a, b, o):
            i = cuda.grid(1)
            if i < o.size:
                o[i] = (-a[i]) ^ (~b[i]) + (a[i] << 1)
    """)
    rng = np.random.default_rng(1)
    limits = np.iinfo(dtype)
    a, b = (rng.integers(limits.min, limits.max, 1000, dtype=dtype, endpoint=True) for _ in range(2))
    out = np.zeros(1000, dtype)
    run(f, a, b, out, grid=4, block=256)
    np.testing.assert_array_equal(out, (-a) ^ (~b) + (a << np.array(1, dtype)))


def test_without_fused_operations_each_product_is_rounded():
    """fma=False: a * b - c is bit by bit NumPy's, where a fused operation would leave the product's error."""
    from xcuda import core

    f = make(
        "def f(a, o):\n    i = cuda.grid(1)\n    if i < a.size:\n        o[i] = a[i] * a[i] - a[i] * a[i]\n"
    )
    g = make("def g(a, b, o):\n    i = cuda.grid(1)\n    if i < a.size:\n        o[i] = a[i] * a[i] - b[i]\n")
    a = np.random.default_rng(4).normal(size=1000)
    b, out = a * a, np.ones(1000)
    core.kernel(f, fma=False)[4, 256](a, out)
    assert not out.any()
    out[:] = 1
    core.kernel(g, fma=False)[4, 256](a, b, out)
    assert not out.any()

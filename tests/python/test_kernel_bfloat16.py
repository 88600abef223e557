"""bfloat16: stored as it is, computed in float32 and rounded after each operation; ml_dtypes is the reference."""

import numpy as np
import pytest
from frontend_source import ir, make, run
from xcuda import core, numeric

ml_dtypes = pytest.importorskip("ml_dtypes")
B = ml_dtypes.bfloat16
EVERY = np.arange(65536, dtype=np.uint16).view(B)


def same(got, want):
    """Equal to the bit, but for which NaN it is."""
    assert got.dtype == want.dtype == B
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), nan)
    np.testing.assert_array_equal(got[~nan].view(np.uint16), want[~nan].view(np.uint16))


def elementwise(expression, *arrays, dtype=B, **names):
    values = "".join(f"        {v} = p{v}[i]\n" for v in "ab"[: len(arrays)])
    params = ", ".join(f"p{v}" for v in "ab"[: len(arrays)])
    f = make(
        f"def f({params}, o):\n    i = cuda.grid(1)\n    if i < len(o):\n{values}        o[i] = {expression}\n",
        **names,
    )
    out = np.zeros(len(arrays[0]), dtype)
    run(f, *arrays, out, grid=-(-len(out) // 256), block=256)
    return out


def pairs(count=20000):
    rng = np.random.default_rng(1)
    a = np.concatenate([rng.choice(EVERY, count // 2), rng.normal(size=count // 2).astype(B)])
    return a, rng.permutation(a)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("operator", "+ - * /".split())
def test_operators(operator):
    a, b = pairs()
    same(elementwise(f"a {operator} b", a, b), eval(f"a {operator} b"))


@pytest.mark.parametrize("operator", "< <= == != > >=".split())
def test_comparisons(operator):
    a, b = pairs()
    b[::3] = a[::3]
    np.testing.assert_array_equal(
        elementwise(f"a {operator} b", a, b, dtype=bool), eval(f"a {operator} b").astype(bool)
    )


@pytest.mark.filterwarnings("ignore")
def test_every_bfloat16_to_other_types_and_back():
    wide = elementwise("a", EVERY, dtype=np.float32)
    np.testing.assert_array_equal(wide, EVERY.astype(np.float32))
    np.testing.assert_array_equal(elementwise("a", EVERY, dtype=np.float64), EVERY.astype(np.float64))
    same(elementwise("-a", EVERY), -EVERY)
    np.testing.assert_array_equal(elementwise("bool(a)", EVERY, dtype=bool), EVERY.astype(bool))
    small = EVERY[np.abs(np.nan_to_num(EVERY.astype(np.float32), nan=1e9)) < 120]
    np.testing.assert_array_equal(
        elementwise("a", small, dtype=np.int8), small.astype(np.float32).astype(np.int8)
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.float16, np.int32, np.int64, np.uint8, np.uint32, np.uint64]
)
def test_casts_round_as_ml_dtypes_does(dtype):
    rng = np.random.default_rng(4)
    if np.issubdtype(dtype, np.floating):
        x = (rng.normal(size=20000) * 10.0 ** rng.uniform(-4, 4, 20000)).astype(dtype)
        ties = (1 + (2 * np.arange(64) + 1) / 256).astype(dtype)
        beside = np.concatenate(
            [ties * dtype(2) ** -k * (1 + s * np.finfo(dtype).eps) for k in (0, 130, 140) for s in (-2, 2)]
        )
        x = np.concatenate(
            [
                x,
                ties,
                beside.astype(dtype),
                np.array([0, -0.0, np.nan, np.inf, -np.inf, np.finfo(dtype).max], dtype),
            ]
        )
    else:
        limits = np.iinfo(dtype)
        x = rng.integers(limits.min, limits.max, 20000, dtype=dtype)
        ties = [
            (256 + 2 * k + 1 << s) + d for s in range(1, 53) for k in range(0, 128, 9) for d in (-1, 0, 1)
        ]
        ties += [-n for n in ties]
        x = np.concatenate([x, np.array([n for n in ties if limits.min <= n <= limits.max], dtype)])
    same(elementwise("a", x), x.astype(B))
    same(elementwise("kind(a)", x, kind=B), x.astype(B))
    same(np.asarray(numeric.asarray(x).astype(B) + numeric.zeros(len(x), B)), x.astype(B) + B(0))


def test_numbers_beside_a_tie_are_rounded_once():
    """By float32 they would come to the tie, and go the wrong way: of constants, of numbers, on a GPU."""

    @core.kernel
    def casts(x, o):
        o[0] = 6.515625001
        o[1] = B(x)
        o[2] = np.float64(6.515625001)
        o[3] = B(72620543991349249)
        o[4] = B(np.uint64(9259400833873739777))

    o = np.zeros(5, B)
    casts[1, 1](6.515625001, o)
    wanted = [6.515625001, 6.515625001, 6.515625001, 72620543991349249, 9259400833873739777]
    assert o.tolist() == [float(np.array([n]).astype(B)[0]) for n in wanted]
    assert o[0] != B(np.float32(6.515625001))


@pytest.mark.filterwarnings("ignore")
def test_functions():
    x = EVERY[np.isfinite(EVERY.astype(np.float32))]
    same(elementwise("abs(a)", x), np.abs(x))
    same(elementwise("np.sqrt(a)", x), np.sqrt(x))
    same(elementwise("np.floor(a)", x), np.floor(x))
    same(elementwise("np.maximum(a, 2)", x), np.maximum(x, B(2)))
    same(elementwise("a if a > 1 else 1.5", x), np.where(x > B(1), x, B(1.5)))
    got, want = elementwise("np.exp(a)", x).astype(float), np.exp(x).astype(float)
    np.testing.assert_allclose(got, want, rtol=2**-7, atol=1e-38)


@pytest.mark.parametrize(
    ("expression", "types", "result"),
    [
        ("x + 1", "bfloat16", "bfloat16"),
        ("x * 1.5", "bfloat16", "bfloat16"),
        ("x + np.int8(1)", "bfloat16", "bfloat16"),
        ("x + np.int16(1)", "bfloat16", "float32"),
        ("x + np.int32(1)", "bfloat16", "float64"),
        ("x + np.float16(1)", "bfloat16", "float32"),
        ("x + np.float32(1)", "bfloat16", "float32"),
        ("x + 1j", "bfloat16", "complex64"),
        ("B(x)", "float64", "bfloat16"),
        ("x ** 2", "bfloat16", "bfloat16"),
        ("x == 1", "bfloat16", "bool"),
    ],
)
def test_the_type_of_an_expression(expression, types, result):
    assert f"var t: {result}\n" in ir(f"def f(x):\n    t = {expression}\n", types, B=B)


def test_sums_round_each_time_and_shared_and_local_arrays_hold_them():
    f = make(
        """
        def f(x, s, o):
            t = cuda.threadIdx.x
            part = cuda.shared.array(64, B)
            mine = cuda.local.array(2, B)
            part[t] = x[t] * s
            cuda.syncthreads()
            mine[0] = 0
            for k in range(64):
                mine[0] += part[k]
            o[t] = mine[0] + K
    """,
        B=B,
        K=B(0.5),
    )
    x = np.linspace(0, 3, 64).astype(B)
    o = np.zeros(64, B)
    run(f, x, B(1.25), o, block=64)
    total = B(0)
    for v in x * B(1.25):
        total = total + v
    assert (o == total + B(0.5)).all()


def test_strided_and_unaligned_arrays_come_back():
    f = make("def f(x):\n    i = cuda.grid(1)\n    if i < len(x):\n        x[i] += 1\n")
    x = np.arange(12).astype(B)
    run(f, x[::-2], block=16)
    want = np.arange(12).astype(B)
    want[::-2] += B(1)
    same(x, want)
    odd = np.zeros(25, np.uint8)[1:].view(B)
    run(f, odd, block=16)
    same(odd, np.ones(12, B))


def test_device_arrays():
    x = np.arange(10).astype(B)
    a = core.to_device(x)
    assert a.dtype == B
    f = make("def f(x):\n    i = cuda.grid(1)\n    if i < len(x):\n        x[i] *= 2\n")
    run(f, a, block=16)
    same(a.copy_to_host(), x * B(2))
    same(a[::3].copy_to_host(), (x * B(2))[::3])

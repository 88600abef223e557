"""CUDA's functions on bfloat16 (xcuda.core.bf16), exact rational arithmetic and ml_dtypes being the reference."""

import math
from fractions import Fraction

import numpy as np
import pytest
from frontend_source import compiles, make, run
from xcuda import core
from xcuda.core import bf16

ml_dtypes = pytest.importorskip("ml_dtypes")
B = ml_dtypes.bfloat16
EVERY = np.arange(65536, dtype=np.uint16).view(B)
INTEGERS = ["int16", "uint16", "int32", "uint32", "int64", "uint64"]

pytestmark = pytest.mark.filterwarnings("ignore")


def call(name, *arrays, dtype):
    params = "abc"[: len(arrays)]
    text = f"def f({', '.join(params)}, o):\n    i = cuda.grid(1)\n    if i < len(o):\n"
    text += f"        o[i] = bf16.{name}({', '.join(p + '[i]' for p in params)})\n"
    out = np.zeros(len(arrays[0]), dtype)
    run(make(text, bf16=bf16), *arrays, out, grid=-(-len(out) // 256), block=256)
    return out


def floats(x):
    return x.astype("f8")


def rounded(exact):
    """The bfloat16 nearest to a rational number, ties to even."""
    if exact == 0:
        return 0.0
    size, exponent = abs(exact), math.frexp(float(abs(exact)))[1] - 1
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    spacing = Fraction(2) ** (max(exponent, -126) - 7)
    value = round(size / spacing) * spacing  # round() of a Fraction is half to even
    return math.copysign(math.inf if value >= Fraction(2) ** 128 else float(value), exact)


def pairs(count=5000):
    rng = np.random.default_rng(3)
    a = np.concatenate(
        [rng.choice(EVERY, count), rng.normal(size=count).astype(B), np.array([0, -0.0, np.nan, np.inf], B)]
    )
    return a, rng.permutation(a)


@pytest.mark.parametrize(
    "name, op",
    [("hadd", "+"), ("hsub", "-"), ("hmul", "*"), ("hdiv", "/"), ("hadd_rn", "+"), ("hmul_rn", "*")],
)
def test_arithmetic(name, op):
    a, b = pairs()
    np.testing.assert_array_equal(floats(call(name, a, b, dtype=B)), floats(eval(f"a {op} b")))


@pytest.mark.parametrize("name, op", [("hadd_sat", "+"), ("hsub_sat", "-"), ("hmul_sat", "*")])
def test_saturating(name, op):
    a, b = pairs()
    want = floats(eval(f"a {op} b"))
    np.testing.assert_array_equal(
        floats(call(name, a, b, dtype=B)), np.clip(np.where(np.isnan(want), 0, want), 0, 1)
    )


def test_fused():
    rng = np.random.default_rng(4)
    near = rng.integers(0x3F00, 0x4100, (3, 4000), dtype=np.uint16)
    near[2] |= 0x8000  # cancels
    a, b, c = np.concatenate([rng.integers(0, 65536, (3, 4000), dtype=np.uint16), near], axis=1).view(B)
    finite = np.isfinite(floats(a)) & np.isfinite(floats(b)) & np.isfinite(floats(c))
    a, b, c = a[finite], b[finite], c[finite]
    want = np.array(
        [rounded(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))) for x, y, z in zip(a, b, c)]
    )
    np.testing.assert_array_equal(floats(call("hfma", a, b, c, dtype=B)), want)
    np.testing.assert_array_equal(floats(call("hfma_relu", a, b, c, dtype=B)), np.maximum(want, 0))
    np.testing.assert_array_equal(floats(call("hfma_sat", a, b, c, dtype=B)), np.clip(want, 0, 1))


def test_signs_and_kinds():
    np.testing.assert_array_equal(call("habs", EVERY, dtype=B).view("u2"), EVERY.view("u2") & 0x7FFF)
    np.testing.assert_array_equal(call("hneg", EVERY, dtype=B).view("u2"), EVERY.view("u2") ^ 0x8000)
    np.testing.assert_array_equal(call("hisnan", EVERY, dtype=bool), np.isnan(floats(EVERY)))
    wide = floats(EVERY)
    np.testing.assert_array_equal(
        call("hisinf", EVERY, dtype="i4"), np.isposinf(wide) * 1 - np.isneginf(wide) * 1
    )


@pytest.mark.parametrize(
    "name, op", [("heq", "=="), ("hne", "!="), ("hlt", "<"), ("hle", "<="), ("hgt", ">"), ("hge", ">=")]
)
def test_comparisons(name, op):
    a, b = pairs()
    b[::3] = a[::3]
    x, y = floats(a), floats(b)
    unordered = np.isnan(x) | np.isnan(y)
    plain = eval(f"x {op} y")
    np.testing.assert_array_equal(call(name, a, b, dtype=bool), plain & ~unordered)
    np.testing.assert_array_equal(call(name + "u", a, b, dtype=bool), plain | unordered)


def test_least_and_greatest():
    a, b = pairs()
    x, y = floats(a), floats(b)
    for name, fill, keep in (("hmax", np.fmax, np.maximum), ("hmin", np.fmin, np.minimum)):
        np.testing.assert_array_equal(floats(call(name, a, b, dtype=B)), fill(x, y))
        np.testing.assert_array_equal(floats(call(name + "_nan", a, b, dtype=B)), keep(x, y))
    zeros = np.array([0.0, -0.0], B), np.array([-0.0, 0.0], B)
    np.testing.assert_array_equal(call("hmax", *zeros, dtype=B).view("u2"), [0, 0])
    np.testing.assert_array_equal(call("hmin", *zeros, dtype=B).view("u2"), [0x8000, 0x8000])


ROUND = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}


@pytest.mark.parametrize("mode", ROUND)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_to_integers(dtype, mode):
    values = EVERY[:: 7 if dtype == "int32" else 29]
    got = call(f"bfloat16_to_{dtype}_{mode}", values, dtype=dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    unknown = 0 if np.dtype(dtype).itemsize < 8 else 2**63 if dtype == "uint64" else -(2**63)
    for value, found in zip(floats(values), got, strict=True):
        want = (
            unknown
            if np.isnan(value)
            else high
            if value >= high
            else low
            if value <= low
            else ROUND[mode](value)
        )
        assert int(found) == min(high, max(low, want)), value


@pytest.mark.parametrize("dtype", INTEGERS)
def test_from_integers(dtype):
    info, rng = np.iinfo(dtype), np.random.default_rng(9)
    values = np.concatenate(
        [
            rng.integers(info.min, info.max, 1500, dtype=dtype, endpoint=True),
            rng.integers(max(-3000, info.min), 3000, 500).astype(dtype),
            np.array([0, 1, 255, 256, 257, 258, info.min, info.max], dtype),
        ]
    )
    exact = [int(v) for v in values]
    near = floats(call(f"{dtype}_to_bfloat16_rn", values, dtype=B))
    np.testing.assert_array_equal(near, [rounded(Fraction(e)) for e in exact])
    down, up = (floats(call(f"{dtype}_to_bfloat16_{mode}", values, dtype=B)) for mode in ("rd", "ru"))
    zero = floats(call(f"{dtype}_to_bfloat16_rz", values, dtype=B))
    for e, d, u, z, n in zip(exact, down, up, zero, near, strict=True):
        assert d <= e <= u and n in (d, u) and z == (d if e >= 0 else u)
        assert (d == u) == (d == e)


def test_from_floats():
    rng = np.random.default_rng(2)
    x = np.concatenate(
        [rng.integers(0, 2**32, 4000, dtype=np.uint32).view("f4"), np.array([0, -0.0, np.inf, -np.inf], "f4")]
    )
    x = x[~np.isnan(x)]
    for mode in ("_rn", ""):
        np.testing.assert_array_equal(
            call("float32_to_bfloat16" + mode, x, dtype=B).view("u2"), x.astype(B).view("u2")
        )
    down, up = (floats(call(f"float32_to_bfloat16_{m}", x, dtype=B)) for m in ("rd", "ru"))
    zero = floats(call("float32_to_bfloat16_rz", x, dtype=B))
    assert (down <= x).all() and (up >= x).all() and (np.abs(zero) <= np.abs(x)).all()
    assert ((down == up) == (down == x)).all()
    wide = np.concatenate(
        [rng.integers(0, 2**63, 4000).view("f8"), 1 + 2.0**-8 + rng.integers(-3, 4, 500) * 2.0**-50]
    )
    wide = wide[np.isfinite(wide)]
    want = [rounded(Fraction(float(v))) for v in wide]
    np.testing.assert_array_equal(floats(call("float64_to_bfloat16", wide, dtype=B)), want)
    np.testing.assert_array_equal(call("bfloat16_to_float32", EVERY, dtype="f4"), EVERY.astype("f4"))


def test_bits():
    np.testing.assert_array_equal(call("bfloat16_as_int16", EVERY, dtype="i2"), EVERY.view("i2"))
    np.testing.assert_array_equal(
        call("uint16_as_bfloat16", EVERY.view("u2"), dtype=B).view("u2"), EVERY.view("u2")
    )
    np.testing.assert_array_equal(
        call("short_as_bfloat16", EVERY.view("i2"), dtype=B).view("u2"), EVERY.view("u2")
    )


@pytest.mark.parametrize(
    "name, twin",
    [
        *(
            ("h" + n, n)
            for n in (
                "trunc",
                "ceil",
                "floor",
                "rint",
                "sqrt",
                "log",
                "log2",
                "log10",
                "cos",
                "sin",
                "tanh",
                "exp",
                "exp2",
            )
        ),
    ],
)
def test_elementary(name, twin):
    x = np.concatenate([np.linspace(-20, 20, 4001), [0, 1e-3, 300]]).astype(B)
    got, want = floats(call(name, x, dtype=B)), getattr(np, twin)(floats(x))
    nearest = want.astype("f4").astype(B)
    known = np.isfinite(want) & (np.abs(want) < 3e38)
    off = np.abs(got[known].astype(B).view("i2").astype(int) - nearest[known].view("i2").astype(int))
    assert off[np.abs(want[known]) > 1e-30].max() <= 1
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))


def test_the_values_of_arguments_are_converted_to_bfloat16_only_where_they_are_weak():
    f = make("def f(a, o):\n    o[0] = bf16.hadd(a[0], 1.5)\n", bf16=bf16)
    out = np.zeros(1, B)
    run(f, np.array([2], B), out)
    assert out[0] == 3.5
    run(make("def f(a, o):\n    o[0] = bf16.hadd(a[0], a[0])\n", bf16=bf16), np.array([257], "i4"), out)
    assert out[0] == 512  # each integer is rounded first
    with pytest.raises(core.KernelSyntaxError, match="hadd.* does not take"):
        run(f, np.array([2], "f4"), out)


def test_print(capsys):
    x = np.array([0.1, -2.5, np.nan], B)
    run(make("def f(a):\n    print(a[0], a[1], a[2])\n"), x)
    assert capsys.readouterr().out == " ".join(map(str, x)) + "\n"


def test_the_cuda_text_compiles():
    names = [n for n in bf16.__all__ if n != "bfloat16"]
    one = [
        n
        for n in names
        if n[0] == "h"
        and n[1:]
        in "abs neg trunc ceil floor rint sqrt rsqrt rcp log log2 log10 cos sin tanh exp exp2 exp10 isnan isinf".split()
    ]
    lines = [f"o[0] = bf16.{n}(a[0])" for n in one]
    lines += [
        f"o[0] = bf16.{n}(a[0], a[1])"
        for n in names
        if n[0] == "h" and n not in one and "fma" not in n and n != "htanh_approx"
    ]
    lines += [f"o[0] = bf16.{n}(a[0], a[1], a[2])" for n in names if "fma" in n]
    lines += [f"o[0] = bf16.{n}(a[0])" for n in names if n.startswith("bfloat16_to")]
    lines += [f"o[0] = bf16.{d}_to_bfloat16_{m}(np.{d}(k))" for d in INTEGERS for m in ROUND]
    lines += ["o[0] = bf16.float64_to_bfloat16(1.5)"]
    body = "".join(f"    {line}\n" for line in lines)
    a = np.zeros(4, B)
    compiles(core.kernel(make(f"def f(a, k, o):\n{body}", bf16=bf16)), (a, 3, np.zeros(1, "f4")))

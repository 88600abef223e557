"""Every function of the table against its NumPy or math twin: values, result types, spellings that exist."""

import cmath
import math

import numpy as np
import pytest
from frontend_source import ir, make, run
from xcuda import _runtime
from xcuda import core as cuda

FUNCTIONS = {name: (spellings, twin, doc) for name, spellings, twin, doc in _runtime.kernel_functions()}
OF_ARRAYS = {  # have no overloads: test_kernel_reductions
    name
    for (name, *_), rows in zip(_runtime.kernel_functions(), _runtime.kernel_overloads(), strict=True)
    if not rows
}
TWO = {"atan2", "hypot", "maximum", "minimum", "fmax", "fmin", "nextafter", "fmod", "copysign", "logaddexp"}
TWO |= {"logaddexp2", "gcd", "lcm", "heaviside"}
OWN_TESTS = {"round", "where", "clip", "ldexp", "frexp", "modf", "bit_count", "isnat", "logaddexp2"}
COUNT = 300


def samples(dtype, seed):
    rng = np.random.default_rng(seed)
    if dtype.startswith("float"):
        special = [0, -0.0, np.nan, np.inf, -np.inf, 0.5, 1.5, -2.5]
        return np.concatenate([rng.normal(size=COUNT - len(special)) * 3, special]).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, COUNT, dtype=dtype, endpoint=True)


NOT_HERE = {"math.cbrt", "math.fma", "cuda.cg.grid_group.sync"}  # of later Pythons; a method of this_grid()


def resolve(spelling):
    module, *names = spelling.split(".")
    if module == "scipy":
        return None
    if module == "builtins":
        return 1
    value = {"math": math, "cmath": cmath, "numpy": np, "cuda": cuda}[module]
    for name in names:
        value = getattr(value, name, None)
    return value


def test_every_spelling_exists_and_every_function_is_documented():
    for name, (spellings, _, doc) in FUNCTIONS.items():
        assert doc.endswith(".") or doc == "x ** n by multiplications, n >= 0.", name
        for spelling in spellings:
            missing = resolve(spelling) is None and not spelling.startswith("scipy.")
            assert not missing or spelling in NOT_HERE, spelling


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int32"])
@pytest.mark.parametrize(
    "name", [n for n, (s, twin, _) in FUNCTIONS.items() if twin and s and n not in OWN_TESTS | OF_ARRAYS]
)
def test_a_function_is_numpys(name, dtype):
    twin = getattr(np, FUNCTIONS[name][1].removeprefix("numpy."))
    args = [samples(dtype, seed) for seed in range(2 if name in TWO else 1)]
    if name in ("gcd", "lcm") and dtype.startswith("float"):
        pytest.skip("of whole numbers")
    if name == "reciprocal" and dtype.startswith("int"):
        pytest.skip("NumPy's reciprocal of integers is an integer: the table has floats only")
    if name == "fmod" and dtype.startswith("int"):
        pytest.skip("integers are taken as float64: NumPy's integer fmod is C's %, on integers")
    want = twin(*args)
    got = np.zeros_like(want)
    passed = ", ".join(f"{v}[i]" for v in "ab"[: len(args)])
    run(
        make(f"def f(a, b, o):\n    i = cuda.grid(1)\n    o[i] = twin({passed})\n", twin=twin),
        args[0],
        args[-1],
        got,
        block=COUNT,
    )
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=4 * np.finfo(want.dtype).eps, atol=0)
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["erf", "erfc", "lgamma", "gamma", "pow", "sin", "floor", "ceil", "trunc"])
def test_a_function_is_maths(name):
    x = np.linspace(0.25, 6, 64)
    call = f"math.{name}(x[i], 1.5)" if name == "pow" else f"math.{name}(x[i])"
    got = np.zeros(64)
    run(make(f"def f(x, o):\n    i = cuda.grid(1)\n    o[i] = {call}\n"), x, got, block=64)
    want = [getattr(math, name)(v, 1.5) if name == "pow" else getattr(math, name)(v) for v in x]
    np.testing.assert_allclose(got, want, rtol=8 * np.finfo(float).eps, atol=2e-15)


def test_where_clip_ldexp_round():
    f = make("""
        def f(x, o):
            i = cuda.grid(1)
            o[0, i] = np.where(x[i] > 0, x[i], -1)
            o[1, i] = np.clip(x[i], -1, 2)
            o[2, i] = math.ldexp(x[i], 3)
            o[3, i] = np.round(x[i], 2)
            o[4, i] = math.log(abs(x[i]), 10)
            o[5, i] = math.hypot(x[i], 2, 3)
    """)
    x = np.random.default_rng(0).normal(size=50) * 3
    out = np.zeros((6, 50))
    run(f, x, out, block=50)
    np.testing.assert_array_equal(out[0], np.where(x > 0, x, -1))
    np.testing.assert_array_equal(out[1], np.clip(x, -1, 2))
    np.testing.assert_array_equal(out[2], x * 8)
    np.testing.assert_array_equal(out[3], np.round(x, 2))
    np.testing.assert_allclose(out[4], np.log10(abs(x)), rtol=1e-14)
    np.testing.assert_allclose(out[5], np.sqrt(x * x + 13), rtol=1e-15)


@pytest.mark.parametrize(
    ("call", "types", "result"),
    [
        ("math.sin(x)", "float32", "float32"),
        ("math.sin(x)", "int16", "float64"),
        ("np.sin(x)", "int16", "float32"),
        ("np.sin(x)", "int32", "float64"),
        ("math.sin(x)", "weak int64", "float64 (weak)"),
        ("math.floor(x)", "float32", "int64 (weak)"),
        ("np.floor(x)", "float32", "float32"),
        ("np.floor(x)", "int32", "int32"),
        ("np.hypot(x, 2.0)", "float32", "float32"),
        ("max(x, 1)", "float32", "float32"),
        ("max(x, 1)", "uint8", "uint8"),
        ("abs(x)", "int8", "int8"),
        ("np.isnan(x)", "float32", "bool"),
        ("round(x)", "float32", "int64 (weak)"),
        ("round(x, 1)", "float32", "float32"),
        ("int(x)", "float32", "int64 (weak)"),
        ("int(x)", "uint64", "uint64"),
        ("float(x)", "float32", "float64 (weak)"),
        ("bool(x)", "float32", "bool (weak)"),
        ("np.add(x, 1)", "int32", "int32"),
        ("np.divide(x, 2)", "int32", "float64"),
        ("np.logical_and(x, 1)", "int32", "bool"),
        ("np.float32(x)", "weak float64", "float32"),
        ("np.where(x > 0, x, 0)", "float32", "float32"),
    ],
)
def test_the_type_of_a_call(call, types, result):
    assert f"var t: {result}\n" in ir(f"def f(x):\n    t = {call}\n", types)


def test_names_are_known_by_their_objects():
    text = ir("def f(x):\n    t = s(x) + m.cos(x)\n", "float32", s=math.sin, m=np)
    assert "t = sin(x) + cos(x)" in text

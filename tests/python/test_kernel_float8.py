"""float8 in kernels: ml_dtypes' casts and operators, value by value; numba's saturating constructors."""

import numpy as np
import pytest
from frontend_source import compiles, make, run
from xcuda import core
from xcuda.core import fp8

ml_dtypes = pytest.importorskip("ml_dtypes")
FORMATS = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu]
BYTES = np.arange(256, dtype=np.uint8)
# The language has 0.7's rules: Python's numbers are weak, casts round once, bfloat16 beside float8 stays bfloat16.
OLDER = tuple(map(int, ml_dtypes.__version__.split(".")[:2])) < (0, 7)

pytestmark = pytest.mark.filterwarnings("ignore")


def elementwise(expression, *arrays, dtype, **names):
    params = "ab"[: len(arrays)]
    text = f"def f({', '.join('p' + p for p in params)}, o):\n    i = cuda.grid(1)\n    if i < len(o):\n"
    text += "".join(f"        {p} = p{p}[i]\n" for p in params) + f"        o[i] = {expression}\n"
    out = np.zeros(len(arrays[0]), dtype)
    run(make(text, **names), *arrays, out, grid=-(-len(out) // 256), block=256)
    return out


def same(got, want):
    """Equal to the bit, but for which NaN it is."""
    assert got.dtype == want.dtype
    nan = np.isnan(want.astype("f4"))
    np.testing.assert_array_equal(np.isnan(got.astype("f4")), nan)
    np.testing.assert_array_equal(got[~nan].view(np.uint8), want[~nan].view(np.uint8))


def rounded(x, f):
    """Floats in a format, rounded once to the nearest, ties to even: computed from the format's values alone."""
    codes = np.arange(128 if f is not FORMATS[2] else 255, dtype=np.uint8)
    values = codes.view(f).astype("f8")
    codes, values = codes[np.isfinite(values)], values[np.isfinite(values)]
    size = np.abs(x.astype("f8"))
    above = np.searchsorted(values, size)  # values[above - 1] < size <= values[above]
    low, high = np.maximum(above - 1, 0), np.minimum(above, len(codes) - 1)
    step = size - values[low], values[high] - size
    up = (step[1] < step[0]) | ((step[1] == step[0]) & (codes[low] % 2 == 1))
    code = codes[np.where(up, high, low)]
    if f is FORMATS[2]:  # powers of two: a tie goes up; neither zero nor signs
        code = codes[np.where((step[1] <= step[0]) & (size > values[0]), high, low)]
        over = ~(x > 0) | (size >= 1.5 * values[-1])
        return np.where(over, np.uint8(255), code).astype("u1").view(f)
    beyond = values[-1] + (values[-1] - values[-2]) / 2
    past = (size > beyond) | ((size == beyond) & (codes[-1] % 2 == 1))
    code = np.where(past, codes[-1] + 1, code)
    code = np.where(np.isnan(x), 0x7F, code)
    return (code | np.signbit(x).astype("u1") << 7).astype("u1").view(f)


def numbers(dtype):
    """Random bits, every value of each format, the places between them and their neighbours."""
    rng = np.random.default_rng(7)
    values = np.concatenate([BYTES.view(f).astype("f8") for f in FORMATS])
    values = values[np.isfinite(values)]
    between = (rng.choice(values, 20000) + rng.choice(values, 20000)) / 2
    close = np.concatenate(
        [(BYTES[:-1].view(f).astype("f8") + BYTES[1:].view(f).astype("f8")) / 2 for f in FORMATS]
    )
    word = {4: np.uint32, 8: np.uint64}[np.dtype(dtype).itemsize]
    random = rng.integers(0, np.iinfo(word).max, 20000, dtype=word).view(dtype)
    edge = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 465, 480, 57344, 61440, 1e30, 2.0**-127, 2.0**-128]
    )
    whole = np.concatenate(
        [between, close, np.nextafter(close, np.inf), np.nextafter(close, -np.inf), edge]
    ).astype(dtype)
    return np.concatenate([whole, random])


@pytest.mark.parametrize("f", FORMATS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_from_floats(f, dtype):
    a = numbers(dtype)
    want = rounded(a, f)
    if not OLDER:
        same(want, a.astype(f))
    same(elementwise("a", a, dtype=f), want)
    same(elementwise("T(a)", a, dtype=f, T=f), want)


@pytest.mark.parametrize("f", FORMATS)
def test_every_value_to_other_types(f):
    every = BYTES.view(f)
    for dtype in ("f4", "f8", "f2", ml_dtypes.bfloat16):
        got, want = elementwise("a", every, dtype=dtype), every.astype(dtype)
        np.testing.assert_array_equal(got.astype("f8"), want.astype("f8"))
    finite = every[np.isfinite(every.astype("f4")) & (np.abs(every.astype("f4")) < 2**31)]
    np.testing.assert_array_equal(elementwise("a", finite, dtype="i4"), finite.astype("f4").astype("i4"))
    same(elementwise("a", every, dtype=f), every)
    np.testing.assert_array_equal(
        elementwise("1 if a else 0", every, dtype="i4"), every.astype("f4").astype(bool)
    )


@pytest.mark.parametrize("f", FORMATS)
def test_from_whole_numbers(f):
    a = np.concatenate([np.arange(-500, 500), [2**20, -(2**40), 2**62]]).astype("i8")
    same(elementwise("a", a, dtype=f), a.astype(f))


@pytest.mark.parametrize("f", FORMATS)
@pytest.mark.parametrize(
    "expression",
    ["a + b", "a - b", "a * b", "a / b", "-a", "a + np.float32(1)", "2.0 * a", "np.maximum(a, b)"],
)
def test_operators(f, expression):
    a, b = (x.ravel().view(f) for x in np.meshgrid(BYTES, BYTES[::5]))
    weak = OLDER and expression == "2.0 * a"
    want = eval("a.dtype.type(2) * a" if weak else expression, {"np": np, "a": a, "b": b})
    got = elementwise(expression, a, b, dtype=want.dtype)
    np.testing.assert_array_equal(got.astype("f8"), want.astype("f8"))


@pytest.mark.parametrize("op", "< <= == != > >=".split())
def test_comparisons(op):
    for f in FORMATS[:2]:
        a, b = (x.ravel().view(f) for x in np.meshgrid(BYTES, BYTES[::3]))
        np.testing.assert_array_equal(
            elementwise(f"a {op} b", a, b, dtype=bool), eval(f"a {op} b").astype(bool)
        )


def test_the_types_that_join_them():
    a = BYTES[:60].view(FORMATS[0])
    for other in ("i1", "u1", "i2", "i4", "f2", "f4", "f8", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
        b = np.arange(60).astype(other)
        got = elementwise("a + b", a, b, dtype="f8")
        left = a.astype(other) if OLDER and other is ml_dtypes.bfloat16 else a
        np.testing.assert_array_equal(got, (left + b).astype("f8"))


def test_arguments_globals_local_arrays_and_device_arrays():
    f = FORMATS[0]
    third, table = f(0.3), np.array([1, 2, 3], f)

    @core.kernel
    def kernel(x, s, o):
        i = core.grid(1)
        part = core.local.array(2, f)
        if i < len(x):
            part[0] = x[i]
            part[1] = part[0] * s + third
            o[i] = part[1] + table[i % 3]

    x = np.linspace(-4, 4, 50).astype(f)
    on_device, out = core.to_device(x), core.device_array(50, f)
    kernel[1, 64](on_device, f(1.5), out)
    want = x * f(1.5) + third + table[np.arange(50) % 3]
    same(out.copy_to_host(), want)


def test_numba_s_constructors_saturate():
    a = numbers("f4")
    a = a[~np.isnan(a)]
    for construct, f, most in ((fp8.fp8_e4m3, FORMATS[0], 448.0), (fp8.fp8_e5m2, FORMATS[1], 57344.0)):
        for dtype in ("f4", "f8"):
            x = a.astype(dtype)
            same(elementwise("T(a)", x, dtype=f, T=construct), np.clip(x, -most, most).astype(f))
    got = elementwise("T(a)", a, dtype=FORMATS[2], T=fp8.fp8_e8m0).astype("f8")
    size = np.minimum(np.abs(a.astype("f8")), 2.0**127)
    np.testing.assert_array_equal(got, 2.0 ** np.ceil(np.log2(np.maximum(size, 2.0**-127))))
    nan = np.full(2, np.nan, "f4")
    assert np.isnan(elementwise("T(a)", nan, dtype=FORMATS[0], T=fp8.fp8_e4m3).astype("f4")).all()


def test_cuda_s_conversions_of_bits():
    @core.kernel
    def kernel(x, o, modes):
        i = core.grid(1)
        if i < len(x):
            o[0, i] = fp8.cvt_float_to_fp8(x[i], fp8.saturation_t.NOSAT, fp8.fp8_interpretation_t.E4M3)
            o[1, i] = fp8.cvt_float_to_fp8(x[i], fp8.saturation_t.SATFINITE, fp8.fp8_interpretation_t.E5M2)
            o[2, i] = fp8.cvt_double_to_fp8(x[i], fp8.saturation_t.NOSAT, fp8.fp8_interpretation_t.E5M2)
            o[3, i] = fp8.cvt_float_to_e8m0(x[i], fp8.saturation_t.SATFINITE, fp8.cudaRoundMode.cudaRoundZero)
            raw = fp8.cvt_e8m0_to_bf16raw(o[3, i])
            modes[i] = raw.x
            o[4, i] = fp8.cvt_bfloat16raw_to_fp8(
                raw, fp8.saturation_t.SATFINITE, fp8.fp8_interpretation_t.E4M3
            )

    x = numbers("f4")[:5000]
    x = x[np.isfinite(x)]
    o, raws = np.zeros((5, len(x)), "u1"), np.zeros(len(x), "u2")
    kernel[-(-len(x) // 128), 128](x, o, raws)
    core.synchronize()
    e4m3, e5m2 = FORMATS[:2]
    np.testing.assert_array_equal(o[0], x.astype(e4m3).view("u1"))
    np.testing.assert_array_equal(o[1], np.clip(x, -57344, 57344).astype(e5m2).view("u1"))
    np.testing.assert_array_equal(o[2], x.astype(e5m2).view("u1"))
    exponent = np.floor(np.log2(np.maximum(np.abs(x.astype("f8")), 2.0**-127)))
    np.testing.assert_array_equal(o[3], (exponent + 127).astype("u1"))
    power = raws.view(ml_dtypes.bfloat16).astype("f8")
    np.testing.assert_array_equal(power, 2.0**exponent)
    np.testing.assert_array_equal(o[4], np.minimum(power, 448).astype(e4m3).view("u1"))


def test_print(capsys):
    @core.kernel
    def kernel(x):
        print(x[0], x[1], x[2])

    for f in FORMATS:
        x = np.array([0.1, 2.0, 0.25], f)
        kernel[1, 1](x)
        core.synchronize()
        assert capsys.readouterr().out == " ".join(map(str, x)) + "\n"


@pytest.mark.parametrize("f", FORMATS)
def test_the_cuda_text_compiles(f):
    @core.kernel
    def kernel(x, y, o):
        i = core.grid(1)
        if i < len(x):
            o[i] = f(y[i]) + x[i] * x[i]
            y[i] = fp8.fp8_e4m3(y[i]) + fp8.fp8_e8m0(y[i])

    x = np.zeros(4, f)
    compiles(kernel, (x, np.zeros(4, "f8"), x))
    compiles(kernel, (x, np.zeros(4, "f4"), x))

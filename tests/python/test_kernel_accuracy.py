"""The accuracy that the function table states: measured over the whole range of float32 and float64, on this device.

Inputs are bit patterns at even steps through the whole range, and numbers of everyday size. The reference is the next wider
type, or for what NumPy lacks sums of series in decimal arithmetic.
"""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from frontend_source import make, run
from xcuda import _runtime, core

ACCURACY = core.kernel_accuracy()
TWO = {"atan2", "hypot", "pow"}
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh"}
NUMPY |= {"atanh": "arctanh", "atan2": "arctan2", "pow": "power"}
SERIES = ("erf", "erfc", "lgamma", "gamma")
SCIPYS = {  # test_math_special has them
    name
    for name, spellings, *_ in _runtime.kernel_functions()
    if spellings and spellings[0].startswith("scipy.")
}
STATED = sorted(
    name
    for name, devices in ACCURACY.items()
    if devices["cpu"].get("float64")
    and name not in {*SERIES, *SCIPYS, "rsqrt", "logaddexp", "logaddexp2"}
    and "." not in name
)  # libdevice's are the same functions


def device():
    return "cuda" if "cuda" in str(core.get_current_device()).lower() else "cpu"


def inputs(dtype, seed=0):
    rng = np.random.default_rng(seed)
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    step = 16381 if dtype == np.float32 else 2**64 // 200003
    whole = np.arange(0, 2 ** (8 * bits.itemsize) - step, step, dtype=bits).view(dtype)
    usual = rng.uniform(-30, 30, 60000).astype(dtype)
    unit = rng.uniform(-1, 1, 60000).astype(dtype)
    near_one = (1 + rng.normal(size=20000) * 10.0 ** rng.uniform(-7, -1, 20000)).astype(dtype)
    return np.concatenate([whole, usual, unit, near_one])


def off(got, want):
    """Units in the last place of `got` from the exact `want`; where both are the same non-number 0."""
    rounded = want.astype(got.dtype)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    finite = np.isfinite(rounded) & np.isfinite(got)
    unit = np.spacing(np.abs(np.where(finite, rounded, 1))).astype(want.dtype)
    with np.errstate(all="ignore"):
        ulp = np.abs(np.where(finite, got, 0) - np.where(finite, want, 0)) / unit
    edge = np.finfo(got.dtype).max * (1 - 8 * np.finfo(got.dtype).eps)
    overflow = ~finite & (np.abs(got) >= edge) & (np.abs(rounded) >= edge)  # infinite, or the last before it
    return np.where(finite, ulp, np.where(same | overflow, 0, np.inf))


def through(name, args, lanes):
    """The function as a kernel: over vectors of lanes on the CPU device, or one number at a time."""
    module = "np" if hasattr(np, NUMPY.get(name, name)) and name != "pow" else "math"
    call = f"{module}.{NUMPY.get(name, name) if module == 'np' else name}"
    given = ", ".join(f"{v}[i]" for v in "ab"[: len(args)])
    store = f"o[i] = {call}({given})" if lanes else f"cuda.atomic.exch(o, i, {call}({given}))"
    f = make(f"def f(a, b, o):\n    i = cuda.grid(1)\n    if i < len(o):\n        {store}\n")
    out = np.zeros_like(args[0])
    run(f, args[0], args[-1], out, grid=-(-len(out) // 256), block=256)
    return out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", STATED)
def test_a_function_is_as_accurate_as_stated(name, dtype):
    limit = ACCURACY[name][device()][np.dtype(dtype).name]
    args = [inputs(dtype)]
    if name in TWO:
        args.append(np.random.default_rng(5).permutation(args[0]))
    wider = np.float64 if dtype == np.float32 else np.longdouble
    wide = [x.astype(wider) for x in args]
    if name in ("degrees", "radians"):
        pi = np.longdouble("3.14159265358979323846264338327950288")
        want = wide[0] * (180 / pi) if name == "degrees" else wide[0] * (pi / 180)
    else:
        want = getattr(np, NUMPY.get(name, name))(*wide)
    for lanes in (True, False):
        got = through(name, args, lanes)
        ulp = off(got, want)
        worst = int(np.argmax(ulp))
        found = [x[worst] for x in args], got[worst], want[worst]
        assert ulp[worst] <= limit + 0.5, (name, lanes, ulp[worst], found)


def _exact(name, x):
    """erf, erfc, lgamma and gamma of a float in decimal arithmetic."""
    with localcontext() as context:
        context.prec = 60 + int(min(x * x, 800))
        z = Decimal(float(x))
        if name in ("erf", "erfc"):
            term = total = z
            n = 0
            while abs(term) > abs(total).scaleb(-context.prec) or n < abs(z * z):
                n += 1
                term = -term * z * z / n
                total += term / (2 * n + 1)
            erf = 2 * total / _PI.sqrt()
            return erf if name == "erf" else 1 - erf
        shift = Decimal(1)
        while z < 40:  # Stirling's series above
            shift *= z
            z += 1
        log = (z - Decimal("0.5")) * z.ln() - z + (2 * _PI).ln() / 2
        for k, (top, bottom) in enumerate(_BERNOULLI, 1):
            log += Decimal(top) / bottom / (2 * k * (2 * k - 1)) / z ** (2 * k - 1)
        return log - shift.ln() if name == "lgamma" else log.exp() / shift


def _pi(digits):
    """Machin's sum of two arctangents."""
    with localcontext() as context:
        context.prec = digits

        def arctan_of_inverse(n):
            power = total = Decimal(1) / n
            for k in range(3, 2 * digits, 2):
                power /= -n * n
                total += power / k
            return total

        return 16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)


_PI = _pi(900)
_BERNOULLI = ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SERIES)
def test_a_special_function_is_as_accurate_as_stated(name, dtype):
    limit = ACCURACY[name][device()][np.dtype(dtype).name]
    rng = np.random.default_rng(2)
    top = {
        "erf": 6,
        "erfc": 9 if dtype == np.float32 else 25,
        "gamma": 30 if dtype == np.float32 else 170,
    }.get(name, 200)
    x = np.concatenate(
        [rng.uniform(0.01, top, 120), 10.0 ** rng.uniform(-6, 0, 60), rng.uniform(0.5, 3, 60)]
    ).astype(dtype)
    if name.startswith("erf"):
        x[::3] *= -1
    exact = [_exact(name, v) for v in x]
    for lanes in (True, False):
        f = make(
            "def f(a, o):\n    i = cuda.grid(1)\n    if i < len(o):\n        "
            + (f"o[i] = math.{name}(a[i])\n" if lanes else f"cuda.atomic.exch(o, i, math.{name}(a[i]))\n")
        )
        got = np.zeros_like(x)
        run(f, x, got, block=256)
        for value, result, want in zip(x, got, exact, strict=True):
            unit = Decimal(float(np.spacing(np.abs(dtype(float(want))))))
            ulp = abs(Decimal(float(result)) - want) / unit
            assert ulp <= Decimal(limit + 0.5), (name, lanes, float(ulp), value, result)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rsqrt_and_logaddexp(dtype):
    wider = np.float64 if dtype == np.float32 else np.longdouble
    x = inputs(dtype)
    y = np.random.default_rng(7).permutation(x)
    y[::3] = x[::3] + np.random.default_rng(8).normal(size=len(x[::3])).astype(dtype)
    f = make(
        """
        def f(a, b, r, o, p):
            i = cuda.grid(1)
            if i < len(o):
                r[i] = cuda.rsqrt(a[i])
                o[i] = np.logaddexp(a[i], b[i])
                p[i] = np.logaddexp2(a[i], b[i])
        """
    )
    root, natural, binary = (np.zeros_like(x) for _ in range(3))
    run(f, x, y, root, natural, binary, grid=-(-len(x) // 256), block=256)
    limit = ACCURACY["rsqrt"][device()][np.dtype(dtype).name]
    assert off(root, 1 / np.sqrt(x.astype(wider))).max() <= limit + 0.5
    for name, total in (("logaddexp", natural), ("logaddexp2", binary)):
        limit = ACCURACY[name][device()][np.dtype(dtype).name]
        want = getattr(np, name)(x.astype(wider), y.astype(wider))
        size = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(want.astype(dtype)))
        finite = np.isfinite(size)
        np.testing.assert_array_equal(total[~finite], want[~finite].astype(dtype))
        assert (np.abs(total - want)[finite] / np.spacing(size[finite])).max() <= limit + 0.5, name


EXACT = """
nextafter fmod sqrt floor ceil trunc rint round copysign fabs frexp modf remainder ldexp min max minimum maximum fmin fmax
clip abs sign bits heaviside nan_to_num spacing ulp square reciprocal fma saturate fdim real imag conjugate angle cube pow_int
""".split()  # angle: of a real number, 0 or pi; cube, pow_int: products, each rounded


def test_every_function_of_floats_states_its_accuracy():
    for name, devices in ACCURACY.items():
        base = name.removeprefix("libdevice.")
        exact = name.partition(".")[0] in ("bf16", "fp8") or base in EXACT or base.removesuffix("f") in EXACT
        for dtypes in devices.values():
            assert all((ulp == 0) == exact for ulp in dtypes.values()), name
    for devices in ACCURACY.values():
        assert set(devices) == {"cpu", "cuda"}
        assert all(0 <= ulp <= 10 for dtypes in devices.values() for ulp in dtypes.values())
    assert ACCURACY["sqrt"]["cuda"] == {"float32": 0, "float64": 0}
    assert set(STATED) >= {"sin", "exp", "pow", "degrees"} and math.pi

"""Special functions: as accurate as the functions' table states, at values from mpmath and against SciPy; and they fuse."""

import json
from pathlib import Path

import numpy as np
import pytest
import xcuda.math as nvmath
from numeric_compiled import compiled
from xcuda import numeric as xnp
from xcuda.math._special import TABLE

special = pytest.importorskip("scipy.special")

ROWS = json.loads((Path(__file__).parent / "special_values.json").read_text())
NAMES = sorted({row[0] for row in ROWS})
AMPLITUDE = ("j0", "j1", "y0", "y1")
DEVICE = "cuda" if xnp.zeros(1)._device_label.startswith("cuda") else "cpu"


def exact(name, dtype):
    """(operands, values, what the values lack) of one function."""
    rows = [row for row in ROWS if row[:2] == [name, dtype]]
    operands = [np.array([float.fromhex(row[2][k]) for row in rows], dtype) for k in range(len(rows[0][2]))]
    return operands, *(np.array([float.fromhex(row[k]) for row in rows]) for k in (3, 4))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_a_function_is_as_accurate_as_stated(name, dtype):
    operands, near, rest = exact(name, dtype)
    got = getattr(nvmath, name)(*map(xnp.asarray, operands)).get()
    assert got.dtype == dtype
    size = np.abs(near)
    if name in AMPLITUDE:
        size = np.maximum(size, np.minimum(1, np.sqrt(2 / (np.pi * np.abs(operands[0])))))
    if name == "betaln":
        size = np.maximum(size, 1)
    unit = np.spacing(size.astype(dtype)).astype(float)
    off = np.abs((got.astype(float) - near) - rest) / unit
    worst = int(np.argmax(off))
    limit = nvmath.accuracy()[name][DEVICE][dtype]
    assert off[worst] <= limit + 0.5, (
        name,
        off[worst],
        [float(o[worst]) for o in operands],
        got[worst],
        near[worst],
    )


def spread(low, high, n, rng):
    """float32 between two, half of them uniform, half of all exponents."""
    wide = 2.0 ** rng.uniform(-100, np.log2(max(abs(low), abs(high))), n) * rng.choice([-1, 1], n)
    return np.concatenate([rng.uniform(low, high, n), wide[(wide >= low) & (wide <= high)]]).astype("float32")


@pytest.mark.parametrize("name", NAMES)
def test_thousands_of_singles_are_as_accurate_as_stated(name):
    """SciPy's float64 is the reference: its own error is far below a unit of float32."""
    rng = np.random.default_rng(11)
    rows = exact(name, "float32")[0]
    operands = [spread(float(o.min()), float(o.max()), 8000, rng) for o in rows]
    count = min(map(len, operands))
    operands = [rng.permutation(o)[:count] for o in operands]
    if len(operands) > 1:  # and where both are near each other
        operands[1][::3] = operands[0][::3] * rng.uniform(0.3, 3, len(operands[0][::3]))
    got = getattr(nvmath, name)(*map(xnp.asarray, operands)).get().astype(float)
    with np.errstate(all="ignore"):
        want = getattr(special, name, np.sinc)(*(o.astype(float) for o in operands))
    if name == "kl_div":  # SciPy's loses digits where both are near
        x, y = (np.asarray(o, np.longdouble) for o in operands)
        r = (x - y) / (x + y)
        want = np.where(
            r**2 < 1e-4, (x + y) * (r**2 * (1 + (1 + r) * r * (1 / 3 + r**2 / 5))), x * np.log(x / y) - x + y
        )
        want = want.astype(float)
    size = np.abs(want)
    if name in AMPLITUDE:
        size = np.maximum(size, np.minimum(1, np.sqrt(2 / (np.pi * np.abs(operands[0])))))
    if name == "betaln":
        size = np.maximum(size, 1)
    kept = np.isfinite(want) & (size < 3e38) & (size > 1e-37)
    assert kept.sum() > 4000
    off = np.abs(got - want)[kept] / np.spacing(size[kept].astype("float32")).astype(float)
    worst = int(np.argmax(off))
    limit = nvmath.accuracy()[name][DEVICE]["float32"]
    assert off[worst] <= limit + 0.5, (name, off[worst], [float(o[kept][worst]) for o in operands])


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long double is no longer than float64")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kl_div_of_what_is_near_loses_no_digits(dtype):
    rng = np.random.default_rng(3)
    x = rng.uniform(0.001, 5e4, 6000).astype(dtype)
    near = 1 + 10.0 ** rng.uniform(-7, -0.3, 2000) * rng.choice([-1, 1], 2000)
    y = (x * np.concatenate([rng.uniform(0.2, 4, 2000), near, 10.0 ** rng.uniform(-6, 6, 2000)])).astype(
        dtype
    )
    wide, other = x.astype(np.longdouble), y.astype(np.longdouble)
    r = (wide - other) / (wide + other)
    rest = np.zeros_like(r)
    for k in range(90, -1, -1):
        rest = rest * r**2 + 1 / np.longdouble(2 * k + 3)
    far = wide * np.log(wide / other) - wide + other
    want = np.where(r**2 < 0.4, (wide + other) * (r**2 + (1 + r) * r**3 * rest), far)
    off = np.abs(np.asarray(nvmath.kl_div(x, y).get(), np.longdouble) - want) / np.spacing(
        np.maximum(want, 1e-30).astype(dtype)
    )
    assert off.max() <= nvmath.accuracy()["kl_div"][DEVICE][dtype] + 0.5


def test_every_function_states_its_accuracy():
    stated = nvmath.accuracy()
    assert set(stated) == set(TABLE)
    assert {name for name, row in TABLE.items() if row[1] == name or name == "gammaln"} <= {*NAMES, "gammaln"}
    for devices in stated.values():
        assert all(0 < devices[d][t] <= 10 for d in ("cpu", "cuda") for t in ("float32", "float64"))


@pytest.mark.parametrize("name", AMPLITUDE)
def test_bessel_functions_far_from_0(name):
    """Above 8, where CUDA's own are off by thousands of ulp near their zeros: in units of the amplitude, against SciPy's float64."""
    rng = np.random.default_rng(4)
    x = np.concatenate([[8.0], rng.uniform(7.5, 60, 4000), 10.0 ** rng.uniform(1, 6, 4000)])
    if name[0] == "j":
        x[::3] *= -1
    for dtype in ("float32", "float64"):
        given = x.astype(dtype)
        wide = np.abs(given.astype(float))
        off = np.abs(getattr(nvmath, name)(given).get() - getattr(special, name)(given.astype(float)))
        off /= np.sqrt(2 / (np.pi * wide))
        bound = 2.0**-24 * 8 if dtype == "float32" else 2.0**-53 * (24 + wide)  # SciPy rounds x - pi / 4
        worst = np.argmax(off / bound)
        assert (off < bound).all(), (name, dtype, given[worst], off[worst])


# Where SciPy and we agree by definition: poles, ends of domains, nan.
EDGES = {
    "erfinv": [-1, 1, 0, 2, np.nan], "erfcinv": [0, 2, 1, -1, np.nan], "ndtri": [0, 1, 0.5, 2, np.nan],
    "ndtr": [-np.inf, np.inf, 0, np.nan, -40], "digamma": [0.0, -0.0, -1, -2, np.inf, np.nan],
    "gamma": [0.0, -0.0, np.inf, np.nan, 171, 172], "gammaln": [0, -1, np.inf, np.nan, 1, 2],
    "j0": [0, np.nan], "j1": [0, np.nan], "y0": [0, -1, np.nan], "y1": [0, -1, np.nan],
    "i0": [0, np.nan, 709], "i1": [0, np.nan, -709],
    "i0e": [0, 1e300, np.nan], "i1e": [0, np.nan, -0.0], "expit": [-np.inf, np.inf, 0, np.nan, -745],
    "logit": [0, 1, 0.5, -1, 2, np.nan], "log_expit": [-np.inf, np.inf, 0, np.nan, -1000],
    "exprel": [0, np.inf, -np.inf, np.nan, 800], "sinc": [0, 1, 2, -3, np.nan], "entr": [0, -1, 1, np.inf, np.nan],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(EDGES))
def test_the_ends_are_scipys(name):
    x = np.array(EDGES[name], float)
    with np.errstate(all="ignore"):
        want = getattr(special, name)(x)
    np.testing.assert_allclose(getattr(nvmath, name)(x).get(), want, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "rel_entr", "kl_div"])
def test_the_ends_of_functions_of_two_are_scipys(name):
    values = np.array([0, 1, 2, -0.5, np.inf, np.nan])
    x, y = (a.ravel() for a in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        want = getattr(special, name)(x, y)
    keep = (
        np.isfinite(x) & np.isfinite(y) | np.isnan(x) | np.isnan(y)
    )  # at infinity they differ among SciPy's versions
    np.testing.assert_allclose(getattr(nvmath, name)(x, y).get()[keep], want[keep], rtol=1e-13)


@pytest.mark.parametrize("name", ["digamma", "gamma", "gammaln", "beta", "betaln"])
def test_left_of_0_they_are_scipys(name):
    x = np.linspace(-9.7, -0.05, 180)
    x = x[np.abs(x - np.rint(x)) > 0.04]
    args = (x,) if TABLE[name][0] == 1 else (x, np.full_like(x, 0.3))
    want = getattr(special, name)(*args)
    got = getattr(nvmath, name)(*args).get()
    np.testing.assert_allclose(got, want, rtol=2e-12, atol=1e-12)


def test_dtypes_go_by_numpys_rules():
    for given, want in (
        ("float32", "float32"),
        ("float16", "float16"),
        ("int32", "float64"),
        ("bool", "float64"),
    ):
        assert nvmath.erf(np.ones(3, given)).dtype == want
    assert nvmath.xlogy(np.ones(3, "float32"), 2.0).dtype == "float32"
    assert nvmath.xlogy(np.ones(3, "float32"), np.float64(2)).dtype == "float64"
    assert nvmath.erf(0.5).shape == ()
    with pytest.raises(TypeError, match="nvmath.erf is of real numbers: an operand is complex128"):
        nvmath.erf(np.ones(2, complex))
    with pytest.raises(TypeError, match=r"xlogy\(\) takes 2 operands, 1 were given"):
        nvmath.xlogy(np.ones(2))


def test_they_fuse_with_what_is_around_them():
    @nvmath.jit
    def gelu(x):
        return 0.5 * x * (1 + nvmath.erf(x / nvmath.sqrt(2.0)))

    x = np.linspace(-4, 4, 50)
    np.testing.assert_allclose(gelu(x), 0.5 * x * (1 + special.erf(x / np.sqrt(2))), rtol=1e-13, atol=1e-15)
    told = gelu.explain(x)
    assert (len(told.fused), len(told.library)) == (1, 0)


def test_scipys_own_functions_are_captured():
    x = np.linspace(0.1, 4, 50)
    f = nvmath.jit(lambda x: special.j0(x) + special.digamma(x))
    np.testing.assert_allclose(f(x), special.j0(x) + special.digamma(x), rtol=1e-12, atol=1e-13)
    assert len(f.explain(x).kernels) == 1


# In a process of its own, whose kernels are these alone.
GROUPS_OF_FOUR = """
import json, sys
import numpy
import xcuda.math as nvmath
from xcuda import _runtime
from xcuda.math._special import TABLE

singles = ["i0", "i1e", "expit", "kl_div", "sinc", "xlogy", "erfinv", "j0"]
for dtype, names in (("float32", singles), ("float64", sorted(TABLE))):
    x = numpy.full(4, 0.5, dtype)
    for k in range(0, len(names), 4):
        f = nvmath.jit(lambda x: sum(getattr(nvmath, n)(*[x] * TABLE[n][0]) for n in names[k : k + 4]))
        assert numpy.isfinite(f(x)).all()
print(json.dumps(_runtime.numeric_compile_for(sys.argv[1])))
"""


def test_every_function_compiles_for_a_gpu_that_is_not_here():
    pytest.importorskip("nvidia.cu13", reason="no NVRTC wheel")
    found = compiled(GROUPS_OF_FOUR, "sm_90")
    assert len(found) == 10
    text = "".join(text for _, text, _ in found)
    for name in (
        "xc_s_digamma(",
        "xc_s_beta(",
        "xc_s_bessel_i<1, true>(",
        "normcdf(",
        "erfinvf(",
        "xc_s_bessel_jy<0, false>(",
        "xc_s_expit(",
    ):
        assert name in text
    assert all(registers for _, _, registers in found)

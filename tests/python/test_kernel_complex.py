"""complex64 and complex128 in kernels: NumPy and Python are the reference, edge values included."""

import cmath
import math

import numpy as np
import pytest
from frontend_source import compiles, ir, make, run
from xcuda import core

TYPES = [np.complex64, np.complex128]
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, np.inf, -np.inf, np.nan]


def edges(dtype):
    """Every pair of edge values as a complex number."""
    part = np.dtype(dtype).type(0).real.dtype
    special = np.array(
        [*EDGES, np.finfo(part).max, np.finfo(part).tiny, np.finfo(part).smallest_subnormal], part
    )
    z = np.empty((len(special), len(special)), dtype)
    z.real, z.imag = special[:, None], special[None, :]
    return z.ravel()


def numbers(dtype, count=2000, seed=0):
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-6, 6, count)
    return (size * np.exp(1j * rng.uniform(-4, 4, count))).astype(dtype)


def same_class(got, want):
    """nan, infinities and signs of zeros and infinities are the reference's, part by part."""
    for g, w in ((got.real, want.real), (got.imag, want.imag)):
        np.testing.assert_array_equal(np.isnan(g), np.isnan(w))
        np.testing.assert_array_equal(np.isinf(g), np.isinf(w))
        sure = ~np.isnan(w) & (np.isinf(w) | (w == 0))
        np.testing.assert_array_equal(np.signbit(g)[sure], np.signbit(w)[sure])


def near(got, want, ulp):
    """Within `ulp` of the number's own size; and of the same class."""
    assert got.dtype == want.dtype
    finite = np.isfinite(want) & np.isfinite(got)
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
    eps = np.finfo(want.dtype).eps
    with np.errstate(all="ignore"):
        off = np.abs(got[finite] - want[finite]) / (np.abs(want[finite]) * eps + np.finfo(want.dtype).tiny)
    if off.size:
        worst = np.argmax(off)
        assert off[worst] <= ulp, (off[worst], got[finite][worst], want[finite][worst])


def elementwise(expression, *arrays, dtype=None, **names):
    """`expression` of a[i], b[i], ... run as a kernel."""
    letters = "abcd"[: len(arrays)]
    params = ", ".join([*letters, "o"])
    values = "".join(f"        {v} = p{v}[i]\n" for v in letters)
    params = ", ".join([*(f"p{v}" for v in letters), "o"])
    f = make(
        f"def f({params}):\n    i = cuda.grid(1)\n    if i < len(o):\n{values}        o[i] = {expression}\n",
        **names,
    )
    out = np.zeros(len(arrays[0]), dtype or arrays[0].dtype)
    run(f, *arrays, out, grid=-(-len(out) // 128), block=128)
    return out


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operator", "+-*/")
def test_operators(operator, dtype):
    special = edges(dtype)
    a = np.concatenate([numbers(dtype), np.repeat(special, len(special))])
    b = np.concatenate([numbers(dtype, seed=1), np.tile(special, len(special))])
    with np.errstate(all="ignore"):
        want = np.array([])
        if operator == "*":  # by parts: NumPy's array loop fuses products where the machine can
            want = np.empty_like(a)
            want.real = a.real * b.real - a.imag * b.imag
            want.imag = a.real * b.imag + a.imag * b.real
        else:
            want = eval(f"a {operator} b")
    got = elementwise(f"a {operator} b", a, b)
    finite = np.isfinite(want) & (np.abs(want) < np.finfo(dtype).max / 8)
    near(got[finite], want[finite], 4)
    if operator in "+-":
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", TYPES)
def test_division_by_zero_is_numpys(dtype):
    a = edges(dtype)
    for zero in (0, -0.0, complex(0, -0.0)):
        b = np.full_like(a, zero)
        with np.errstate(all="ignore"):
            same_class(elementwise("a / b", a, b), a / b)


@pytest.mark.parametrize("dtype", TYPES)
def test_comparisons_and_truth(dtype):
    special = edges(dtype)
    a, b = np.repeat(special, len(special)), np.tile(special, len(special))
    np.testing.assert_array_equal(elementwise("a == b", a, b, dtype=bool), a == b)
    np.testing.assert_array_equal(elementwise("a != b", a, b, dtype=bool), a != b)
    np.testing.assert_array_equal(elementwise("bool(a)", special, dtype=bool), special.astype(bool))
    np.testing.assert_array_equal(elementwise("not a", special, dtype=bool), ~special.astype(bool))
    np.testing.assert_array_equal(elementwise("a == 1", special, dtype=bool), special == 1)


ULPS = {"tan": 12, "tanh": 12, "log1p": 8, "exp2": 700, "expm1": 8}
FUNCTIONS = (
    "exp log sqrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh exp2 expm1 log1p log2 log10"
).split()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_numpys(name, dtype):
    rng = np.random.default_rng(3)
    grid = rng.uniform(-3, 3, 2000) + 1j * rng.uniform(-3, 3, 2000)
    circle = np.exp(1j * rng.uniform(-4, 4, 500)) * (1 + 10.0 ** rng.uniform(-12, -1, 500))
    if name == "log1p":
        circle -= 1
    x = np.concatenate([grid, circle, numbers(np.complex128, 500)]).astype(dtype)
    twin = getattr(np, name)
    want = twin(x.astype(np.clongdouble)).astype(dtype)
    got = elementwise("twin(a)", x, twin=twin)
    if name in ("exp2", "tan", "tanh", "sin", "cos", "sinh", "cosh", "exp", "expm1"):
        keep = (np.abs(x) < 80) & np.isfinite(want)
        got, want = got[keep], want[keep]
    if name in ("expm1", "log1p"):  # NumPy's own formula cancels near 0
        keep = np.abs(want) > 0.2
        got, want = got[keep], want[keep]
    near(got, want, ULPS.get(name, 8))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "name", [n for n in FUNCTIONS if n not in ("exp2", "expm1", "log1p", "log2", "log10")]
)
def test_edges_of_a_function_are_numpys(name, dtype):
    z = edges(dtype)
    twin = getattr(np, name)
    want, got = twin(z), elementwise("twin(a)", z, twin=twin)
    # C leaves the sign of some parts open: of infinity times an unknown, and of nan's neighbours.
    for g, w in ((got.real, want.real), (got.imag, want.imag)):
        np.testing.assert_array_equal(np.isnan(g), np.isnan(w), err_msg=str(z[np.isnan(g) != np.isnan(w)]))
        np.testing.assert_array_equal(np.isinf(g), np.isinf(w), err_msg=str(z[np.isinf(g) != np.isinf(w)]))
    known = np.isfinite(z)
    off = [
        (z[i], got[i], want[i])
        for i in np.flatnonzero(known)
        for g, w in ((got[i].real, want[i].real), (got[i].imag, want[i].imag))
        if not np.isnan(w) and np.signbit(g) != np.signbit(w)
    ]
    assert not off
    near(got[known], want[known], 8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", TYPES)
def test_parts(dtype):
    z = np.concatenate([edges(dtype), numbers(dtype)])
    part = z.real.dtype
    np.testing.assert_array_equal(elementwise("a.real", z, dtype=part), z.real)
    np.testing.assert_array_equal(elementwise("a.imag", z, dtype=part), z.imag)
    np.testing.assert_array_equal(elementwise("np.imag(a) + np.real(a)", z, dtype=part), z.imag + z.real)
    same_class(elementwise("a.conjugate()", z), z.conjugate())
    same_class(elementwise("np.conj(a)", z), z.conjugate())
    # CUDA's hypot may be 2 ulp off, which is inf where the largest number is right.
    inside = ~(np.isfinite(np.abs(z)) & (np.abs(z) > np.finfo(part).max * (1 - 1e-6)))
    np.testing.assert_allclose(
        elementwise("abs(a)", z, dtype=part)[inside], np.abs(z)[inside], rtol=4e-7 if part == "f4" else 1e-15
    )
    np.testing.assert_allclose(
        elementwise("np.angle(a)", z, dtype=part), np.angle(z), rtol=1e-6 if part == "f4" else 1e-15
    )
    np.testing.assert_array_equal(elementwise("np.isnan(a)", z, dtype=bool), np.isnan(z))
    np.testing.assert_array_equal(elementwise("np.isinf(a)", z, dtype=bool), np.isinf(z))
    np.testing.assert_array_equal(elementwise("np.isfinite(a)", z, dtype=bool), np.isfinite(z))
    np.testing.assert_array_equal(elementwise("np.rint(a)", z), np.rint(z))
    np.testing.assert_array_equal(elementwise("-a", z), -z)
    usual = numbers(dtype)
    near(elementwise("np.sign(a)", usual), np.sign(usual), 4)
    near(elementwise("np.square(a)", usual), np.square(usual), 4)
    near(elementwise("np.reciprocal(a)", usual), np.reciprocal(usual), 4)
    np.testing.assert_array_equal(
        elementwise("np.where(a.real > 0, a, 1j)", usual), np.where(usual.real > 0, usual, 1j)
    )


def test_parts_of_real_numbers():
    x = np.array([1.5, -2.0, np.nan, -0.0])
    np.testing.assert_array_equal(elementwise("a.real", x), x)
    np.testing.assert_array_equal(elementwise("a.imag", x), np.zeros(4))
    np.testing.assert_array_equal(elementwise("a.conjugate()", x), x)
    np.testing.assert_array_equal(elementwise("np.angle(a)", x), np.angle(x))
    n = np.array([3, -4], np.int32)
    np.testing.assert_array_equal(elementwise("a.real + a.imag", n), n)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 5, 7, -1, -2, -5, 0.5, 2.0, 1.5, -0.25, 1j, 2 - 1j, 120])
def test_powers(exponent, dtype):
    z = numbers(dtype, 500) ** 0.1
    reference = z.astype(np.clongdouble) ** exponent
    ulp = 4 + 12 * abs(exponent)
    near(elementwise(f"a ** {exponent!r}", z), reference.astype(dtype), ulp)
    n = np.full(500, exponent, dtype if isinstance(exponent, complex) else None)
    near(elementwise("a ** kind(b)", z, n, dtype=dtype, kind=dtype), reference.astype(dtype), ulp)


def test_power_edges_are_numpys():
    base = np.array([0, 0, 0, 0, 0, 1j, np.inf, 2, -1])
    exponent = np.array([0, 2, -1, 1j, 0.5, -2, 0, 1j, 0.5])
    with np.errstate(all="ignore"):
        want = base**exponent
        got = elementwise("a ** b", base, exponent)
    np.testing.assert_allclose(got, want, rtol=1e-15, atol=1e-15)
    whole = np.array([2, 5, -3], np.int64)
    np.testing.assert_allclose(
        elementwise("b ** a", whole, np.array([1j, 2j, 1 + 1j]), dtype=complex),
        np.array([1j, 2j, 1 + 1j]) ** whole,
    )


@pytest.mark.parametrize(
    ("expression", "types", "result"),
    [
        ("x * 1j", "float32", "complex64"),
        ("x * 1j", "float16", "complex64"),
        ("x * 1j", "float64", "complex128"),
        ("x * 1j", "int32", "complex128"),
        ("x * 1j", "weak int64", "complex128 (weak)"),
        ("x + 1", "complex64", "complex64"),
        ("x + 1.5", "complex64", "complex64"),
        ("x + 1j", "complex64", "complex64"),
        ("x + np.float64(1)", "complex64", "complex128"),
        ("x + np.int64(1)", "complex64", "complex128"),
        ("x + np.int16(1)", "complex64", "complex64"),
        ("x / 3", "complex64", "complex64"),
        ("abs(x)", "complex64", "float32"),
        ("x.imag", "complex128", "float64"),
        ("abs(x)", "weak complex128", "float64 (weak)"),
        ("complex(x, 1)", "float32", "complex128 (weak)"),
        ("np.complex64(x, 1)", "float64", "complex64"),
        ("np.complex128(x)", "int8", "complex128"),
        ("cmath.sqrt(x)", "float32", "complex64"),
        ("cmath.sqrt(x)", "weak float64", "complex128 (weak)"),
        ("math.sqrt(x)", "float32", "float32"),
        ("np.sqrt(x)", "int32", "float64"),
        ("x ** 2", "complex64", "complex64"),
        ("2 ** x", "complex64", "complex64"),
        ("2 if x else 1j", "complex64", "complex128 (weak)"),
    ],
)
def test_the_type_of_an_expression(expression, types, result):
    assert f"var t: {result}\n" in ir(f"def f(x):\n    t = {expression}\n", types, cmath=cmath)


@pytest.mark.parametrize(
    ("statement", "words", "advice"),
    [
        ("t = z < w", "complex numbers have no order: < between complex64 and complex64", "abs"),
        ("t = z >= 1", "complex numbers have no order", "z.real"),
        ("t = z // w", "// has no meaning for complex numbers", "z.real"),
        ("t = z % 2", "% has no meaning for complex numbers", "z.real"),
        ("t = divmod(z, w)", "has no meaning for complex numbers", "z.real"),
        ("t = round(z)", "round\\(\\) does not take complex64", "z.real"),
        ("t = np.round(z, 1)", "round\\(\\) does not take complex64", "rint"),
        ("t = float(z)", "complex64 can't become float64", "z.real"),
        ("t = int(z)", "complex64 can't become int64", "abs"),
        ("t = int(1j)", "a Python complex can't become int64", "abs"),
        ("t = np.float32(z)", "complex64 can't become float32", "z.real"),
        ("x[0] = z", "complex64 can't become float32", "z.real"),
        ("t = min(z, w)", "min\\(\\) does not take complex64", ""),
        ("t = math.sin(z)", "sin\\(\\) does not take complex64", ""),
        ("t = ~z", "~ needs an integer, found complex64", ""),
        ("t = z << 1", "<< needs integers, found complex64", ""),
        ("t = x[z]", "complex64", ""),
        ("t = complex(z, 1)", "a complex number as a part", "1j"),
        ("cuda.atomic.max(zs, 0, z)", "atomic.max does not work on complex64", "atomic.add"),
        ("t = z.conjugate", "has no 'conjugate'", "z.conjugate"),
    ],
)
def test_refusals(statement, words, advice):
    with pytest.raises(SyntaxError, match=words) as caught:
        ir(
            f"def f(z, w, x, zs):\n    {statement}\n",
            "complex64, complex64, float32[1], complex64[1]",
        )
    assert advice in str(caught.value)


def test_numbers_of_the_reported_cases():
    f = make(
        """
        def f(wavek, h, o):
            o[0] = wavek * (734 * 1j)
            o[1] = np.complex64(h, 2)
            o[2] = complex(1, h) * 1j
            o[3] = 1j * 1j + 2.0
            o[4] = -1j
            o[5] = K * S
    """,
        K=2 - 3j,
        S=np.complex64(1 + 1j),
    )
    o = np.zeros(6, complex)
    run(f, -4188792.8715506345, np.float32(0.1), o)
    assert o[0] == complex(0, -4188792.8715506345 * 734)
    assert o[1] == np.complex64(np.float32(0.1) + 2j)
    assert o[2] == complex(1, np.float32(0.1)) * 1j
    assert o[3] == 1 and np.signbit(o[4].real) == np.signbit((-1j).real) and o[4].imag == -1
    assert o[5] == np.complex64((2 - 3j) * (1 + 1j))


@pytest.mark.parametrize("value", [1.5 - 2.5j, np.complex64(1.5 - 2.5j), np.complex128(1.5 - 2.5j), 3, 2.5])
def test_scalar_arguments(value):
    f = make("def f(n, z, m, o):\n    o[0] = z * 2\n    o[1] = n + m\n")
    o = np.zeros(2, complex)
    run(f, 3, value, np.float32(4.5), o)
    assert o[0] == value * 2 and o[1] == 7.5


def test_loops_tuples_local_and_shared_arrays():
    f = make(
        """
        def helper(z, c):
            return z * z + c, abs(z)

        def f(c, o, sizes, total):
            i = cuda.grid(1)
            t = cuda.threadIdx.x
            part = cuda.shared.array(64, np.complex64)
            last = cuda.local.array(2, complex)
            z = 0
            size = 0.0
            for k in range(4):
                z, size = helper(z, c[i])
                last[k % 2] = z
            part[t] = z
            cuda.syncthreads()
            if t == 0:
                s = 0j
                for k in range(64):
                    s += part[k]
                total[cuda.blockIdx.x] = s
            pair = (z, 1j)
            o[i] = pair[0] + pair[1]
            sizes[i] = size
            last[0] += 1
    """,
        name="f",
    )
    c = (numbers(np.complex64, 128) * 1e-7).astype(np.complex64)
    o, sizes, total = np.zeros_like(c), np.zeros(128, np.float32), np.zeros(2, np.complex64)
    run(f, c, o, sizes, total, grid=2, block=64)
    z = np.zeros_like(c)
    for _ in range(4):
        want_size = abs(z)
        z = z * z + c
    np.testing.assert_allclose(o, z + 1j, rtol=1e-5)
    np.testing.assert_allclose(sizes, want_size, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(total, z.reshape(2, 64).sum(1), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", TYPES)
def test_atomic_sums(dtype):
    f = make("""
        def f(z, total, each):
            i = cuda.grid(1)
            cuda.atomic.add(total, 0, z[i])
            cuda.atomic.sub(total, 1, 1j)
            cuda.atomic.add(each, i % 4, 2)
    """)
    z = np.arange(512).astype(dtype) * dtype(1 + 2j)
    total, each = np.zeros(2, dtype), np.zeros(4, dtype)
    run(f, z, total, each, grid=4, block=128)
    assert total[0] == z.sum() and total[1] == -512j
    np.testing.assert_array_equal(each, np.full(4, 256))


def test_sum_over_arrays_and_views():
    f = make(
        "def f(z, o):\n    o[0] = sum(z)\n    o[1] = sum(z[::-2])\n    o[2] = sum(v * v.conjugate() for v in z)\n"
    )
    z = np.arange(9) * (1 - 1j)
    o = np.zeros(3, complex)
    run(f, z, o)
    np.testing.assert_array_equal(o, [z.sum(), z[::-2].sum(), (z * z.conj()).sum()])


@pytest.mark.parametrize("dtype", TYPES)
def test_strided_reversed_and_byte_swapped_arrays(dtype):
    f = make(
        "def f(z, o):\n    i, j = cuda.grid(2)\n    if i < o.shape[0] and j < o.shape[1]:\n        o[i, j] = z[i, j] * 2\n"
    )
    z = numbers(dtype, 96).reshape(8, 12)
    for view in (z, z.T, z[::-1, ::3], z.astype(z.dtype.newbyteorder(">")), np.broadcast_to(z[0], (5, 12))):
        o = np.zeros(view.shape, dtype)
        run(f, view, o, grid=(4, 4), block=(4, 4))
        np.testing.assert_array_equal(o, (view * 2).astype(dtype))
    odd = np.frombuffer(bytearray(z.nbytes + 8), np.uint8)[8:].view(dtype)  # perhaps not at a multiple of 16
    odd[:] = z.ravel()
    o = np.zeros((1, 96), dtype)
    run(f, odd[None], o, grid=(1, 24), block=(1, 4))
    np.testing.assert_array_equal(o[0], z.ravel() * 2)


def test_cmath():
    f = make(
        """
        def f(x, o):
            o[0] = cmath.sqrt(x)
            o[1] = cmath.exp(1j * cmath.pi)
            o[2] = cmath.rect(2, x)
            r, a = cmath.polar(1 + 1j)
            o[3] = complex(r, a)
            o[4] = cmath.log(x, 10)
            o[5] = cmath.phase(x)
            o[6] = cmath.infj.imag
            o[7] = cmath.atan(2j + x)
    """,
        cmath=cmath,
    )
    o = np.zeros(8, complex)
    run(f, -2.0, o)
    want = [
        cmath.sqrt(-2.0),
        cmath.exp(1j * cmath.pi),
        cmath.rect(2, -2.0),
        complex(*cmath.polar(1 + 1j)),
        cmath.log(-2.0, 10),
        math.pi,
        math.inf,
        cmath.atan(-2 + 2j),
    ]
    np.testing.assert_allclose(o, want, rtol=1e-15, atol=1e-15)


def test_device_arrays_hold_complex_numbers():
    z = numbers(np.complex64, 40)
    a = core.to_device(z)
    assert a.dtype == np.complex64
    f = make("def f(a):\n    i = cuda.grid(1)\n    if i < len(a):\n        a[i] *= 1j\n")
    run(f, a, grid=1, block=64)
    np.testing.assert_array_equal(a.copy_to_host(), z * np.complex64(1j))


def test_zeros_of_either_sign_stay_apart():
    f = make(
        """
        def f(flag, o):
            z = complex(0.0, 0.0)
            if flag:
                z = complex(-0.0, -0.0)
            o[0] = z
            o[1] = ZERO
            o[2] = -ZERO
    """,
        ZERO=complex(0.0, -0.0),
    )
    for flag in (False, True):
        o = np.ones(3, complex)
        run(f, flag, o)
        assert [np.signbit(v) for v in (o[0].real, o[0].imag)] == [flag, flag]
        assert [np.signbit(v) for v in (o[1].real, o[1].imag)] == [False, True]
        assert [np.signbit(v) for v in (o[2].real, o[2].imag)] == [True, False]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("step", [1, -2])
def test_atomics_on_a_part(dtype, step):
    f = make(
        """
        def f(z, old):
            i = cuda.grid(1)
            cuda.atomic.add(z.real, i % 3, i)
            cuda.atomic.max(z.imag, -1, i)
            cuda.atomic.exch(z.imag, 0, 7)
            old[i] = cuda.atomic.cas(z[1:].imag, 0, 0, i + 1)
        """
    )
    z, old = np.zeros(6, dtype)[::step][:3], np.zeros(32)
    kernel = core.kernel(f)
    kernel[1, 32](z, old)
    core.synchronize()
    np.testing.assert_array_equal(z.real, [sum(range(k, 32, 3)) for k in range(3)])
    assert z[2].imag == 31 and z[0].imag == 7 and (old == 0).sum() == 1 and z[1].imag > 0
    compiles(kernel, (z, old))


def test_the_real_part_of_real_numbers_is_themselves():
    f = make("def f(x):\n    x.real[1] = 5\n    cuda.atomic.add(x.real, 0, 2)\n")
    x = np.zeros(2)
    run(f, x)
    assert x.tolist() == [2, 5]

"""NumPy's functions of numbers over whole arrays in a kernel: out=, where=, broadcasting, casting, overlap, as NumPy has them."""

import numpy as np
import pytest
from frontend_source import compiles, make, run
from xcuda import _runtime
from xcuda import core as cuda
from xcuda.core.errors import KernelSyntaxError

RNG = np.random.default_rng(5)
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 0.5, -0.5, 1.0, 1e-310, 1e300, -3.7, 2.0]
BINARY = """add subtract multiply divide floor_divide remainder power fmod hypot arctan2 copysign nextafter logaddexp
maximum minimum fmax fmin greater greater_equal less less_equal equal not_equal logical_and logical_or logical_xor
""".split()
UNARY = """sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 log1p
sqrt square cbrt reciprocal absolute fabs negative positive sign floor ceil trunc rint isnan isinf isfinite signbit
logical_not degrees radians deg2rad rad2deg conjugate
""".split()


def values(dtype, shape):
    size = int(np.prod(shape))
    if np.dtype(dtype).kind == "c":
        return (values("f8", shape) + 1j * values("f8", shape)[..., ::-1]).astype(dtype)
    if np.dtype(dtype).kind == "f":
        many = np.concatenate([SPECIAL, RNG.normal(size=size) * 3])[:size]
        with np.errstate(over="ignore"):
            return many.astype(dtype).reshape(shape)
    info = np.iinfo(dtype)
    return RNG.integers(max(info.min, -20), 20, size).astype(dtype).reshape(shape)


def same(got, want, text):
    rtol = {"f": 3e-6, "F": 3e-6}.get(np.dtype(want.dtype).char, 1e-12)
    np.testing.assert_allclose(got, want, rtol=rtol, atol=0, err_msg=text)
    if want.dtype.kind == "f":
        zeros = want == 0
        assert (np.signbit(got[zeros]) == np.signbit(want[zeros])).all(), text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1"])
@pytest.mark.parametrize("names", [BINARY[k::3] for k in range(3)] + [UNARY[k::3] for k in range(3)])
def test_a_function_over_arrays_is_numpys(names, dtype):
    """Several functions a kernel, each into an out of NumPy's dtype."""
    x, y = values(dtype, (3, 7)), values(dtype, (3, 7))[::-1].copy()
    lines, outs, wants = [], [], []
    for name in names:
        function = getattr(np, name)
        if name in ("floor_divide", "remainder", "fmod", "power", "reciprocal") and dtype[0] != "f":
            continue  # integers: by zero and to negative powers NumPy warns where a kernel raises
        if (name, dtype) == ("negative", "u1"):
            continue
        try:
            want = function(x, y) if function.nin == 2 else function(x)
        except TypeError:
            continue
        if want.dtype.char == "e":  # of int8 NumPy computes in float16, a kernel in float32
            want = function(*(v.astype("f4") for v in (x, y)[: function.nin]))
        out = f"out{len(outs)}"
        lines.append(f"np.{name}({'x, y' if function.nin == 2 else 'x'}, {out})")
        outs.append(np.zeros_like(want))
        wants.append(want)
    arguments = ", ".join(["x", "y", *(f"out{k}" for k in range(len(outs)))])
    f = make(f"def f({arguments}):\n" + "".join(f"    {line}\n" for line in lines))
    run(f, x, y, *outs)
    for line, got, want in zip(lines, outs, wants, strict=True):
        same(got, want, f"{line} of {dtype}")


@pytest.mark.filterwarnings("ignore")
def test_complex_numbers_over_arrays():
    z, w = values("c16", (3, 7)), values("c16", (3, 7))[::-1, ::-1].copy()
    z[0, :3], w[0, :3] = [1 + 1j, 1 + 2j, np.nan + 1j], [1 + 2j, 1 + 1j, 2]
    names = "add subtract multiply greater less_equal maximum minimum fmax fmin equal logical_and logical_or".split()
    lines = [f"np.{name}(z, w, o{k})" for k, name in enumerate(names)]
    outs = [np.zeros_like(getattr(np, name)(z, w)) for name in names]
    f = make(f"def f(z, w, {', '.join(f'o{k}' for k in range(len(outs)))}):\n    " + "\n    ".join(lines))
    run(f, z, w, *outs)
    for name, got in zip(names, outs, strict=True):
        np.testing.assert_array_equal(got, getattr(np, name)(z, w), err_msg=name)


def test_the_thread_that_calls_it_works_on_its_rows():
    @cuda.jit
    def rows(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            np.add(x[i], y, out[i])
            np.sqrt(out[i, 1:], out=out[i, 1:])

    x, y = RNG.random((40, 9)), RNG.random(9)
    out = np.zeros((40, 9))
    rows[2, 32](x, y, out)
    want = x + y
    want[:, 1:] = np.sqrt(want[:, 1:])
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize(
    ("x", "y", "out"),
    [((3, 4), (4,), (3, 4)), ((3, 1), (1, 4), (3, 4)), ((), (5,), (5,)), ((), (), (3,)), ((1,), (4,), (2, 4)),
     ((2, 1, 3), (4, 1), (2, 4, 3)), ((0, 3), (3,), (0, 3)), ((), (), ())],
)  # fmt: skip
def test_operands_broadcast_to_out(x, y, out):
    a, b = np.asarray(RNG.random(x)), np.asarray(RNG.random(y))
    got, want = np.zeros(out), np.zeros(out)
    run(make("def f(a, b, out):\n    np.multiply(a, b, out)\n"), a, b, got)
    np.multiply(a, b, want)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("x", "y", "out", "words"),
    [((3,), (4,), (4,), "'a' and 'b' could not be broadcast together"), ((3,), (3,), (1,), "could not broadcast"),
     ((2, 3), (3, 2), (2, 3), "could not be broadcast together"), ((3,), (3,), (4,), "could not broadcast")],
)  # fmt: skip
def test_shapes_that_do_not_go_together_are_a_value_error(x, y, out, words):
    f = make("def f(a, b, out):\n    np.add(a, b, out)\n")
    with pytest.raises(ValueError, match=words):
        run(f, np.ones(x), np.ones(y), np.ones(out))


def test_out_takes_what_numpy_casts_to_it():
    f = make("def f(x, out):\n    np.add(x, 1, out)\n")
    for given, into, allowed in (("i8", "i4", True), ("f8", "f4", True), ("f4", "f8", True), ("i4", "f4", True),
                                 ("u8", "i4", True), ("f4", "i4", False), ("i4", "u4", False)):  # fmt: skip
        x, out = np.arange(5).astype(given), np.zeros(5, into)
        assert np.can_cast(given, into, "same_kind") is allowed
        if allowed:
            run(f, x, out)
            np.testing.assert_array_equal(out, np.arange(5) + 1)
        else:
            with pytest.raises(KernelSyntaxError, match=r"add\(\) gives .* which NumPy does not cast"):
                run(f, x, out)


def test_where_leaves_elements_as_they_are():
    f = make("def f(x, out):\n    np.sqrt(x, out=out, where=x > 0)\n")
    x, out = RNG.normal(size=(4, 5)), np.full((4, 5), -7.0)
    run(f, x, out)
    np.testing.assert_array_equal(out, np.sqrt(x, out=np.full((4, 5), -7.0), where=x > 0))


def test_two_results():
    f = make("def f(x, q, r):\n    np.divmod(x, 0.3, q, r)\n    x[0], x[1] = np.divmod(x[2], 2)\n")
    x = RNG.normal(size=8)
    q, r = np.zeros(8), np.zeros(8)
    want = np.divmod(x, 0.3), np.divmod(x[2], 2)
    run(f, x, q, r)
    np.testing.assert_array_equal([q, r], want[0])
    np.testing.assert_array_equal(x[:2], want[1])


@pytest.mark.parametrize(
    "line",
    ["np.add(a[1:], a[:-1], a[1:])", "np.add(a[:-1], a[1:], a[:-1])", "np.multiply(a, a, a)", "a[1:] += a[:-1] * 2",
     "a[2:] = a[:-2] + a[2:]", "a[:] = np.sin(a) + a", "a[:3] = a[1:4] + a[2:5]", "a[4:7] = a[1:4] * a[3:6]"],
)  # fmt: skip
def test_overlap_is_as_if_every_operand_were_read_first(line):
    a, want = RNG.random(12), None
    want = a.copy()
    exec(line, {"np": np, "a": want})
    run(make(f"def f(a):\n    {line}\n"), a)
    # A sine may differ from NumPy's in its last bit.
    np.testing.assert_allclose(a, want, rtol=1e-15 if "sin" in line else 0, atol=0)


def test_parts_read_on_both_sides_of_what_is_written_are_refused():
    with pytest.raises(ValueError, match="parts of 'a' that are read lie before and after"):
        run(make("def f(a, n):\n    a[n:n + 8] = a[n - 1:n + 7] + a[n + 1:n + 9]\n"), np.arange(12.0), 2)
    with pytest.raises(KernelSyntaxError, match="may overlap: NumPy makes a copy first"):
        run(make("def f(a):\n    a[:] = a[::-1] + a\n"), np.arange(12.0))


def test_methods_and_operators_of_arrays():
    f = make(
        """
        def f(x, y, out, flags):
            out[0] = -x * 2 + abs(y) ** 2 - x / 3 // 1 % 4
            out[1] = np.where((x > 0) & ~(y > 0), x, y.clip(-0.25, None))
            out[2] = x.round(1) + np.round(y, 2) + np.clip(x, -0.5, 0.5)
            out[3] = x.astype(np.float32) + y.copy().conj()
            flags[:] = (x <= y) | (x == 1.5)
        """
    )
    x, y = RNG.normal(size=6), RNG.normal(size=6)
    x[0] = 1.5
    out, flags = np.zeros((4, 6)), np.zeros(6, bool)
    run(f, x, y, out, flags)
    want = [-x * 2 + abs(y) ** 2 - x / 3 // 1 % 4, np.where((x > 0) & ~(y > 0), x, y.clip(-0.25, None)),
            x.round(1) + np.round(y, 2) + np.clip(x, -0.5, 0.5), x.astype(np.float32) + y]  # fmt: skip
    np.testing.assert_allclose(out, want, rtol=1e-14)
    np.testing.assert_array_equal(flags, (x <= y) | (x == 1.5))


def test_a_name_makes_an_array_of_the_threads_own():
    f = make(
        """
        def f(out):
            i = cuda.grid(1)
            t = cuda.local.array(4, np.float64)
            for k in range(4):
                t[k] = i + k
            u = t * 2 + 1
            t.fill(0)
            v = u.copy()
            v[1] = -1
            if i < out.shape[0]:
                out[i] = v + u
        """
    )
    out = np.zeros((5, 4))
    run(f, out, grid=1, block=8)
    u = (np.arange(5)[:, None] + np.arange(4)) * 2 + 1.0
    v = u.copy()
    v[:, 1] = -1
    np.testing.assert_array_equal(out, u + v)


def test_a_scalar_operand_is_evaluated_once():
    f = make(
        """
        def f(x, count, out):
            np.add(x, cuda.atomic.add(count, 0, 1), out)
        """
    )
    count, out = np.zeros(1, np.int64), np.zeros(6)
    run(f, np.arange(6.0), count, out)
    assert count[0] == 1
    np.testing.assert_array_equal(out, np.arange(6.0))


def test_the_cuda_text_compiles():
    @cuda.jit
    def kernel(x, y, z, out, flags):
        i = cuda.grid(1)
        if i < out.shape[0]:
            np.add(x[i], y, out[i])
            out[i] = np.sin(out[i]) * 2
            np.sqrt(x[i], out=out[i], where=x[i] > 0)
            np.maximum(z, z * 2, z)
            flags[:] = z > 1

    compiles(kernel, (np.ones((4, 5)), np.ones(5), np.ones(5, complex), np.ones((4, 5)), np.ones(5, bool)))


def test_every_name_here_is_in_the_table():
    spelled = {s for _, spellings, *_ in _runtime.kernel_functions() for s in spellings}
    assert len({f"numpy.{name}" for name in BINARY + UNARY} & spelled) > 40

"""np.sum, a.mean(axis=0), np.argmin and the like in a kernel against NumPy: dtypes, axes, edge values, empty arrays."""

import numpy as np
import pytest
from frontend_source import TARGETS, compiles, make, run
from xcuda import core as cuda
from xcuda.core.errors import KernelSyntaxError

RNG = np.random.default_rng(11)
ALL = """sum prod mean var std min max ptp argmin argmax any all count_nonzero nansum nanprod nanmean nanvar nanstd
nanmin nanmax nanargmin nanargmax""".split()
METHODS = "sum prod mean var std min max argmin argmax any all".split()


def arrays():
    a = RNG.normal(size=(3, 5))
    with_nan = a.copy()
    with_nan[1, 2] = with_nan[0, 0] = np.nan
    z = a + 1j * a[::-1]
    z[0, 1] = complex(np.nan, 1)
    return {
        "f8": a,
        "f4": a.astype("f4"),
        "f8 with nan": with_nan,
        "f8 of edges": np.array([[0.0, -0.0, np.inf], [-np.inf, 1e-310, 2.0], [1e300, -1.0, 3.0]]),
        "i8": RNG.integers(-5, 5, (3, 5)),
        "i1": np.array([[127, -128, 3], [1, 100, 100]], "i1"),
        "u1": np.array([[255, 0, 3], [1, 200, 200]], "u1"),
        "bool": RNG.integers(0, 2, (3, 5)).astype(bool),
        "c16": a + 1j * a[::-1],
        "c16 with nan": z,
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", list(arrays()))
def test_a_reduction_is_numpys(kind):
    """All of them in one kernel, over all elements and along each axis."""
    a = arrays()[kind]
    calls, wants = [], []
    for name in ALL:
        if name == "ptp" and kind[:4] in ("bool", "c16 "):
            continue  # NumPy takes no difference of bools
        for axis in ("", ", axis=0", ", axis=-1"):
            call = f"np.{name}(a{axis})"
            try:
                wants.append(np.asarray(eval(call, {"np": np, "a": a})))
            except ValueError:  # all are nan
                continue
            calls.append(call)
        if name in METHODS:
            calls.append(f"a.{name}()")
            wants.append(np.asarray(getattr(a, name)()))
    outs = [np.zeros_like(want) for want in wants]
    parameters = ", ".join(f"o{k}" for k in range(len(outs)))
    lines = "".join(f"    o{k}[...] = {call}\n" for k, call in enumerate(calls))
    run(make(f"def f(a, {parameters}):\n{lines}"), a, *outs)
    for call, got, want in zip(calls, outs, wants, strict=True):
        rtol = 2e-6 if want.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-12, err_msg=f"{call} of {kind}")


def test_the_dtype_of_a_result():
    for given, sum_, mean in (("i1", "i8", "f8"), ("u2", "u8", "f8"), ("?", "i8", "f8"), ("f4", "f4", "f4"),
                              ("f2", "f2", "f2"), ("c8", "c8", "c8")):  # fmt: skip
        a = np.ones(4, given)
        assert np.sum(a).dtype == sum_ and np.mean(a).dtype == mean
        out, mean_out = np.zeros(1, sum_), np.zeros(1, mean)
        run(
            make("def f(a, s, m):\n    np.sum(a, out=s[0, ...])\n    np.mean(a, out=m[0, ...])\n"),
            a,
            out,
            mean_out,
        )
        assert out[0] == 4 and mean_out[0] == 1


def test_many_float32_are_added_in_float64():
    a = np.ones((1 << 24) + 16, np.float32)
    out = np.zeros(1, np.float32)
    run(make("def f(a, out):\n    out[0] = np.sum(a)\n"), a, out)
    assert out[0] == np.float32((1 << 24) + 16)


def test_options_of_reductions():
    a, out = RNG.normal(size=(4, 6)), np.zeros((6, 6))
    run(
        make(
            """
            def f(a, out):
                out[0, 0] = np.std(a, ddof=1)
                out[0, 1] = np.var(a, axis=(0, 1), ddof=2)
                out[1:2] = np.sum(a, axis=0, keepdims=True)
                out[2] = a.mean(axis=0)
                np.max(a, axis=0, out=out[3])
                out[4, 0] = np.sum(a * a > 0.5)
                out[4, 1] = np.sum((1.5, 2, 3))
                out[4, 2] = np.sum(a[1], dtype=np.float32)
                out[5] = np.sum(a.T[:, ::2], axis=1) - np.min(a)
            """
        ),
        a,
        out,
    )
    want = np.zeros((6, 6))
    want[0, :2] = np.std(a, ddof=1), np.var(a, ddof=2)
    want[1], want[2], want[3] = a.sum(0), a.mean(0), a.max(0)
    want[4, :3] = np.sum(a * a > 0.5), 6.5, np.sum(a[1].astype("f4"), dtype="f4")
    want[5] = np.sum(a.T[:, ::2], axis=1) - np.min(a)
    np.testing.assert_allclose(out, want, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_empty_arrays():
    empty, out = np.zeros((0, 3)), np.full(6, -1.0)
    run(
        make(
            """
            def f(a, out):
                out[0] = np.sum(a)
                out[1] = np.prod(a)
                out[2] = np.any(a)
                out[3] = np.all(a)
                out[4] = np.mean(a)
                out[5] = np.count_nonzero(a)
            """
        ),
        empty,
        out,
    )
    np.testing.assert_array_equal(out, [0, 1, 0, 1, np.nan, 0])
    for name, words in (("min", "zero-size array to reduction operation minimum"), ("argmax", "attempt to get argmax"),
                        ("nanmin", "zero-size array to reduction operation fmin")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            getattr(np, name)(empty)
        with pytest.raises(ValueError, match=words):
            run(make(f"def f(a, out):\n    out[0] = np.{name}(a)\n"), empty, out)
    with pytest.raises(ValueError, match="All-NaN slice encountered"):
        run(make("def f(a, out):\n    out[0] = np.nanargmin(a)\n"), np.full(3, np.nan), out)


def test_products_of_arrays():
    A, B, x = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 5)), RNG.normal(size=4)
    out, rows, columns, number = np.zeros((3, 5)), np.zeros(3), np.zeros(5), np.zeros(2)
    run(
        make(
            """
            def f(A, B, x, out, rows, columns, number):
                out[:] = A @ B
                rows[:] = np.dot(A, x)
                columns[:] = x.dot(B) + x @ B
                number[0] = x @ x
                number[1] = np.dot(2, 3.5)
            """
        ),
        A, B, x, out, rows, columns, number,
    )  # fmt: skip
    np.testing.assert_allclose(out, A @ B)
    np.testing.assert_allclose(rows, A @ x)
    np.testing.assert_allclose(columns, 2 * (x @ B))
    np.testing.assert_allclose(number, [x @ x, 7])
    with pytest.raises(
        ValueError, match="the last axis of the first array and the first of the second differ"
    ):
        run(make("def f(A, x, out):\n    out[:] = A @ x\n"), A, np.ones(3), rows)


def test_each_thread_reduces_its_row():
    @cuda.jit
    def kernel(a, mean, best):
        i = cuda.grid(1)
        if i < a.shape[0]:
            row = a[i]
            mean[i] = row.mean()
            best[i] = np.argmax(row - row.mean())

    a = RNG.normal(size=(70, 9)).astype(np.float32)
    mean, best = np.zeros(70, np.float32), np.zeros(70, np.int64)
    kernel[3, 32](a, mean, best)
    np.testing.assert_allclose(mean, a.mean(1), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(best, a.argmax(1))
    compiles(kernel, (a, mean, best))


def test_the_cuda_text_of_all_of_them_compiles():
    names = [name for name in ALL if name != "ptp"]
    # A quarter of them a dtype, each dtype for one GPU: it is the slowest compile there is.
    for k, (dtype, target) in enumerate(zip(("f4", "i4", "c16", "f2"), [*TARGETS, TARGETS[0]], strict=True)):
        lines = "".join(f"    out[{i}] = np.{name}(a) != 0\n" for i, name in enumerate(names[k::4]))
        f = make(f"def f(a, out):\n{lines}    out[9] = np.any(a @ a.T != 0)\n")
        compiles(cuda.kernel(f), (np.ones((3, 3), dtype), np.zeros(30, bool)), targets=[target])


def test_what_is_no_reduction_is_refused():
    with pytest.raises(KernelSyntaxError, match="axis must be known when the kernel is compiled"):
        run(make("def f(a, n):\n    a[0] = np.sum(a, axis=n)\n"), np.ones((2, 2)), 1)

"""Rows that stay in a block's registers, as a GPU has them: the same values, here on whatever device there is."""

import re

import numpy
import pytest
import xcuda.math as nvmath
import xcuda.numeric as np
from numeric_compiled import compiled
from test_math_rows import FUNCTIONS, softmax
from xcuda import _runtime


@pytest.fixture(autouse=True)
def held():
    small, host = _runtime.numeric_small_limit(), np.config.host_elements
    _runtime.set_numeric_held_rows(True)
    _runtime.set_numeric_small_limit(0)
    np.config.host_elements = 0
    yield
    _runtime.set_numeric_held_rows(None)
    _runtime.set_numeric_small_limit(small)
    np.config.host_elements = host


# Whole vectors and not, one warp and several, several rows a block and one, rows that end within a vector.
SHAPES = [(7, 33), (5, 64), (3, 500), (2, 1024), (3, 2051), (2, 3, 40)]
TOLERANCE = {"float64": 1e-11, "float32": 4e-6, "float16": 8e-3}


@pytest.mark.parametrize("values", [0, 40])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_rows_are_numpys(dtype, values):
    _runtime.set_numeric_held_rows(True, values)
    for shape in SHAPES:
        x = numpy.random.default_rng(7).normal(size=shape).astype(dtype)
        for view in (x, x[..., ::-1]):
            for function in FUNCTIONS:
                got = function(np, np.asarray(view), -1)
                want = function(numpy, view.astype("float64"), -1)
                for a, b in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
                    assert a.dtype == dtype
                    numpy.testing.assert_allclose(
                        a.get().astype("float64"), b, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype]
                    )


def test_rows_beside_common_rows_and_the_rows_own_values():
    rng = numpy.random.default_rng(2)
    x, scale, shift, by_row = (rng.normal(size=n).astype("float32") for n in ((6, 96), 96, 96, (6, 1)))

    def function(m, x, scale, shift, by_row):
        away = (x - x.mean(-1, keepdims=True)) * by_row
        return away / m.sqrt((away * away).mean(-1, keepdims=True) + 1e-5) * scale + shift * m.exp(x)

    got = function(np, *(np.asarray(a) for a in (x, scale, shift, by_row))).get()
    numpy.testing.assert_allclose(got, function(numpy, x, scale, shift, by_row), rtol=2e-5, atol=2e-5)


def test_cross_entropy_looks_labels_up_by_place():
    rng = numpy.random.default_rng(3)
    x, labels = rng.normal(size=(9, 5000)).astype("float32"), rng.integers(0, 5000, 9)

    def losses(x, labels):
        top = x.max(axis=-1)
        own = nvmath.where(labels[:, None] == nvmath.arange(x.shape[1]), x, 0).sum(axis=-1)
        return nvmath.log(nvmath.exp(x - top[:, None]).sum(axis=-1)) + top - own

    f = nvmath.jit(losses)
    want = numpy.log(numpy.exp(x.astype("float64")).sum(-1)) - x[range(9), labels]
    numpy.testing.assert_allclose(f(x, labels), want, rtol=1e-5)
    explained = f.explain(x, labels)
    assert len(explained.fused) == 1
    assert explained.bytes == x.nbytes + labels.nbytes + 4 * 9  # the row of places is not read


def test_nan_and_infinity_stay_in_their_rows():
    x = numpy.random.default_rng(1).normal(size=(6, 200))
    x[1, 7], x[2, 3], x[4, 49] = numpy.nan, numpy.inf, -numpy.inf
    with numpy.errstate(invalid="ignore"):
        numpy.testing.assert_allclose(softmax(np, np.asarray(x), -1).get(), softmax(numpy, x, -1), rtol=1e-11)


def test_what_no_warp_can_exchange_is_folded_all_the_same():
    x = numpy.random.default_rng(4).integers(-9, 9, (5, 300)).astype("int16")
    for fold in (lambda m, a: a.max(-1, keepdims=True), lambda m, a: (a > 5).any(-1, keepdims=True)):
        a = np.asarray(x)
        numpy.testing.assert_array_equal((a * fold(np, a)).get(), x * fold(numpy, x))
    z = x + 1j * x[:, ::-1]
    a = np.asarray(z)
    numpy.testing.assert_allclose((a - a.sum(-1, keepdims=True)).get(), z - z.sum(-1, keepdims=True))


# --- rows that are read piece by piece: sums of exp(x - max) in the pass that finds the maximum -----------


def log_sum_exp(m, x):
    top = x.max(-1)
    return m.log(m.exp(x - top[..., None]).sum(-1)) + top


def two_maxima(m, x):
    """Two sums of that kind, with a third fold of the first pass and one of its results asked for."""
    y = x * x
    a, b = x.max(-1, keepdims=True), y.max(-1, keepdims=True)
    return m.exp(x - a).sum(-1), m.exp(y - b).sum(-1) + x.sum(-1), a[..., 0]


STREAMED = [(7, 33), (5, 64), (3, 500), (2, 1024), (3, 8192), (2, 9001), (2, 3, 40), (2, 16000)]


@pytest.fixture
def streamed():
    _runtime.set_numeric_held_rows(True, 0, 0, True)


def in_one_kernel(make):
    """The results."""
    before = _runtime.numeric_counts()[0]
    made = make()
    made = made if isinstance(made, tuple) else (made,)
    _runtime.numeric_compute(list(made))
    assert _runtime.numeric_counts()[0] - before == 1
    return [m.get() for m in made]


@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize("values", [0, 40])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [log_sum_exp, two_maxima])
def test_streamed_rows_are_numpys(function, dtype, values):
    _runtime.set_numeric_held_rows(True, values, 0, True)
    for shape in STREAMED:
        x = 30 * numpy.random.default_rng(7).normal(size=shape).astype(dtype)
        for view in (x, x[..., ::-1]):
            a = np.asarray(view.copy())[..., ::-1] if view is not x else np.asarray(x)
            a._compute()
            got = in_one_kernel(lambda a=a: function(np, a))
            want = function(numpy, (x if view is x else view[..., ::-1]).astype("float64"))
            for one, other in zip(got, want if isinstance(want, tuple) else (want,), strict=True):
                assert one.dtype == dtype
                numpy.testing.assert_allclose(one, other, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.usefixtures("streamed")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_streamed_rows_have_numpys_nan_and_infinities(dtype):
    inf, nan = numpy.inf, numpy.nan
    x = numpy.random.default_rng(1).normal(size=(12, 20000)).astype(dtype)
    x[1, 7] = nan
    x[2, 19999], x[3, 3] = inf, -inf
    x[4] = -inf
    x[5] = -inf
    x[5, 12345] = -1000.0  # alone: other threads and pieces have seen -inf only
    x[6, :10000] = -inf
    x[7] -= 5000
    x[8] = numpy.linspace(-90, 90, 20000)  # grows in every piece
    x[9] = x[8][::-1]
    x[10, :4096], x[11, 16384:] = nan, inf
    x = numpy.tile(
        x, (16, 1)
    )  # fewer long rows than a GPU has multiprocessors are shared by several blocks each
    with numpy.errstate(all="ignore"):
        numpy.testing.assert_allclose(
            in_one_kernel(lambda: log_sum_exp(np, np.asarray(x)))[0],
            log_sum_exp(numpy, x.astype("float64")),
            rtol=TOLERANCE[dtype],
        )


@pytest.mark.usefixtures("streamed")
def test_what_cannot_be_streamed_is_held():
    x = numpy.random.default_rng(1).normal(size=(5, 3000))
    for function in (
        lambda m, x: softmax(m, x, -1),
        lambda m, x: m.exp(x - x.min(-1, keepdims=True)).sum(-1),
        lambda m, x: m.exp(x - x.max(-1, keepdims=True)).max(-1),
        lambda m, x: m.exp(x * 2 - x.max(-1, keepdims=True)).sum(-1),
        lambda m, x: m.exp(x.max(-1, keepdims=True) - x).sum(-1),
        lambda m, x: (m.exp(x - x.max(-1, keepdims=True)) ** 2).sum(-1),
        lambda m, x: (m.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True) + x).max(-1),
    ):
        numpy.testing.assert_allclose(function(np, np.asarray(x)).get(), function(numpy, x), rtol=1e-10)


STREAMING = """
import json, sys
import numpy
import xcuda.numeric as np
from xcuda import _runtime

np.config.host_elements = 0
_runtime.set_numeric_small_limit(0)
_runtime.set_numeric_held_rows(True)
x, labels = np.array(numpy.ones((ROWS, COLUMNS), "float32")), np.array(numpy.arange(ROWS))
np.flush()
top = x.max(axis=-1)
own = np.where(labels[:, None] == np.arange(x.shape[1]), x, 0).sum(axis=-1)
(np.log(np.exp(x - top[:, None]).sum(axis=-1)) + top - own)._compute()
print(json.dumps(_runtime.numeric_compile_for(sys.argv[1], spills=True)))
"""


@pytest.fixture(scope="module")
def cross_entropies():
    """{columns: (text, registers, bytes spilled)} on an H200."""
    pytest.importorskip("nvidia.cu13", reason="no NVRTC wheel")
    found = {}
    for columns in (1024, 4096, 8192, 16384, 32000, 65536):
        program = STREAMING.replace("ROWS", "256").replace("COLUMNS", str(columns))
        ((_, *found[columns]),) = compiled(program, "sm_90")
    return found


@pytest.mark.parametrize("columns", [1024, 4096, 8192])
def test_rows_of_which_several_fit_stay_in_registers(cross_entropies, columns):
    """Two rows or more a multiprocessor: one is read while another is folded."""
    text, registers, local = cross_entropies[columns]
    threads = int(re.search(r"__launch_bounds__\((\d+)", text)[1])
    assert "piece" not in text
    assert local == 0
    assert 65536 // (registers * threads) >= 2


@pytest.mark.parametrize("columns", [16384, 32000, 65536])
def test_rows_that_fill_a_multiprocessor_are_streamed(cross_entropies, columns):
    """2048 threads of a multiprocessor, of whole pieces 1536, nothing spilled, 16 values of each under way."""
    text, registers, local = cross_entropies[columns]
    assert "piece" in text
    blocks = 4 if columns == 32000 else 3
    assert registers * 512 * blocks <= 65536
    assert local == 0
    assert f"__launch_bounds__(512, {blocks})" in text
    assert "held[16]" in text
    assert text.count("xc_take<4>") == 1  # one read of the row


PROGRAM = """
import json, sys
import numpy
import xcuda.numeric as np
from xcuda import _runtime

np.config.host_elements = 0
_runtime.set_numeric_held_rows(True)
for dtype, columns in (("float64", 4096), ("float32", 8192), ("float32", 4099), ("float16", 12000)):
    x = np.array(numpy.ones((8, columns), dtype))
    np.flush()
    e = np.exp(x - x.max(1, keepdims=True))
    (e / e.sum(1, keepdims=True))._compute()
    away = x - x.mean(1, keepdims=True)
    (away / np.sqrt((away * away).mean(1, keepdims=True)))._compute()
print(json.dumps(_runtime.numeric_compile_for(sys.argv[1])))
"""


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_held_rows_compile_for_gpus(architecture):
    pytest.importorskip("nvidia.cu13", reason="no NVRTC wheel")
    found = compiled(PROGRAM, architecture)
    rows = [(text, registers) for name, text, registers in found if "held" in text]
    assert len(rows) == 8
    for n in (2, 4, 8):  # float64, float32, float16: 16 bytes
        assert sum(f"xc_take<{n}>" in text and f"xc_give<{n}>" in text for text, _ in rows) == 2
    assert all("xc_warp_shfl" in text for text, _ in rows)
    assert all(registers and registers <= 128 for _, registers in rows)

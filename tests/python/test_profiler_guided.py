"""ProfileGuidedOptimizer: real variants, measured and compared; what it keeps, rejects, falls back to and refuses."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import xcuda
import xcuda.core as cuda
from xcuda import _names, _runtime
from xcuda.core import choices as store
from xcuda.jit import compile_kernel
from xcuda.profiler import ProfileGuidedOptimizer
from xcuda.profiler.guided import measure
from xcuda.profiler.guided.variants import Variant, constants

BASE = {"seconds": 0.2, "keep": False}


@cuda.kernel
def polynomial(x, y, degree):
    i = cuda.grid(1)
    if i < x.size:
        s = 0.0
        for k in range(degree):
            s = s * x[i] + k
        y[i] = s


@cuda.kernel
def transpose(a, b):
    i, j = cuda.grid(2)
    if i < b.shape[0] and j < b.shape[1]:
        b[i, j] = a[j, i]


@cuda.kernel
def count_up(x, by=1):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += by


def reference(x, degree):
    s = np.zeros_like(x)
    for k in range(degree):
        s = s * x + np.float32(k)
    return s


def last_is_fastest(callees, sample, written, labels, budget, how=None):
    """Stands for measure.side_by_side: each one twice as fast as the one before, the home device faster than others."""
    step = -1 if len(set(labels)) == 1 else 1
    return [2.0 ** (step * i) for i in range(len(callees))]


@pytest.fixture
def always_worth_it(monkeypatch):
    """The last variant measured wins: what follows from a choice is tested, not the machine."""
    monkeypatch.setattr(measure, "side_by_side", last_is_fastest)


def polynomial_sample(n=5000, degree=7):
    return np.linspace(0, 1, n, dtype=np.float32), np.zeros(n, np.float32), degree


# ---- what comes back -------------------------------------------------------------------------------------------------


def test_the_sample_is_left_alone_and_the_kernel_behaves_as_before(always_worth_it):
    x, y, degree = polynomial_sample()
    before = x.copy(), y.copy()
    k = ProfileGuidedOptimizer(**BASE).optimize(polynomial, x, y, degree)
    assert (x == before[0]).all() and (y == before[1]).all()
    for n, d in ((5000, 7), (5000, 3), (10, 7), (100_000, 2)):
        x, y, _ = polynomial_sample(n)
        k(x, y, d)
        np.testing.assert_allclose(y, reference(x, d), rtol=1e-4)
    y[:] = 0
    k[400, 256](x, y, degree=2)
    np.testing.assert_allclose(y, reference(x, 2), rtol=1e-4)
    k.bind(400, 256, x, y, 2)()
    assert k.__name__ == "polynomial" and "x" in repr(k)


def test_the_report_tells_each_variant(always_worth_it):
    k = ProfileGuidedOptimizer(**BASE).optimize(polynomial, *polynomial_sample())
    report = k.report
    outcomes = {t.outcome for t in report.trials}
    assert report.trials[0].name == "as given" and report.trials[0].outcome == "given"
    assert "chosen" in outcomes and outcomes <= {"given", "chosen", "kept back", "rejected", "failed"}
    names = [t.name for t in report.trials if t.device == report.trials[0].device]
    assert any("block 64" in n for n in names)
    assert any("degree = 7" in n for n in names)
    assert any("fast math" in n for n in names)
    for trial in report.trials:
        if trial.seconds is not None:
            assert trial.seconds > 0 and trial.gain == trial.given_seconds / trial.seconds
    text = repr(report)
    assert "polynomial on" in text and "as given" in text and "x: float32 (5000,), from 0 to 1" in text
    page = report._repr_html_()
    assert page.count("<tr>") == len(report.trials) + 1 and "<script" not in page and "style" not in page
    assert report.from_json(report.to_json()).trials == report.trials


def test_constants_are_relied_on_only_where_they_hold(always_worth_it):
    x, y, degree = polynomial_sample()
    k = ProfileGuidedOptimizer(**BASE, fastmath=False).optimize(polynomial, x, y, degree)
    assert "degree = 7" in k.report.winner
    about = k.about
    assert about.route((x, y, 7), False) is about.chosen
    for values in (
        (x, y, 8),
        (x[:100], y, 7),
        (x.astype(np.float64), y, 7),
        (x, y, 7.0),
        (x, y, np.int32(7)),
    ):
        assert about.route(values, False) is about.given, values[2]
    assert about.route((x, y, 7), True) is polynomial


def test_other_inputs_run_the_kernel_as_given(always_worth_it):
    x, y, degree = polynomial_sample()
    k = ProfileGuidedOptimizer(**BASE).optimize(polynomial, x, y, degree)
    wide = x.astype(np.float64)
    out = np.zeros_like(wide)
    k(wide, out, 5)
    s = np.zeros_like(wide)
    for i in range(5):
        s = s * wide + i
    np.testing.assert_allclose(out, s)


def test_without_a_faster_variant_the_given_kernel_comes_back(monkeypatch):
    from xcuda.profiler.guided import optimizer

    monkeypatch.setattr(optimizer, "STEP", 1e9)
    found = ProfileGuidedOptimizer(**BASE).optimize(polynomial, *polynomial_sample())
    assert found is polynomial
    assert "no variant was faster" in found.report.why and found.report.gain == 1
    configured = polynomial[20, 256]
    found = ProfileGuidedOptimizer(**BASE).optimize(configured, *polynomial_sample())
    assert "no variant was faster" in found.report.why
    x, y, degree = polynomial_sample()
    found(x, y, degree)
    np.testing.assert_allclose(y, reference(x, degree), rtol=1e-5)
    assert polynomial.last_launch["block"] == (256, 1, 1)


def test_a_gain_that_does_not_show_again_is_none(monkeypatch):
    from xcuda.profiler.guided import optimizer

    monkeypatch.setattr(measure, "side_by_side", last_is_fastest)
    monkeypatch.setattr(optimizer, "WORTH_IT", 1e9)
    found = ProfileGuidedOptimizer(**BASE).optimize(polynomial, *polynomial_sample())
    assert found is polynomial and "when measured again, which is noise" in found.report.why


def test_a_configured_kernel_keeps_its_shape_where_it_must(always_worth_it):
    @cuda.kernel
    def blocks(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = cuda.threadIdx.x + 1000 * cuda.blockDim.x

    x = np.zeros(1000, np.int64)
    k = ProfileGuidedOptimizer(**BASE).optimize(blocks[10, 100], x)
    assert not any("block " in t.name or "launch's" in t.name for t in k.report.trials)
    k(x)
    assert (x == np.arange(1000) % 100 + 100_000).all()


def test_a_configured_kernel_may_get_another_shape(always_worth_it):
    k = ProfileGuidedOptimizer(**BASE).optimize(polynomial[5000, 1], *polynomial_sample())
    assert any(t.name.startswith("block 64") for t in k.report.trials)
    x, y, degree = polynomial_sample()
    k(x, y, degree)
    np.testing.assert_allclose(y, reference(x, degree), rtol=1e-4)


def test_two_axes_try_blocks_of_two_axes(always_worth_it):
    a = np.arange(300 * 200, dtype=np.int32).reshape(300, 200)
    b = np.zeros((200, 300), np.int32)
    k = ProfileGuidedOptimizer(**BASE).optimize(transpose, a, b)
    assert any("block 16x16" in t.name for t in k.report.trials)
    k(a, b)
    assert (b == a.T).all()


def test_in_place_kernels_start_from_the_sample_each_time(always_worth_it):
    x = np.arange(3000)
    k = ProfileGuidedOptimizer(**BASE).optimize(count_up, x)  # by has a default
    assert (x == np.arange(3000)).all()
    assert not [t for t in k.report.trials if t.outcome in ("rejected", "failed")]
    k(x)
    assert (x == np.arange(3000) + 1).all()
    k(x, by=5)
    assert (x == np.arange(3000) + 6).all()


def test_device_arrays_stay_where_they_are(always_worth_it):
    x, y, degree = polynomial_sample()
    dx, dy = cuda.to_device(x), cuda.to_device(y)
    k = ProfileGuidedOptimizer(**BASE).optimize(polynomial, dx, dy, degree)
    assert {t.device for t in k.report.trials} == {dx.device.label}
    k(dx, dy, degree)
    np.testing.assert_allclose(dy.copy_to_host(), reference(x, degree), rtol=1e-4)


def test_strided_samples_keep_their_strides(always_worth_it):
    base = np.zeros((40, 60), np.int64)
    view = base.T[::-1, ::2]
    k = ProfileGuidedOptimizer(**BASE).optimize(count_2d, view)
    k(view)
    assert (view == 1).all() and base.sum() == view.size


@cuda.kernel
def count_2d(x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] += 1


def test_an_optimised_kernel_is_optimised_from_the_start(always_worth_it):
    once = ProfileGuidedOptimizer(**BASE).optimize(polynomial, *polynomial_sample())
    twice = ProfileGuidedOptimizer(**BASE).optimize(once, *polynomial_sample())
    assert twice.about.given is polynomial


# ---- what is rejected ------------------------------------------------------------------------------------------------


def test_fast_math_beyond_the_tolerance_is_rejected(monkeypatch):
    x = np.linspace(0.1, 1, 2000, dtype=np.float32)

    real = measure.run

    def off(callee, sample, written, label):
        found = real(callee, sample, written, label)
        plain = callee.kernel if isinstance(callee, _runtime.Configured) else callee
        return [f * np.float32(1.001) for f in found] if plain.about.options[1] else found

    monkeypatch.setattr(measure, "run", off)
    report = ProfileGuidedOptimizer(**BASE).optimize(polynomial, x, np.zeros_like(x), 5).report
    fast = [t for t in report.trials if t.name.endswith("fast math")]
    assert fast and all(t.outcome == "rejected" for t in fast)
    assert "of the largest value, more than 1e-05" in fast[0].note
    report = (
        ProfileGuidedOptimizer(**BASE, tolerance=0.01).optimize(polynomial, x, np.zeros_like(x), 5).report
    )
    assert not [t for t in report.trials if t.outcome == "rejected"]
    assert "floats within 0.01" in repr(report)


def test_integers_must_be_equal(always_worth_it):
    @cuda.kernel
    def widths(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = cuda.blockDim.x

    x = np.zeros(4000, np.int32)
    k = ProfileGuidedOptimizer(**BASE).optimize(widths, x)
    rejected = [t for t in k.report.trials if t.outcome == "rejected"]
    assert rejected and all(re.match(r"element \(0,\) is \d+, not 256", t.note) for t in rejected)
    assert not any(t.outcome == "chosen" and t in rejected for t in k.report.trials)
    k(x)
    assert (x == 256).all()


def test_a_variant_that_fails_is_told_and_left(monkeypatch):
    real = Variant.make

    def failing(self, kernel, values):
        if self.fastmath:
            raise RuntimeError("no such luck\nmore")
        return real(self, kernel, values)

    monkeypatch.setattr(Variant, "make", failing)
    report = ProfileGuidedOptimizer(**BASE).optimize(polynomial, *polynomial_sample()).report
    failed = [t for t in report.trials if t.outcome == "failed"]
    assert failed and {t.note for t in failed} == {"no such luck"}


def test_results_that_change_by_themselves_can_t_be_compared(monkeypatch):
    real, calls = measure.run, []

    def drifting(*args):
        calls.append(1)
        return [f + len(calls) for f in real(*args)]

    monkeypatch.setattr(measure, "run", drifting)
    found = ProfileGuidedOptimizer(**BASE).optimize(polynomial, *polynomial_sample())
    assert found is polynomial and "differ from run to run" in found.report.why


def test_a_kernel_that_writes_nothing_comes_back():
    @cuda.kernel
    def idle(x):
        i = cuda.grid(1)
        if i < x.size:
            assert x[i] >= 0

    found = ProfileGuidedOptimizer(**BASE).optimize(idle, np.ones(10))
    assert found is idle and "writes no array" in found.report.why


@pytest.mark.parametrize(
    ("want", "got", "why"),
    [
        (np.array([1, 2]), np.array([1, 3]), "element (1,) is 3, not 2"),
        (np.array([True]), np.array([False]), "element (0,)"),
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), ""),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), "nan or inf elsewhere"),
        (np.array([1.0, np.inf]), np.array([1.0, -np.inf]), "nan or inf elsewhere"),
        (np.array([1.0, 100.0]), np.array([1.0 + 1e-11, 100.0]), ""),
        (np.array([1.0, 100.0]), np.array([1.0 + 1e-9, 100.0]), "differs by 1.0e-11"),
        (np.array([1.0, 1.0], np.float32), np.array([1.0, 1.1], np.float32), "more than 1e-05"),
        (np.zeros(3), np.zeros(3), ""),
    ],
)
def test_differences(want, got, why):
    found = measure.difference([want], [got], None)[1]
    assert found == why if not why else why in found


def test_variants_in_words():
    fixed = ((2, -1, 7), (0, 0, 100), (0, 1, 3), (1, 0, 5))
    assert Variant("cpu", fixed=fixed).words("xwn") == "constant n = 7, x of shape (100, 3), w of shape (5,)"
    assert Variant("cpu", fixed=((0, 1, 3),)).words("x") == "constant x of shape (:, 3)"
    every = Variant("cuda:0", (64, 4, 1), (1, 0, 2), 1, (), True, 32, 256)
    assert every.words("x") == (
        "block 64x4, axes on y, x, z, one element a thread, fast math, at most 32 registers, launch bounds 256"
    )
    assert Variant.from_json(every.to_json()) == every


def test_of_two_as_fast_the_one_that_relies_on_less_is_taken(monkeypatch):
    def same(callees, sample, written, labels, budget, how=None):
        return [1.0, *(0.5 for _ in callees[1:])]

    monkeypatch.setattr(measure, "side_by_side", same)
    k = ProfileGuidedOptimizer(**BASE, devices=[]).optimize(polynomial, *polynomial_sample())
    assert k.report.winner == "block 256" and k.report.gain == 2


def test_sets_of_constants():
    x, w = np.zeros((100, 3)), np.zeros(5)
    assert constants((x, w, 7)) == [
        ((2, -1, 7),),
        ((2, -1, 7), (0, 1, 3), (1, 0, 5)),
        ((2, -1, 7), (0, 0, 100), (0, 1, 3), (1, 0, 5)),
    ]
    assert constants((np.zeros(100),)) == [((0, 0, 100),)]


def test_variants_compile_for_a_gpu_that_is_not_here():
    from xcuda.core.signatures import types_from

    values = np.zeros((300, 200), np.int32), np.zeros((200, 300), np.int32)
    keys = set()
    tried = [
        Variant(""),
        Variant("", order=(0, 1, 2)),
        Variant("", order=(1, 0, 2)),
        Variant("", elements=1),
        Variant("", fixed=((0, 0, 300), (0, 1, 200))),
        Variant("", fastmath=True),
        Variant("", max_registers=32),
        Variant("", most_threads=256),
    ]
    for variant in tried:
        made = variant.make(transpose, values)
        try:
            rows = _runtime.images_for(made, types_from("int32[:, ::1], int32[:, ::1]"), "sm_90")
        except cuda.MachineError as error:
            pytest.skip(str(error))
        keys.add(frozenset(row["key"] for row in rows))
    assert len(keys) >= len(tried) - 2  # one order is xcuda's own choice; a transpose has no vectors anyway


# ---- what is kept on disk --------------------------------------------------------------------------------------------

PROGRAM = """
import sys
import numpy as np
import xcuda.core as cuda
from xcuda.profiler import ProfileGuidedOptimizer
from xcuda.profiler.guided import measure

measure.side_by_side = lambda callees, *_: [2.0**-i for i in range(len(callees))]  # the last one wins

@cuda.kernel
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * factor {more}

for n, factor, dtype in eval(sys.argv[1]):
    k = ProfileGuidedOptimizer(seconds=0.05).optimize(scale, np.ones(n, dtype), factor)
    x = np.ones(n, dtype)
    k(x, factor)
    assert (x == factor).all()
    print(k.report.source, end=" ")
"""


def test_a_choice_is_kept_for_kernel_types_size_and_device(fresh_cache, tmp_path):
    script = tmp_path / "program.py"

    def run(*cases, more="", first=""):
        script.write_text(first + PROGRAM.replace("{more}", more))
        done = subprocess.run(
            [sys.executable, script, repr(cases)], capture_output=True, text=True, timeout=120, env=os.environ
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    base = (1000, 2, "float32")
    assert run(base) == ["measured"]
    others = (1000, 2, "float64"), (3000, 2, "float32"), (1000, 2.0, "float32")
    assert run(base, *others, first="# moved down\n\n") == ["disk", "measured", "measured", "measured"]
    # the kept variant takes factor to be 2
    assert run((1000, 3, "float32"), base, more="* 1") == ["measured", "measured"]
    for file in (fresh_cache / "tuned").iterdir():
        file.write_text("{")
    assert run(base) == ["measured"]  # a damaged file is as none


def test_a_kept_choice_is_checked_again(monkeypatch, always_worth_it):
    optimizer = ProfileGuidedOptimizer(seconds=0.1)
    x, y, degree = polynomial_sample(777)
    assert optimizer.optimize(polynomial, x, y, degree).report.source == "measured"
    assert optimizer.optimize(polynomial, x, y, degree).report.source == "disk"
    real, first = measure.difference, []

    def once_wrong(reference, result, tolerance):
        first.append(1)
        return (1.0, "it is wrong") if len(first) == 2 else real(reference, result, tolerance)

    monkeypatch.setattr(measure, "difference", once_wrong)
    assert optimizer.optimize(polynomial, x, y, degree).report.source == "measured"


def test_what_can_t_be_kept_is_noted(monkeypatch, always_worth_it):
    monkeypatch.setattr(store, "save", lambda name, data: "the disk is full")
    report = ProfileGuidedOptimizer(seconds=0.1).optimize(polynomial, *polynomial_sample(60_000)).report
    assert "the choice was not kept: the disk is full" in repr(report)


def test_the_store_is_bounded(monkeypatch):
    monkeypatch.setattr(store, "MOST_FILES", 3)
    for i in range(6):
        assert store.save(f"bound{i}", {"i": i}) == ""
    assert len(list(store.folder().iterdir())) == 3
    assert store.load("bound5") == {"i": 5} and store.load("bound0") is None


# ---- wrong inputs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda o: o.optimize(len, 1),
            TypeError,
            r"optimize takes a kernel, or kernel\[grid, block\], not builtin",
        ),
        (
            lambda o: o.optimize(polynomial, np.ones(3)),
            TypeError,
            "needs y and degree: the sample has 1 value",
        ),
        (lambda o: o.optimize(polynomial, 1, 2, 3, 4), TypeError, "needs fewer values"),
        (
            lambda o: o.optimize(count_up, np.ones(3), (1, 2)),
            TypeError,
            "'by' is a tuple: the optimiser takes",
        ),
        (lambda o: ProfileGuidedOptimizer(tolerance=-1), ValueError, "tolerance is a number from 0"),
        (lambda o: ProfileGuidedOptimizer(seconds=0), ValueError, "seconds is a positive number"),
    ],
)
def test_wrong_calls_get_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call(ProfileGuidedOptimizer(**BASE))


def test_overlapping_arrays_are_refused():
    x = np.zeros(100, np.float32)
    with pytest.raises(ValueError, match="two arrays of the sample overlap"):
        ProfileGuidedOptimizer(**BASE).optimize(polynomial, x[:50], x[25:75], 3)


def test_what_the_kernel_raises_is_raised():
    @cuda.kernel
    def beyond(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i + 1] = 0

    with pytest.raises(IndexError):
        ProfileGuidedOptimizer(**BASE).optimize(beyond, np.zeros(10))
    cuda.synchronize()


# ---- the article -----------------------------------------------------------------------------------------------------


def complex_operation_a(v):
    return v * 0.5 + 1.0


def complex_operation_b(v):
    return v * v - 0.25


@pytest.fixture
def article_names():
    """The article's module names, for one test."""
    before = set(sys.modules)
    others = {name: sys.modules.pop(name) for name in before if name.partition(".")[0] == "cuda"}
    preferred = _names.preferred()
    xcuda.install_names()
    _names.prefer_xcuda(True)  # where NVIDIA's own cuda.core is installed too
    yield
    _names.prefer_xcuda(preferred)
    _names.uninstall()
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "cuda":
            del sys.modules[name]
    sys.modules.update(others)


def test_the_article_s_adaptive_algorithm(article_names):
    import cuda.core as cuda
    from cuda.jit import compile_kernel

    @compile_kernel(target="gpu", optimize="aggressive")
    def adaptive_algorithm(data, threshold):
        tid = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x

        if tid < data.size:
            if data[tid] > threshold:
                data[tid] = complex_operation_a(data[tid])
            else:
                data[tid] = complex_operation_b(data[tid])

    sample_data = (np.random.default_rng(0).random(100_000, dtype=np.float32), 0.25)

    profiler = cuda.profiler.ProfileGuidedOptimizer()
    optimized_kernel = profiler.optimize(adaptive_algorithm, sample_data)

    data, threshold = sample_data
    want = np.where(data > threshold, data * np.float32(0.5) + 1, data * data - np.float32(0.25))
    optimized_kernel(data, threshold)
    np.testing.assert_allclose(data, want, rtol=1e-5, atol=1e-6)
    report = optimized_kernel.report
    assert report.trials[0].name == "as given" and report.gain >= 1
    if any(d.label == "cpu" for d in cuda.devices()):
        guard, test = report.branches
        assert guard["taken"] > 0.98 and abs(test["taken"] - 0.75) < 0.03 and test["divergent"] > 0.9
        assert f"line {test['line']}: taken by 7" in repr(report)


@pytest.mark.skipif(not any(d.label == "cpu" for d in cuda.devices()), reason="this build has no CPU device")
def test_jit_kernels_keep_their_target(always_worth_it):
    k = compile_kernel(count_up.py_func, target="cpu")
    found = ProfileGuidedOptimizer(**BASE).optimize(k, np.arange(2000))
    assert {t.device for t in found.report.trials} == {"cpu"} and found.target == "cpu"
    x = np.arange(2000)
    found(x)
    assert (x == np.arange(2000) + 1).all() and found.last_launch["device"] == "cpu"

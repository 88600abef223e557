"""The optimiser's variants that leave a kernel's threads as they are: branches laid out as they go, turns written out; and
those that share rows, or load vectors of other widths."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import xcuda.core as cuda
from cpu_device import needs_cpu
from fake_cuda import need_nvrtc, on_fake
from xcuda import _runtime
from xcuda.core.kernels import clone
from xcuda.core.signatures import types_from
from xcuda.profiler import ProfileGuidedOptimizer
from xcuda.profiler.guided import measure, seen
from xcuda.profiler.guided.variants import Variant, likely, stages

TYPES = "float32[::1], float32[::1], int64"


@cuda.kernel
def rare(y, x, n):
    i = cuda.grid(1)
    if i < y.size:
        t = 0.0
        for k in range(n):
            if x[k] > 5:
                t -= x[k]
            else:
                t += x[k] * k
        y[i] = t


def sample(n=512):
    x = np.linspace(0, 1, 64, dtype=np.float32)
    x[::32] = 6
    return np.zeros(n, np.float32), x, 64


def want(y, x, n):
    k = np.arange(n)
    return np.full_like(y, np.where(x[:n] > 5, -x[:n], x[:n] * k).sum())


def variant_of(kernel, **changes):
    made = clone(kernel)
    _runtime.tune(made, **changes)
    return made


def text_for_a_gpu(kernel):
    need_nvrtc()
    return kernel.compile(TYPES, target="sm_90")


@on_fake()
def test_branches_are_marked_by_their_line_from_the_kernels():
    plain = text_for_a_gpu(rare)["text"]
    assert "XC_LIKELY" not in plain and "XC_UNLIKELY" not in plain
    made = text_for_a_gpu(variant_of(rare, likely=[(2, True), (5, False)]))["text"]
    lines = [line for line in made.splitlines() if "LIKELY(" in line]
    guard, *tests = lines  # the loop is there twice, with checks and without
    assert "XC_LIKELY(" in guard and len(tests) == 2 and all("XC_UNLIKELY(" in line for line in tests), made
    # A line without a branch marks nothing.
    assert text_for_a_gpu(variant_of(rare, likely=[(3, True), (40, True)]))["text"] == plain


@on_fake()
def test_turns_are_written_out_on_a_gpu():
    plain = text_for_a_gpu(rare)
    made = text_for_a_gpu(variant_of(rare, turns=8))
    assert "#pragma unroll 8" in made["text"] and "#pragma unroll 8" not in plain["text"]
    assert made["cubin"] != plain["cubin"]


@cuda.kernel
def nested(y, n):
    i = cuda.grid(1)
    if i < y.size:
        s = 0
        for j in range(n):
            for k in range(j):
                s += k * j
        m = n
        while m > 0:
            m -= 1 + s % 2
        y[i] = s + m


@on_fake()
def test_only_loops_without_a_loop_inside_are_written_out():
    need_nvrtc()
    text = variant_of(nested, turns=4).compile("int64[::1], int64", target="sm_90")["text"]
    lines = text.splitlines()
    at = [i for i, line in enumerate(lines) if "#pragma unroll 4" in line]
    assert len(at) == 1 and "for (" in lines[at[0] + 1] and "for (" in "".join(lines[: at[0]])


@pytest.mark.parametrize(
    "changes", [{"likely": [(2, True), (5, False)]}, {"likely": [(5, True)]}, {"turns": 8}]
)
def test_results_stay(changes):
    y, x, n = sample()
    variant_of(rare, **changes)(y, x, n)
    np.testing.assert_allclose(y, want(y, x, n), rtol=1e-6)


@needs_cpu
def test_the_branches_that_are_left_on_one_side_are_found():
    y, x, n = sample()
    rows, why = seen.branches(rare, (y, x, n))
    assert not why and [row["from_kernel"] for row in rows] == [2, 5]
    assert likely(rows) == ((2, True), (5, False))
    x[:] = np.arange(64) % 2 * 10
    assert likely(seen.branches(rare, (y, x, n))[0]) == ((2, True),)


def test_two_branches_of_a_line_are_left_alone():
    row = {"from_kernel": 2, "taken": 1.0}
    assert likely([row]) == ((2, True),)
    assert likely([row, dict(row)]) == () == likely([{"taken": 1.0}])


def test_the_steps_of_the_search():
    values = sample()
    layout = _runtime.layout(rare, values)
    assert layout["loops"] == 1
    branches = [{"from_kernel": 3, "taken": 1.0}]

    def tried(is_gpu, branches):
        found = [
            v for step in stages(rare, values, layout, is_gpu, True, branches) for v in step(Variant("x"))
        ]
        return {v.turns for v in found}, {v.likely for v in found}

    assert tried(True, branches) == ({0, 2, 4, 8}, {(), ((3, True),)})
    assert tried(False, branches) == ({0}, {(), ((3, True),)})
    assert tried(True, []) == ({0, 2, 4, 8}, {()})


@cuda.kernel
def product(C, A, B):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        t = 0.0
        for k in range(A.shape[1]):
            t += A[i, k] * B[k, j]
        C[i, j] = t


def steps_of(kernel, values, is_gpu, may_shape=True):
    """All that the search would try if nothing were faster but tiles of rows."""
    layout = _runtime.layout(kernel, values)
    best, found = Variant("x"), []
    for step in stages(kernel, values, layout, is_gpu, may_shape):
        made = step(best)
        found += made
        best = next((v for v in made if v.rows or v.staged), best)
    return found


def test_shared_rows_and_widths_are_tried_on_gpus_alone():
    square = tuple(np.zeros((3, 64, 64), np.float32))
    found = steps_of(product, square, True)
    assert {v.staged for v in found} == {0, 8, 16, 32} and {v.elements for v in found} == {None, 2, 8}
    assert {v.block for v in found if v.staged and v.block}  # the best block is another one then
    assert {v.staged for v in steps_of(product, square, False)} == {0}
    assert {v.staged for v in steps_of(product, square, True, may_shape=False)} == {0}

    @cuda.kernel
    def twice(y, x):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = 2 * x[i]

    for dtype, widths in (("float32", {1, 2, 8}), ("float64", {1, 4}), ("int8", {1, 8, 32})):
        line = np.zeros(1000, dtype)
        found = steps_of(twice, (line, line.copy()), True)
        assert {v.elements for v in found} - {None} == widths
        assert not any(v.staged and not v.fixed for v in found)  # nothing is read twice


@on_fake()
def test_widths_of_vectors():
    need_nvrtc()
    for n in (2, 4, 8):
        made = variant_of(add_up, elements=n)
        found = _runtime.compile_for(made, types_from("float32[::1], float32[::1]"), "sm_90", None, True)
        assert f"xc_each<f32x{n}>" in found["text"] and found["local_bytes"] == 0


@cuda.kernel
def add_up(y, x):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += x[i]


@on_fake()
@pytest.mark.parametrize("elements", [1, 2, 8, 16])
def test_results_of_widths(elements):
    """The text of a launch, run on the host's threads over the fake driver's memory."""
    import host_cuda

    host_cuda.need_compiler()
    for n in (7, 64, 1001):
        x = np.arange(n, dtype=np.float32)
        y = np.ones(n, np.float32)
        found = _runtime.compile_for(
            variant_of(add_up, elements=elements), types_from((y, x)), "sm_90", None, True
        )
        grid = (-(-n // (32 * elements)), 1, 1)
        run = host_cuda.library(found["full_text"], found["entry"]).host_run
        shape = [(ctypes.c_uint * 3)(*s) for s in (grid, (32, 1, 1))]
        assert run(host_cuda.packed((y, x)), (ctypes.c_char * 256)(), *shape) == 0
        np.testing.assert_array_equal(y, x + 1)


def test_a_variant_comes_back_from_its_file():
    variant = Variant("cuda:0", (64, 1, 1), likely=((2, True), (5, False)), turns=4, elements=2, staged=16)
    assert Variant.from_json(variant.to_json()) == variant
    assert variant.words(["y", "x", "n"]) == (
        "block 64, vectors of 2, rows in shared memory, 16 turns at a time, 4 turns of loops at once, "
        "branches laid out as they go"
    )


@needs_cpu
def test_the_search_tries_and_chooses_it(monkeypatch):
    """With the times of another machine, where branches that are laid out are twice as fast."""

    def side_by_side(callees, sample, written, labels, budget, how=None):
        return [1.0 if _laid_out(callee) else 2.0 for callee in callees]

    monkeypatch.setattr(measure, "side_by_side", side_by_side)
    values = sample()
    k = ProfileGuidedOptimizer(seconds=0.2, keep=False, fastmath=False, devices=["cpu"]).optimize(
        rare, *values
    )
    assert "branches laid out as they go" in k.report.winner
    assert "the sides of branches that run mostly lie in a row" in k.report.why
    y, x, n = sample()
    k(y, x, n)
    np.testing.assert_allclose(y, want(y, x, n), rtol=1e-6)


def _laid_out(kernel):
    return any("LIKELY(" in s["text"] for s in getattr(kernel, "specialisations", []))

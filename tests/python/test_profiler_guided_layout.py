"""The optimiser's variants that leave a kernel's threads as they are: branches laid out as they go, turns written out."""

from __future__ import annotations

import numpy as np
import pytest
import xcuda.core as cuda
from cpu_device import needs_cpu
from fake_cuda import need_nvrtc, on_fake
from xcuda import _runtime
from xcuda.core.kernels import clone
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


def test_a_variant_comes_back_from_its_file():
    variant = Variant("cuda:0", (64, 1, 1), likely=((2, True), (5, False)), turns=4)
    assert Variant.from_json(variant.to_json()) == variant
    assert (
        variant.words(["y", "x", "n"]) == "block 64, 4 turns of loops at once, branches laid out as they go"
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

"""The text that checks a kernel on a GPU: compiled for GPUs that are not here, and run on the host, a thread of the system
for each of its threads, over the fake driver: from the launch that is looked at to the report.
"""

from __future__ import annotations

import contextlib

import host_cuda
import host_gpu
import numpy as np
import pytest
from a_part import one_of
from checked import PAIRS
from fake_cuda import need_nvrtc, on_fake
from xcuda import _runtime
from xcuda import core as cuda
from xcuda.check.copies import host_copies

TARGETS = ("sm_80", "sm_90", "sm_120")
ON_HOST = (
    "races: neighbour",  # shared memory, a barrier
    "races: last block",  # a fence, atomics, another block
    "races: overlapping arguments",
    "races: scatter",  # one write too many
    "races: flag",  # all write the same
    "races: beside atomics",
    "warps: half a warp",  # masks
    "barriers: left before",
    "barriers: two of them",  # what a GPU takes for one
    "barriers: unguarded",
    "unset: half filled",
    "unset: local",
    "unset: device bytes",
    "numbers: division",
    "barriers: votes",
)
COMPILED = (
    "races: last block",
    "races: whole grid",
    "races: overlapping arguments",
    "warps: half a warp",
    "warps: shuffles",
    "barriers: turns",
    "barriers: votes",
    "unset: local",
    "unset: device bytes",
    "numbers: overflow",
)


class Seen(Exception):
    pass


def call_of(pair, twin):
    """What a launch's hook is given: the kernel, or kernel[grid, block], and a value for each parameter."""
    seen = []

    def look(callee, values):
        seen.append((callee, tuple(host_copies(values))))
        raise Seen

    before = _runtime.set_launch_hook(look)
    try:
        callee, arguments = pair.call(twin)
        with pytest.raises(Seen):
            callee(*arguments)
    finally:
        _runtime.set_launch_hook(before)
    return seen[0]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", COMPILED)
def test_it_compiles_for_each_architecture(name, target):
    need_nvrtc()
    made = _runtime.check_compile_for(*call_of(PAIRS[name], twin=True), target)
    assert made["bytes"] > 1000 and made["registers"] <= 64  # a block of 1024 threads has that many each


@cuda.kernel
def every_barrier(out, x):
    t = cuda.threadIdx.x
    if t % 2 == 0:
        cuda.syncthreads()
    out[t] = cuda.syncthreads_count(x[t]) + cuda.syncthreads_and(x[t]) + cuda.syncthreads_or(x[t])
    cuda.cg.this_grid().sync()


@pytest.mark.parametrize("target", TARGETS)
def test_no_barrier_is_of_the_form_that_a_warps_lanes_have_to_share(target):
    need_nvrtc()
    x = np.zeros(32, np.int64)
    made = _runtime.check_compile_for(every_barrier[1, 32], (x, x), target)
    before, found, after = made["full_text"].partition("#define __syncthreads() ")
    assert found and "__syncthreads" not in before and "bar.sync" not in made["full_text"]
    for form in ("barrier.sync 0;", "barrier.red.popc.u32", "barrier.red.and.pred", "barrier.red.or.pred"):
        assert form in before and form not in after
    for used in ("__syncthreads()", "__syncthreads_count(", "__syncthreads_and(", "__syncthreads_or("):
        assert (
            after.partition("#endif")[2].count(used) >= 1
        )  # where barriers are: those of the grid among them
    plain = every_barrier.compile((x, x), 32, target=target)[
        "full_text"
    ]  # what is not checked is as fast as ever
    assert "__syncthreads()" in plain and "barrier.sync" not in plain and "barrier.red" not in plain


@cuda.kernel
def born(h, k):
    i = cuda.grid(1)
    h[i] = h[i] / (h[i] - k[0]) * 2


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_where_numbers_are_born_compiles_of_each_type(dtype):
    need_nvrtc()
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    array = np.ones(32, dtype)
    made = _runtime.check_compile_for(born[1, 32], (array, array), "sm_90")
    assert ("xc_born(" in made["text"]) != np.iscomplexobj(array)  # complex numbers are not looked at


def looked_at_on_the_host(pair, twin, refused=False, **options):
    """The report of a check on a GPU whose launches the host's threads run. refused: the launch itself does not start."""
    expected = (
        pytest.raises(RuntimeError, match="was not launched: in block")
        if refused
        else contextlib.suppress(IndexError)
    )
    text = _runtime.check_compile_for(*call_of(pair, twin), "sm_90")
    with cuda.checking(on="gpu", **options) as report, expected:
        check = _runtime.set_launch_hook(None)

        def look(callee, values):
            with host_gpu.computing(lambda _: text):  # the launch itself computes nothing
                check(callee, values)

        callee, arguments = pair.call(twin)
        _runtime.set_launch_hook(look)
        callee(*arguments)
    return report


@pytest.mark.parametrize("name", one_of(2, ON_HOST))
@on_fake()
def test_mistakes_are_found_and_clean_twins_are_left_in_peace(name):
    need_nvrtc()
    host_cuda.need_compiler()
    pair = PAIRS[name]
    found = looked_at_on_the_host(pair, twin=False, refused=pair.rule == "divergent-barrier")
    assert {f.rule for f in found} == {pair.rule}, found
    assert pair.line in {line for f in found for line in (f.line, f.other_line)}, found
    assert "looked at on cuda:0" in found.head
    found = looked_at_on_the_host(pair, twin=True)
    assert len(found) == 0 and found.launches[0].complete and found.launches[0].orders == 3, found


FILL = cuda.CUSource(
    'extern "C" __device__ void fill(float* p, int n) { for (int i = 0; i < n; ++i) p[i] = i; }\n'
)
fill = cuda.declare_device("fill", "void(CPointer(float32), int32)", link=FILL, abi="c")


@cuda.kernel
def filled_abroad(out):
    mine = cuda.local.array(4, np.float32)
    ours = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    fill(mine, 4)
    if t == 0:
        fill(ours, 64)
    cuda.syncthreads()
    out[cuda.grid(1)] = mine[3] + ours[t]


@on_fake()
def test_what_cuda_cpp_of_the_user_s_writes_is_not_taken_for_unset():
    need_nvrtc()
    host_cuda.need_compiler()
    out = np.zeros(64, np.float32)
    text = _runtime.check_compile_for(filled_abroad[1, 64], (out,), "sm_90")
    with host_gpu.computing(lambda _: text):
        report = cuda.check(filled_abroad[1, 64], out, on="gpu", orders=1)
    assert len(report) == 0 and report.launches[0].steps == 3 * 64, report


@cuda.kernel
def doubled(out, x):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = 2 * x[i]


@on_fake("memory=0x2000000")
def test_arrays_too_large_for_their_shadow_are_looked_at_in_part():
    need_nvrtc()
    report = cuda.check(doubled, np.zeros(500_000), np.zeros(500_000), on="gpu")
    assert not report.launches[0].complete and any("looked at in part" in note for note in report.notes)
    assert cuda.Device().memory()["used"] == 0  # all of it has been given back


@on_fake()
def test_a_grid_without_blocks_and_arrays_without_elements():
    need_nvrtc()
    report = cuda.check(doubled, np.zeros(0), np.zeros(0), on="gpu")
    assert len(report) == 0 and report.launches[0].steps == 0
    assert len(cuda.check(doubled[1, 32], np.zeros(0), np.zeros(0), on="gpu")) == 0

"""xcuda.check on kernels with one mistake each, and on their clean twins: all found, none false."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from checked import PAIRS
from cpu_device import HAS_CPU, needs_cpu
from fake_cuda import driver, need_nvrtc, on_fake
from xcuda import core as cuda
from xcuda.check import rules

# Where launches are checked: by a watcher on the CPU device, by the GPU's shadow memory on the CPU device, on a GPU.
HAS_GPU = any(device.label.startswith("cuda") for device in cuda.devices())
FORMS = (["cpu", "shadow"] if HAS_CPU else []) + (["gpu"] if HAS_GPU else [])
every_form = pytest.mark.parametrize("on", FORMS)


def looked_at(pair, twin, **options):
    with cuda.checking(**options) as report, contextlib.suppress(Exception):
        callee, arguments = pair.call(twin)
        callee(*arguments)
    return report


@every_form
@pytest.mark.parametrize("name", PAIRS)
def test_the_mistake_is_found_at_its_line_and_nothing_else_is(name, on):
    pair = PAIRS[name]
    found = looked_at(pair, twin=False, on=on)
    assert [f.rule for f in found] and {f.rule for f in found} == {pair.rule}, found
    if pair.mark:
        assert pair.line in {line for f in found for line in (f.line, f.other_line)}, found
    for f in found:
        assert f.evidence and f.advice and f.file.endswith(".py")


@every_form
@pytest.mark.parametrize("name", PAIRS)
def test_the_clean_twin_is_left_in_peace(name, on):
    found = looked_at(PAIRS[name], twin=True, on=on)
    assert len(found) == 0 and found.launches and found.launches[0].complete, found


# What orders threads of several blocks and warps, where blocks run at once.
@every_form
@pytest.mark.parametrize(
    "name",
    ["races: last block", "races: whole grid", "races: flag", "races: beside atomics", "warps: half a warp"],
)
def test_no_other_order_of_threads_blames_a_clean_twin_or_hides_a_mistake(name, on):
    pair = PAIRS[name]
    for seed in range(1, 9):
        assert len(looked_at(pair, twin=True, on=on, seed=seed, orders=5)) == 0, seed
        assert {f.rule for f in looked_at(pair, twin=False, on=on, seed=seed)} == {pair.rule}, seed


def test_there_are_thirty_pairs_and_each_rule_has_one():
    assert len(PAIRS) >= 30
    assert {pair.rule for pair in PAIRS.values()} == set(rules())


@cuda.kernel
def doubled(out, x):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = 2 * x[i]


@cuda.kernel
def summed(total, x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        total[0] += x[i]


def test_a_check_leaves_the_caller_s_arrays_alone():
    x, out = np.arange(100.0), np.zeros(100)
    d = cuda.to_device(out)
    assert len(cuda.check(doubled, out, x)) == len(cuda.check(doubled[4, 32], d, x)) == 0
    assert not out.any() and not d.copy_to_host().any()


def test_what_a_checked_block_computes_is_as_without_it():
    x, out = np.arange(100.0), cuda.zeros(100)
    with cuda.checking() as report:
        doubled(out, x)
        bound = doubled[4, 32].bind(out, x)
        bound()
    np.testing.assert_array_equal(out.copy_to_host(), 2 * x)
    assert len(report.launches) == 2 and report.launches[1].block == (32, 1, 1)
    assert "nothing found (2 launches" in repr(report)
    doubled(out, x)  # outside: not looked at
    assert len(report.launches) == 2


def test_an_index_without_checks_is_not_launched():
    unguarded = PAIRS["barriers: unguarded"].faulty
    out = np.zeros(10, np.float32)
    with (
        cuda.checking() as report,
        pytest.raises(IndexError, match=r"was not launched: IndexError: index \d\d is out"),
    ):
        unguarded[1, 32](out, np.ones(10, np.float32))
    assert report.of("out-of-range") and not out.any()


@needs_cpu
def test_orders_follow_from_the_seed():
    def seen(seed):
        return repr(cuda.check(summed[4, 64], np.zeros(1), np.arange(256.0), seed=seed, on="cpu"))

    assert seen(1) == seen(1)


@every_form
def test_arrays_that_overlap_in_device_memory(on):
    x = cuda.to_device(np.arange(65.0))
    [found] = cuda.check(doubled[2, 32], x[1:], x[:-1], on=on)
    assert found.rule == "overlap" and "are the same memory" in found.evidence
    assert len(cuda.check(doubled[2, 32], x[:32], x[33:], on=on)) == 0


def test_tuples_and_defaults_are_arguments_too():
    @cuda.kernel
    def moved(out, by, scale=2.0):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = by[0] + by[1] * scale

    assert len(cuda.check(moved, np.zeros(10), (1.0, 2.0))) == 0


def test_launches_alike_are_looked_at_a_few_times():
    out, x = np.zeros(10), np.ones(10)
    with cuda.checking(alike=3) as report:
        for _ in range(8):
            doubled(out, x)
    assert len(report.launches) == 3
    assert "5 launches of doubled not looked at: the first 3 like them were" in report.notes


@every_form
def test_a_large_launch_is_looked_at_in_part(on):
    report = cuda.check(doubled, np.zeros(10_000), np.ones(10_000), steps=1000, on=on)
    assert not report.launches[0].complete and any("looks at more" in note for note in report.notes)


@needs_cpu
@pytest.mark.parametrize(
    "on", [form for form in FORMS if form != "gpu"]
)  # its order may be the same each time
def test_sums_of_floats_in_another_order_are_a_note(on):
    @cuda.kernel
    def atomic_sum(total, x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            cuda.atomic.add(total, 0, x[i])

    report = cuda.check(
        atomic_sum[4, 64], np.zeros(1, np.float32), np.random.default_rng(0).random(256, np.float32), on=on
    )
    assert len(report) == 0 and any("in its last digits only" in note for note in report.notes)


@every_form
def test_integers_summed_atomically_are_the_same_in_any_order(on):
    report = cuda.check(PAIRS["races: histogram"].clean, np.zeros(5, np.int64), np.arange(256) % 5, on=on)
    assert len(report) == 0 and report.notes == []


@every_form
def test_half_floats_records_and_complex_numbers_are_looked_at(on):
    records = np.zeros(32, [("a", np.float32), ("b", np.int8)])

    @cuda.kernel
    def fields(r):
        i = cuda.grid(1)
        r[i].a = r[i].b + 1.0

    @cuda.kernel
    def many(h, z):
        i = cuda.grid(1)
        h[i] = h[i] * 2
        z[i] = z[i] * 2j

    assert len(cuda.check(fields[1, 32], records, on=on)) == 0
    assert len(cuda.check(many[1, 32], np.ones(32, np.float16), np.ones(32, np.complex128), on=on)) == 0

    @cuda.kernel
    def shifted(r, h, z):
        i = cuda.grid(1)
        r[i].a = r[31 - i].a + 1.0  # a race of one field; the other is not touched
        r[i].b = i
        h[i] = h[31 - i] * 2
        z[i] = z[31 - i] * 2j

    found = cuda.check(
        shifted[1, 32],
        np.zeros(32, records.dtype),
        np.ones(32, np.float16),
        np.ones(32, np.complex128),
        on=on,
    )
    assert sorted(f.subject for f in found) == ["h", "r.a", "z"] and {f.rule for f in found} == {"race"}, (
        found
    )


@every_form
def test_strides_of_any_sign_are_looked_at(on):
    x = np.arange(200.0)
    assert len(cuda.check(doubled[2, 32], x[:128][::-2], x[128::1], on=on)) == 0
    [found] = cuda.check(summed[2, 32], np.zeros(1), x[::-3], on=on)
    assert found.rule == "race" and "total[0]" in found.evidence


@every_form
def test_a_grid_and_blocks_of_three_axes_are_named_as_the_user_does(on):
    @cuda.kernel
    def last_of_all(out):
        x, y, z = cuda.grid(3)
        if out.shape[0] == x + 1 and out.shape[1] == y + 1 and z > 5:
            out[x, y, 0] += 1

    report = cuda.check(last_of_all[(3, 2, 4), (4, 2, 2)], np.zeros((12, 4, 8)), on=on)
    [found] = report
    for who in ("thread (3, 1, 0)", "thread (3, 1, 1)", "of block (2, 1, 3)", "out[11, 3, 0]"):
        assert who in found.evidence, found.evidence
    assert report.launches[0].grid == (3, 2, 4) and report.launches[0].block == (4, 2, 2)


@every_form
def test_a_loop_of_more_barriers_than_a_word_counts_is_looked_at_in_part_and_blames_nobody(on):
    @cuda.kernel
    def many_barriers(out, turns):
        part = cuda.shared.array(64, np.int32)
        t = cuda.threadIdx.x
        part[t] = 0
        for k in range(turns):
            cuda.syncthreads()
            before = part[63 - t]
            cuda.syncthreads()
            part[t] = before + 1
        out[cuda.grid(1)] = part[t]

    out = np.zeros(128, np.int32)
    assert len(cuda.check(many_barriers[2, 64], out, 400, on=on, orders=1)) == 0


@every_form
def test_local_arrays_of_helpers_are_not_blamed(on):
    def filled(a, x):
        for k in range(4):
            if x < 0:
                return k  # a return in a loop: the helper stays a function
            a[k] = x + k
        return 4

    @cuda.kernel
    def through_a_helper(out, x):
        mine = cuda.local.array(4, np.float32)
        i = cuda.grid(1)
        n = filled(mine, x[i])
        s = 0.0
        for k in range(n):
            s += mine[k]
        out[i] = s

    assert len(cuda.check(through_a_helper[1, 32], np.zeros(32), np.ones(32), on=on)) == 0


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: cuda.check(len, 1), TypeError, "check takes a kernel, or kernel"),
        (lambda: cuda.check(doubled, np.zeros(3)), TypeError, "without 'x'"),
        (
            lambda: cuda.check(doubled, np.zeros(3), np.zeros(3), orders=0),
            ValueError,
            "orders is a whole number",
        ),
        (
            lambda: cuda.check(doubled, np.zeros(3), np.zeros(3), on="tpu"),
            ValueError,
            "on is 'cpu' or 'gpu', not 'tpu'",
        ),
    ],
)
def test_wrong_calls_are_told(call, error, told):
    with pytest.raises(error, match=told):
        call()


@pytest.mark.skipif(HAS_GPU, reason="there is a GPU here")
def test_without_a_gpu_it_says_so():
    with pytest.raises(RuntimeError, match="there is no GPU here to check kernels on"):
        cuda.check(doubled, np.zeros(3), np.zeros(3), on="gpu")


@needs_cpu
@on_fake()
def test_a_launch_without_a_shape_is_looked_at_whole_whatever_the_gpu_would_give_a_thread():
    x = cuda.to_device(np.arange(1000.0))
    report = cuda.check(doubled, cuda.zeros(1000), x)
    assert report.launches[0].steps == 3 * 2 * 1000, report


@needs_cpu
@on_fake()
def test_arrays_of_a_gpu_are_checked_on_the_cpu_device():
    x = cuda.to_device(np.arange(257.0))
    assert x.device.kind == "cuda"
    [race] = cuda.check(summed[4, 64], cuda.to_device(np.zeros(1)), x)
    assert race.rule == "race" and "total[0]" in race.evidence
    [overlap] = cuda.check(doubled[4, 64], x[1:], x[:-1])
    assert overlap.rule == "overlap"
    assert len(cuda.check(doubled[4, 64], x[1:], x[1:])) == 0
    assert x.copy_to_host().tolist() == list(range(257))


@needs_cpu
@pytest.mark.parametrize("kind", sorted({name.split(":")[0] for name in PAIRS}))
@on_fake()
def test_what_a_gpu_is_given_is_looked_at_before_it_is_launched(kind):
    need_nvrtc()
    for name, pair in PAIRS.items():
        if not name.startswith(f"{kind}:"):
            continue
        found = looked_at(pair, twin=False)
        assert {f.rule for f in found} == {pair.rule}, (name, found)
        found = looked_at(pair, twin=True)
        assert len(found) == 0 and found.launches and found.launches[0].complete, (name, found)
    assert driver.get("launches") > 0

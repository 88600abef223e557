"""xcuda.check on kernels with one mistake each, and on their clean twins: all found, none false."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from checked import PAIRS
from cpu_device import needs_cpu
from fake_cuda import driver, need_nvrtc, on_fake
from xcuda import core as cuda
from xcuda.check import rules

pytestmark = needs_cpu


def looked_at(pair, twin, **options):
    with cuda.checking(**options) as report, contextlib.suppress(Exception):
        callee, arguments = pair.call(twin)
        callee(*arguments)
    return report


@pytest.mark.parametrize("name", PAIRS)
def test_the_mistake_is_found_at_its_line_and_nothing_else_is(name):
    pair = PAIRS[name]
    found = looked_at(pair, twin=False)
    assert [f.rule for f in found] and {f.rule for f in found} == {pair.rule}, found
    if pair.mark:
        assert pair.line in {line for f in found for line in (f.line, f.other_line)}, found
    for f in found:
        assert f.evidence and f.advice and f.file.endswith(".py")


@pytest.mark.parametrize("name", PAIRS)
def test_the_clean_twin_is_left_in_peace(name):
    found = looked_at(PAIRS[name], twin=True)
    assert len(found) == 0 and found.launches and found.launches[0].complete, found


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
        pytest.raises(IndexError, match="was not launched: IndexError: index 10 is out"),
    ):
        unguarded[1, 32](out, np.ones(10, np.float32))
    assert report.of("out-of-range") and not out.any()


def test_orders_follow_from_the_seed():
    def seen(seed):
        return repr(cuda.check(summed[4, 64], np.zeros(1), np.arange(256.0), seed=seed))

    assert seen(1) == seen(1)


def test_arrays_that_overlap_in_device_memory():
    x = cuda.to_device(np.arange(65.0))
    [found] = cuda.check(doubled[2, 32], x[1:], x[:-1])
    assert found.rule == "overlap" and "are the same memory" in found.evidence
    assert len(cuda.check(doubled[2, 32], x[:32], x[33:])) == 0


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


def test_a_large_launch_is_looked_at_in_part():
    report = cuda.check(doubled, np.zeros(10_000), np.ones(10_000), steps=1000)
    assert not report.launches[0].complete and any("looks at more" in note for note in report.notes)


def test_sums_of_floats_in_another_order_are_a_note():
    @cuda.kernel
    def atomic_sum(total, x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            cuda.atomic.add(total, 0, x[i])

    report = cuda.check(
        atomic_sum[4, 64], np.zeros(1, np.float32), np.random.default_rng(0).random(256, np.float32)
    )
    assert len(report) == 0 and any("in its last digits only" in note for note in report.notes)


def test_integers_summed_atomically_are_the_same_in_any_order():
    report = cuda.check(PAIRS["races: histogram"].clean, np.zeros(5, np.int64), np.arange(256) % 5)
    assert len(report) == 0 and report.notes == []


def test_half_floats_records_and_complex_numbers_are_looked_at():
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

    assert len(cuda.check(fields[1, 32], records)) == 0
    assert len(cuda.check(many[1, 32], np.ones(32, np.float16), np.ones(32, np.complex128))) == 0


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
    ],
)
def test_wrong_calls_are_told(call, error, told):
    with pytest.raises(error, match=told):
        call()


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

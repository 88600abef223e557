"""Profiles on a real GPU: other libraries' kernels, exact times, hardware counters. Without one nothing is tested."""

import gc

import numpy as np
import pytest
from xcuda import _runtime, profiler
from xcuda import core as cuda

pytestmark = pytest.mark.skipif(
    not _runtime.current_device_label().startswith("cuda"), reason="the device is no GPU"
)

BIG = 1 << 26


@cuda.kernel
def add_one(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] + 1.0


@pytest.fixture
def big():
    made = cuda.zeros(BIG, "float32")
    add_one[BIG // 256, 256](made)
    cuda.synchronize()
    yield made
    del made
    gc.collect()


def counted(**options):
    """A profile with counters, where this machine lets us read them."""
    return profiler.profile(**options)


def counters_of(p):
    told = p.report.document["collection"]["counters"]
    if "absent" in told:
        pytest.skip(told["absent"])
    return p.report.kernels[0]["counters"]["values"]


def foreign(report):
    return [row for row in report.kernels if row.get("foreign")]


def test_every_launch_is_timed_and_none_counted_twice(big):
    with profiler.profile() as p:
        for _ in range(100):
            add_one[BIG // 256, 256](big)
    (row,) = p.report.kernels
    assert p.report.document["collection"]["activity"]["source"].startswith("CUPTI")
    assert row["calls"] == 100 and not row.get("foreign")
    assert 0 < row["time"]["min"]["value"] <= row["time"]["max"]["value"]
    assert all(e["state"] == "done" for e in p.report.document["timeline"]["events"])


def test_our_own_copies_and_fills_are_not_another_librarys(big):
    host = np.ones(1 << 22, np.float32)
    with profiler.profile() as p:
        a = cuda.to_device(host)
        b = cuda.zeros(1 << 20, "float32")
        add_one[16, 256](b)
        a.copy_to_host()
    assert not [row for row in p.report.document["copies"] if row.get("foreign")]
    assert not foreign(p.report)


def test_a_graphs_kernels_have_their_times(big):
    with cuda.graph() as g:
        add_one[BIG // 256, 256](big)
        add_one[BIG // 512, 256](big)
    with profiler.profile() as p:
        g.launch()
        g.launch()
    assert [(row["calls"], "value" in row["time"]["total"]) for row in p.report.kernels] == [(2, True)] * 2
    assert not foreign(p.report)


def test_torchs_kernels_are_seen():
    torch = pytest.importorskip("torch")
    x = torch.ones((2048, 2048), device="cuda")
    torch.cuda.synchronize()
    with profiler.profile() as p:
        y = x @ x
        y.relu_()
        torch.cuda.synchronize()
    rows = foreign(p.report)
    assert len(rows) >= 2
    assert p.report.document["totals"]["launches"] == 0
    assert all(row["registers"]["value"] > 0 and row["time"]["mean"]["value"] > 0 for row in rows)
    assert any(
        "relu" in (row["name"] + row["signature"]).lower() or "clamp" in row["signature"] for row in rows
    )


def test_cupys_kernels_and_copies_are_seen_beside_ours(big):
    cupy = pytest.importorskip("cupy")
    a = cupy.ones(1 << 20, dtype=cupy.float32)
    cupy.cuda.Device().synchronize()
    with profiler.profile() as p:
        add_one[BIG // 256, 256](big)
        b = a * 2 + a
        b.get()
    own = [row for row in p.report.kernels if not row.get("foreign")]
    assert [(row["name"], row["calls"]) for row in own] == [("add_one", 1)]
    assert foreign(p.report)
    copies = [row for row in p.report.document["copies"] if row.get("foreign")]
    assert [(row["direction"], row["bytes"]["value"]) for row in copies] == [("to host", 4 << 20)]


def test_counters_of_a_kernel_that_streams(big):
    with counted(counters=True) as p:
        add_one[BIG // 256, 256](big)
    values = counters_of(p)
    moved = values["dram_read"]["value"] + values["dram_written"]["value"]
    assert moved == pytest.approx(2 * 4 * BIG, rel=0.1)
    assert values["sectors_per_load"]["value"] == pytest.approx(4)
    assert values["executed_fp32"]["value"] == pytest.approx(BIG)
    assert values["bank_conflicts"]["value"] == 0
    assert 0 < values["achieved_occupancy"]["value"] <= 1
    row = p.report.kernels[0]
    assert row["time"]["mean"]["value"] < 0.005  # not that of the replays


def test_replays_leave_memory_as_one_launch_does(big):
    before = big.copy_to_host()[:4].copy()
    with counted(counters=True) as p:
        add_one[BIG // 256, 256](big)
    counters_of(p)
    assert np.array_equal(big.copy_to_host()[:4], before + 1)


def test_replays_leave_pinned_memory_as_one_launch_does():
    a = cuda.pinned_array(1000, "float32")
    a[:] = 0
    with counted(counters=True) as p:
        add_one[4, 256](a)
        cuda.synchronize()
    assert np.array_equal(np.asarray(a), np.ones(1000, np.float32)), p.report.document["collection"]


def test_host_arrays_under_counters():
    a = np.zeros(1000, np.float32)
    with counted(counters=True):
        add_one[4, 256](a)
    assert np.array_equal(a, np.ones(1000, np.float32))


def test_a_faulting_kernel_is_told_as_ever_while_it_is_counted():
    @cuda.kernel
    def beyond(a):
        a[cuda.grid(1) + 5] = 1.0

    with counted(counters=True), pytest.raises(IndexError):
        beyond[1, 32](cuda.zeros(10, "float32"))
        cuda.synchronize()


def test_watching_works_again_after_counters(big):
    with counted(counters=True) as p:
        add_one[BIG // 256, 256](big)
    with profiler.profile() as p:
        add_one[BIG // 256, 256](big)
    assert "source" in p.report.document["collection"]["activity"]
    assert p.report.kernels[0]["time"]["mean"]["value"] > 0
    assert p.report.document["timeline"]["events"][0]["state"] == "done"

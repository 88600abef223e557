"""Other libraries' work in reports, by CUPTI's activity records: over the fake driver and its CUPTI."""

import json

import foreign_work
import numpy as np
import pytest
from fake_cuda import driver, on_fake, scale_kernel
from report_documents import valid
from xcuda import _runtime, profiler
from xcuda import core as cuda


def foreign(rows):
    return [row for row in rows if row.get("foreign")]


@on_fake()
def test_another_librarys_kernels_are_in_the_report():
    foreign_work.enter_context()
    with profiler.profile() as p:
        foreign_work.kernel(times=3)
    report = valid(p.report.document)
    (row,) = report["kernels"]
    assert row["foreign"] is True
    assert (row["name"], row["signature"]) == ("lib::scale", "<float>(float*, float*, int)")
    assert (row["device"], row["calls"], row["grid"], row["block"]) == ("cuda:0", 3, [7, 1, 1], [64, 1, 1])
    assert row["registers"]["value"] == 32
    assert row["shared_bytes"]["value"] == 512 + 256
    assert 0 < row["time"]["min"]["value"] <= row["time"]["mean"]["value"] < 1
    assert 0 < row["occupancy"]["share"]["value"] <= 1
    assert row["bytes_read"] == {"absent": "another library's kernel: nothing is known of its program"}
    totals = report["totals"]
    assert (totals["launches"], totals["foreign_launches"]) == (0, 3)
    assert totals["foreign_time"]["value"] == pytest.approx(row["time"]["total"]["value"])
    assert report["collection"]["activity"] == {"source": "CUPTI 13.0", "overlapping": False}


@on_fake()
def test_nothing_is_counted_twice():
    scale = scale_kernel()
    a = cuda.to_device(np.ones(1000, np.float32))
    foreign_work.enter_context()
    with profiler.profile() as p:
        for _ in range(5):
            scale[4, 256](a, 2.0)
        foreign_work.kernel()
        scale[8, 128](a, 2.0)
        a.copy_to_host()
        foreign_work.copies(4096)
    report = valid(p.report.document)
    own = [row for row in report["kernels"] if not row.get("foreign")]
    assert [(row["name"], row["calls"]) for row in own] == [("scale", 5), ("scale", 1)]
    assert [row["calls"] for row in foreign(report["kernels"])] == [1]
    assert (report["totals"]["kernels"], report["totals"]["launches"]) == (1, 6)
    copies = {(row["direction"], bool(row.get("foreign"))): row["bytes"]["value"] for row in report["copies"]}
    assert copies == {
        ("to host", False): 4000,
        ("fill", True): 4096,
        ("on device", True): 4096,
        ("to host", True): 4096,
    }


@on_fake()
def test_every_launch_of_ours_has_the_gpus_own_time():
    scale = scale_kernel()
    a = cuda.to_device(np.ones(1000, np.float32))
    bounds = []
    with profiler.profile() as p:
        for _ in range(200):  # of so many in a row the events time only some
            scale[4, 256](a, 2.0)
        cuda.synchronize()
        bounds.append(_runtime.clock())
    (row,) = p.report.kernels
    assert row["calls"] == 200
    assert "value" in row["time"]["total"]
    events = [e for e in p.report.document["timeline"]["events"] if e["kind"] == "launch"]
    assert len(events) == 200
    assert all(e["state"] == "done" for e in events)
    # On our clock, though CUPTI's runs at another rate from another epoch.
    end = p.report.document["scope"]["time"]["value"]
    assert all(-1e-3 < e["begin"] <= e["end"] < end + 1e-3 for e in events)


@on_fake()
def test_a_plain_cell_asks_nothing_of_cupti():
    scale = scale_kernel()
    a = cuda.to_device(np.ones(1000, np.float32))
    profiler.cell_begin("scale(a, 2.0)", 1)
    scale[4, 256](a, 2.0)
    report = valid(profiler.cell_end())
    assert report["kernels"] and "collection" not in report
    assert driver.get("calls:cuptiSubscribe") == driver.get("calls:cuptiActivityEnable") == 0


@on_fake()
def test_full_reports_watch_each_cell_and_end_with_it():
    cuda.zeros(1)
    foreign_work.enter_context()
    profiler.show_reports("full")
    profiler.cell_begin("...", 1)
    foreign_work.kernel()
    report = valid(profiler.cell_end())
    assert report["totals"]["foreign_launches"] == 1
    assert report["collection"]["activity"]["overlapping"] is True
    foreign_work.kernel()  # between cells
    profiler.cell_begin("...", 2)
    foreign_work.kernel(times=2)
    assert profiler.cell_end()["totals"]["foreign_launches"] == 2
    assert driver.get("calls:cuptiSubscribe") == driver.get("calls:cuptiUnsubscribe") == 2


@on_fake()
def test_a_cell_that_was_broken_off_watches_no_longer():
    cuda.zeros(1)
    profiler.show_reports("full")
    profiler.cell_begin("...", 1)
    profiler.cell_begin("...", 2)
    profiler.leave_out()
    assert driver.get("calls:cuptiSubscribe") == driver.get("calls:cuptiUnsubscribe") == 2


@on_fake()
def test_a_profile_within_a_profile():
    foreign_work.enter_context()
    with profiler.profile() as outer:
        foreign_work.kernel()
        cuda.synchronize()
        with profiler.profile() as inner:
            foreign_work.kernel(times=2)
        foreign_work.kernel()
    assert inner.report.document["totals"]["foreign_launches"] == 2
    assert outer.report.document["totals"]["foreign_launches"] == 4
    assert driver.get("calls:cuptiSubscribe") == 1


@pytest.mark.parametrize(
    ("function", "result", "words"),
    [
        ("cuptiSubscribe", 39, "another profiler (Nsight, torch.profiler) has the GPU's profiling interface"),
        ("cuptiActivityEnable", 35, "lets only administrators"),
        ("cuptiEnableCallback", 8, "starting to watch the GPU: CUPTI says A_FAKE_RESULT (8)"),
    ],
)
@on_fake()
def test_why_other_libraries_are_not_seen(function, result, words):
    scale = scale_kernel()
    a = cuda.to_device(np.ones(1000, np.float32))
    driver.fail(function, result, times=1)
    with profiler.profile() as p:
        scale[4, 256](a, 2.0)
    report = valid(p.report.document)
    assert words in report["collection"]["activity"]["absent"]
    assert "value" in report["kernels"][0]["time"]["mean"]  # by events, as ever
    with profiler.profile() as p:  # what began is ended
        scale[4, 256](a, 2.0)
    assert p.report.document["collection"]["activity"]["source"] == "CUPTI 13.0"


@on_fake(XCUDA_CUPTI="/nowhere")
def test_no_cupti_is_told_with_how_to_get_it():
    scale = scale_kernel()
    a = cuda.to_device(np.ones(1000, np.float32))
    with profiler.profile() as p:
        scale[4, 256](a, 2.0)
    told = valid(p.report.document)["collection"]["activity"]["absent"]
    assert "CUPTI, which sees other libraries' kernels, was not found" in told
    assert '"/nowhere"' in told and "pip install nvidia-cuda-cupti" in told
    row = _runtime.libraries()[2]
    assert row["name"] == "CUPTI" and "/nowhere" in row["problem"]


@on_fake()
def test_libraries_tell_of_cupti():
    row = _runtime.libraries()[2]
    assert (row["name"], row["version"], row["problem"]) == ("CUPTI", "CUPTI 13.0", "")


@on_fake()
def test_lost_records_are_told():
    foreign_work.enter_context()
    with profiler.profile() as p:
        driver.set(drop=3)
        foreign_work.kernel()
    assert p.report.document["lost_events"] == 3


@on_fake()
def test_streams_are_one_track_whoever_uses_them():
    scale = scale_kernel()
    a = cuda.to_device(np.ones(1000, np.float32))
    foreign_work.enter_context()
    with profiler.profile(overlapping=True) as p:
        scale[4, 256](a, 2.0)
        foreign_work.kernel()
    events = [e for e in p.report.document["timeline"]["events"] if e["kind"] == "launch"]
    assert [(e["name"], e["stream"]) for e in events] == [("scale", 0), ("lib::scale", 0)]
    assert "lib::scale" in p.report.to_csv()
    names = {e["name"] for e in json.loads(p.report.to_trace())["traceEvents"]}
    assert "lib::scale" in names


@on_fake()
def test_a_program_that_only_uses_another_library_is_no_profile_of_ours_without_a_gpu_in_use():
    with profiler.profile() as p:
        pass
    assert p.report is None
    assert driver.get("contexts") == 0

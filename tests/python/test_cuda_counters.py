"""Hardware counters by CUPTI's range profiler, over the fake driver: a counter's value there is its name's length."""

import os

import numpy as np
import pytest
from fake_cuda import driver, need_nvrtc, on_fake, scale_kernel
from report_documents import valid
from xcuda import _runtime, profiler
from xcuda import core as cuda
from xcuda.profiler.counters import COUNTERS, LABELS


def ones(n=1000):
    return cuda.to_device(np.ones(n, np.float32))


@on_fake()
def test_all_counters_of_a_kernel():
    scale, a = scale_kernel(), ones()
    with profiler.profile(counters=True) as p:
        scale[4, 256](a, 2.0)
    report = valid(p.report.document)
    (row,) = report["kernels"]
    values = row["counters"]["values"]
    assert set(values) == set(LABELS)
    assert values["dram_read"] == {"value": len("dram__bytes_read.sum"), "unit": "B", "source": "measured"}
    hits = "l1tex__t_sector_hit_rate.pct"
    assert values["l1_hits"] == {
        "value": pytest.approx(len(hits) / 100),
        "unit": "share",
        "source": "measured",
    }
    assert row["counters"]["calls"] == 1
    # The kernel's own, not that of its replays; a double of seconds since the start of a machine has so many digits.
    assert row["time"]["mean"]["value"] == pytest.approx(5e-6, rel=1e-3)
    assert report["collection"] == {"counters": {"calls": 1}}


@on_fake()
def test_only_the_metrics_that_were_asked_for():
    scale, a = scale_kernel(), ones()

    @profiler.profile(metrics=["time", "dram_bytes", "ipc"])
    def step():
        scale[4, 256](a, 2.0)

    step()
    report = profiler.generate_report()
    assert set(report.kernels[0]["counters"]["values"]) == {"dram_read", "dram_written", "issued_per_cycle"}
    assert driver.get("calls:cuptiRangeProfilerEnable") == driver.get("calls:cuptiRangeProfilerDisable") == 1


@on_fake()
def test_metrics_without_counters_read_none():
    scale, a = scale_kernel(), ones()
    with profiler.profile(metrics=["memory_throughput"]) as p:
        scale[4, 256](a, 2.0)
    assert "counters" not in p.report.kernels[0]
    assert driver.get("calls:cuptiProfilerInitialize") == 0


@on_fake()
def test_the_first_launches_of_each_kernel_and_shape_are_counted():
    scale, a = scale_kernel(), ones()
    with profiler.profile(metrics=["dram_bytes"]) as p:
        for _ in range(20):
            scale[4, 256](a, 2.0)
        scale[8, 128](a, 2.0)
    first, second = p.report.kernels
    assert (first["calls"], first["counters"]["calls"]) == (20, 3)
    assert (second["calls"], second["counters"]["calls"]) == (1, 1)
    assert driver.get("calls:cuptiRangeProfilerStart") == 4
    assert p.report.document["collection"]["counters"] == {"calls": 4}


@on_fake()
def test_a_kernel_that_prints_is_not_run_again_and_again():
    need_nvrtc()

    @cuda.kernel
    def tell(a):
        if cuda.grid(1) == 0:
            print(a[0])

    with profiler.profile(counters=True) as p:
        tell[1, 32](ones())
    assert "counters" not in p.report.kernels[0]
    assert driver.get("calls:cuptiRangeProfilerStart") == 0


@on_fake()
def test_a_kernel_on_pinned_memory_is_not_run_again_and_again():
    """What it writes there would not be put back between the passes."""
    scale = scale_kernel()
    pinned = cuda.pinned_array(1000, "float32")

    class Mapped:
        """As another library gives it: the GPU writes into the host's memory."""

        __cuda_array_interface__ = {
            "shape": (1000,),
            "typestr": "<f4",
            "data": (pinned.ctypes.data, False),
            "strides": None,
            "version": 3,
        }

    with profiler.profile(counters=True) as p:
        scale[4, 256](Mapped(), 2.0)
        scale[4, 256](ones(), 2.0)
    assert driver.get("calls:cuptiRangeProfilerStart") == 1
    assert p.report.document["collection"]["counters"] == {"calls": 1}


@pytest.mark.parametrize(
    ("function", "result", "words"),
    [
        ("cuptiProfilerGetCounterAvailability", 35, "NVreg_RestrictProfilingToAdminUsers=0"),
        (
            "cuptiRangeProfilerEnable",
            35,
            "the driver lets only administrators read hardware counters: run as root",
        ),
        ("cuptiRangeProfilerStart", 39, "another profiler"),
        ("cuptiProfilerInitialize", 43, "MIG"),
        ("cuptiRangeProfilerStop", 9, "reading counters: CUPTI says"),
    ],
)
@on_fake()
def test_without_counters_the_report_says_why_and_has_modelled_figures(function, result, words):
    scale, a = scale_kernel(), ones()
    driver.fail(function, result, times=100)
    with profiler.profile(counters=True) as p:
        scale[4, 256](a, 2.0)
    report = valid(p.report.document)
    assert words in report["collection"]["counters"]["absent"]
    (row,) = report["kernels"]
    assert "counters" not in row
    if function != "cuptiRangeProfilerStop":  # that one's time is lost with its counters
        assert row["bytes_read"]["source"] == "modelled"
    from xcuda.magics.render import render_report

    plain = render_report(p.report.document)[0]["text/plain"]
    assert "There are no hardware counters: " in plain and "Bytes and operations are modelled." in plain


@on_fake()
def test_a_counter_that_the_chip_lacks_is_absent_with_the_reason():
    scale, a = scale_kernel(), ones()
    counting = _runtime.Counting(
        [("made_up", "1", 1.0, ["none__such.sum"]), ("second", "B", 2.0, ["none__a", "abc"])], 1
    )
    mark = _runtime.profile_mark()
    scale[4, 256](a, 2.0)
    report = _runtime.report_since(mark, "block", "x", 0.0, False, 5.0, False, False, None, counting)
    values = report["kernels"][0]["counters"]["values"]
    assert values["made_up"] == {"absent": "this GPU has no such counter"}
    assert values["second"]["value"] == 2.0 * len("abc")


@on_fake()
def test_counters_and_watching_take_turns():
    """A cell that is watched goes on being so after counters were read in it: CUPTI does one of the two."""
    import foreign_work

    scale, a = scale_kernel(), ones()
    foreign_work.enter_context()
    with profiler.profile() as outer:
        foreign_work.kernel()
        with profiler.profile(counters=True) as inner:
            scale[4, 256](a, 2.0)
        foreign_work.kernel()
    assert inner.report.kernels[0]["counters"]["calls"] == 1
    assert outer.report.document["totals"]["foreign_launches"] == 2
    with profiler.profile(counters=True):
        with profiler.profile(counters=True) as second:
            scale[4, 256](a, 2.0)
    assert "read already" in second.report.document["collection"]["counters"]["absent"]


@on_fake()
def test_a_graphs_kernels_are_left_alone():
    scale, a = scale_kernel(), ones()
    with cuda.graph() as g:
        scale[4, 256](a, 2.0)
    with profiler.profile(counters=True) as p:
        g.launch()
    assert "counters" not in p.report.kernels[0]


def test_an_unknown_metric_is_refused_with_the_near_names():
    with pytest.raises(ValueError, match="no metric is called 'dram_byte': did you mean 'dram_bytes' or"):
        profiler.profile(metrics=["dram_byte"])
    with pytest.raises(ValueError, match="no metric is called 'xyzzy': There are time, memory_throughput, "):
        profiler.profile(metrics=["xyzzy"])


def test_counters_on_the_cpu_device_are_absent_with_the_reason():
    if any(label.startswith("cuda") for label in _runtime.device_labels()):
        pytest.skip("there is a GPU here")

    @cuda.kernel
    def double(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = a[i] * 2

    with profiler.profile(counters=True) as p:
        double(np.ones(100, np.float32))
    report = valid(p.report.document)
    assert report["collection"] == {
        "counters": {"absent": "hardware counters are a GPU's, and there is none here"}
    }


# NVIDIA's own library knows its counters without a GPU.
@pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="it opens a library in a way that AddressSanitizer ends the process for",
)
@pytest.mark.parametrize("chip", ["GA100", "GA102", "AD102", "GH100", "GB100", "GB202"])
def test_every_chip_has_nearly_all_counters(chip):
    names = [name for group in COUNTERS.values() for counter in group for name in counter.names]
    try:
        known = dict(zip(names, _runtime.known_counters(chip, names), strict=True))
    except cuda.MachineError as missing:
        pytest.skip(str(missing))
    lacking = {
        c.key for group in COUNTERS.values() for c in group if not any(known[name] for name in c.names)
    }
    assert lacking == LACKING.get(chip, set())
    assert _runtime.known_counters(chip, ["dram__bytes_of_no_such_counter.sum"]) == [False]


LACKING = {}

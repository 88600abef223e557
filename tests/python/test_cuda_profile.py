"""The profiler on a CUDA device, over the fake driver: a GPU's ceilings with their sources, timelines, benchmarks."""

import json

import numpy as np
from fake_cuda import need_nvrtc, on_fake, scale_kernel
from xcuda import core as cuda
from xcuda import profiler


def launched():
    scale = scale_kernel()

    a = cuda.to_device(np.ones(1 << 16, np.float32))
    stream = cuda.stream()
    with profiler.profile() as p:
        scale(a, 2.5)
        with stream:
            scale(a, 2.5)
        cuda.synchronize()
    return p.report


@on_fake("architecture=90")
def test_a_gpus_peak_is_computed_and_its_copies_are_measured():
    before = cuda.Device().memory()["used"]
    report = launched()
    (device,) = report.document["devices"]
    assert device["device"] == "cuda:0"
    assert device["peak_float32"]["source"] == "computed"
    assert device["peak_float32"]["value"] == 2 * 1.98e9 * 132 * 128
    assert device["peak_float64"]["value"] == 2 * 1.98e9 * 132 * 64
    assert device["copy_bandwidth"]["source"] == "measured"
    assert device["copy_bandwidth"]["value"] > 0
    (row,) = report.kernels
    assert row["roofline"]["share"]["value"] > 0
    assert cuda.Device().memory()["used"] <= before + (1 << 20)  # the copy's memory went back


@on_fake("architecture=90")
def test_the_article_s_two_lines_run_on_a_gpu():
    need_nvrtc()

    @profiler.profile(metrics=["memory_throughput", "compute_utilization"])
    def benchmark_function():
        @cuda.kernel
        def double(a):
            i = cuda.grid(1)
            if i < a.shape[0]:
                a[i] = a[i] * 2

        double(np.ones(1 << 16, np.float32))

    benchmark_function()
    report = profiler.generate_report()
    assert 0 < report.memory_efficiency <= 1
    assert 0 < report.compute_efficiency <= 1


@on_fake("architecture=77")
def test_an_unknown_architecture_has_no_ceilings_and_says_why():
    from xcuda import _runtime

    a = cuda.to_device(np.ones(8, np.float32))
    mark = _runtime.profile_mark()
    a.copy_to_host()
    report = _runtime.report_since(mark, "cell", "x", _runtime.clock(), False, 0.0, True)
    (device,) = report["devices"]
    for name in ("copy_bandwidth", "peak_float32"):
        assert device[name] == {"absent": "the units of sm_77 or its clock are not known"}


@on_fake("architecture=90")
def test_streams_of_a_gpu_are_tracks():
    trace = json.loads(launched().to_trace())
    names = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert {"default stream", "stream 1"} <= names


@on_fake("memory=0x4000000")
def test_too_little_memory_for_the_copy_is_no_error():
    report = launched()
    (device,) = report.document["devices"]
    assert device["copy_bandwidth"].get("value", 1) > 0


@on_fake("architecture=90")
def test_a_benchmark_tells_copies_and_launches():
    scale = scale_kernel()

    timed = profiler.benchmark(scale, np.ones(1000, np.float32), 2.5, calls=3, cold=False)
    assert (timed.launches, timed.copied, timed.device_label) == (1, 8000, "cuda:0")


@on_fake("memory=0x8000000")
def test_no_room_for_cold_caches_is_told():
    timed = profiler.benchmark(lambda: None, calls=3)
    assert timed.cold is None
    assert "no room to empty the caches with" in repr(timed)

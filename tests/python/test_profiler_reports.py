"""xcuda.profiler over real launches: what a report counts, and the sentences for what it can't give."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import xcuda.core as cuda
from report_documents import document, valid
from xcuda import profiler


@cuda.kernel
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * 2


@cuda.kernel
def spin(x, n):
    i = cuda.grid(1)
    if i < x.size:
        for k in range(n):
            x[i] = x[i] * 0.5 + 1.0


def ones(n=1000):
    return np.ones(n, np.float32)


def test_a_block_gives_its_own_launches_and_no_others():
    double(ones())
    with profiler.profile() as p:
        double(ones())
        double(ones())
    double(ones())
    (row,) = p.report.kernels
    assert row["name"] == "double" and row["calls"] == 2
    assert row["flops"]["value"] == 1000
    assert row["bytes_read"]["value"] == row["bytes_written"]["value"] == 4000
    assert valid(p.report.document)["scope"]["kind"] == "block"


def test_many_launches_are_counted_whether_kept_or_summed():
    x, y = cuda.to_device(ones(2000)), cuda.to_device(ones(64))
    with profiler.profile() as p:
        for k in range(250):
            double[8, 250](x)
            if k % 2:
                double[1, 64](y)
    large, small = sorted(p.report.kernels, key=lambda row: -row["calls"])
    assert large["calls"] == 250 and small["calls"] == 125
    for row, elements in (large, 2000), (small, 64):
        assert row["flops"]["value"] == elements and row["bytes_read"]["value"] == 4 * elements
        time = {name: row["time"][name]["value"] for name in ("total", "mean", "min", "max")}
        assert 0 <= time["min"] <= time["mean"] <= time["max"] <= time["total"]
    assert valid(p.report.document)["totals"]["launches"] == 375


def test_the_article_s_profiling():
    @profiler.profile(metrics=["memory_throughput", "compute_utilization"])
    def benchmark_function():
        double(ones(1 << 20))

    benchmark_function()
    report = profiler.generate_report()
    assert 0 < report.memory_efficiency <= 1
    assert 0 < report.compute_efficiency <= 1
    assert f"{report.memory_efficiency:.2%}".endswith("%")
    assert report.document["scope"]["label"].endswith("benchmark_function")
    assert report.metrics == ("memory_throughput", "compute_utilization")


ARTICLE = """
import xcuda; xcuda.install_names()  # the xcuda kernel does this by itself
import numpy as np
import cuda.core as cuda
import cuda.profiler as profiler

@cuda.kernel
def smooth(image, result):
    i = cuda.grid(1)
    if 0 < i and i < image.size - 1:
        result[i] = (image[i - 1] + image[i] + image[i + 1]) / 3

image = np.ones(1 << 16, np.float32)
result = np.zeros_like(image)

@profiler.profile(metrics=['memory_throughput', 'compute_utilization'])
def benchmark_function():
    smooth(image, result)

benchmark_function()
report=profiler.generate_report()
print(f"内存带宽利用率: {report.memory_efficiency:.2%}")
print(f"计算单元利用率: {report.compute_efficiency:.2%}")
"""


def test_the_article_s_program_as_written(tmp_path):
    program = tmp_path / "article.py"
    program.write_text(ARTICLE, encoding="utf-8")
    command = [sys.executable, "-X", "utf8", str(program)]
    ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert ran.returncode == 0, ran.stderr
    names, figures = zip(*(line.split(": ") for line in ran.stdout.splitlines()), strict=True)
    assert names == ("内存带宽利用率", "计算单元利用率")
    for figure in figures:
        assert 0 <= float(figure.removesuffix("%")) <= 100


def test_profile_keeps_what_a_function_is_and_gives():
    @profiler.profile
    def answer(x, *, y=1):
        """Doc."""
        double(ones())
        return x + y

    assert answer(1, y=2) == 3
    assert (answer.__name__, answer.__doc__) == ("answer", "Doc.")


def test_a_coroutine_is_profiled_to_its_end():
    @profiler.profile
    async def later():
        await asyncio.sleep(0.01)
        double(ones())

    asyncio.run(later())
    assert profiler.generate_report().kernels[0]["name"] == "double"


def test_a_function_that_fails_still_gives_its_report():
    @profiler.profile
    def breaks():
        double(ones())
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        breaks()
    assert profiler.generate_report().document["scope"]["failed"] is True


def test_no_device_no_report():
    with profiler.profile() as p:
        pass
    assert p.report is None
    with pytest.raises(RuntimeError, match="the profiled block used no device"):
        profiler.generate_report()


def test_unknown_metrics_are_refused_with_the_known_ones():
    with pytest.raises(
        ValueError, match="no metric is called 'flops': There are time, memory_throughput, compute_ut"
    ):
        profiler.profile(metrics=["flops"])
    with pytest.raises(TypeError, match=r"profile takes a function, not int; for a block: with profile\(\)"):
        profiler.profile()(3)


def test_a_label_is_the_users():
    with profiler.profile(label="step 1") as p:
        double(ones())
    assert p.report.document["scope"] | {"time": 0} == {
        "kind": "block", "label": "step 1", "failed": False, "time": 0,
    }  # fmt: skip

    @profiler.profile(label="step 2")
    def two():
        double(ones())

    two()
    assert profiler.generate_report().document["scope"]["label"] == "step 2"


def test_an_absent_efficiency_says_why():
    report = profiler.Report(document())
    with pytest.raises(profiler.AbsentFigure, match="no compute_efficiency: not measured yet"):
        _ = report.compute_efficiency
    assert report.memory_efficiency == 0.62
    report.document["totals"]["memory_efficiency"]["value"] = 1.7  # out of a cache
    assert report.memory_efficiency == 1
    assert getattr(report, "compute_efficiency", None) is None


def test_a_report_is_json_and_shows_itself():
    with profiler.profile() as p:
        double(ones())
    assert json.loads(p.report.to_json()) == p.report.document
    assert repr(p.report) == "<report of the profiled block: 1 launch, 0 hints>"


def test_a_script_that_prints_a_report_sees_its_figures():
    program = """
        import numpy as np
        from xcuda import core as cuda, profiler

        @cuda.kernel
        def double(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = x[i] * 2

        with profiler.profile() as p:
            double(np.ones(1000))
            double(np.ones(1000))
        print(p.report)
    """
    code = [sys.executable, "-c", textwrap.dedent(program)]
    ran = subprocess.run(code, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    first, second = ran.stdout.splitlines()[:2]
    assert first.startswith("<report of the profiled block: 2 launches, ")
    assert re.search(
        r"double: 2 launches, [\d.e-]+ ms on \S+, .* GB/s, .* GFLOP/s, grid \(4, 1, 1\), block", second
    ), second


def test_cells_get_reports_only_for_devices():
    profiler.cell_begin("1 + 1", 7)
    assert profiler.cell_end() is None
    profiler.cell_begin("double(x)", 8)
    double(ones())
    report = valid(profiler.cell_end(failed=True))
    assert report["scope"]["label"] == "In [8]" and report["scope"]["failed"] is True
    assert report["kernels"][0]["calls"] == 1
    assert profiler.cell_end() is None  # one answer for each begin


def test_a_cell_left_out_says_nothing():
    profiler.cell_begin("double(x)", 9)
    double(ones())
    profiler.leave_out()
    assert profiler.cell_end() is None


@pytest.mark.parametrize("more", [None, lambda: double(ones()), lambda: cuda.to_device(ones())])
def test_a_cell_that_shows_its_profile_repeats_it_only_where_it_did_more(more):
    double(ones())  # compiled
    profiler.cell_begin("", 5)
    with profiler.profile() as p:
        double(ones())
    if more is not None:
        more()
    p.report._repr_mimebundle_()
    assert (profiler.cell_end() is None) == (more is None)
    profiler.cell_begin("", 6)
    double(ones())  # as much as in the report that the cell before has shown
    assert profiler.cell_end()["totals"]["launches"] == 1


def test_a_launch_that_outlives_its_cell_is_said_to_run():
    x = cuda.to_device(ones(64))
    spin(x, 1)
    profiler.cell_begin("...", 10)
    stream = cuda.Stream()
    with stream:
        running = spin.async_call(x, 200_000_000)
    report = valid(profiler.cell_end())
    row = report["kernels"][0]
    assert row["running"] == 1
    assert row["time"]["total"] == {"absent": "still running when the report was made"}
    assert report["totals"]["device_time"] == {"absent": "still running when the report was made"}
    stream.synchronize()
    del running


@pytest.mark.skipif(cuda.Device().kind != "cpu", reason="a GPU has no workers")
def test_workers_that_share_a_call_have_their_times():
    from xcuda.magics.rows import kernel_figures

    there = cuda.Device().multiprocessors
    if there < 2:
        pytest.skip("the CPU device has one worker here")
    x, few = ones(200_000), ones(8)
    spin(x, 2), spin(few, 2)
    with profiler.profile() as p:
        for _ in range(50):  # on a busy machine a helper may come when all is done
            spin(x, 100)
        spin(few, 2)
    report = valid(p.report.document)
    large, small = sorted(report["kernels"], key=lambda row: -row["grid"][0])
    shared = large["workers"]
    assert 1 <= shared["calls"] <= 50 and 1 < shared["count"]["value"] <= there
    mean, longest = shared["mean"]["value"], shared["longest"]["value"]
    assert 0 < mean <= longest <= large["time"]["max"]["value"]
    assert {figure["source"] for name, figure in shared.items() if name != "calls"} == {"measured"}
    assert "workers" not in small, "one block is one worker's"
    (row,) = [row for row in kernel_figures(large) if row.label.startswith("workers")]
    assert (
        row.label.startswith("workers of a call") and "at work for" in row.text and row.origin == "measured"
    )
    assert "2 at work for 1 ms each, the longest for 2 ms" in _workers_row(3, 3)
    assert "workers of a call, 2 calls that were shared" in _workers_row(3, 2)


def _workers_row(calls, shared):
    from xcuda.magics.rows import _workers

    def figure(value, unit="s"):
        return {"value": value, "unit": unit, "source": "measured"}

    row = _workers(
        {"calls": shared, "count": figure(2.0, "1"), "mean": figure(1e-3), "longest": figure(2e-3)}, calls
    )
    return f"{row.label}: {row.text}"


@pytest.mark.skipif(cuda.Device().kind != "cpu", reason="a GPU has no workers")
def test_a_cells_sum_has_the_workers_times_too():
    if cuda.Device().multiprocessors < 2:
        pytest.skip("the CPU device has one worker here")
    x = ones(200_000)
    spin(x, 2)
    profiler.cell_begin("", 1)
    for _ in range(50):
        spin(x, 100)
    (row,) = profiler.cell_end()["kernels"]
    assert row["calls"] == 50 >= row["workers"]["calls"] >= 1 and row["workers"]["count"]["value"] > 1


def test_memory_and_copies_of_a_block():
    x = ones(1 << 18)
    with profiler.profile() as p:
        there = cuda.to_device(x)
        back = there.copy_to_host()
    assert back.size == x.size
    report = valid(p.report.document)
    assert report["devices"][0]["memory_change"]["value"] == x.nbytes
    assert {c["direction"]: c["bytes"]["value"] for c in report["copies"]} == {
        "to device": x.nbytes,
        "to host": x.nbytes,
    }
    assert report["kernels"] == []


def test_a_compile_is_told_once():
    @cuda.kernel
    def fresh(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] + 3

    with profiler.profile() as p:
        fresh(ones())
        fresh(ones())
    assert [c["kernel"] for c in p.report.document["compiles"]] == ["fresh"]
    assert p.report.compile_time >= 0


def in_a_process(code: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_importing_and_marking_loads_no_runtime():
    out = in_a_process("""
        import sys
        from xcuda import profiler
        profiler.cell_begin("1", 1)
        print(profiler.cell_end(), "xcuda._runtime" in sys.modules)
    """)
    assert out == "None False"


def test_a_cell_that_loads_the_runtime_has_its_report():
    out = in_a_process("""
        import inspect, linecache
        from xcuda import profiler
        profiler.cell_begin("...", 1)
        import numpy as np
        import xcuda.core as cuda
        cuda.zeros(100, np.float32)
        report = profiler.cell_end()
        print(report["scope"]["time"], [d["device"] for d in report["devices"]])
    """)
    assert out.startswith("{'absent': 'the runtime was loaded in between'} ['")


def test_a_cell_that_was_never_begun_has_its_number_where_that_is_known():
    """As in the kernel, which does not begin the cell that imports the runtime."""
    out = in_a_process("""
        from xcuda import profiler
        import xcuda.core as cuda
        cuda.zeros(100)
        print(profiler.cell_end(False, 3)["scope"]["label"])
    """)
    assert out == "In [3]"


def test_without_a_profiled_block_the_report_is_of_the_process():
    out = in_a_process("""
        from xcuda import profiler
        try:
            profiler.generate_report()
        except RuntimeError as error:
            print(error)
        import xcuda.core as cuda
        cuda.zeros(10)
        print(profiler.generate_report().document["scope"]["label"])
    """)
    assert out.splitlines() == [
        "there is no report: no kernel has run. Call a function under @profiler.profile, or "
        "run kernels inside `with profiler.profile():`",
        "this process",
    ]

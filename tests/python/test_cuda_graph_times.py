"""A graph's kernels in reports on a GPU: each form that CUPTI's records of them take, over the fake driver and its CUPTI.

A time is right or said to be unknown: never another kernel's, and never counted twice.
"""

import foreign_work
import numpy as np
import pytest
from fake_cuda import driver, need_nvrtc, on_fake, scale_kernel
from report_documents import valid
from xcuda import core as cuda
from xcuda import profiler
from xcuda.magics.render import render_report


def kernels():
    scale = scale_kernel()

    @cuda.kernel
    def shift(a, by):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = a[i] + by

    return scale, shift, cuda.to_device(np.ones(1000, np.float32))


def two_graphs():
    """The first of three kernels, two of them alike; the second of one that the first has too."""
    scale, shift, a = kernels()
    with cuda.graph() as first:
        scale[4, 256](a, 2.0)
        shift[8, 128](a, 1.0)
        scale[4, 256](a, 3.0)
    with cuda.graph() as second:
        shift[8, 128](a, 5.0)
    scale[4, 256](a, 2.0)
    shift[8, 128](a, 2.0)
    cuda.synchronize()
    return scale, a, first, second


def rows(report):
    """{name: (calls, whether it has times)} of our kernels."""
    return {
        row["name"]: (row["calls"], "value" in row["time"]["total"])
        for row in report["kernels"]
        if not row.get("foreign")
    }


def foreign(report):
    return [row["name"] for row in report["kernels"] if row.get("foreign")]


def launches(report):
    return [e for e in report["timeline"]["events"] if e["kind"] == "launch"]


def profiled():
    scale, a, first, second = two_graphs()
    foreign_work.enter_context()
    with profiler.profile() as p:
        first.launch()
        scale[4, 256](a, 2.0)
        second.launch()
        foreign_work.kernel(times=2)
        first.launch()
        scale[4, 256](a, 2.0)
        a.copy_to_host()
        cuda.synchronize()
    return valid(p.report.document)


@pytest.mark.parametrize("no_numbers", [0, 1, 2])
@pytest.mark.parametrize("astray", [0, 1, 3, 5000])
@on_fake()
def test_each_kernel_has_its_time_whatever_call_or_numbers_cupti_tells(astray, no_numbers):
    """The call is another one's in later sessions of CUPTI 13.0; older ones do not tell a graph's number."""
    driver.set(astray=int(astray), no_numbers=int(no_numbers))
    report = profiled()
    assert rows(report) == {"scale": (6, True), "shift": (3, True)}
    assert foreign(report) == ["lib::scale"] and report["totals"]["foreign_launches"] == 2
    assert "graph_time" not in report["totals"]
    spans = [(e["begin"], e["end"], e["name"]) for e in launches(report)]
    assert len(spans) == len(set(spans)) == 11 and all(e["state"] == "done" for e in launches(report))
    # The fake does one thing after the other: times that overlap would be one kernel's time given twice.
    in_order = sorted(spans)
    assert all(a[1] <= b[0] + 1e-9 for a, b in zip(in_order, in_order[1:]))
    total = sum(row["time"]["total"]["value"] for row in report["kernels"] if not row.get("foreign"))
    own = sum(end - begin for begin, end, name in spans if name != "lib::scale")
    assert total == pytest.approx(own)


@pytest.mark.parametrize("astray", [0, 2])
@on_fake()
def test_where_records_are_missing_no_kernel_gets_anothers_time(astray):
    """Of the first replay's first kernel there is none: its kernels are unknown, those of the others are known."""
    driver.set(astray=int(astray), untold=1)
    report = profiled()
    assert rows(report)["shift"] == (3, True)
    scale = next(row for row in report["kernels"] if row["name"] == "scale")
    assert (scale["calls"], foreign(report)) == (6, ["lib::scale"])
    states = [e["state"] for e in launches(report) if e["name"] == "scale"]
    # By a right call's number the other replay's are known; else none of the four.
    assert states.count("not measured") == (2 if int(astray) == 0 else 4)
    assert report["totals"]["graph_time"]["value"] >= 0
    assert report["totals"]["device_time"]["value"] >= report["totals"]["graph_time"]["value"]


@pytest.mark.parametrize("form", ["untold", "graphs_whole"])
@on_fake()
def test_without_records_of_kernels_the_graphs_time_is_told_and_theirs_is_not(form):
    _scale, _a, first, _second = two_graphs()
    driver.set(**{form: 1 << 40})
    with profiler.profile() as p:
        first.launch()
        first.launch()
        cuda.synchronize()
    report = valid(p.report.document)
    assert rows(report) == {"scale": (4, False), "shift": (2, False)}
    assert all("not timed singly" in row["time"]["total"]["absent"] for row in report["kernels"])
    graph = report["totals"]["graph_time"]["value"]
    assert graph > 0 and report["totals"]["device_time"]["value"] == pytest.approx(graph)
    assert not foreign(report)


@on_fake()
def test_a_plain_cell_tells_the_graphs_time_as_a_whole():
    scale, a, first, _second = two_graphs()
    profiler.cell_begin("g.launch()", 1)
    first.launch()
    scale[4, 256](a, 2.0)
    cuda.synchronize()
    report = valid(profiler.cell_end())
    assert rows(report) == {"scale": (3, True), "shift": (1, False)}  # the plain launch's is known
    shift = next(row for row in report["kernels"] if row["name"] == "shift")
    assert "only where its profiling library watches" in shift["time"]["total"]["absent"]
    assert report["totals"]["graph_time"]["value"] > 0


@on_fake()
def test_two_kernels_of_one_look_are_left_alone_where_nothing_tells_them_apart():
    """Of one name, shape and types, made of two cells: a record fits both."""
    need_nvrtc()
    made = []
    for by in (1.0, 2.0):
        source = f"def twin(a):\n    i = cuda.grid(1)\n    if i < a.shape[0]:\n        a[i] = a[i] + {by}\n"
        made.append(twin_of(source))
    a = cuda.to_device(np.ones(1000, np.float32))
    with cuda.graph() as g:
        made[0][4, 256](a)
        made[1][4, 256](a)
    driver.set(astray=5000, no_numbers=1)
    with profiler.profile() as p:
        g.launch()
        cuda.synchronize()
    report = valid(p.report.document)
    assert [(row["name"], "value" in row["time"]["total"]) for row in report["kernels"]] == [
        ("twin", False)
    ] * 2
    assert not foreign(report) and report["totals"]["graph_time"]["value"] > 0


def twin_of(source):
    import linecache

    file = f"<twin {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"cuda": cuda}
    exec(compile(source, file, "exec"), space)
    return cuda.kernel(space["twin"])


@on_fake()
def test_a_replay_lets_kernels_overlap_from_then_on():
    """One kernel at a time, CUPTI measures a graph as one; a profile without a graph stays exact."""
    scale, a, first, _second = two_graphs()
    modes = []
    for replayed in (False, True, False):
        with profiler.profile() as p:
            scale[4, 256](a, 2.0)
            if replayed:
                first.launch()
                first.launch()
            scale[4, 256](a, 2.0)
            cuda.synchronize()
        modes.append(valid(p.report.document)["collection"]["activity"]["overlapping"])
        assert rows(p.report.document)["scale"] == (6 if replayed else 2, True)
    assert modes == [False, True, False]


@on_fake()
def test_another_librarys_graph_is_measured_as_one_and_singly_from_the_next_profile_on():
    _scale, _a, _first, _second = two_graphs()
    foreign_work.enter_context()
    replay = foreign_work.graph(kernels=3)
    told = []
    for _ in range(2):
        with profiler.profile() as p:
            replay()
            replay()
            cuda.synchronize()
        told.append(valid(p.report.document))
    for report in told:
        (row,) = report["kernels"]
        assert row["foreign"] and row["calls"] == report["totals"]["foreign_launches"] == 6
        assert report["totals"]["foreign_time"]["value"] > 0 and "graph_time" not in report["totals"]
    as_one, singly = told
    assert "measured as one" in as_one["kernels"][0]["time"]["total"]["absent"]
    assert as_one["collection"]["activity"]["overlapping"] is False
    assert singly["collection"]["activity"]["overlapping"] is True
    assert singly["kernels"][0]["time"]["total"]["value"] == pytest.approx(
        singly["totals"]["foreign_time"]["value"]
    )


@on_fake()
def test_a_benchmark_of_a_graph_has_its_device_time_by_the_replays():
    _scale, _a, first, _second = two_graphs()
    warm = profiler.benchmark(first.launch, calls=5, cold=False).warm
    assert not warm.why_no_device and len(warm.device.samples) == 5
    assert all(device > 0 for device in warm.device.samples)


@on_fake()
def test_a_time_of_some_of_many_launches_says_of_how_many_it_is():
    """In a long row only some launches are timed."""
    scale, a, _first, _second = two_graphs()
    profiler.cell_begin("...", 1)
    for _ in range(3000):
        scale[4, 256](a, 1.0)
    cuda.synchronize()
    report = valid(profiler.cell_end())
    (row,) = report["kernels"]
    timed = row["timed"]
    assert 0 < timed < row["calls"] == 3000 and report["totals"]["timed"] == timed
    text = render_report(report)[0]["text/plain"]
    assert f"3000 calls, {timed} of them timed" in text and "time of those" in text
    assert f" for {timed} of them on cuda:0" in text.splitlines()[0]

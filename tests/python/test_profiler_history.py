"""What the same kernels took in earlier cells, in the report and in the line under a cell."""

import numpy as np
import pytest
import xcuda.core as cuda
from report_documents import valid
from xcuda import profiler
from xcuda.magics.render import quiet_line, render_report
from xcuda.profiler import history


@cuda.kernel
def stretched(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@cuda.kernel
def failing(x):
    x[cuda.grid(1) + 1_000_000] = 1


@pytest.fixture(autouse=True)
def no_runs(monkeypatch):
    monkeypatch.setattr(history, "_runs", type(history._runs)())


def run(count, launches=1, kernel=stretched):
    profiler.cell_begin("...", count)
    for _ in range(launches):
        kernel(np.ones(100, np.float32))
    return valid(profiler.cell_end())


def test_a_second_run_tells_of_the_first():
    first = run(3)
    assert "history" not in first
    second = run(5, launches=4)
    runs = second["history"]
    assert [(r["label"], r["launches"]) for r in runs] == [("In [3]", 1), ("In [5]", 4)]
    assert runs[0]["time"] == first["totals"]["device_time"]
    html = render_report(second)[0]["text/html"]
    assert "In [3]: " in html and history.sparkline(runs) in html


def test_other_kernels_have_their_own_history_and_failed_runs_none():
    run(1)
    profiler.cell_begin("...", 2)
    with pytest.raises(IndexError):
        failing(np.ones(10))
    assert "history" not in valid(profiler.cell_end(failed=True))
    assert [r["label"] for r in run(3)["history"]] == ["In [1]", "In [3]"]


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(history, "GROUPS", 1)
    for count in range(history.RUNS + 5):
        last = run(count)
    assert len(last["history"]) == history.RUNS and last["history"][0]["label"] == "In [5]"
    history.remember({**last, "kernels": [{"name": "another"}]})
    assert list(history._runs) == [("another",)]


def test_a_count_known_at_the_end_only():
    profiler.cell_begin("...", 8)
    stretched(np.ones(10))
    assert profiler.cell_end(execution_count=7)["scope"]["label"] == "In [7]"


def entry(label, seconds, launches=1):
    return {
        "label": label,
        "time": {"value": seconds, "unit": "s", "source": "measured"},
        "launches": launches,
    }


def test_the_line_under_a_cell():
    report = run(1)
    report["history"] = [entry("In [1]", 8e-3), entry("In [2]", 4e-3), entry("In [4]", 1e-3)]
    assert "█▅▂ 4x faster than In [2]" in quiet_line(report)
    report["history"].append(entry("In [5]", 1.02e-3))
    assert quiet_line(report).endswith("█▅▂▂")  # as fast as before: nothing more to say
    report["history"].append(entry("In [6]", 40e-3, launches=4))
    assert "9.8x slower than In [5]" in quiet_line(report)

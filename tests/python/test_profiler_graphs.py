"""A graph's launches in reports: each with its time on the CPU device, whatever stream the graph runs in."""

from __future__ import annotations

import numpy as np
import pytest
from xcuda import core as cuda
from xcuda import profiler


@cuda.kernel
def double(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 2


@cuda.kernel
def shift(a, where):
    i = cuda.grid(1)
    if i < a.size:
        a[i + where[0]] += 1


def made_graph():
    a, where = cuda.ones(5000), cuda.to_device(np.zeros(1, np.int64))
    with cuda.graph() as g:
        for _ in range(150):  # more than a report keeps one by one
            double(a)
        shift(a, where)
    g()
    return g, where


@pytest.fixture
def on_the_cpu():
    if cuda.Device().kind != "cpu":
        pytest.skip("a GPU times a graph's launches by CUPTI: tests/python/test_cuda_profiled.py")


@pytest.mark.parametrize("in_stream", [False, True])
def test_each_kernel_of_a_graph_has_its_calls_and_times(on_the_cpu, in_stream):
    g, _ = made_graph()
    with profiler.profile() as p:
        stream = cuda.stream() if in_stream else None
        for _ in range(3):
            g.launch(stream)
    rows = {row["name"]: row for row in p.report.kernels}
    assert {name: row["calls"] for name, row in rows.items()} == {"double": 450, "shift": 3}
    for row in rows.values():
        assert row["running"] == row["failed"] == 0
        assert 0 < row["time"]["min"]["value"] <= row["time"]["max"]["value"]
    total = sum(row["time"]["total"]["value"] for row in rows.values())
    assert p.report.device_time == pytest.approx(total)


def test_launches_inside_and_outside_of_a_graph_are_one_row(on_the_cpu):
    g, _ = made_graph()
    a = cuda.ones(5000)
    with profiler.profile() as p:
        double(a)
        g()
    assert next(row["calls"] for row in p.report.kernels if row["name"] == "double") == 151


def test_a_graph_of_short_launches_is_not_told_to_become_a_graph(on_the_cpu):
    a = cuda.ones(8)
    with cuda.graph() as g:
        for _ in range(300):
            double[1, 8](a)
    with profiler.profile() as p:
        g()
    assert "many-short-launches" not in {advice["rule"] for advice in p.report.document["advice"]}


def test_the_launch_of_a_graph_that_faults_is_the_one_that_failed(on_the_cpu):
    g, where = made_graph()
    where.copy_to_device(np.array([1]))
    with profiler.profile() as p, pytest.raises(IndexError):
        g()
    assert {row["name"]: row["failed"] for row in p.report.kernels} == {"double": 0, "shift": 1}

"""Host arrays that one cell after the other sends to a device: told where they are the same arrays."""

import numpy as np
import pytest
import xcuda.core as cuda
from report_documents import valid
from xcuda import _runtime, profiler

RULE = "copied-in-earlier-cells"


@cuda.kernel
def first_only(x, y):
    x[0] += y[1]


@pytest.fixture(autouse=True)
def copies():
    """As on a GPU: kernels see copies of host arrays."""
    before = _runtime.force_copies(True)
    yield
    _runtime.force_copies(before)


def cell(*calls):
    profiler.cell_begin("...", 1)
    for x, y in calls:
        first_only[1, 1](x, y)
    report = valid(profiler.cell_end())
    return [a["text"] for a in report["advice"] if a["rule"] == RULE]


def array():
    return np.zeros(2_000_000)


def test_the_same_arrays_in_two_cells():
    x, y = array(), array()
    assert cell((x, y), (x, y)) == []  # of one cell other advice tells
    (text,) = cell((x, y))
    assert text.startswith("30.5 MiB of host arrays went to the device again (2 copies, ")
    assert "cuda.to_device" in text


def test_other_arrays_in_the_same_place_are_none():
    for _ in range(3):
        assert cell((array(), array())) == []


def test_device_arrays_and_small_ones_are_none():
    x, y = cuda.to_device(array()), np.zeros(10)
    assert [cell((x, y)) for _ in range(3)] == [[], [], []]


def test_what_has_no_weak_reference_is_none():
    x, y = bytearray(8_000_000), bytearray(8_000_000)
    assert [cell((x, y)) for _ in range(2)] == [[], []]

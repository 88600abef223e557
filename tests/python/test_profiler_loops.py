"""The loop that makes many short launches, found in the cell's text."""

import numpy as np
import pytest
import xcuda.core as cuda
from xcuda import profiler
from xcuda.profiler.loops import loops_launching, point_at_loops


@pytest.mark.parametrize(
    "text, lines",
    [
        ("for i in range(9):\n    k(x)", [1]),
        ("y = 1\nwhile y:\n    if y > 2:\n        k[4, 64](x)", [2]),
        ("for i in a:\n    for j in b:\n        k.async_call(x)", [2]),
        ("[k[1, 1](x) for i in a]\nfor i in a:\n    mine.k[1, 1].async_call(x)", [1, 2]),
        ("k(x)", []),
        ("for i in a:\n    other(k)", []),
        ("%matplotlib inline\nfor i in a: k(x)", []),
        ("for i in a:\n    k(x\0)", []),
    ],
)
def test_loops_are_found_in_a_cell(text, lines):
    assert loops_launching(text, "k") == lines


@pytest.mark.parametrize(
    "text, told",
    [
        ("for _ in range(400):\n    short(x)", "fast. They come from the loop in line 1 of this cell."),
        (
            "for a in b: short(x)\nfor a in b: short(x)",
            "fast. They come from the loops in lines 1 and 2 of this cell.",
        ),
        ("run()", "fast."),
    ],
)
def test_the_advice_names_the_loop(text, told):
    advice = {"rule": "many-short-launches", "text": "fast.", "kernel": "short"}
    other = {"rule": "spills", "text": "many.", "kernel": "short"}
    point_at_loops({"advice": [advice, other]}, text)
    assert advice["text"] == told and other["text"] == "many."


@cuda.kernel
def short(x):
    x[cuda.grid(1)] += 1


def test_a_cells_report_has_it(monkeypatch):
    seen = []
    monkeypatch.setattr("xcuda.profiler.loops.point_at_loops", lambda report, text: seen.append(text))
    profiler.cell_begin("for _ in range(2): short(x)", 4)
    short[1, 64](np.zeros(64, np.int32))
    assert profiler.cell_end() and seen == ["for _ in range(2): short(x)"]

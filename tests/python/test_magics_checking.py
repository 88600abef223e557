"""%%cuda_check and %%cuda_debug: what a cell shows, keeps and refuses."""

from __future__ import annotations

import pytest
from cpu_device import needs_cpu
from jupyterlab_sanitizer import sanitized
from magic_shell import a_shell, run, usage_error

pytestmark = needs_cpu

RACY = """
@cuda.kernel
def summed(total, x):
    i = cuda.grid(1)
    if i < x.size:
        total[0] += x[i]
"""


@pytest.fixture(scope="module")
def shell():
    yield from a_shell()


def kept(html) -> bool:
    """JupyterLab's sanitiser leaves it as it is."""
    return sanitized(html).replace(';">', '">') == html


def test_a_cell_is_checked_and_computes_as_ever(shell):
    run(shell, RACY)
    captured = run(
        shell,
        "%%cuda_check -o found\nt = np.zeros(1)\nsummed[2, 32](t, np.ones(64))\ny = np.ones(3)\ntriple(y)",
    )
    [output] = [o for o in captured.outputs if "accesses looked at" in o.data.get("text/plain", "")]
    text, html = output.data["text/plain"], output.data["text/html"]
    assert "summed, triple: 1 finding (2 launches" in text and "cuda.atomic.add(total, index, value)" in text
    assert "total[0] += x[i]" in html and kept(html)
    assert shell.user_ns["y"].tolist() == [3, 3, 3]
    assert [f.rule for f in shell.user_ns["found"]] == ["race"]


def test_the_form_is_handed_on(shell):
    captured = run(
        shell, "%%cuda_check --on cpu --steps 100 -o found\nsummed[2, 32](np.zeros(1), np.ones(64))"
    )
    assert any("on the CPU device" in o.data.get("text/plain", "") for o in captured.outputs)
    assert not shell.user_ns["found"].launches[0].complete


def test_rules_are_left_out(shell):
    run(shell, "%%cuda_check -o found --skip race,nan\nsummed[2, 32](np.zeros(1), np.ones(64))")
    assert len(shell.user_ns["found"]) == 0


def test_names_of_users_are_escaped(shell):
    captured = run(
        shell,
        "ns = {'cuda': cuda}\n%%cuda_check\n".replace("%%", "# ")
        + "from xcuda.check import Finding, Launch, Report\nfrom xcuda.magics.check_cell import Checked\n"
        "r = Report()\nbad = Finding('race', 'f', 1, '<script>x</script>', '<b>y</b>', 0, '<i>', 1)\n"
        "r.launches.append(Launch('<b>k</b>', (1,1,1), (1,1,1), (bad,), ('<u>note</u>',), 1, 1, True))\nChecked(r)",
    )
    html = (
        captured.outputs[-1].data["text/html"]
        if captured.outputs
        else shell.user_ns["_"]._repr_mimebundle_()["text/html"]
    )
    for tag in ("<script>", "<b>y", "<b>k", "<u>", "<i>"):
        assert tag not in html


def test_a_thread_is_shown_line_by_line(shell):
    captured = run(
        shell,
        "%%cuda_debug --thread (0,0,0),(2,0,0) -o steps\ny = np.array([1.0, 2.0, 5.0])\ntriple[1, 32](y)",
    )
    [output] = [o for o in captured.outputs if "thread (2, 0, 0)" in o.data.get("text/plain", "")]
    text, html = output.data["text/plain"], output.data["text/html"]
    assert "x[i] = 3 * x[i]" in text and "x[2] = 15.0" in text and "i = 2" in text
    assert kept(html) and "x[2] = 15.0" in html
    assert shell.user_ns["y"].tolist() == [3, 6, 15] and len(shell.user_ns["steps"]) == 3


def test_only_where_a_condition_holds(shell):
    run(
        shell,
        "@cuda.kernel\ndef counted(x):\n    s = 0\n    for k in range(10):\n        s += k\n    x[0] = s",
    )
    captured = run(shell, "%%cuda_debug --break 'k == 3' --line 5\ncounted[1, 1](np.zeros(1, np.int64))")
    text = next(o.data["text/plain"] for o in captured.outputs if "counted" in o.data.get("text/plain", ""))
    assert "s = 3, k = 3" in text and "k = 4" not in text


def test_a_breakpoint_is_where_it_stops(shell):
    run(
        shell,
        "@cuda.kernel\ndef stops(x):\n    i = cuda.grid(1)\n    if x[i] < 0:\n        breakpoint()\n    x[i] += 1",
    )
    captured = run(shell, "%%cuda_debug\nstops[1, 4](np.array([1, 2, -3, 4]))")
    text = next(o.data["text/plain"] for o in captured.outputs if "stops[" in o.data.get("text/plain", ""))
    assert "thread (2, 0, 0)" in text and "breakpoint()" in text and "i = 2" in text


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("%%cuda_check --skip races\n1", "there is no rule 'races'; --skip takes race, overlap"),
        ("%%cuda_check --orders 0\n1", "--orders is a whole number from 1"),
        ("%%cuda_check --steps 0\n1", "--steps is a whole number from 1"),
        ("%%cuda_check --on tpu\n1", "argument --on: invalid choice: 'tpu'"),
        ("%%cuda_check -o a.b\n1", "-o takes a variable's name"),
        ("%%cuda_debug --thread 3\n1", "--thread takes a block and a thread, (bx,by,bz),(tx,ty,tz), not '3'"),
        ("%%cuda_debug --break 'i =='\n1", "--break takes a Python expression"),
        ("%%cuda_debug --thread 0,99\ntriple[1, 32](np.ones(3))", "there is no thread (99, 0, 0)"),
    ],
)
def test_wrong_lines_get_one_sentence(shell, line, told):
    assert told in usage_error(shell, line)


def test_a_cell_without_a_kernel(shell):
    assert "no kernel was launched" in str(
        [o.data["text/plain"] for o in run(shell, "%%cuda_check\nx = 1").outputs]
    )
    assert "There was no launch 1 in this cell" in run(shell, "%%cuda_debug\nx = 1").stdout


def test_cuda_draw(shell):
    run(shell, TRIPLE_OF_DRAWING)
    drawn = shell.run_line_magic("cuda_draw", "drawn_triple[1,4] np.ones(4)")
    assert [a.element for a in drawn.of(3)] == ["x[3]", "x[3]"]
    assert shell.run_line_magic("cuda_draw", "drawn_triple[2,4] np.ones(8) --block 1").drawn_block == (
        1,
        0,
        0,
    )


TRIPLE_OF_DRAWING = """
import numpy as np
from xcuda import core as cuda
@cuda.kernel
def drawn_triple(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 3 * x[i]
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%cuda_draw drawn_triple[1,4] no_such_array", "no_such_array"),
        ("%cuda_draw drawn_triple[1,4] np.ones(4) --block a", "--block takes one to three numbers"),
        ("%cuda_draw drawn_triple[1,4] np.ones(4) --block 9", "there is no block (9, 0, 0) in this launch"),
        ("%cuda_draw 4", "draw takes a kernel, or kernel[grid, block], not int"),
    ],
)
def test_cuda_draw_refuses(shell, line, words):
    run(shell, TRIPLE_OF_DRAWING)
    assert words in usage_error(shell, line)


@pytest.mark.parametrize("magic", ["cuda_check", "cuda_debug", "cuda_limit time=5s", "cuda_profile"])
@pytest.mark.parametrize("body", ["1/0", "triple(np.array(['a']))"])
def test_an_error_shows_the_cell_s_frames_and_none_of_the_magic_s(shell, magic, body):
    told = usage_error(shell, f"%%{magic}\nbefore = 1\n{body}")
    assert "ZeroDivisionError" in told or "TypeError" in told
    assert "_cell.py" not in told and "limits.py" not in told and "checking.py" not in told


def test_places_may_be_written_with_blanks(shell):
    run(shell, "%%cuda_debug -o steps --thread (0, 0, 0), (2, 0, 0)\ntriple(np.ones(3))")
    assert shell.user_ns["steps"].thread == (2, 0, 0)
    run(shell, "%%cuda_debug --thread 0, 1 -o steps\ntriple(np.ones(3))")
    assert shell.user_ns["steps"].thread == (1, 0, 0)


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--break '(1, 2)[i + 5]'", "where i = 0: IndexError: tuple index out of range"),
        ("--line 999", "the thread came to no line 999: it came to 6, 7, 8"),
    ],
)
def test_a_stop_that_can_not_be_is_told(shell, option, told):
    assert told in usage_error(shell, f"%%cuda_debug {option}\ntriple(np.ones(3))")

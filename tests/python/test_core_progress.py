"""cuda.progress: the words of tqdm, and what it shows is done."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from xcuda import core as cuda


def lines(file: io.StringIO) -> list[str]:
    """What stood on the line, one after the other."""
    return [line.rstrip(" \n") for line in file.getvalue().split("\r") if line.strip()]


def test_a_short_loop_shows_nothing():
    file = io.StringIO()
    assert list(cuda.progress(range(5), file=file)) == [0, 1, 2, 3, 4]
    assert file.getvalue() == ""


def test_lines_count_up_and_end_whole():
    file = io.StringIO()
    assert list(cuda.progress(range(10), "solving", file=file, delay=0, mininterval=0)) == list(range(10))
    shown = lines(file)
    assert [re.search(r"(\d+)/10", line)[1] for line in shown] == [str(n) for n in (*range(1, 11), 10)]
    assert shown[3].startswith("solving:  40%|████      | 4/10 [00:00<")
    assert re.fullmatch(r"solving: 100%\|█{10}\| 10/10 \[00:00<00:00, [\d.]+it/s\]", shown[-1])
    assert file.getvalue().endswith("\n")


def test_mininterval_bounds_how_often():
    file = io.StringIO()
    list(cuda.progress(range(1000), file=file, delay=0, mininterval=3600))
    assert len(lines(file)) == 2  # the first, and the last


@cuda.kernel
def slow(x, turns):
    i = cuda.grid(1)
    if i < x.size:
        for k in range(turns):
            x[i] = (x[i] * 3 + k) % 1000003


def test_what_is_shown_is_done():
    """A line is written only when the stream has come so far."""

    class Watching(io.StringIO):
        seen = ()

        def write(self, text):
            if "/4" in text:
                self.seen += (stream.query(),)
            return super().write(text)

    file, stream, x = Watching(), cuda.Stream(), cuda.to_device(np.arange(2000))
    with stream:
        for _ in cuda.progress(range(4), file=file, delay=0, mininterval=0):
            slow.async_call(x, 3000)
    assert len(file.seen) == 5 and all(file.seen)


def test_by_hand_without_a_length():
    file = io.StringIO()
    with cuda.progress(file=file, unit="step", delay=0, mininterval=0) as p:
        p.update(3)
        p.set_postfix(loss=0.25, epoch=2)
        p.set_description("training")
    assert p.n == 3
    assert re.fullmatch(r"training: 3step \[00:00, [\d.]+step/s, loss=0\.25, epoch=2\]", lines(file)[-1])


def test_without_leave_the_line_goes():
    file = io.StringIO()
    list(cuda.progress(range(3), file=file, delay=0, mininterval=0, leave=False))
    assert not file.getvalue().endswith("\n")
    assert file.getvalue().split("\r")[-2].strip() == ""


def test_disabled_it_only_goes_through():
    file = io.StringIO()
    assert list(cuda.progress(range(3), file=file, delay=0, disable=True)) == [0, 1, 2]
    assert file.getvalue() == ""


def test_an_error_in_the_loop_leaves_the_line_as_it_stood():
    file = io.StringIO()
    with pytest.raises(ValueError):
        for k in cuda.progress(range(9), file=file, delay=0, mininterval=0):
            if k == 2:
                raise ValueError
    assert "2/9" in lines(file)[-1]


def test_lengths():
    assert len(cuda.progress(range(7))) == 7
    assert len(cuda.progress(iter(range(7)), total=7)) == 7
    with pytest.raises(TypeError, match="total=n"):
        len(cuda.progress(iter(range(7))))
    with pytest.raises(TypeError, match="nothing to go through"):
        list(cuda.progress())


@pytest.mark.parametrize("seconds, told", [(0, "00:00"), (65, "01:05"), (3665, "1:01:05")])
def test_clock(seconds, told):
    from xcuda.core.progress_line import _clock

    assert _clock(seconds) == told


@pytest.mark.parametrize(
    "module, stream",
    [("IPython.terminal.interactiveshell", "err"), ("ipykernel.zmqshell", "out"), (None, "err")],
)
def test_a_notebook_gets_its_line_where_results_are(module, stream, monkeypatch, capsys):
    """Front ends show what comes on stderr as an error."""
    IPython = pytest.importorskip("IPython")

    shell = module and type("Shell", (), {"__module__": module})()
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    list(cuda.progress(range(3), delay=0, mininterval=0))
    assert "3/3" in getattr(capsys.readouterr(), stream)

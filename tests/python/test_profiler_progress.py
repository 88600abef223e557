"""The line that tells what takes long: its words, when it appears, and how it reads what threads are at."""

from __future__ import annotations

import queue
import threading
import time

import pytest
from xcuda import _runtime, profiler
from xcuda import core as cuda
from xcuda.profiler.progress import Teller, last_line, line


@pytest.mark.parametrize(
    "seen, told",
    [
        (("compile", "k for sm_90", 2.2, None), "compiling k for sm_90, 2 s"),
        (("copy", "to the device", 3.0, None), "copying to the device, 3 s"),
        (("launch", "k", 4.0, None), "k: running, 4 s"),
        (("launch", "k", 3.0, 0.375), "k: 38 % of its blocks begun, 3 s, about 5 s left"),
        (("launch", "k", 3.0, 1.0), "k: 100 % of its blocks begun, 3 s"),
        (("launch", "", 3.0, 0.0), "a kernel: 0 % of its blocks begun, 3 s"),
    ],
)
def test_words(seen, told):
    assert line(*seen) == told


def test_last_words():
    assert last_line("compile", "k for sm_90", 2.25) == "compiled k for sm_90, 2.2 s"
    assert last_line("launch", "k", 61.04) == "k ran for 61.0 s"


class Told(Teller):
    """Without its thread: the test says when it looks."""

    def __init__(self, seen):
        self.lines = []
        super().__init__(lambda text, which: self.lines.append((which, text)), lambda mark: seen)
        self.cell = 1


def test_short_things_are_never_told_of():
    told = Told([("launch", "k", 0.9, None)])
    assert told.tell(1, 1.0)
    told.end()
    assert told.lines == []


def test_a_line_is_renewed_and_ends_with_what_took_longest():
    seen = [("compile", "k for sm_90", 1.5, None)]
    told = Told(seen)
    told.tell(1, 1.0)
    seen[:] = [("launch", "k", 0.2, None)]
    told.tell(1, 1.0)
    seen[:] = [("launch", "k", 7.0, 0.5)]
    told.tell(1, 1.0)
    told.end()
    assert told.lines == [
        ("first", "compiling k for sm_90, 2 s"),
        ("next", "k: 50 % of its blocks begun, 7 s, about 7 s left"),
        ("last", "k ran for 7.0 s"),
    ]
    assert not told.tell(1, 1.0), "a cell that is over is told of no more"
    told.end()
    assert len(told.lines) == 3


def test_what_shows_lines_may_fail():
    told = Told([("launch", "k", 2.0, None)])

    def broken(text, which):
        raise OSError("no front end")

    told.show = broken
    assert told.tell(1, 1.0) and told.tell(1, 1.0)
    told.end()


def test_setting():
    before = profiler.show_progress()
    try:
        assert profiler.show_progress(False) is None
        assert profiler.show_progress(True) == 1.0
        assert profiler.show_progress(0.25) == profiler.show_progress() == 0.25
        with pytest.raises(ValueError, match="0 seconds or more"):
            profiler.show_progress(-1)
    finally:
        profiler.show_progress(before if before is not None else False)


@cuda.kernel
def add_one(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


def test_threads_are_looked_at_while_they_work():
    """Looks and launches meet at every point; what is read is whole, and nothing is under way at the end."""
    mark = _runtime.profile_mark()
    a = [cuda.zeros(64) for _ in range(2)]
    add_one[1, 64](a[0])

    counts, enough = [1, 0], threading.Event()

    def launch(which):
        while not enough.is_set():
            add_one[1, 64](a[which])
            counts[which] += 1

    threads = [threading.Thread(target=launch, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(1000):
            for what, name, seconds, share in _runtime.under_way(mark):
                assert what in ("compile", "copy", "launch") and isinstance(name, str)
                assert seconds >= 0 and (share is None or 0 <= share <= 1)
    finally:
        enough.set()
        for thread in threads:
            thread.join()
    cuda.synchronize()
    assert [x.copy_to_host()[0] for x in a] == counts
    assert "add_one" not in [name for _, name, _, _ in _runtime.under_way(mark)]


class Woken(Teller):
    """Counts how often its thread is woken, and when it looks at a cell."""

    def __init__(self):
        self.looked, self.seen, self.woken = [], threading.Event(), 0
        super().__init__(lambda text, which: None, self.looks)
        told = self

        class Counted(queue.SimpleQueue):
            def put(self, item):
                told.woken += 1
                super().put(item)

        self.wake = Counted()

    def looks(self, mark):
        self.looked.append(mark)
        self.seen.set()
        return []

    def rests(self):
        """Waits until the thread sleeps by itself."""
        while self.asleep is None:
            time.sleep(0.001)


def test_the_thread_is_woken_by_the_first_of_many_cells_alone(after):
    after(30.0)
    told = Woken()
    told.begin(0)
    told.rests()
    for mark in range(1, 200):
        told.end()
        told.begin(mark)
    told.end()
    assert told.woken == 1 and not told.looked


def test_a_cell_that_runs_long_is_looked_at_in_time(after):
    after(0.05)
    told = Woken()
    for mark in range(5):  # short ones before it
        told.begin(mark)
        told.end()
    told.begin(5)
    assert told.seen.wait(20) and set(told.looked) == {5}
    told.end()
    # A shorter time asks for a look before the thread would come by itself.
    told.seen.clear()
    after(0.01)
    told.begin(6)
    assert told.seen.wait(20) and told.looked[-1] == 6
    told.end()


@pytest.fixture
def after():
    before = profiler.show_progress()
    yield profiler.show_progress
    profiler.show_progress(False if before is None else before)

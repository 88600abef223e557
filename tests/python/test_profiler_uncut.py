"""What stands round a cell is done whole where an interrupt comes, and the interrupt is told after it."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from xcuda._sigint import Handler
from xcuda.profiler import cells
from xcuda.profiler import uncut as module
from xcuda.profiler.uncut import uncut


@pytest.fixture(autouse=True)
def handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_it_is_raised_at_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt), uncut():
        interrupt()
        done.append(1)
    assert done == [1]


def test_several_are_told_once_and_none_is_left():
    with pytest.raises(KeyboardInterrupt), uncut():
        for _ in range(5):
            interrupt()
    with uncut():
        pass


def test_within_one_another():
    done = []
    with pytest.raises(KeyboardInterrupt), uncut():
        with uncut():
            interrupt()
            done.append(1)
        done.append(2)
    assert done == [1, 2]


def test_an_error_of_its_own_is_told_with_it():
    with pytest.raises(KeyboardInterrupt) as raised, uncut():
        interrupt()
        raise ValueError("of its own")
    assert isinstance(raised.value.__context__, ValueError)


def test_a_wait_that_it_ended_has_told_of_it():
    with pytest.raises(KeyboardInterrupt, match="of a wait"), uncut():
        interrupt()
        raise KeyboardInterrupt("of a wait")


def test_what_never_ends_is_ended_by_a_later_one(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    sender = threading.Thread(target=lambda: [interrupt() for _ in range(20) if not over.wait(0.02)])
    over = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        sender.start()
        with uncut():
            try:
                while True:
                    pass
            finally:
                over.set()
    sender.join()


def test_a_handler_that_is_set_inside_stays_and_is_heard():
    told = []

    def mine(number, frame):
        told.append("mine")
        before(number, frame)

    with pytest.raises(KeyboardInterrupt), uncut():
        before = signal.signal(signal.SIGINT, mine)
        interrupt()
    assert told == ["mine"] and signal.getsignal(signal.SIGINT) is mine
    with pytest.raises(KeyboardInterrupt):  # through what uncut left below it
        interrupt()
    signal.signal(signal.SIGINT, before)
    with uncut():  # finds what was left, and goes past it
        pass
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_one_whose_end_was_cut_short_is_gone_past_whatever_it_was_for():
    class Other(Handler):
        def _handle(self, number, frame):
            self._before(number, frame)

    for left, next_one in ((Other(), uncut()), (uncut(), Other())):
        left.__enter__()
        left._inside = False
        with pytest.raises(KeyboardInterrupt):  # it keeps none from whom it was put before
            interrupt()
        with next_one:
            assert next_one._before is signal.default_int_handler
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_where_interrupts_are_ignored_or_another_thread_runs_it_does_nothing():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with uncut():
        interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    signal.signal(signal.SIGINT, signal.default_int_handler)
    seen = []

    def other():
        with uncut():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_a_cells_bookkeeping_is_done_whole(monkeypatch):
    done = []

    def interrupted(name, called):
        interrupt()
        called()
        done.append(name)

    for name in ("begin_peaks", "end_peaks"):
        whole = getattr(cells, name)
        monkeypatch.setattr(
            cells, name, lambda *a, name=name, whole=whole: interrupted(name, lambda: whole(*a))
        )
    with pytest.raises(KeyboardInterrupt):
        cells.cell_begin("1", 1)
    with pytest.raises(KeyboardInterrupt):
        cells.cell_end()
    assert done == ["begin_peaks", "end_peaks"]

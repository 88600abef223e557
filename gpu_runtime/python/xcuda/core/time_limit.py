"""How long a cell may run: kernels that go on are stopped, and the cell raises a TimeLimitError."""

from __future__ import annotations

import contextlib
import signal
import threading
import time

from xcuda import _runtime

_seconds: float | None = None  # of every cell
_watches: list[_Watch] = []  # that are on now, the outermost first


class TimeLimitError(TimeoutError):
    """The cell ran longer than `%cuda_limit time=...` allows; its kernels were stopped as by an interrupt."""


class _Watch:
    """Interrupts the main thread once, when its time is over; the interrupt then raises a TimeLimitError there."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.over = self.ended = False
        self.lock = threading.Lock()  # between the clock's end and ours
        self.before = signal.getsignal(signal.SIGINT)
        self.timer = threading.Timer(seconds, self.fire)
        self.timer.daemon = True

    def begin(self) -> None:
        signal.signal(signal.SIGINT, self.interrupted)
        self.timer.start()

    def fire(self) -> None:
        with self.lock:
            if not self.ended:
                self.over = True
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def interrupted(self, number, frame):
        if self.over:
            self.over = False
            if self.ended:
                return None
            _runtime.stop_kernels()
            raise TimeLimitError(
                f"the cell ran longer than {self.seconds:g} s: %cuda_limit time= sets how long it may"
            )
        if callable(self.before):
            return self.before(number, frame)
        raise KeyboardInterrupt

    def end(self) -> None:
        self.ended = True
        self.timer.cancel()
        with self.lock:
            pass  # a clock that strikes now has sent its signal
        for _ in range(100):  # a signal that is on its way is ours, not the next cell's
            if not self.over:
                break
            time.sleep(0.001)
        if signal.getsignal(signal.SIGINT) == self.interrupted:
            signal.signal(signal.SIGINT, self.before)


def time_limit(seconds: float | None = ...) -> float | None:
    """The seconds that each cell may run, None for no limit; with an argument, sets it from the next cell on."""
    global _seconds
    if seconds is not ...:
        if seconds is not None and not 0 < seconds < threading.TIMEOUT_MAX:
            raise ValueError(f"a time limit is above 0 seconds, not {seconds:g}")
        _seconds = seconds
    return _seconds


def begin_cell() -> None:
    """Starts the clock of a cell, where there is a limit; on the main thread only, which signals reach."""
    end_cell()
    if _seconds is not None and threading.current_thread() is threading.main_thread():
        _watches.append(
            _Watch(_seconds)
        )  # known before it begins: an interrupt in between leaves no clock behind
        _watches[-1].begin()


def end_cell() -> None:
    """Stops the clock."""
    while _watches:
        _watches.pop().end()


@contextlib.contextmanager
def at_most(seconds: float):
    """A block that may run so long."""
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("only the main thread's code can be limited in time: signals reach no other")
    watch = _Watch(seconds)
    try:
        watch.begin()
        yield
    finally:
        watch.end()

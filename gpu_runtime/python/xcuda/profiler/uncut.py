"""Bookkeeping round a cell that an interrupt doesn't cut short."""

from __future__ import annotations

import signal
import threading
import time

PATIENCE = 2.0  # seconds


class uncut:
    """While inside, SIGINT waits, and is raised at the end.

    Raised at any instruction it could leave a lock taken for ever: Python's `threading.Event` and `Condition` take
    theirs in Python. Waits for a device are ended by it even here; one that comes PATIENCE seconds after the first is
    raised at once, since what is inside may meet users' code (a `__del__`). On another thread than the main one, which
    signals don't reach, it does nothing.
    """

    _inside = False

    def __enter__(self):
        if threading.current_thread() is not threading.main_thread():
            return
        self._noted: tuple | None = None
        self._before = signal.getsignal(signal.SIGINT)
        left = getattr(self._before, "__self__", None)
        if isinstance(left, uncut) and not left._inside:  # its end was cut short
            self._before = left._before
        if callable(self._before):
            self._inside = True
            signal.signal(signal.SIGINT, self._handle)

    def _handle(self, number, frame):
        if not self._inside or (self._noted and time.monotonic() - self._noted[0] > PATIENCE):
            return self._before(number, frame)
        self._noted = self._noted or (time.monotonic(), frame)
        return None

    def __exit__(self, kind, error, trace):
        if not self._inside:
            return
        self._inside = False
        if signal.getsignal(signal.SIGINT) == self._handle:
            signal.signal(signal.SIGINT, self._before)
        if self._noted and not (kind is not None and issubclass(kind, KeyboardInterrupt)):
            self._before(signal.SIGINT, self._noted[1])

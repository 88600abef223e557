"""Bookkeeping round a cell that an interrupt doesn't cut short."""

from __future__ import annotations

import threading
import time

from xcuda._sigint import SIGINT, Handler

PATIENCE = 2.0  # seconds


class uncut(Handler):
    """While inside, SIGINT waits, and is raised at the end.

    Raised at any instruction it could leave a lock taken for ever: Python's `threading.Event` and `Condition` take
    theirs in Python. Waits for a device are ended by it even here; one that comes PATIENCE seconds after the first is
    raised at once, since what is inside may meet users' code (a `__del__`). On another thread than the main one, which
    signals don't reach, it does nothing.
    """

    _noted: tuple | None = None

    def __enter__(self):
        self._noted = None
        if threading.current_thread() is threading.main_thread():
            super().__enter__()

    def _handle(self, number, frame):
        if not self._inside or (self._noted and time.monotonic() - self._noted[0] > PATIENCE):
            return self._before(number, frame)
        self._noted = self._noted or (time.monotonic(), frame)
        return None

    def __exit__(self, kind, error, trace):
        super().__exit__(kind, error, trace)
        if self._noted and not (kind is not None and issubclass(kind, KeyboardInterrupt)):
            self._before(SIGINT, self._noted[1])

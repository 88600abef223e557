"""A handler of SIGINT for as long as a `with` lasts. Imports next to nothing: the kernel's start waits for it."""

from __future__ import annotations

import _signal  # `signal` makes enums of handlers and back, and catches an error for each, at each cell's begin and end

SIGINT = _signal.SIGINT


class Handler:
    """While inside, SIGINT goes to `_handle(number, frame)` of the subclass, which may pass it on to `_before`.

    An interrupt may cut the exit short: a handler that was left behind is gone past by the next one, of whatever
    subclass, and passes on what it hears, since `_inside` is False. Where SIGINT is ignored, or handled outside
    Python, nothing changes.
    """

    _inside = False

    def __enter__(self):
        self._before = _signal.getsignal(SIGINT)
        while isinstance(left := getattr(self._before, "__self__", None), Handler) and not left._inside:
            self._before = left._before
        if callable(self._before):
            self._inside = True
            _signal.signal(SIGINT, self._handle)

    def __exit__(self, kind, error, trace):
        if not self._inside:
            return
        self._inside = False
        if _signal.getsignal(SIGINT) == self._handle:
            _signal.signal(SIGINT, self._before)

    def _handle(self, number, frame):
        raise NotImplementedError

"""Streams and events: order and time of work on a device."""

import contextlib
from contextvars import ContextVar

from xcuda import _runtime

_outer = ContextVar("xcuda_outer_streams", default=())


class Stream(_runtime.StreamBase):
    """A queue of work on the current device: launches and copies in it run one after another.

    `with stream:` makes it the current stream of this thread or asyncio task.
    """

    def __enter__(self):
        _outer.set((*_outer.get(), _runtime.current_stream.get()))
        _runtime.current_stream.set(self)
        return self

    def __exit__(self, *exception):
        *rest, previous = _outer.get()
        _outer.set(tuple(rest))
        _runtime.current_stream.set(previous)

    def synchronize(self):
        """Waits until all its work is done; raises the first error of a launch in it."""
        self._synchronize()

    sync = synchronize

    def query(self):
        """True if all its work is done."""
        return self._query()

    done = query

    def record(self, event=None):
        """Records `event` (a new one by default) after the work asked for so far; gives the event."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait(self, other):
        """Work asked for from now on waits for an Event, or for what another Stream holds now."""
        self._wait(other.record() if isinstance(other, Stream) else other)

    def add_callback(self, callback, arg=None):
        """Calls `callback(stream, status, arg)` on a thread of the device once the work so far is done."""
        _runtime.call_on_host(self, lambda: callback(self, 0, arg))

    async def async_done(self):
        """Resolves once the work asked for so far is done."""
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()
        _runtime.call_on_host(self, lambda: resolve_soon(loop, future))
        await future
        return self

    @contextlib.contextmanager
    def auto_synchronize(self):
        """A block at whose end the stream is synchronized."""
        yield self
        self.synchronize()

    def __bool__(self):
        return True

    def __repr__(self):
        kind = "default stream" if self.is_default else f"stream 0x{self.handle:x}"
        return f"<{kind} of {self.device_label}>"


def resolve_soon(loop, future):
    """Resolves an asyncio future from a device's thread; a loop that has ended needs no answer."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(lambda: future.done() or future.set_result(None))


class Event(_runtime.EventBase):
    """A mark in a stream, with its time if `timing`."""

    def record(self, stream=None):
        """Marks the point that the stream (the current one by default) has reached with the work so far."""
        self._record(_a_stream(stream))
        return self

    def synchronize(self):
        """Waits until the mark is reached; at once if it was never recorded."""
        self._synchronize()

    def query(self):
        """True if the mark is reached."""
        return self._query()

    def wait(self, stream=None):
        """Work asked for in the stream from now on waits for the mark."""
        _a_stream(stream or current_stream())._wait(self)

    def elapsed_time(self, end):
        """Milliseconds from this event to `end`; both must have been recorded and reached."""
        return self._elapsed(end) * 1e3


def _a_stream(stream):
    if stream is None or isinstance(stream, _runtime.StreamBase):
        return stream
    if stream == 0 and not isinstance(stream, bool):
        return default_stream()
    raise TypeError(f"a Stream is wanted, not {type(stream).__name__}; cuda.stream() makes one")


def stream(priority=0):
    """A new stream of the current device; lower priorities go first where the device has them."""
    return Stream(priority=priority)


def default_stream():
    """The current device's default stream, where work goes outside `with stream:`."""
    return Stream(is_default=True)


def current_stream():
    """The stream of `with stream:` here, else the default stream."""
    return _runtime.current_stream.get() or default_stream()


def event(timing=True):
    """A new event."""
    return Event(timing=timing)


def event_elapsed_time(start, end):
    """Milliseconds from one recorded event to another."""
    return start.elapsed_time(end)

"""Streams and events: order and time of work on a device."""

import contextlib
import threading
from contextvars import ContextVar

from xcuda import _runtime

_outer = ContextVar("xcuda_outer_streams", default=())


class Stream(_runtime.StreamBase):
    """A queue of work on the current device: launches and copies in it run one after another.

    Stream(theirs) is another library's stream: any object with `__cuda_stream__`, and those of torch, CuPy and numba.
    Work of both goes into one queue, and the object is kept while ours is in use. `with stream:` makes it the current
    stream of this thread or asyncio task. priority: lower numbers go first where the device has priorities.

    A GPU's default stream is CUDA's legacy one: it waits for all work of the streams made here before it, and they wait
    for its; streams that other libraries made with cudaStreamNonBlocking (torch's) stand beside it.
    """

    def __init__(self, theirs=None, *, priority=0, is_default=False, graph=None):
        if graph is not None:
            super().__init__(graph=graph)
        elif theirs is None:
            super().__init__(priority, is_default)
        else:
            super().__init__(handle=handle_of(theirs), owner=theirs)

    @property
    def __cuda_stream__(self):
        if not self.device_label.startswith("cuda"):
            raise AttributeError("a stream of the CPU device is no CUDA stream")
        return lambda: (0, self.handle)

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
        """Calls `callback(stream, status, arg)` on a thread of the device once the work so far is done.

        status: 0, or the number of the CUDA driver's error by which the GPU was lost.
        """
        _runtime.call_on_host(self, lambda: callback(self, self._lost_by, arg))

    async def async_done(self):
        """Resolves once the work asked for so far is done; raises DeviceLostError where a fault has ended the GPU."""
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()
        _runtime.call_on_host(self, lambda: resolve_soon(loop, future))
        await future
        self._expect_usable()
        return self

    @contextlib.contextmanager
    def auto_synchronize(self):
        """A block at whose end the stream is synchronized."""
        yield self
        self.synchronize()

    def __bool__(self):
        return True

    def __eq__(self, other):
        if not isinstance(other, Stream):
            return NotImplemented
        return (self.device_label, self.handle) == (other.device_label, other.handle)

    def __hash__(self):
        return hash((self.device_label, self.handle))

    def __repr__(self):
        if self.is_capture:
            return f"<stream of a graph's capture on {self.device_label}>"
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
        self._record(a_stream(stream))
        return self

    def synchronize(self):
        """Waits until the mark is reached; at once if it was never recorded."""
        self._synchronize()

    def query(self):
        """True if the mark is reached."""
        return self._query()

    def wait(self, stream=None):
        """Work asked for in the stream from now on waits for the mark."""
        a_stream(stream or current_stream())._wait(self)

    def elapsed_time(self, end):
        """Milliseconds from this event to `end`; both must have been recorded and reached."""
        return self._elapsed(end) * 1e3


def a_stream(stream):
    """What a user gave as a stream, as one of ours; None stays None. Raises TypeError for what is none."""
    if stream is None or isinstance(stream, _runtime.StreamBase):
        return stream
    if stream == 0 and not isinstance(stream, bool):
        return default_stream()
    return Stream(stream)


# Where libraries keep the number where their objects don't tell it: torch, CuPy, numba.
_NUMBERS = ("cuda_stream", "ptr", "handle")


def handle_of(stream):
    """The number (a CUstream as an int) of another library's stream. Raises TypeError for what is no stream."""
    told = getattr(stream, "__cuda_stream__", None)
    if told is not None:
        version, handle = told() if callable(told) else told
        if version != 0:
            raise TypeError(
                f"{type(stream).__name__} tells version {version} of __cuda_stream__; 0 is understood"
            )
        return int(handle)
    for name in _NUMBERS if not isinstance(stream, type) else ():
        number = getattr(stream, name, None)
        number = getattr(number, "value", number)  # ctypes
        if number is None and hasattr(stream, name):
            return 0  # ctypes' null pointer
        if hasattr(number, "__int__") and not isinstance(number, (bool, float)):
            return int(number)
    raise TypeError(f"a Stream is wanted, not {type(stream).__name__}; cuda.stream() makes one")


def stream(priority=0):
    """A new stream of the current device; lower priorities go first where the device has them."""
    return Stream(priority=priority)


def external_stream(ptr):
    """The stream with this number (a CUstream as an int), which whoever made it keeps alive."""
    if isinstance(ptr, bool) or not hasattr(ptr, "__index__"):
        raise TypeError(
            f"a stream's number is an int, not {type(ptr).__name__}; cuda.Stream(...) takes objects"
        )
    made = Stream.__new__(Stream)
    _runtime.StreamBase.__init__(made, handle=ptr.__index__(), owner=None)
    return made


def default_stream():
    """The current device's default stream, where work goes outside `with stream:`. On a GPU the legacy one."""
    return Stream(is_default=True)


def legacy_default_stream():
    """The default stream that all threads share: `default_stream()`."""
    return default_stream()


_of_thread = threading.local()


def per_thread_default_stream():
    """This thread's own default stream, which waits for the legacy one as other streams do."""
    label = _runtime.current_device_label()
    streams = _of_thread.__dict__
    if label not in streams:
        streams[label] = external_stream(2) if label.startswith("cuda") else stream()
    return streams[label]


def current_stream():
    """The stream of `with stream:` here, else the default stream."""
    return _runtime.current_stream.get() or default_stream()


def event(timing=True):
    """A new event."""
    return Event(timing=timing)


def event_elapsed_time(start, end):
    """Milliseconds from one recorded event to another."""
    return start.elapsed_time(end)

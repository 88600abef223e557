"""Graphs: launches and copies captured once, then started together again and again."""

from xcuda import _runtime
from xcuda.core.streams import Stream, a_stream


class Graph(_runtime.GraphBase):
    """What is launched and copied inside `with cuda.graph() as g:`; `g()` or `g.launch(stream)` does it all, in order.

    Inside the block nothing runs: launches, copies between device arrays, fills, and copies from and to pinned host
    arrays become parts of the graph. The arrays are those of the capture, scalars have the values that they had; both
    are kept as long as the graph. On a GPU the whole is one call of the driver (a CUDA graph); the CPU device goes
    through the list. Errors of checked kernels are raised as those of launches are.

    What can't be a part is refused with a ValueError: host arrays as arguments, copies of ordinary host memory, new
    arrays, waiting, events. Other libraries' work belongs to it where they work in `g.stream`, on a GPU.
    """

    def __init__(self):
        super().__init__()
        self._stream = Stream(graph=self)

    @property
    def stream(self):
        """The stream of the capture, current inside the block."""
        return self._stream

    def __enter__(self):
        if self.is_captured or self._stream is None:
            raise RuntimeError("a graph is captured once; make another with cuda.graph()")
        self._stream.__enter__()
        return self

    def __exit__(self, kind, error, trace):
        stream, self._stream = self._stream, None
        stream.__exit__(kind, error, trace)
        try:
            self._end()
        except Exception:
            if error is None:
                raise

    def launch(self, stream=None):
        """Starts it on a stream (the current one by default)."""
        self._replay(a_stream(stream))

    __call__ = launch

    def __repr__(self):
        if not self.is_captured:
            return f"<graph on {self.device_label}, being captured>"
        launches, copies = self.launch_count, self.copy_count
        parts = [f"{launches} launch{'' if launches == 1 else 'es'}"] if launches or not copies else []
        parts += [f"{copies} cop{'y' if copies == 1 else 'ies'} or fills"] if copies else []
        return f"<graph of {', '.join(parts)} on {self.device_label}>"


def graph():
    """A graph of the current device, captured by a `with` block."""
    return Graph()

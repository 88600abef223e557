"""`profile`: a decorator and a context manager whose report `generate_report` gives."""

from __future__ import annotations

import functools
import inspect

from xcuda.profiler.recording import Recording
from xcuda.profiler.report import Report

# What `metrics=` may name, with the figures of a kernel's row that each shows. The report holds all of them.
METRICS = {
    "time": ("time",),
    "memory_throughput": ("bandwidth", "bytes_read", "bytes_written"),
    "compute_utilization": ("flop_rate", "flops", "roofline"),
    "occupancy": ("occupancy", "registers", "local_bytes", "shared_bytes"),
}

# The launches of a profiled block belong to it: wait for them as a reader of the figures would.
BLOCK_WAIT = 60.0

_last: Report | None = None
_ended = ""  # what the last one was of


class profile:
    """Profiles a function (`@profile`, `@profile(metrics=[...])`) or a block (`with profile() as p:`).

    metrics: names out of METRICS; the display of the report then leaves the other figures out. label: what the report
    is said to be of.
    The report is `p.report` after the block, and generate_report()'s.
    """

    def __new__(cls, function=None, *, metrics=None, label=None):
        self = super().__new__(cls)
        if function is None:
            return self
        self.__init__(metrics=metrics, label=label)
        return self(function)  # used without parentheses

    def __init__(self, function=None, *, metrics=None, label=None):
        self.metrics = _checked(metrics)
        self.report: Report | None = None
        self.kind, self.label = "block", "the profiled block" if label is None else str(label)
        self.named = label is not None
        self._recordings: list[Recording] = []

    def __call__(self, function):
        if not callable(function):
            raise TypeError(
                f"profile takes a function, not {type(function).__name__}; for a block: with profile():"
            )
        label = self.label if self.named else getattr(function, "__qualname__", repr(function))
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def profiled(*args, **kwargs):
                with labelled(self.metrics, label):
                    return await function(*args, **kwargs)
        else:

            @functools.wraps(function)
            def profiled(*args, **kwargs):
                with labelled(self.metrics, label):
                    return function(*args, **kwargs)

        return profiled

    def __enter__(self) -> profile:
        self._recordings.append(Recording(self.kind, self.label))
        return self

    def __exit__(self, kind, error, traceback) -> None:
        global _last, _ended
        document = self._recordings.pop().report(
            failed=kind is not None, wait=BLOCK_WAIT, measure=True, timeline=True
        )
        self.report = Report(document, self.metrics) if document else None
        _last, _ended = self.report, self.label


def labelled(metrics: tuple[str, ...], label: str) -> profile:
    """A profile of one call of the function `label`."""
    made = profile(metrics=metrics)
    made.kind, made.label = "function", label
    return made


def generate_report() -> Report:
    """The report of the last profiled function or block that ended.

    Where none has, of everything that this process ran. RuntimeError where no kernel ran there.
    """
    if _ended:
        if _last is None:
            raise RuntimeError(f"there is no report: {_ended} used no device")
        return _last
    document = Recording("block", "this process", from_start=True).report(
        wait=BLOCK_WAIT, measure=True, timeline=True
    )
    if document is None:
        raise RuntimeError(
            "there is no report: no kernel has run. Call a function under @profiler.profile, or "
            "run kernels inside `with profiler.profile():`"
        )
    return Report(document)


def _checked(metrics) -> tuple[str, ...]:
    if metrics is None:
        return ()
    if isinstance(metrics, str):
        metrics = [metrics]
    for name in metrics:
        if name not in METRICS:
            raise ValueError(f"no metric is called {name!r}; there are {', '.join(METRICS)}")
    return tuple(metrics)

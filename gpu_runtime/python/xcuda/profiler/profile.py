"""`profile`: a decorator and a context manager whose report `generate_report` gives."""

from __future__ import annotations

import functools
import inspect
from difflib import get_close_matches

from xcuda.profiler.counters import COUNTERS
from xcuda.profiler.recording import Recording
from xcuda.profiler.report import Report

# What `metrics=` may name, with the figures of a kernel's row that each shows. The report holds all of them, but of
# hardware counters only those that were asked for.
METRICS = {
    "time": ("time",),
    "memory_throughput": ("bandwidth", "bytes_read", "bytes_written"),
    "compute_utilization": ("flop_rate", "flops", "roofline"),
    "occupancy": ("occupancy", "registers", "local_bytes", "shared_bytes"),
} | {name: tuple(counter.key for counter in group) for name, group in COUNTERS.items()}

# The launches of a profiled block belong to it: wait for them as a reader of the figures would.
BLOCK_WAIT = 60.0

_last: Report | None = None
_ended = ""  # what the last one was of


class profile:
    """Profiles a function (`@profile`, `@profile(metrics=[...])`) or a block (`with profile() as p:`).

    metrics: names out of METRICS; the display of the report then leaves the other figures out. Those of COUNTERS are
    read from the GPU's hardware counters, which runs the first launches of each kernel several times over.
    counters: read all of COUNTERS.
    overlapping: kernels of different streams may run at once, as without a profiler; otherwise they run one after the
    other, for exact times, until one replays a graph, which would be measured as one.
    label: what the report is said to be of.
    The report is `p.report` after the block, and generate_report()'s.
    """

    def __new__(cls, function=None, *, metrics=None, label=None, counters=False, overlapping=False):
        self = super().__new__(cls)
        if function is None:
            return self
        self.__init__(metrics=metrics, label=label, counters=counters, overlapping=overlapping)
        return self(function)  # used without parentheses

    def __init__(self, function=None, *, metrics=None, label=None, counters=False, overlapping=False):
        self.metrics = _checked(metrics)
        self.counters = tuple(COUNTERS) if counters else tuple(m for m in self.metrics if m in COUNTERS)
        self.overlapping = overlapping
        self.report: Report | None = None
        self.kind, self.label = "block", "the profiled block" if label is None else str(label)
        self.named = label is not None
        self._recordings: list[Recording] = []
        self._over = False

    def __repr__(self) -> str:
        """What its report says, once there is one."""
        if self.report is not None:
            return repr(self.report)
        why = ": no device was used" if self._over else ", not run yet"
        return f"<profile of {self.label}{why}>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        shown = {"text/plain": repr(self)}
        return shown if self.report is None else self.report._repr_mimebundle_(include, exclude)

    def __call__(self, function):
        if not callable(function):
            raise TypeError(
                f"profile takes a function, not {type(function).__name__}; for a block: with profile():"
            )
        label = self.label if self.named else getattr(function, "__qualname__", repr(function))
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def profiled(*args, **kwargs):
                with self._of_call(label):
                    return await function(*args, **kwargs)
        else:

            @functools.wraps(function)
            def profiled(*args, **kwargs):
                with self._of_call(label):
                    return function(*args, **kwargs)

        return profiled

    def _of_call(self, label: str) -> profile:
        """A profile of one call of the function `label`."""
        made = profile(
            metrics=self.metrics or None, counters=bool(self.counters), overlapping=self.overlapping
        )
        made.counters = self.counters
        made.kind, made.label = "function", label
        return made

    def __enter__(self) -> profile:
        watch = "overlapping" if self.overlapping else "exact"
        self._recordings.append(Recording(self.kind, self.label, watch=watch, counters=self.counters))
        return self

    def __exit__(self, kind, error, traceback) -> None:
        global _last, _ended
        document = self._recordings.pop().report(
            failed=kind is not None, wait=BLOCK_WAIT, measure=True, timeline=True
        )
        self.report = Report(document, self.metrics) if document else None
        self._over = True
        _last, _ended = self.report, self.label


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
            near = get_close_matches(str(name), METRICS, n=3, cutoff=0.5)
            meant = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
            raise ValueError(f"no metric is called {name!r}: {meant}There are {', '.join(METRICS)}")
    return tuple(metrics)

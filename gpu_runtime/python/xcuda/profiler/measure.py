"""`benchmark`: what a call takes, on the device and on the host, with warm and with cold caches."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field

LEAST_CALLS, MOST_CALLS = 5, 10_000
WARM_UP_CALLS, WARM_UP_SECONDS = 3, 0.1
COLD_SHARE = 0.5  # of the budget, for cold calls and the sweeps before them


@dataclass(frozen=True)
class Spread:
    """Seconds of many calls: the median, the quartiles round it, the shortest and the longest."""

    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        import statistics  # not when a cell's first report loads this package

        return statistics.median(self.samples)

    @property
    def low(self) -> float:
        """The first quartile."""
        return self._quartile(0)

    @property
    def high(self) -> float:
        """The third quartile."""
        return self._quartile(2)

    @property
    def min(self) -> float:
        return min(self.samples)

    @property
    def max(self) -> float:
        return max(self.samples)

    def _quartile(self, which: int) -> float:
        import statistics

        if len(self.samples) < 2:
            return self.samples[0]
        return statistics.quantiles(self.samples, n=4, method="inclusive")[which]


@dataclass(frozen=True)
class Timing:
    """Calls under one state of the caches. Seconds; `device` and `host` are None where they are not known."""

    total: Spread  # from the call until the device was done
    returned: Spread  # from the call until it returned; later work of the device not counted
    device: Spread | None  # in which at least one kernel of the call ran, by the launches' own events
    host: Spread | None  # in which none ran: Python, copies, starting launches, waiting
    why_no_device: str = ""

    @property
    def calls(self) -> int:
        return len(self.total.samples)


@dataclass(frozen=True)
class Benchmark:
    """What `benchmark` measured. `warm.total.median` and the like are seconds."""

    name: str
    device_label: str
    first_call: float  # seconds of the very first call until the device was done, compiling included
    compiled: int  # kernels compiled in it
    warm: Timing
    cold: Timing | None
    why_no_cold: str = ""
    swept: str = ""  # how the caches were emptied
    launches: int = 0  # of one call
    copied: int = 0  # bytes between host and device in one call
    notes: tuple[str, ...] = field(default=())

    @property
    def median(self) -> float:
        """Seconds of a call with warm caches, until the device was done."""
        return self.warm.total.median

    def __repr__(self) -> str:
        rows = [("warm", self.warm)] + ([("cold", self.cold)] if self.cold else [])
        lines = [f"{self.name}: {_text(self.median)} a call on {self.device_label}"]
        for label, timing in rows:
            parts = [f"{_text(timing.total.median)} ({_range(timing.total)})"]
            if timing.device is not None:
                parts.append(f"device {_text(timing.device.median)} ({_range(timing.device)})")
                parts.append(f"host {_text(timing.host.median)}")
            lines.append(f"  {label}  {', '.join(parts)}; {timing.calls} calls")
        lines += [f"  {note}" for note in self.told]
        return "\n".join(lines)

    @property
    def told(self) -> list[str]:
        """What was measured, and what was not, in sentences."""
        first = f"first call {_text(self.first_call)}"
        if self.compiled:
            first += f", with {self.compiled} kernel{'s' if self.compiled > 1 else ''} compiled"
        lines = [first]
        what = f"a call starts {self.launches} launch{'' if self.launches == 1 else 'es'}"
        lines.append(what + (f" and copies {self.copied:,} bytes" if self.copied else ""))
        if self.warm.why_no_device:
            lines.append(f"no device time: {self.warm.why_no_device}")
        if self.cold is not None:
            lines.append(f"cold: {self.swept}")
        elif self.why_no_cold:
            lines.append(f"no cold figures: {self.why_no_cold}")
        return lines + list(self.notes)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from xcuda.profiler.shown import bundle

        return bundle("benchmark", self)


def benchmark(
    function: Callable,
    /,
    *args,
    budget: float = 1.0,
    calls: int | None = None,
    cold: bool = True,
    **kwargs,
) -> Benchmark:
    """Calls `function(*args, **kwargs)` again and again and tells what a call takes, on the device and on the host.

    The first call (which may compile) is timed by itself; some calls to warm up follow and count for nothing. Each
    counted call is waited for, so work that goes on after it has returned is in its time. Then, with `cold`, the caches
    are emptied before each of some more calls.

    budget: seconds for the counted calls, about half of them for cold ones. calls: how many warm calls instead; cold
    ones are then as many at most. The function really runs each time: arguments that it writes are changed each time,
    and what it returns is thrown away. Garbage collection is off meanwhile. Other work of this process on the device
    would be counted in. TypeError where `function` can't be called, ValueError for a budget or calls below what can be
    measured; an error of the function is raised as it is.
    """
    if not callable(function):
        raise TypeError(f"benchmark takes a function and its arguments, not {type(function).__name__}")
    if calls is not None and calls < 1:
        raise ValueError(f"calls is how often the function is called, 1 or more, not {calls}")
    if not budget > 0:
        raise ValueError(f"budget is in seconds, above 0, not {budget}")
    from xcuda import _runtime, core

    def call():
        return function(*args, **kwargs)

    core.synchronize()
    first, compiled = _first(call, _runtime)
    core.synchronize()
    mark = _runtime.profile_mark()
    warm_up = _until(call, core, WARM_UP_CALLS, WARM_UP_SECONDS, _runtime)
    launches, _, _, copied = _runtime.launch_times(mark)
    per_call = len(warm_up)
    collecting = gc.isenabled()
    gc.disable()
    try:
        warm = _measure(call, core, _runtime, calls, budget * (1 - COLD_SHARE if cold else 1), None)
        chilled, why_no_cold, swept = None, "", ""
        if cold:
            from xcuda.profiler.caches import sweep

            try:
                empty = sweep()
            except MemoryError as error:
                why_no_cold = f"no room to empty the caches with ({error})"
            else:
                empty()  # compiles the walk
                chilled = _measure(call, core, _runtime, calls, budget * COLD_SHARE, empty)
                swept = empty.told
    finally:
        if collecting:
            gc.enable()
    return Benchmark(
        name=_name(function),
        device_label=_runtime.current_device_label(),
        first_call=first,
        compiled=compiled,
        warm=warm,
        cold=chilled,
        why_no_cold=why_no_cold,
        swept=swept,
        launches=round(launches / per_call),
        copied=round(copied / per_call),
    )


def _first(call, runtime) -> tuple[float, int]:
    from xcuda import core

    before = runtime.cache_stats()["compiled"]
    begin = runtime.clock()
    call()
    core.synchronize()
    return runtime.clock() - begin, runtime.cache_stats()["compiled"] - before


def _until(call, core, least: int, seconds: float, runtime) -> list[float]:
    """Calls until both are reached; the seconds of each."""
    times, begin = [], runtime.clock()
    while len(times) < least or (runtime.clock() - begin < seconds and len(times) < MOST_CALLS):
        before = runtime.clock()
        call()
        core.synchronize()
        times.append(runtime.clock() - before)
        if runtime.clock() - begin > 10 * seconds:  # slow calls: one has warmed up what there is
            break
    return times


def _measure(call, core, runtime, calls: int | None, budget: float, before) -> Timing:
    total, returned, device, untimed, launched = [], [], [], 0, 0
    end = runtime.clock() + budget
    while (
        len(total) < calls
        if calls is not None
        else len(total) < LEAST_CALLS or (runtime.clock() < end and len(total) < MOST_CALLS)
    ):
        if before is not None:
            before()
        mark = runtime.profile_mark()
        begun = runtime.clock()
        call()
        back = runtime.clock()
        core.synchronize()
        done = runtime.clock()
        launches, unknown, busy, _ = runtime.launch_times(mark)
        launched += launches
        untimed += unknown
        total.append(done - begun)
        returned.append(back - begun)
        device.append(busy)
        if calls is None and runtime.clock() - end > 4 * budget:  # slow calls: few must do
            break
    why = ""
    if not launched:
        why = "it launches nothing on a device"
    elif untimed:
        why = f"{untimed} of {launched} launches were not measured one by one: there were too many in a row"
    host = [max(t - d, 0.0) for t, d in zip(total, device, strict=True)]
    return Timing(
        Spread(tuple(total)),
        Spread(tuple(returned)),
        None if why else Spread(tuple(device)),
        None if why else Spread(tuple(host)),
        why,
    )


def _name(function) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def _range(spread: Spread) -> str:
    return f"{_text(spread.low)} to {_text(spread.high)}"


def _text(seconds: float) -> str:
    from xcuda._runtime import in_unit

    return in_unit(seconds, "s")

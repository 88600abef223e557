"""`benchmark`: what a call takes, on the device and on the host, with warm and with cold caches."""

from __future__ import annotations

import gc
from collections.abc import Callable

LEAST_CALLS, MOST_CALLS = 5, 10_000
WARM_UP_CALLS, WARM_UP_SECONDS = 3, 0.1
COLD_SHARE = 0.5  # of the budget, for cold calls and the sweeps before them


def benchmark(
    function: Callable,
    /,
    *args,
    budget: float = 1.0,
    calls: int | None = None,
    cold: bool = True,
    **kwargs,
):
    """Calls `function(*args, **kwargs)` again and again and tells what a call takes, on the device and on the host:
    a Benchmark (xcuda.profiler.timing).

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
    from xcuda.profiler.timing import Benchmark

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


def _measure(call, core, runtime, calls: int | None, budget: float, before):
    from xcuda.profiler.timing import Spread, Timing

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

"""Running variants on a sample: their results compared, their device times taken side by side."""

from __future__ import annotations

import statistics
import time

import numpy as np

from xcuda import _runtime
from xcuda.core.devices import Device

# Relative to the largest magnitude of the array: what rounding in another order may change.
TOLERANCES = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12, "complex64": 1e-5, "complex128": 1e-12}

FEWEST_ROUNDS, MOST_ROUNDS = 5, 25


def run(callee, sample, written, label):
    """One run on the sample's values; gives what the written arrays hold then."""
    sample.restore(written)
    with Device(label):
        callee(*sample.values)
        Device(label).synchronize()
    return sample.results(written)


def seconds_of(callee, sample, written, label) -> float:
    """Device seconds of one launch on the sample's values; the wall's where the device does not tell."""
    sample.restore(written)
    device = Device(label)
    with device:
        device.synchronize()
        mark = _runtime.profile_mark()
        begin = time.perf_counter()
        callee(*sample.values)
        device.synchronize()
        wall = time.perf_counter() - begin
    told = _runtime.launch_seconds(mark)
    return told[-1] if told and told[-1] is not None else wall


def wall_of(callee, sample, written, label) -> float:
    """Seconds of one whole call, the copies of host arrays included."""
    sample.restore(written)
    device = Device(label)
    with device:
        device.synchronize()
        begin = time.perf_counter()
        callee(*sample.values)
        device.synchronize()
        return time.perf_counter() - begin


def side_by_side(callees, sample, written, labels, budget, how=seconds_of) -> list[float]:
    """Median seconds of each, measured in turns, one warm-up before; about `budget` seconds in all."""
    begin = time.perf_counter()
    for callee, label in zip(callees, labels, strict=True):
        how(callee, sample, written, label)
    once = max(time.perf_counter() - begin, 1e-6)
    rounds = int(min(max(budget / once, FEWEST_ROUNDS), MOST_ROUNDS))
    times = [[] for _ in callees]
    order = list(range(len(callees)))
    for turn in range(rounds):
        for i in order if turn % 2 == 0 else reversed(order):  # none always runs after the same other one
            times[i].append(how(callees[i], sample, written, labels[i]))
    return [statistics.median(t) for t in times]


def difference(reference, result, tolerance) -> tuple[float, str]:
    """The largest relative deviation, and why the result is no substitute ("" where it is one)."""
    worst = 0.0
    for want, got in zip(reference, result, strict=True):
        if want.dtype.kind not in "fc":
            if not np.array_equal(want, got):
                at = tuple(int(i) for i in np.argwhere(want != got)[0])
                return worst, f"element {at} is {got[at]}, not {want[at]}"
            continue
        allowed = TOLERANCES.get(want.dtype.name, 0.0) if tolerance is None else tolerance
        finite = np.isfinite(want)
        if (
            not np.array_equal(want[~finite], got[~finite], equal_nan=True)
            or not np.isfinite(got[finite]).all()
        ):
            return worst, "it has nan or inf elsewhere"
        if not finite.any():
            continue
        off = np.abs(want[finite] - got[finite])
        scale = float(np.abs(want[finite]).max()) or 1.0
        worst = max(worst, float(off.max()) / scale)
        if worst > allowed:
            return worst, f"it differs by {worst:.1e} of the largest value, more than {allowed:g}"
    return worst, ""

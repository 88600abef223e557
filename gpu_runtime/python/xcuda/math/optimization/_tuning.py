"""The tuner: what is on, what was measured, and the winners in memory and on disk."""

from __future__ import annotations

import contextlib
import statistics
import time
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy

from xcuda import _runtime
from xcuda.core import choices
from xcuda.numeric._array import ndarray

from .._capture import current

_FEWEST, _MOST = 3, 15  # rounds of one measurement
# How far results of candidates may lie apart, relative to the largest one.
_TOLERANCES = {
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float64": 1e-9,
    "complex128": 1e-9,
}

_active: ContextVar = ContextVar("xcuda_math_tuning", default=None)


@dataclass
class Settings:
    """What `auto_tune` was asked for, and how much of its time is left."""

    budget: float
    deterministic: bool
    spent: float = 0.0


@dataclass
class Tuned:
    """One decision: the candidates' median seconds by name, the winner, where from, and why others were none."""

    what: str
    key: tuple
    seconds: dict
    winner: str
    source: str  # "measured", "disk", "memory", "rule"
    why_not: dict = field(default_factory=dict)
    spent: float = 0.0

    @property
    def gain(self):
        """How many times faster the winner is than the first candidate, which is taken without tuning."""
        first = next(iter(self.seconds.values()), None)
        best = self.seconds.get(self.winner)
        return first / best if first and best else None


records: list[Tuned] = []
_winners: dict = {}


@contextlib.contextmanager
def auto_tune(budget=2.0, *, deterministic=False):
    """Within it, solutions, products and jitted functions that are met for the first time measure their candidates.

    budget: seconds that measuring may take in all; then, and where memory runs out, the first candidate is taken.
    deterministic: nothing is measured or read from disk: the choice follows from shapes, dtypes and structure alone.
    """
    if not budget >= 0:
        raise ValueError(f"the budget is in seconds, at least 0, not {budget!r}")
    settings = Settings(float(budget), bool(deterministic))
    capture = current()
    if capture is not None:  # the function that is being captured tunes at each of its calls
        capture.tuning = (settings.budget, settings.deterministic)
    token = _active.set(settings)
    try:
        yield settings
    finally:
        _active.reset(token)


def active():
    """The settings of the innermost `auto_tune`; None outside of it."""
    return _active.get()


def forget():
    """Forgets every choice, on disk too."""
    for name in {_name(key) for key in _winners} | {_name((r.what, *r.key)) for r in records}:
        choices.forget(name)
    _winners.clear()
    records.clear()


def _name(key):
    return choices.key("nvmath", *map(str, key))


def device_name():
    """What a choice holds for: the device, not the machine's name."""
    from xcuda.core.devices import Device

    device = Device(_runtime.current_device_label())
    return f"{device.name} {_runtime.current_device_label()}"


def choose(what, key, candidates, rule=None):
    """The result of the candidate that is fastest for `key`; `candidates`: {name: function without arguments}.

    The first one is the plain way, and the reference that others must agree with. rule: the name that is taken where
    nothing is measured.
    """
    settings = active()
    default = rule or next(iter(candidates))
    if settings is None:
        return candidates[default]()
    full = (what, *key, device_name())
    if settings.deterministic:
        _keep(Tuned(what, key, {}, default, "rule"))
        return candidates[default]()
    known = _winners.get(full)
    if known is None and (kept := choices.load(_name(full))) is not None and kept.get("winner") in candidates:
        known = kept["winner"]
        _winners[full] = known
        _keep(Tuned(what, key, dict(kept.get("seconds", {})), known, "disk", dict(kept.get("why_not", {}))))
    if known in candidates:
        return candidates[known]()
    return _measured(what, key, full, candidates, default, settings)


def winner(what, key):
    """The name that was chosen for `key`; None where nothing was."""
    return _winners.get((what, *key, device_name()))


def _keep(tuned):
    if not any((r.what, r.key, r.winner) == (tuned.what, tuned.key, tuned.winner) for r in records):
        records.append(tuned)


def _measured(what, key, full, candidates, default, settings):
    begin = time.perf_counter()
    reference, results, seconds, why = None, {}, {}, {}
    for name, run in candidates.items():
        left = settings.budget - settings.spent - (time.perf_counter() - begin)
        if left <= 0:
            why[name] = "the time for tuning was used up"
            continue
        try:
            result, first = _timed(run)
        except (MemoryError, RuntimeError, numpy.linalg.LinAlgError, NotImplementedError, TypeError) as error:
            if name == next(iter(candidates)) and not isinstance(error, (MemoryError, NotImplementedError)):
                raise  # the plain way's error is the caller's
            why[name] = f"{type(error).__name__}: {error}"
            continue
        if reference is None:
            reference = result
        elif problem := _disagreement(reference, result):
            why[name] = problem
            continue
        results[name] = result
        seconds[name] = _median(run, first, left)
    settings.spent += time.perf_counter() - begin
    if not seconds:
        _keep(Tuned(what, key, {}, default, "rule", why))
        return candidates[default]()
    winner = min(seconds, key=seconds.get)
    tuned = Tuned(what, key, seconds, winner, "measured", why, time.perf_counter() - begin)
    _keep(tuned)
    _winners[full] = winner
    if not any("used up" in reason for reason in why.values()):
        choices.save(_name(full), {"winner": winner, "seconds": seconds, "why_not": why})
    return results[winner]


def _arrays(result, found):
    if isinstance(result, (ndarray, numpy.ndarray, numpy.generic)):
        found.append(result)
    elif isinstance(result, dict):
        for each in result.values():
            _arrays(each, found)
    elif isinstance(result, (tuple, list)):
        for each in result:
            _arrays(each, found)
    return found


def _timed(run):
    from xcuda.core import synchronize

    synchronize()
    begin = time.perf_counter()
    result = run()
    pending = [a for a in _arrays(result, []) if isinstance(a, ndarray) and a._pending]
    if pending:
        _runtime.numeric_compute(pending)
    synchronize()
    return result, time.perf_counter() - begin


def _median(run, first, left):
    """The first run warms up (and compiles), unless there is no time for more."""
    rounds = int(min(max(left / 3 / max(first, 1e-6), 0), _MOST))
    if rounds < 1:
        return first
    return statistics.median(_timed(run)[1] for _ in range(max(rounds, min(_FEWEST, rounds))))


def _disagreement(reference, result):
    """Why a result is no substitute; "" where it is one."""
    wanted, got = _arrays(reference, []), _arrays(result, [])
    if len(wanted) != len(got):
        return "it gives other results"
    for a, b in zip(wanted, got, strict=True):
        a, b = numpy.asarray(a), numpy.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"it gives {b.dtype} {b.shape} in place of {a.dtype} {a.shape}"
        if a.dtype.kind not in "fc" or not a.size:
            if not numpy.array_equal(a, b):
                return "its results differ"
            continue
        finite = numpy.isfinite(a)
        if not numpy.array_equal(finite, numpy.isfinite(b)):
            return "it has nan or inf elsewhere"
        if finite.any():
            scale = float(numpy.abs(a[finite]).max()) or 1.0
            off = float(numpy.abs(a[finite] - b[finite]).max()) / scale
            if off > _TOLERANCES.get(a.dtype.name, 1e-9):
                return f"it differs by {off:.1e} of the largest value"
    return ""

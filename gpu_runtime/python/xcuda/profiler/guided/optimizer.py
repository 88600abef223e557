"""`ProfileGuidedOptimizer`: the search for the fastest variant that gives the kernel's own results."""

from __future__ import annotations

import contextlib
import json
import statistics

from xcuda import _runtime
from xcuda.core import choices as store
from xcuda.core.devices import Device, devices
from xcuda.profiler.guided import measure, seen
from xcuda.profiler.guided.choice import optimized_kernel
from xcuda.profiler.guided.report import OptimizationReport, Trial
from xcuda.profiler.guided.sample import Sample, arguments_of, kernel_of
from xcuda.profiler.guided.variants import Variant, stages

WORTH_IT = 1.03  # a smaller gain is noise
FINAL_TIMES = 3  # that the winner is held against the kernel as given
STEP = 1.02  # by which a variant must beat the best one so far


class ProfileGuidedOptimizer:
    """Finds the variant of a kernel that is fastest on a sample.

    tolerance: how far floating-point results may differ, relative to the largest value; None: 1e-5 for float32, 1e-12
        for float64, 2e-3 for float16. Integers and bools are always compared exactly. 0 asks for the same bits.
    seconds: about how long all measurements may take.
    fastmath: False leaves fast math out. keep: False neither reads nor writes choices on disk.
    devices: labels of the devices to try; None: where the sample's device arrays are, else all devices.
    """

    def __init__(self, *, tolerance=None, seconds=2.0, fastmath=True, keep=True, devices=None):
        if tolerance is not None and not tolerance >= 0:
            raise ValueError(f"tolerance is a number from 0, not {tolerance!r}")
        if not seconds > 0:
            raise ValueError(f"seconds is a positive number, not {seconds!r}")
        self.tolerance, self.seconds, self.fastmath, self.keep = tolerance, seconds, fastmath, keep
        self.devices = None if devices is None else [Device(d).label for d in devices]

    def optimize(self, kernel, *sample_data):
        """Gives a kernel that behaves as the given one, with `.report`.

        kernel: a kernel, or kernel[grid, block]. sample_data: the arguments of a typical call; one tuple of them, or
        the first ones where the others have defaults. The runs are on copies.

        For calls like the sample (types, number of digits of each length in base 2, the constants and numbers that the
        variant relies on) it runs the chosen variant, for all others and for [grid, block] the kernel as given. Where
        no variant is faster the given kernel itself comes back, with the report. What a kernel does with the contents
        of arrays is compared on the sample only.

        Raises TypeError for what is no kernel or no sample for it, and what the kernel raises on the sample.
        """
        plain = kernel_of(kernel)
        kernel = getattr(plain.about, "given", kernel)  # an optimised one: from the start
        return _Search(self, kernel, arguments_of(kernel_of(kernel), sample_data)).result()


class _Search:
    def __init__(self, optimizer, given, values):
        self.optimizer, self.given, self.plain = optimizer, given, kernel_of(given)
        self.values = values
        self.sample = Sample(values)
        self.names = list(self.plain.__signature__.parameters)
        self.configured = given is not self.plain
        self.home = self._home()
        self.layout = _runtime.layout(self.plain, self.sample.values)
        self.written = self.layout["written"]
        self.report = OptimizationReport(self.plain.__name__, self.home, tolerance=self._tolerance_words())
        self.kernels = {}  # of the variants that were tried

    def result(self):
        self.reference = measure.run(self.given, self.sample, self.written, self.home)
        self.report.arguments = seen.arguments(self.names, self.sample.values, self.sample.host)
        problem = self._incomparable()
        if problem:
            return self._as_given(problem)
        name = self._key() if self.optimizer.keep else None
        kept = name and self._from_disk(name)
        if kept:
            return kept
        self._look_at_branches()
        variant = self._search()
        return self._finish(variant, name)

    def _home(self):
        device = self.sample.device
        if device is not None:
            return device.label
        held = self.plain.about.only_on
        current = Device().label
        if not held or current == held or current.startswith(f"{held}:"):
            return current
        return next(
            (d.label for d in devices() if d.label == held or d.label.startswith(f"{held}:")), current
        )

    def _labels(self):
        wanted = self.optimizer.devices
        if self.sample.device is not None or self.plain.about.only_on:
            return [self.home]
        others = [d.label for d in devices() if d.label != self.home] if wanted is None else wanted
        return [self.home, *(label for label in others if label != self.home)]

    def _tolerance_words(self):
        if self.optimizer.tolerance is not None:
            return f"floats within {self.optimizer.tolerance:g} of the largest value, all else equal"
        used = sorted({str(h.dtype) for h in self.sample.host if getattr(h, "dtype", None) is not None})
        told = [
            f"{n} within {measure.TOLERANCES[n]:g} of the largest value"
            for n in used
            if n in measure.TOLERANCES
        ]
        return ", ".join([*told, "all else equal"])

    def _incomparable(self):
        if not self.written:
            return "it writes no array, so that there is nothing to compare"
        again = measure.run(self.given, self.sample, self.written, self.home)
        why = measure.difference(self.reference, again, self.optimizer.tolerance)[1]
        return (
            f"its own results differ from run to run ({why}), so that there is nothing to compare"
            if why
            else ""
        )

    def _key(self):
        captured = self.plain.about.capture()
        shape = [list(map(int.bit_length, getattr(v, "shape", ()))) for v in self.values]
        configured = repr(self.given) if self.configured else ""
        device = Device(self.home)
        return store.key(
            _without_places(json.loads(captured.ast_json)),
            _without_places(json.loads(captured.names_json)),
            list(self.plain.about.options),
            configured,
            self.layout["signature"],
            shape,
            [device.label, device.name, device.architecture, self._labels()],
            [self.optimizer.tolerance, self.optimizer.fastmath],
        )

    def _from_disk(self, name):
        """The kernel of an earlier choice, checked on this sample; None where there is none that serves."""
        data = store.load(name)
        if data is None:
            return None
        try:
            report = OptimizationReport.from_json(data["report"])
            variant = None if data["variant"] is None else Variant.from_json(data["variant"])
        except (KeyError, TypeError, ValueError):
            store.forget(name)
            return None
        report.source, report.arguments = "disk", self.report.arguments
        if variant is None:
            self.report = report
            return self._as_given(report.why)
        if not self._meets(variant) or variant.device not in self._labels():
            return None
        made, trial = self._make(variant)
        if made is None or trial.outcome != "kept back":
            store.forget(name)
            return None
        return optimized_kernel(self.given, made, variant, self.sample.values, report)

    def _meets(self, variant):
        values = self.sample.values
        return all(
            (values[i] == met if axis < 0 else values[i].shape[axis] == met) for i, axis, met in variant.fixed
        )

    def _look_at_branches(self):
        twin = Sample(self.values)
        self.report.branches, why = seen.branches(self.given, twin.host)
        if why:
            self.report.notes.append(why)

    # ---- the search -------------------------------------------------------------------------------------------------

    def _search(self):
        labels = self._labels()
        budget = self.optimizer.seconds / len(labels) / 6
        best = [self._best_on(label, budget) for label in labels]
        found, rest = best[0], [b for b in best[1:] if b is not None]
        if rest:  # the copies of host arrays decide between devices
            callees = [self._kernel(found), *(self._kernel(v) for v in rest)]
            used = [self.home, *(v.device for v in rest)]
            times = measure.side_by_side(callees, self.sample, self.written, used, budget, measure.wall_of)
            fastest = min(range(len(times)), key=times.__getitem__)
            self.report.notes.append(
                "whole calls with the copies of host arrays: "
                + ", ".join(f"{label} {t * 1e3:.3g} ms" for label, t in zip(used, times, strict=True))
            )
            if times[0] > WORTH_IT * times[fastest]:
                self.elsewhere = times[0] / times[fastest]
                found = rest[fastest - 1]
        return found

    elsewhere = 1.0  # the gain of another device over the best at home, of whole calls

    def _best_on(self, label, budget):
        """The fastest variant on a device; None: the kernel as given (at home), or none that works (elsewhere)."""
        at_home = label == self.home
        base = Variant(label)
        best = None
        if at_home:
            self.report.trials.append(Trial("as given", label, "given"))
            if self.configured and self._may_shape():
                best = self._fastest(None, [base], label, budget)
        else:
            made, trial = self._make(base)
            self.report.trials.append(trial)
            if made is None or trial.outcome != "kept back":
                return None
            best = base
        start = Variant(label)
        is_gpu, shape = label.startswith("cuda"), self._may_shape()
        for stage in stages(self.plain, self.sample.values, self.layout, is_gpu, shape, self.report.branches):
            candidates = [v for v in stage(best or start) if v not in self.kernels]
            if not self.optimizer.fastmath:
                candidates = [v for v in candidates if not v.fastmath]
            best = self._fastest(best, candidates, label, budget)
        return best

    def _may_shape(self):
        """Whether the launch's shape may be changed: not where kernel and caller both name threads."""
        if self.configured and (self.given.stream is not None or not self.layout["free"]):
            return False
        lengths = self.layout["domain"]
        known = 1 <= len(lengths) <= 3 and all(n is not None for n in lengths)
        return known and not self.layout["fixed_block"]

    def _kernel(self, variant):
        """What is called for a variant; None stands for the kernel as given."""
        if variant is None:
            return self.given
        if variant not in self.kernels:
            made = variant.make(self.plain, self.sample.values)
            keep_shape = self.configured and not self._may_shape()
            self.kernels[variant] = _runtime.configured_like(made, self.given) if keep_shape else made
        return self.kernels[variant]

    def _make(self, variant):
        """The variant's kernel and its trial, with what its results say; no kernel where it failed."""
        trial = Trial(variant.words(self.names), variant.device, "kept back")
        try:
            callee = self._kernel(variant)
            results = measure.run(callee, self.sample, self.written, variant.device)
        except Exception as error:  # whatever stops a variant, the kernel as given is still there
            trial.outcome, trial.note = "failed", str(error).partition("\n")[0]
            with contextlib.suppress(Exception):
                Device(variant.device).synchronize()
            return None, trial
        trial.deviation, why = measure.difference(self.reference, results, self.optimizer.tolerance)
        if why:
            trial.outcome, trial.note = "rejected", why
        return callee, trial

    def _fastest(self, best, candidates, label, budget):
        """The best of what works, measured in turns with the kernel as given and the best one so far."""
        made = [(variant, *self._make(variant)) for variant in candidates]
        self.report.trials += [trial for _, _, trial in made]
        right = [(v, callee, trial) for v, callee, trial in made if trial.outcome == "kept back"]
        if not right:
            return best
        at_home = label == self.home
        rivals = [self.given if at_home else self._kernel(Variant(label))]
        if best is not None:
            rivals.append(self._kernel(best))
        callees = [*rivals, *(callee for _, callee, _ in right)]
        times = measure.side_by_side(callees, self.sample, self.written, [label] * len(callees), budget)
        if at_home:
            self.report.trials[0].seconds = self.report.trials[0].given_seconds = times[0]
        for (_, _, trial), seconds in zip(right, times[len(rivals) :], strict=True):
            trial.seconds, trial.given_seconds = seconds, times[0]
        mine = times[len(rivals) :]
        # The first one that is as good as the fastest: those before rely on less.
        found = next((i for i, t in enumerate(mine) if t <= min(mine) * STEP), mine.index(min(mine)))
        return right[found][0] if mine[found] * STEP < times[len(rivals) - 1] else best

    # ---- the end ----------------------------------------------------------------------------------------------------

    def _finish(self, variant, name):
        if variant is None:
            return self._as_given("no variant was faster by more than 2 %", name)
        made = self._kernel(variant)
        gains = self._final_gains(variant, made)
        gain = statistics.median(gains)
        if gain < WORTH_IT or min(gains) < 1:  # it must never be slower than the kernel as given
            return self._as_given(
                f"the fastest variant gained {gain:.2f}x when measured again, which is noise", name
            )
        report = self.report
        report.winner, report.gain, report.device = variant.words(self.names), gain, variant.device
        report.why = self._why(variant)
        for trial in report.trials:
            if trial.name == report.winner and trial.device == variant.device:
                trial.outcome = "chosen"
        self._keep(name, variant)
        return optimized_kernel(self.given, made, variant, self.sample.values, report)

    def _final_gains(self, variant, made):
        """Measured again, a few times: what other work on the machine does to one of them it does not do to all."""
        how = measure.seconds_of if variant.device == self.home else measure.wall_of
        callees, labels = [self.given, made], [self.home, variant.device]
        budget = self.optimizer.seconds / 4 / FINAL_TIMES
        times = [
            measure.side_by_side(callees, self.sample, self.written, labels, budget, how)
            for _ in range(FINAL_TIMES)
        ]
        return [given / chosen for given, chosen in times]

    def _why(self, variant):
        parts = []
        if variant.device != self.home:
            parts.append(f"whole calls are {self.elsewhere:.2f}x faster on {variant.device}")
        if variant.fixed:
            parts.append("numbers that are known let loops unroll and tests go")
        if variant.block or variant.order or variant.elements or variant.rows:
            parts.append("this layout of threads suits its accesses better")
        if variant.staged:
            parts.append("what threads of a block share is fetched once, side by side")
        if variant.turns:
            parts.append("loops have fewer tests and jumps, and more loads under way")
        if variant.likely:
            parts.append("the sides of branches that run mostly lie in a row")
        if variant.fastmath:
            parts.append("its arithmetic may be reordered within the tolerance")
        if variant.max_registers or variant.most_threads:
            parts.append("fewer registers let more blocks run at once")
        return "; ".join(parts) or "xcuda's own choice of the launch's shape"

    def _as_given(self, why, name=None):
        self.report.why = f"{why}: the kernel is as given"
        if self.report.source == "disk":
            self.report.why = why
        self._keep(name, None)
        if self.configured:
            return optimized_kernel(self.given, self.given, None, self.sample.values, self.report)
        self.plain.report = self.report
        return self.plain

    def _keep(self, name, variant):
        if name is None:
            return
        data = {"variant": None if variant is None else variant.to_json(), "report": self.report.to_json()}
        if problem := store.save(name, data):
            self.report.notes.append(f"the choice was not kept: {problem}")


def _without_places(data):
    """A syntax tree or names' meanings without lines, columns and files: moving a kernel changes nothing."""
    if isinstance(data, list):
        if (
            len(data) == 3
            and isinstance(data[0], str)
            and isinstance(data[1], list)
            and isinstance(data[2], dict)
        ):
            return [data[0], _without_places(data[2])]
        return [_without_places(item) for item in data]
    if isinstance(data, dict):
        return {key: _without_places(value) for key, value in data.items() if key != "file"}
    return data

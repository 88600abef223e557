"""The report as a Python object: the document, its best-known figures, and how it shows itself."""

from __future__ import annotations

import json

import xcuda


class AbsentFigure(AttributeError):
    """A figure that could not be had, with the reason. `getattr` with a default gives the default."""


class Report:
    """One report. `document` is the JSON of profile/report.schema.json; all else reads it."""

    # (document, metrics=) -> (bundle, metadata): set by whoever knows how a report looks.
    renderer = None

    def __init__(self, document: dict, metrics: tuple[str, ...] = ()):
        self.document = document
        self.metrics = metrics

    @property
    def memory_efficiency(self) -> float:
        """Share of the copy bandwidth that the kernels reached, 0 to 1.

        1 also where caches let them go faster than memory; the document has the ratio itself.
        """
        return min(self._total("memory_efficiency"), 1.0)

    @property
    def compute_efficiency(self) -> float:
        """Share of the multiply-add peak that the kernels reached, 0 to 1."""
        return min(self._total("compute_efficiency"), 1.0)

    @property
    def device_time(self) -> float:
        """Seconds that the kernels ran."""
        return self._total("device_time")

    @property
    def compile_time(self) -> float:
        """Seconds spent compiling kernels."""
        return self._total("compile_time")

    @property
    def kernels(self) -> list[dict]:
        """A row for each kernel and launch shape, in order of the first launch."""
        return self.document["kernels"]

    @property
    def advice(self) -> list[str]:
        return [advice["text"] for advice in self.document["advice"]]

    def to_json(self, indent: int | None = None) -> str:
        return json.dumps(self.document, indent=indent)

    def _total(self, name: str) -> float:
        figure = self.document["totals"][name]
        if "absent" in figure:
            raise AbsentFigure(f"no {name}: {figure['absent']}")
        return figure["value"]

    def __repr__(self) -> str:
        totals = self.document["totals"]
        label, hints = self.document["scope"]["label"], len(self.advice)
        return f"<report of {label}: {totals['launches']} launches, {hints} hints>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        if Report.renderer is None and hasattr(xcuda, "_prepare"):
            xcuda._prepare()
        if Report.renderer is None:
            return {"text/plain": repr(self), "application/json": self.document}
        return Report.renderer(self.document, metrics=self.metrics)

"""The report as a Python object: the document, its best-known figures, and how it shows itself."""

from __future__ import annotations

import json
import os
from pathlib import Path

import xcuda
from xcuda.profiler.cells import displayed

SCHEMA = "xcuda.report/1"


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
        """What the report says to change, a sentence each."""
        return [advice["text"] for advice in self.document["advice"]]

    def to_json(self, file=None, *, indent: int | None = None) -> str:
        """The document as JSON text, also written to `file` (a path) where one is given."""
        return _kept(json.dumps(self.document, indent=indent), file)

    @classmethod
    def from_json(cls, text) -> Report:
        """The report of which to_json gave `text`, or wrote the file of this path. ValueError where it is none."""
        try:
            document = json.loads(_text_of(text))
        except json.JSONDecodeError as error:
            raise ValueError(f"this is no report: it is no JSON ({error})") from None
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            raise ValueError(f"this JSON is no report: its schema is not {SCHEMA}")
        return cls(document)

    def to_csv(self, file=None) -> str:
        """The kernels as CSV text: a row a kernel and launch shape, units in the columns' names, absent ones empty."""
        from xcuda.profiler.table import as_csv

        return _kept(as_csv(self.document), file)

    def to_pandas(self):
        """The kernels as a pandas.DataFrame with to_csv's columns. ImportError without pandas."""
        from xcuda.profiler.table import as_frame

        return as_frame(self.document)

    def to_trace(self, file=None) -> str:
        """The timeline as JSON text for Perfetto (ui.perfetto.dev) and chrome://tracing.

        A track a stream with its launches, and the host's compiles and copies on tracks of their own. ValueError for
        a cell's own report, which has no timeline.
        """
        from xcuda.profiler.trace import as_trace

        return _kept(json.dumps(as_trace(self.document)), file)

    def compare(self, other: Report):
        """What changed from this report to `other`: kernels that became faster or slower, and by what."""
        from xcuda.profiler.comparison import compare

        if not isinstance(other, Report):
            raise TypeError(f"a report is compared with a Report, not with {type(other).__name__}")
        return compare(self.document, other.document)

    def __getattr__(self, name):
        if hasattr(type(self), name):
            return object.__getattribute__(self, name)  # a figure that is absent: raises what it raised
        advice = ""
        if name.startswith(("save", "export", "write", "dump")):
            advice = '; to_json("r.json"), to_csv("r.csv") and to_trace("r.trace") write files'
        elif name in ("plot", "show", "figure"):
            advice = "; %%cuda_profile --roofline --timeline draws, display(r) shows it"
        raise AttributeError(f"'Report' object has no attribute {name!r}{advice}", name=name, obj=self)

    def _total(self, name: str) -> float:
        figure = self.document["totals"][name]
        if "absent" in figure:
            raise AbsentFigure(f"no {name}: {figure['absent']}")
        return figure["value"]

    def __repr__(self) -> str:
        totals = self.document["totals"]
        launches, hints = (
            _counted(totals["launches"], "launch", "es"),
            _counted(len(self.advice), "hint", "s"),
        )
        return f"<report of {self.document['scope']['label']}: {launches}, {hints}>"

    def __str__(self) -> str:
        """The report as text, where something knows how it looks (the magics do)."""
        if Report.renderer is None and hasattr(xcuda, "_prepare"):
            xcuda._prepare()
        if Report.renderer is not None:
            return Report.renderer(self.document, metrics=self.metrics)[0]["text/plain"]
        return "\n".join([repr(self), *map(_line, self.document["kernels"])])

    def _repr_mimebundle_(self, include=None, exclude=None):
        displayed(self.document)
        if Report.renderer is None and hasattr(xcuda, "_prepare"):
            xcuda._prepare()
        if Report.renderer is None:
            return {"text/plain": repr(self), "application/json": self.document}
        return Report.renderer(self.document, metrics=self.metrics)


def _counted(number: int, what: str, more: str) -> str:
    return f"{number} {what}{'' if number == 1 else more}"


def _line(kernel: dict) -> str:
    """A kernel's figures in one line, for scripts."""
    total, rates = kernel["time"]["total"], []
    time = f"{1e3 * total['value']:.4g} ms" if "value" in total else f"time: {total['absent']}"
    for name, unit in (("bandwidth", "GB/s"), ("flop_rate", "GFLOP/s")):
        if "value" in kernel.get(name, {}):
            rates.append(f"{kernel[name]['value'] / 1e9:.4g} {unit}")
    shape = f"grid {tuple(kernel['grid'])}, block {tuple(kernel['block'])}"
    calls = _counted(kernel["calls"], "launch", "es")
    return f"  {kernel['name']}: " + ", ".join([calls, f"{time} on {kernel['device']}", *rates, shape])


def _text_of(source) -> str:
    """JSON text as it is; of a path the file's."""
    if isinstance(source, os.PathLike) or (
        isinstance(source, str) and not source.lstrip().startswith(("{", "["))
    ):
        with open(source, encoding="utf-8") as file:
            return file.read()
    return source


def _kept(text: str, file) -> str:
    if file is not None:
        Path(file).write_text(text, encoding="utf-8")
    return text

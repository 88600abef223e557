"""A recording: a mark in the runtime's log of events, and the report of what came after it."""

from __future__ import annotations

import sys

# An event's launch may still run when its report is due; a cell must not feel slow for that.
CELL_WAIT = 0.05
# Launches of one kernel and shape whose hardware counters are read: each is run several times over for it.
COUNTED = 3


class Recording:
    """Everything that happens on the devices from its making to `report`.

    `watch`: other libraries' work on the GPUs too; "exact" runs kernels one after the other, for their times,
    "overlapping" lets those of different streams run at once. `counters`: metrics of counters.COUNTERS to read; nothing
    is watched then, CUPTI does one of the two. `summed`: thousands of launches alike are told as one sum.
    """

    def __init__(
        self,
        kind: str,
        label: str,
        *,
        load: bool = True,
        from_start: bool = False,
        watch: str | None = None,
        counters: tuple[str, ...] = (),
        summed: bool = False,
    ):
        self.kind = kind
        self.label = label
        self.runtime = _runtime(load)
        marked = self.runtime is not None and not from_start
        # Without a runtime nothing can have happened yet: the log starts at 0.
        self.mark = self.runtime.profile_mark(summed) if marked else 0
        self.watch = self.counting = None
        if self.runtime is not None and counters:
            from xcuda.profiler.counters import rows

            self.counting = self.runtime.Counting(rows(counters), COUNTED)
        elif self.runtime is not None and watch:
            self.watch = self.runtime.Watch(watch == "overlapping")
        self.begin = self.runtime.clock() if marked else None

    def stop(self) -> None:
        """Ends the watching and counting."""
        self.watch = self.counting = None

    def report(
        self, *, failed: bool = False, wait: float = CELL_WAIT, measure: bool = False, timeline: bool = False
    ) -> dict | None:
        """The document of profile/report.schema.json, or None where no device was used.

        `wait`: seconds for which launches that still run are waited for. `measure`: find this machine's
        ceilings now (about 40 ms, once a machine) instead of in the background. `timeline`: with the time of
        each event.
        """
        runtime = self.runtime or _runtime(False)
        if runtime is None:
            return None
        begin = runtime.clock() if self.begin is None else self.begin
        try:
            document = runtime.report_since(
                self.mark,
                self.kind,
                self.label,
                begin,
                failed,
                wait,
                measure,
                timeline,
                self.watch,
                self.counting,
            )
        finally:
            self.stop()
        if document is None:
            return None
        if self.begin is None:
            # The runtime was loaded meanwhile, after the clock should have been read.
            document["scope"]["time"] = {"absent": "the runtime was loaded in between"}
        return document


def _runtime(load: bool):
    module = sys.modules.get("xcuda._runtime")
    if module is None and load:
        from xcuda import _runtime as module
    return module

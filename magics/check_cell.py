"""%%cuda_check: a cell whose launches are checked before they start, and how what was found looks."""

from __future__ import annotations

import sys

from IPython.core.error import UsageError
from xcuda.magics.options import variable
from xcuda.magics.profile_cell import compiled


def check_cell(shell, cell: str, options):
    """Runs the cell under check; options: output, orders, seed, steps, on, launches, skip. Gives the report."""
    __tracebackhide__ = True  # IPython shows the frames of the cell alone
    from IPython.display import display
    from xcuda import check

    variable(options.output)
    skipped = [name for part in options.skip or () for name in part.split(",") if name]
    unknown = [name for name in skipped if name not in check.rules()]
    if unknown:
        raise UsageError(f"there is no rule {unknown[0]!r}; --skip takes {', '.join(check.rules())}")
    for name in ("orders", "steps", "launches"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            raise UsageError(f"--{name} is a whole number from 1, not {getattr(options, name)}")
    code, last = compiled(shell, cell, "%%cuda_check")
    report = check.Report()
    try:
        with check.checking(
            orders=options.orders,
            seed=options.seed,
            steps=options.steps,
            alike=options.launches,
            on=options.on,
        ) as report:
            exec(code, shell.user_ns)
            if last is not None:
                sys.displayhook(eval(last, shell.user_ns))
    finally:
        report = report.without(skipped) if skipped else report
        if options.output is not None:
            shell.user_ns[options.output] = report
        display(Checked(report))
    return report


class Checked:
    """A check's report as a notebook shows it."""

    def __init__(self, report):
        self.report = report

    def __repr__(self):
        return repr(self.report)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from xcuda.check.report import times
        from xcuda.core._cells import source_line
        from xcuda.magics.render import template

        html = template("check.html").render(r=self.report, source=source_line, times=times)
        return {"text/plain": repr(self.report), "text/html": html}

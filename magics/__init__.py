"""Magics over xcuda's runtime, and how a report looks. Importing this package loads nothing else of it.

register(shell)                     makes %cuda_info, %%cuda_profile, ... known to an IPython shell
render_report(document)             (MIME bundle, metadata) of a report
kernel_completions(code, position)  the kernel language's names at a place inside a kernel
"""

__all__ = ["kernel_completions", "register", "render_report"]


def register(shell, hooks: bool = True) -> None:
    """Make the magics known to `shell`, once.

    hooks: also show each cell's report through the shell's own events, as ipykernel and IPython need it. A
    shell of the xcuda kernel shows reports by itself and never gets them.
    """
    from xcuda.magics.shell import register

    register(shell, hooks)


def render_report(document: dict, metrics: tuple[str, ...] = ()) -> tuple[dict, dict]:
    """(bundle, metadata): text/plain, text/html and application/vnd.xcuda.report.v1+json of one report.

    metrics: names out of xcuda.profiler.METRICS; only those figures are shown. The JSON always has all.
    """
    from xcuda.magics.render import render_report

    return render_report(document, metrics)


def kernel_completions(code: str, cursor_pos: int) -> tuple[list[str], int, int] | None:
    """(names, start, end) for the kernel language at `cursor_pos` (in characters); None outside a kernel."""
    from xcuda.magics.completions import kernel_completions

    return kernel_completions(code, cursor_pos)

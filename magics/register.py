"""Makes the magics known to a shell, and shows reports through its events where the kernel does not do so."""

from __future__ import annotations


def register(shell, hooks: bool) -> None:
    if not getattr(shell, "_xcuda_magics", False):
        from xcuda.magics.commands import CudaMagics

        shell.register_magics(CudaMagics)
        shell._xcuda_magics = True
    if hooks and not shows_reports_itself(shell) and not getattr(shell, "_xcuda_hooks", False):
        shell.events.register("pre_run_cell", before_cell)
        shell.events.register("post_run_cell", after_cell)
        shell._xcuda_hooks = True


def shows_reports_itself(shell) -> bool:
    return any(cls.__module__.startswith("xcuda.kernel") for cls in type(shell).__mro__)


def before_cell(info) -> None:
    from IPython import get_ipython
    from xcuda.profiler import cell_begin

    cell_begin(info.raw_cell or "", get_ipython().execution_count)


def after_cell(result) -> None:
    from xcuda.profiler import cell_end

    report = cell_end(not result.success)
    if report is not None:
        from IPython.display import display
        from xcuda.magics.render import render_report

        bundle, metadata = render_report(report)
        display(bundle, metadata=metadata, raw=True)

"""%%cuda_profile, %cuda_profile and %%cuda_trace: a cell or an expression under the profiler."""

from __future__ import annotations

import ast
import sys

from IPython.core.error import UsageError
from xcuda.magics.options import variable

# What does the same for a cell that awaits.
AWAITING = {
    "%%cuda_limit": "`%cuda_limit time=5s` in a cell before holds for every cell, such as this one",
    "%%cuda_check": "use `with cuda.checking() as report:` in such a cell",
    "%%cuda_debug": "call cuda.debug(kernel[grid, block], ...) in such a cell",
}


class Unfolded:
    """A report shown with its details open."""

    def __init__(self, report, pictures: tuple[str, ...] = ()):
        self.report = report
        self.pictures = pictures

    def __repr__(self):
        return repr(self.report)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from xcuda.magics.render import render_report

        return render_report(self.report.document, self.report.metrics, self.pictures, unfolded=True)


def profile_cell(shell, cell: str, options, magic: str = "%%cuda_profile", overlapping: bool = False):
    """Runs the cell `options.number` times under one profile; gives the report, None where no device was used.

    `options`: output, quiet, metrics, counters, number, target, timeline, roofline. `magic`: what messages call it.
    `overlapping`: kernels of different streams may run at once, as when a timeline is drawn.
    """
    __tracebackhide__ = True  # IPython shows the frames of the cell alone
    from IPython.display import display
    from xcuda import profiler

    variable(options.output)
    if options.number < 1:
        raise UsageError(f"-n is how often to run, 1 or more, not {options.number}")
    target = getattr(options, "target", None)
    if target:
        from xcuda.magics.targeted import check_target

        check_target(target)
    metrics = [name for part in options.metrics or () for name in part.split(",") if name]
    try:
        profiling = profiler.profile(
            metrics=metrics or None, counters=options.counters, overlapping=overlapping or options.timeline
        )
    except ValueError as unknown:
        raise UsageError(str(unknown)) from None
    code, last = compiled(shell, cell, magic)
    profiling.label = cell_label(shell)
    try:
        with profiling:
            for _ in range(options.number):
                exec(code, shell.user_ns)
                if last is not None:
                    value = eval(last, shell.user_ns)
        if last is not None:
            sys.displayhook(value)
    finally:
        if is_whole_cell(shell):
            profiler.leave_out()  # the cell's own report would repeat this one
        if options.output is not None:
            shell.user_ns[options.output] = profiling.report
        if profiling.report is not None and not options.quiet:
            pictures = tuple(name for name in ("timeline", "roofline") if getattr(options, name))
            display(Unfolded(profiling.report, pictures))
            if target:
                from xcuda.magics.targeted import targeted

                display(targeted(profiling.report, shell.user_ns, target))
    if profiling.report is None:
        print("The cell used no device: there is nothing to profile.")
    return profiling.report


def compiled(shell, cell: str, magic: str = "%%cuda_profile"):
    """The cell as (code, code of a last expression or None), under the name that IPython gives to cells.

    It runs in this very call, and not as a cell of its own, so that an error leaves as any cell's does.
    """
    __tracebackhide__ = True
    text, name, tree = parsed(shell, cell, magic)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not text.rstrip().endswith(";"):
        last = compile(ast.Expression(tree.body.pop().value), name, "eval")
    return compile(tree, name, "exec"), last


def parsed(shell, cell: str, magic: str) -> tuple[str, str, ast.Module]:
    """(the cell as Python, the name it goes by, its tree). UsageError where it awaits at its top level."""
    __tracebackhide__ = True
    text = shell.transform_cell(cell)
    name = shell.compile.cache(text, cell_number(shell), raw_code=cell)
    tree = shell.compile.ast_parse(text, filename=name)
    if any(isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) for node in outside_functions(tree)):
        raise UsageError(
            f"{magic} takes no top-level await; "
            + AWAITING.get(magic, "use `with xcuda.profiler.profile():` in such a cell")
        )
    return text, name, shell.transform_ast(tree)


def cell_number(shell) -> int:
    """Of the cell that runs; IPython has counted on by then."""
    running = getattr(shell.displayhook, "exec_result", None)
    number = getattr(running, "execution_count", None)
    return shell.execution_count if number is None else number


def is_whole_cell(shell) -> bool:
    """Whether the magic that runs is all that its cell holds: then the cell needs no report of its own."""
    info = getattr(getattr(shell.displayhook, "exec_result", None), "info", None)
    text = getattr(info, "raw_cell", None) or ""
    return text.lstrip().startswith("%%") or len(text.strip().splitlines()) <= 1


def cell_label(shell) -> str:
    return f"In [{cell_number(shell)}]"


def outside_functions(node):
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from outside_functions(child)

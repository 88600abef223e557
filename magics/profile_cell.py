"""%%cuda_profile: a cell under the profiler, with its report unfolded."""

from __future__ import annotations

import ast
import sys

from IPython.core.error import UsageError


class Unfolded:
    """A report shown with its details open."""

    def __init__(self, report):
        self.report = report

    def __repr__(self):
        return repr(self.report)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from xcuda.magics.render import render_report

        bundle, metadata = render_report(self.report.document, self.report.metrics)
        bundle["text/html"] = bundle["text/html"].replace("<details ", "<details open ", 1)
        return bundle, metadata


def profile_cell(shell, cell: str, output: str | None, quiet: bool, metrics: list[str] | None) -> None:
    from IPython.display import display
    from xcuda import profiler

    if output is not None and not output.isidentifier():
        raise UsageError(f"-o takes a variable's name, not {output!r}")
    try:
        profiling = profiler.profile(metrics=metrics)
    except ValueError as unknown:
        raise UsageError(str(unknown)) from None
    code, last = compiled(shell, cell)
    profiling.label = f"In [{shell.execution_count}]"
    try:
        with profiling:
            exec(code, shell.user_ns)
            if last is not None:
                value = eval(last, shell.user_ns)
        if last is not None:
            sys.displayhook(value)
    finally:
        profiler.leave_out()  # the cell's own report would repeat this one
        if output is not None:
            shell.user_ns[output] = profiling.report
        if profiling.report is not None and not quiet:
            display(Unfolded(profiling.report))
    if profiling.report is None:
        print("The cell used no device: there is nothing to profile.")


def compiled(shell, cell: str):
    """The cell as (code, code of a last expression or None), under the name that IPython gives to cells.

    It runs in this very call, and not as a cell of its own, so that an error leaves as any cell's does.
    """
    text = shell.transform_cell(cell)
    name = shell.compile.cache(text, shell.execution_count, raw_code=cell)
    tree = shell.compile.ast_parse(text, filename=name)
    if any(isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) for node in outside_functions(tree)):
        raise UsageError(
            "%%cuda_profile takes no top-level await; use `with xcuda.profiler.profile():` in such a cell"
        )
    tree = shell.transform_ast(tree)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not text.rstrip().endswith(";"):
        last = compile(ast.Expression(tree.body.pop().value), name, "eval")
    return compile(tree, name, "exec"), last


def outside_functions(node):
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from outside_functions(child)

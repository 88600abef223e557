"""%%cuda_time: how long a cell or an expression takes, on the device and on the host."""

from __future__ import annotations

import ast

from IPython.core.error import UsageError
from xcuda.magics.profile_cell import cell_label, is_whole_cell, parsed

FUNCTION = "_timed"


def time_cell(shell, cell: str, calls: int | None, budget: float, cold: bool, magic: str):
    """The Benchmark of the cell. As in %%timeit it runs as a function's body: what it assigns is gone afterwards."""
    from xcuda import profiler

    if calls is not None and calls < 1:
        raise UsageError(f"-n is how often to run, 1 or more, not {calls}")
    if not 0 < budget <= 60:
        raise UsageError(f"-t is in seconds, above 0 and up to 60, not {budget:g}")
    _, name, tree = parsed(shell, cell, magic)
    if not tree.body:
        raise UsageError(f"{magic} needs something to run")
    function = ast.parse(f"def {FUNCTION}():\n    pass").body[0]
    function.body = tree.body
    tree.body = [function]
    space: dict = {}
    try:
        exec(compile(tree, name, "exec"), shell.user_ns, space)
    except SyntaxError as error:  # a return, a yield outside of a function
        raise UsageError(f"{magic} can't run this: {error.msg} (line {error.lineno})") from None
    try:
        timed = profiler.benchmark(space[FUNCTION], calls=calls, budget=budget, cold=cold)
    finally:
        if is_whole_cell(shell):
            profiler.leave_out()  # the report of thousands of calls would say less
    return named(timed, cell_label(shell))


def named(benchmark, name: str):
    from dataclasses import replace

    return replace(benchmark, name=name)

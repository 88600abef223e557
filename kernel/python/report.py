"""Where a cell meets the runtime: told of each cell's begin and end, it may give a report to show under the cell.

The runtime is never imported for this. A failure here never breaks a cell: it is logged once to the process's stderr.
"""

import importlib.util
import sys
import traceback

from . import _kernel
from .display import publish_display

_told: set[str] = set()


def call(module: str, function: str, *arguments):
    """Call a function of the runtime's Python side. Returns None if it fails, and says so once."""
    try:
        return getattr(importlib.import_module(module), function)(*arguments)
    except Exception:
        where = f"{module}.{function}"
        if where not in _told:
            _told.add(where)
            _kernel.log(f"xcuda kernel: {where} failed; cells go on without it.\n{traceback.format_exc()}")
        return None


def runtime_loaded() -> bool:
    return "xcuda._runtime" in sys.modules


def begin(code: str, execution_count: int) -> None:
    """Before a cell."""
    if runtime_loaded():
        call("xcuda.profiler", "cell_begin", code, execution_count)


def end(failed: bool, execution_count: int) -> None:
    """After a cell: show its report, if it used a device."""
    if not runtime_loaded():
        return
    report = call("xcuda.profiler", "cell_end", failed, execution_count)
    if report is None:
        return
    rendered = call("xcuda.magics", "render_report", report)
    if rendered is not None:
        data, metadata = rendered
        publish_display(data, metadata)


def register(shell) -> None:
    """At the kernel's start: the magics' names and the article's import names. Neither loads the runtime."""
    if importlib.util.find_spec("xcuda.magics") is not None:
        call("xcuda.magics", "register", shell)
    if hasattr(importlib.import_module("xcuda"), "install_names"):
        call("xcuda", "install_names")

"""An IPython shell with the magics in it and a kernel `triple` in its notebook, for the tests of magics."""

from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from report_documents import valid
from xcuda.magics.render import MIME

KERNEL = """
import numpy as np
import xcuda.core as cuda

@cuda.kernel
def triple(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 3 * x[i]
"""


def a_shell():
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "xcuda")
    shell.run_cell(KERNEL)
    shell.run_cell("triple(np.ones(10, np.float32))")
    yield shell
    InteractiveShell.clear_instance()


def run(shell, code, ok=True):
    with capture_output() as captured:
        result = shell.run_cell(code, store_history=True)
    assert result.success is ok, captured.stdout + captured.stderr
    return captured


def report_of(captured):
    found = [output.data[MIME] for output in captured.outputs if MIME in output.data]
    assert len(found) <= 1, "one report a cell"
    return valid(found[0]) if found else None


def usage_error(shell, line):
    captured = run(shell, line, ok=False)
    return captured.stderr + captured.stdout

"""%%cuda_debug: a cell with one thread of a kernel followed line by line, and how that looks."""

from __future__ import annotations

import ast
import contextlib
import sys

from IPython.core.error import UsageError
from xcuda.magics.options import variable
from xcuda.magics.profile_cell import compiled


def debug_cell(shell, cell: str, options):
    """Runs the cell and follows a thread; options: thread, kernel, launch, condition, line, steps, rows, output."""
    __tracebackhide__ = True  # IPython shows the frames of the cell alone
    from IPython.display import display
    from xcuda import _runtime
    from xcuda.check.debugger import follow
    from xcuda.check.session import _hooked

    variable(options.output)
    for name in ("launch", "steps", "rows"):
        if getattr(options, name) < 1:
            raise UsageError(f"--{name} is a whole number from 1, not {getattr(options, name)}")
    condition = unquoted(options.condition)
    if condition is not None:
        try:
            compile(condition, "<condition>", "eval")
        except SyntaxError as error:
            raise UsageError(f"--break takes a Python expression, not {condition!r}: {error.msg}") from None
    place = None if options.thread is None else thread_named(options.thread)
    code, last = compiled(shell, cell, "%%cuda_debug")
    made, launches = [], []

    def look(callee, values):
        kernel = callee.kernel if isinstance(callee, _runtime.Configured) else callee
        if made or (options.kernel and kernel.__name__ != options.kernel):
            return
        launches.append(kernel.__name__)
        if len(launches) != options.launch:
            return
        try:
            if place is not None:
                made.append(follow(callee, values, *place, options.steps))
                return
            with contextlib.suppress(LookupError):
                made.append(follow(callee, values, None, None, options.steps, at_breakpoint=True))
                return
            made.append(follow(callee, values, (0, 0, 0), (0, 0, 0), options.steps))
        except (IndexError, TypeError) as error:
            raise UsageError(str(error)) from None

    try:
        with _hooked(look):
            exec(code, shell.user_ns)
            if last is not None:
                sys.displayhook(eval(last, shell.user_ns))
    finally:
        if made:
            if options.output is not None:
                shell.user_ns[options.output] = made[0]
            display(Followed(made[0], condition, options.line, options.rows))
            stop_in_debugger(made[0])
    if not made:
        which = (
            f"launch {options.launch} of {options.kernel}" if options.kernel else f"launch {options.launch}"
        )
        print(f"There was no {which} in this cell: {', '.join(launches) or 'no kernel'} was launched.")


def unquoted(text: str | None) -> str | None:
    """A condition without the quotes that the shell's words leave around it."""
    if text is not None and len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


def thread_named(text: str):
    """((bx, by, bz), (tx, ty, tz)) of "(0,0,0),(1,0,0)", "0,1" or "2,(1,1)"."""
    try:
        pair = ast.literal_eval(text)
        block, thread = pair
        found = tuple(((part,) if isinstance(part, int) else tuple(part)) for part in (block, thread))
        if all(1 <= len(part) <= 3 and all(isinstance(i, int) and i >= 0 for i in part) for part in found):
            return found
    except (ValueError, SyntaxError, TypeError):
        pass
    raise UsageError(f"--thread takes a block and a thread, (bx,by,bz),(tx,ty,tz), not {text!r}")


class Followed:
    """A followed thread as a notebook shows it: all lines, or the stops with all variables."""

    def __init__(self, debugged, condition, line, rows):
        self.debugged, self.rows = debugged, rows
        self.stops = None
        asked = condition is not None or line is not None
        if asked or any(s.breakpoint for s in debugged):
            try:
                self.stops = debugged.stops(condition, line)
            except (NameError, ValueError) as error:
                raise UsageError(str(error)) from None
            if line is not None and not self.stops and all(s.line != line for s in debugged):
                came = sorted({s.line for s in debugged})
                raise UsageError(f"the thread came to no line {line}: it came to {', '.join(map(str, came))}")

    def __repr__(self):
        from xcuda.check.shown import debugged_text

        return debugged_text(self.debugged, self.stops, self.rows)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from xcuda.check.shown import head_of, notes_of, rows_of
        from xcuda.magics.render import template

        rows = rows_of(self.debugged, self.stops, self.rows)
        of = len(self.debugged) if self.stops is None else len(self.stops)
        html = template("debug.html").render(
            head=head_of(self.debugged),
            rows=rows,
            notes=notes_of(self.debugged, len(rows), of),
            what="variables" if self.stops is not None else "changed",
        )
        return {"text/plain": repr(self), "text/html": html}


def stop_in_debugger(debugged) -> None:
    """Where a debugger is attached to this process, it stops at the thread's breakpoint() with its variables there."""
    stops = debugged.stops()
    debugpy = sys.modules.get("debugpy")
    if not stops or debugpy is None or not debugpy.is_client_connected():
        return
    stop = stops[0]
    # A frame of its own at the kernel's line, whose variables are the thread's: it is stopped in before its second
    # statement.
    asks, waits = ast.parse("breakpoint()\nbreakpoint").body
    for statement, line in ((asks, max(stop.line - 1, 1)), (waits, stop.line)):
        for node in ast.walk(statement):
            node.lineno = node.end_lineno = line
    code = compile(ast.Module([asks, waits], []), stop.file, "exec")
    exec(code, {**debugged.arguments, **stop.variables, "breakpoint": debugpy.breakpoint})

"""A line under the cell that runs, written anew in its place; any thread may do so."""

from __future__ import annotations

import sys
import uuid


class LiveLine:
    """`line(text, which)`: the "first" line of a cell, then a "next" or the "last" in its place.

    A notebook shows it as a display that is updated, a terminal by a carriage return; where there is neither, nothing
    is shown.
    """

    def __init__(self, shell):
        self.publisher = (
            shell.display_pub
        )  # %%capture swaps it for the time of a cell: this is no output of the user's
        self.terminal = any(cls.__module__.startswith("IPython.terminal") for cls in type(shell).__mro__)
        self.display = ""
        self.width = 0

    def __call__(self, text: str, which: str) -> None:
        if self.terminal:
            self._write(text, which)
            return
        if which == "first":
            self.display = f"xcuda-line-{uuid.uuid4().hex}"
        self.publisher.publish(
            {"text/plain": text}, {}, transient={"display_id": self.display}, update=which != "first"
        )

    def _write(self, text: str, which: str) -> None:
        if not sys.stderr.isatty():
            return
        width = 0 if which == "first" else self.width
        sys.stderr.write("\r" + text + " " * (width - len(text)) + ("\n" if which == "last" else ""))
        sys.stderr.flush()
        self.width = len(text)

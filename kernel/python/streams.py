"""``sys.stdout`` and ``sys.stderr`` of the kernel: files over the one ordered buffer in C++ (``streams.hpp``)."""

import io
import sys

from . import _kernel, crash


class OutStream(io.TextIOBase):
    """A text stream whose lines appear under the cell. Any thread may write; a forked child's text comes too."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, name: str, index: int):
        self.name = f"<{name}>"
        self._index = index

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self.closed:
            raise ValueError("I/O operation on closed file")
        try:
            _kernel.write(self._index, text)
        except UnicodeEncodeError:  # lone surrogates
            _kernel.write(self._index, text.encode("utf-8", self.errors).decode("utf-8"))
        return len(text)

    def flush(self) -> None:
        _kernel.flush()

    def fileno(self) -> int:
        return self._index + 1

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def close(self) -> None:
        """Closing the notebook's own streams would silence the kernel for good: only flushes."""
        self.flush()


def install() -> None:
    """Replace ``sys.stdout`` and ``sys.stderr``, and show what descriptors 1 and 2 get."""
    import faulthandler
    import os

    sys.stdout = OutStream("stdout", 0)
    sys.stderr = OutStream("stderr", 1)
    if os.environ.get("XCUDA_CAPTURE_FD", "1") != "0":
        _kernel.capture_descriptors()
    # A crash must be told where somebody reads it: the pipe dies with the process.
    # To the crash report; where there is none to write, to the process's own stderr.
    faulthandler.enable(file=crash.descriptor() or os.dup(_kernel.log_descriptor()))


def restore_after_cell() -> None:
    """Undo a ``write`` that IPython's tee left behind when an interrupt cut it short."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, OutStream):
            stream.__dict__.pop("write", None)

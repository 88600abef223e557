"""What is left of a kernel that dies of a fatal signal: a file with its cell, the generated text and Python's stack.

The next kernel of the same notebook says where it is.
"""

import atexit
import contextlib
import faulthandler
import os
import sys
import time

_descriptor = -1
_path = ""
_told = ""  # the report of the kernel before this one, until a cell has told of it


def folder() -> str:
    """Beside the compile cache, by the same rule."""
    named = os.environ.get("XCUDA_CACHE_DIR")
    if not named:
        named = os.path.join(
            os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "xcuda"
        )
    return os.path.join(named, "crashes")


def private(path: str) -> None:
    """Makes a folder that is its owner's alone, where there is none."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)


def start(connection_file: str) -> None:
    """Begins a file for this kernel; without a place to write there is none, and no kernel fails for it."""
    global _descriptor, _path, _told
    try:
        private(os.path.dirname(folder()))
        private(folder())
        stem = os.path.splitext(os.path.basename(connection_file))[0]
        _path = os.path.join(folder(), f"{stem}.txt")
        _told = _kept(_path, stem)
        _descriptor = os.open(_path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
        faulthandler.enable(file=_descriptor)  # until streams does so, for what goes wrong before
    except OSError:
        _descriptor = -1
        return
    os.environ["XCUDA_CRASH_FILE"] = f"{os.getpid()}:{_path}"
    atexit.register(_ended_well)


def descriptor() -> int | None:
    """Of the file; None where there is none."""
    return None if _descriptor < 0 else _descriptor


def cell(code: str) -> None:
    """Before a cell: it is what a crash will be laid to."""
    global _told
    if _descriptor >= 0:
        with contextlib.suppress(OSError):
            os.ftruncate(_descriptor, 0)
            head = f"xcuda kernel {os.getpid()}, {time.strftime('%Y-%m-%d %H:%M:%S')}\n---- the cell ----\n"
            os.write(_descriptor, f"{head}{code}\n".encode(errors="replace"))
    if _told:
        print(f"This notebook's last kernel crashed; its cell and kernel are in {_told}", file=sys.stderr)
        _told = ""


def _kept(path: str, stem: str) -> str:
    """The crash report that the last kernel left under this name, moved out of the way; "" for none."""
    try:
        with open(path, errors="replace") as left:
            crashed = "Fatal Python error" in left.read()
    except OSError:
        return ""
    if not crashed:
        return ""
    moved = os.path.join(folder(), f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}.txt")
    os.replace(path, moved)
    return moved


def _ended_well() -> None:
    if os.environ.get("XCUDA_CRASH_FILE", "").partition(":")[0] == str(os.getpid()):
        faulthandler.disable()
        with contextlib.suppress(OSError):
            os.unlink(_path)

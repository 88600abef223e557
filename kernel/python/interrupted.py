"""Interrupts as Python meets them in this process, from its start to its end.

A KeyboardInterrupt can be lost: IPython swallows it in its event callbacks, Python in a ``__del__``, a cell's own
``except`` may. CPython writes each signal that it notes to a descriptor as well, whatever handler is set: what came is
read there, so that kernels end with the cell even then.
"""

import os
import signal

_noted = -1  # the descriptor


def wait_for_cells() -> None:
    """At the process's start: SIGINT doesn't end a kernel that is still starting. Jupyter may itself have been started
    with SIGINT ignored (nohup, a background job): interrupts must work even then."""
    signal.signal(signal.SIGINT, lambda *_: None)


def serve() -> None:
    """From here on SIGINT interrupts."""
    global _noted
    _noted, written = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    os.register_at_fork(
        after_in_child=lambda: signal.set_wakeup_fd(-1)
    )  # a child's signals are not the kernel's
    signal.signal(signal.SIGINT, signal.default_int_handler)


def end() -> None:
    """The kernel goes down: an interrupt that comes while the interpreter is taken apart would end the process as if it
    had failed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def take() -> bool:
    """Whether one came since this was asked last."""
    try:
        return signal.SIGINT in os.read(_noted, 65536)
    except BlockingIOError:
        return False

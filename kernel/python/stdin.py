"""``input()`` and ``getpass()``: asked of the front-end that sent the cell."""

import builtins
import getpass
import sys

from . import _kernel

_allowed = False


def allow(allowed: bool) -> None:
    """Whether the front-end of the running request answers questions."""
    global _allowed
    _allowed = allowed


def ask(prompt="", /):
    """Read a line from the front-end. The prompt is shown beside its input box."""
    return _ask(str(prompt), False)


def ask_password(prompt="Password: ", stream=None, **_):
    """Read a line from the front-end without showing it."""
    return _ask(str(prompt), True)


def _ask(prompt: str, password: bool) -> str:
    if not _allowed:
        from IPython.core.error import StdinNotImplementedError

        raise StdinNotImplementedError(
            "input was asked for, but this frontend does not support input requests."
        )
    sys.stdout.flush()
    return _kernel.ask_input(prompt, password)


def install() -> None:
    builtins.input = ask
    getpass.getpass = ask_password

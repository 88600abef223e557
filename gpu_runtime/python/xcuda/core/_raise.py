"""Builds the exceptions that the C++ runtime raises, with a traceback into the user's kernel."""

import builtins
import sys
import weakref

from xcuda import _runtime

from . import errors
from ._cells import name_cell


def build(fault, type_name, message, hint, place, kernel, launched):
    """The exception for a runtime error.

    fault: "user", "machine" or "internal". place: (file, line, column, end_line, end_column) of the kernel's source
    or None; columns in UTF-8 bytes. launched: (file, line) of the call, where the error surfaced later than that.
    """
    if type_name == "SyntaxError" and place is not None:
        file, line, column, end_line, end_column = place
        error = errors.kernel_syntax_error(
            message, hint, filename=file, line=line, column=column, end_line=end_line, end_column=end_column
        )
    else:
        if fault == "machine" and type_name == "MemoryError":
            message, hint = f"{message}{_holders()}", hint or _less_memory()
        if type_name == "DeviceLostError":
            from .lost import told

            message, hint = told(message), ""
        error = _made(_kind(fault, type_name), f"{message}; {hint}" if hint else message)
        if place is not None:
            error = _raised_at(error, place[0], place[1], kernel or "<kernel>")
    # A sentence for whoever wrote the line, who needs none of our frames. (A user's own kind may refuse attributes.)
    error.__dict__["_xcuda_told"] = fault != "internal"
    if launched is not None:
        error.add_note(f"launched at line {launched[1]} of {name_cell(launched[0])}")
    return error


_LESS_MEMORY = (
    "delete what is no longer needed (`del name`; cuda.memory_info() lists all), or do the work in parts"
)


def _less_memory():
    """What to do about a full device; in a notebook with the magic that does it."""
    module = sys.modules.get("IPython")
    if module is None or module.get_ipython() is None:
        return _LESS_MEMORY
    return (
        "give back what is no longer needed (%cuda_free NAME, or --unused; %cuda_mem lists all), or do the work in "
        "parts"
    )


def _holders():
    """The largest arrays of the current device, for a message that its memory is full."""
    from . import memory

    try:
        told = memory.largest_arrays(_runtime.current_device_label())
    except Exception:  # an error on the way must not hide the first one
        return ""
    return f". The largest: {told}" if told else ""


_user_kinds = weakref.WeakValueDictionary()  # by name: the exceptions of their own that users' kernels raise


def user_kind(kind):
    """The name by which a fault tells an exception class of the user's: the class last captured under it."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    _user_kinds[name] = kind
    return name


def _made(kind, text):
    """An exception with this text, also of a class that takes other arguments."""
    try:
        return kind(text)
    except Exception:
        error = kind.__new__(kind)
        error.args = (text,)
        return error


def _kind(fault, type_name):
    if type_name in _user_kinds:
        return _user_kinds[type_name]
    if type_name == "DeviceLostError":
        return errors.DeviceLostError
    if fault == "machine" and type_name == "MemoryError":
        return errors.DeviceMemoryError
    if fault == "internal":
        return errors.InternalError
    if fault == "machine" and type_name == "RuntimeError":
        return errors.MachineError
    kind = getattr(builtins, type_name, RuntimeError)
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else RuntimeError


def _raised_at(error, file, line, name):
    """`error` with a traceback whose one frame is `line` of `file`, so that tools show the user's source."""
    code = compile("\n" * (line - 1) + "raise error", file, "exec").replace(co_name=name)
    try:
        exec(code, {"error": error})
    except BaseException as raised:
        return raised.with_traceback(raised.__traceback__.tb_next)

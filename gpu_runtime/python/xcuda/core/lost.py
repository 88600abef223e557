"""What a user is told once a kernel's fault has ended a GPU for this process."""

from xcuda import _runtime
from xcuda.core._cells import name_cell
from xcuda.core.memory import human, live_arrays

_LISTED = 5  # arrays, and launches, in a message
_told = {}  # by device: what went is listed once, for all later errors


def told(message):
    """The whole sentence for an error of the runtime, whose `message` begins with the device's label."""
    label = message.split(" ", 1)[0]
    if label not in _runtime.device_labels():
        return f"{message}; restart the notebook's kernel to use the GPU again"
    if label not in _told:
        _told[label] = ""  # an error on the way must not hide the first one
        _told[label] = f"{_launches(label)}{_arrays(label)}"
    return f"{message}{_told[label]}{_what_now()}"


def _launches(label):
    """What was under way; first what can have done it: a launch whose accesses are checked can't."""
    names = {True: {}, False: {}}  # each line once, in the order of the calls
    for kernel, file, line, unguarded in _runtime.lost_launches(label):
        where = f" (launched at line {line} of {name_cell(file)})" if file else ""
        names[unguarded][f"{kernel}{where}"] = None
    suspects, others = list(names[True]), list(names[False])
    if not suspects or not others:
        return f", with {_listed(suspects or others)} under way" if suspects or others else ""
    run = "which runs" if len(suspects) == 1 else "which run"
    return f", with {_listed(suspects)} under way, {run} without checks, and besides {_listed(others)}"


def _arrays(label):
    rows = [f"{row.name or 'one without a name'} ({human(row.nbytes)})" for row in live_arrays(label)]
    return f"; the arrays on it are gone: {_listed(rows)}" if rows else ""


def _listed(words):
    rest = len(words) - _LISTED
    return ", ".join(words[:_LISTED]) + (f" and {rest} more" if rest > 0 else "")


def _what_now():
    words = (
        "; the driver keeps the GPU from this process until it ends: "
        "restart the notebook's kernel to use it again; "
    )
    if "cpu" not in _runtime.device_labels():
        return words + "Python's own variables are not touched"
    words += 'Python\'s own variables and the CPU device go on working (`with cuda.Device("cpu"):`)'
    if _runtime.default_device_label() == "cpu":
        words += ", which is the default device from now on"
    return words

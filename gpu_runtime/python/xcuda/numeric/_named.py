"""Arrays with a name, that stay on the device from cell to cell."""

import os
from pathlib import Path

from ._array import asarray, ndarray
from ._files import load
from ._registry import native

_stored: dict = {}
_files: dict = {}  # path -> (time, size, array)


@native()
def store_in_gpu_memory(name, array):
    """Keeps an array on the device under a name, until another one takes it. Gives the array."""
    if not isinstance(name, str):
        raise TypeError(f"the name is a string, not {type(name).__name__}")
    made = asarray(array)
    _stored[name] = made
    return made


@native()
def load_from_gpu_memory(name):
    """The array that `store_in_gpu_memory` keeps under a name, or the array in a `.npy` file.

    A file is read once, in chunks straight into device memory, and its array stays there; it is read again when it has
    changed. The same array is given each time, with what was written into it: `.copy()` it to write. Raises KeyError
    where neither is there.
    """
    name = os.fspath(name)
    if name in _stored:
        return _stored[name]
    path = Path(name)
    if not path.is_file():
        known = ", ".join(map(repr, sorted(_stored))) or "none is"
        raise KeyError(
            f"no array is stored as {name!r} and there is no such file; stored: {known}. "
            f"np.store_in_gpu_memory({name!r}, array) stores one"
        )
    about = path.stat()
    key = str(path.resolve())
    seen = about.st_mtime_ns, about.st_size
    if key in _files and _files[key][0] == seen:
        return _files[key][1]
    _files.pop(key, None)  # the old array's memory is free for the new one
    made = load(path)
    if not isinstance(made, ndarray):
        raise TypeError(f"{name!r} holds no array of numbers that a device can have: {type(made).__name__}")
    _files[key] = seen, made
    return made


@native()
def forget_gpu_memory(name=None):
    """Lets go of a named array or a file's, or of all of them where no name is given."""
    if name is None:
        _stored.clear()
        _files.clear()
        return
    name = os.fspath(name)
    if _stored.pop(name, None) is None and _files.pop(str(Path(name).resolve()), None) is None:
        raise KeyError(f"no array is stored as {name!r}")

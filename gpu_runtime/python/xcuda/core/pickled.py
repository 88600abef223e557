"""Kernels and configured launches that travel by pickle, to another process or a file.

A kernel that can be imported by its name travels as that name. One made in a cell or in a function travels by value:
its function through cloudpickle, with the text it was made from, so that the other side can compile it.
"""

import io
import linecache
import marshal
import os
import pickle
import sys
import types

from xcuda import _runtime


def reduce_kernel(kernel):
    """What pickle makes of a Kernel."""
    if _named(kernel.__module__, kernel.__qualname__) is kernel:
        return kernel.__qualname__
    about = kernel.about
    if about.forms is not None:
        raise pickle.PicklingError(
            f"{kernel.__name__}: a variant of a kernel can't be pickled; pickle the kernel"
        )
    return _kernel, (_dumped(about.py_func), _texts(about.py_func), about.options, about.declared)


def reduce_configured(configured):
    """What pickle makes of kernel[grid, block]."""
    if configured.stream is not None:
        raise pickle.PicklingError("a launch on a stream can't be pickled: streams belong to their process")
    return _configured, (configured.kernel, configured.grid, configured.block, configured.sharedmem)


def _named(module, qualname):
    found = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def _dumped(function):
    try:
        import cloudpickle
    except ImportError:
        raise pickle.PicklingError(
            f"{function.__qualname__} can't be imported by its name, and pickling its code needs cloudpickle "
            "(pip install cloudpickle)"
        ) from None

    class Pickler(cloudpickle.CloudPickler):
        def reducer_override(self, value):
            if isinstance(
                value, types.CodeType
            ):  # cloudpickle's own way drops its file's name, and with it the text
                return _code, (marshal.dumps(value),)
            return super().reducer_override(value)

    with io.BytesIO() as file:
        Pickler(file).dump(function)
        return file.getvalue()


def _code(data):
    return marshal.loads(data)


def _texts(function):
    """{file: lines} of what the function and its helpers were made from, where that is no file on disk."""
    from xcuda.core.source import capture

    functions = [function, *(holder for holder, name, _ in capture(function).captures if name == "__code__")]
    files = {f.__code__.co_filename for f in functions}
    return {file: linecache.getlines(file) for file in files if not os.path.exists(file)}


def _kernel(dumped, texts, options, declared):
    from xcuda.core.kernels import _made

    for file, lines in texts.items():
        if not linecache.getlines(file):
            linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    made = _made(pickle.loads(dumped), None, options)
    for one in declared:
        _runtime.compile(made, one, None)
        made.about.declare(one)
    return made


def _configured(kernel, grid, block, sharedmem):
    return kernel[grid, block, None, sharedmem]

"""What a value holds of a device's memory, and by which names it leads there."""

from __future__ import annotations

import gc
from collections import deque
from contextlib import suppress
from functools import partial
from itertools import islice
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
)

import numpy as np

from xcuda import _runtime

ARRAYS = (_runtime.ArrayBase, _runtime.NumericBase)  # what holds a device's memory
STEPS = 4  # from a variable to an array
_ITEMS = 1000  # of a container that is looked into
_LOOKED = 5000  # of what a variable leads to

_LEAVES = frozenset({bool, int, float, complex, str, bytes, range, NoneType, CodeType})
# A notebook's own machinery: it leads to every variable.
_MACHINERY = {"IPython", "ipykernel", "asyncio", "tornado", "zmq", "logging"}


def named(space, steps=STEPS):
    """(name, array) of a namespace: its arrays, and those that its containers, functions and objects hold."""
    for name, value in list(space.items()):
        yield from _held(name, value, steps)


def holds_arrays(value) -> bool:
    return any(True for _ in _held("it", value, STEPS))


def frames_of(error):
    """(frame, its variables) of the functions that an error's traceback leads through, and those of its causes."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        at = error.__traceback__
        while at is not None:
            frame, at = at.tb_frame, at.tb_next
            names = frame.f_locals
            if names is not frame.f_globals:
                yield frame, names
        error = error.__cause__ or error.__context__


def _held(name, value, steps):
    """(name, array) of what a variable leads to in so many steps, the nearest first."""
    if _is(value, ARRAYS):
        yield name, value
        return
    level, seen = [(name, value)] if _enters(value) else [], {id(value)}
    for _ in range(steps):
        deeper = []
        for path, holder in level:
            for inner, item in islice(_inside(path, holder), _ITEMS):
                if type(item) in _LEAVES or id(item) in seen:
                    continue
                seen.add(id(item))
                if _is(item, ARRAYS):
                    yield inner, item
                elif len(seen) < _LOOKED and _enters(item):
                    deeper.append((inner, item))
        level = deeper


def _is(value, types) -> bool:
    """isinstance, without asking the value itself."""
    return issubclass(type(value), types)


def _enters(value) -> bool:
    if _is(value, type):
        return value.__module__ == "__main__"
    if _is(value, ModuleType) or type(value) in _LEAVES:
        return False
    if type(value) is dict and "__name__" in value and "__doc__" in value:
        return False  # a module's variables
    return not any(kind.__module__.partition(".")[0] in _MACHINERY for kind in type(value).__mro__)


def _inside(name, value):
    """(name, what it holds) of one step."""
    kind = next((of for types, of in KINDS if _is(value, types)), None)
    if kind is not None:
        yield from kind(name, value)
    yield from _attributes(name, value)
    if kind is None:
        yield from ((f"something in {name}", item) for item in gc.get_referents(value))


def _attributes(name, value):
    """As they are kept: no code of the value's own type runs."""
    with suppress(AttributeError):
        own = object.__getattribute__(value, "__dict__")
        if type(own) is dict:
            yield from ((f"{name}.{key}", item) for key, item in list(own.items()))
    for of in type(value).__mro__[:-1]:
        for key, slot in list(vars(of).items()) if "__slots__" in vars(of) else ():
            if isinstance(slot, MemberDescriptorType):
                with suppress(AttributeError):  # not set yet
                    yield f"{name}.{key}", slot.__get__(value)


def _of_class(name, value):
    for key, item in list(vars(value).items()):
        yield f"{name}.{key}", item


def _of_sequence(name, value):
    kind = list if _is(value, list) else tuple
    for i, item in enumerate(islice(kind.__iter__(value), _ITEMS)):
        yield f"{name}[{i}]", item


def _of_dict(name, value):
    for key, item in islice(list(dict.items(value)), _ITEMS):
        yield f"{name}[{key!r}]", item
        yield f"a key of {name}", key


def _of_set(name, value):
    for item in list(value):
        yield f"an item of {name}", item


def _of_objects(name, value):
    """A NumPy array's, where they are Python's."""
    if value.dtype.hasobject and value.dtype.names is None:
        for index in islice(np.ndindex(value.shape), _ITEMS):
            yield f"{name}[{', '.join(map(str, index))}]", value[index]


def _of_error(name, error):
    """The variables of the functions that a kept error's traceback leads through."""
    for frame, names in frames_of(error):
        for key, item in list(names.items()):
            yield f"{name}, an error with {key} of {frame.f_code.co_name}()", item
    for i, item in enumerate(error.args):
        yield f"{name}.args[{i}]", item


def _of_function(name, function):
    """Its closure's variables and its defaults."""
    for key, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not set yet
            yield f"{name}, a function with {key}", cell.cell_contents
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield f"{name}, a function with a default", value


def _of_method(name, method):
    yield f"{name}.__self__", method.__self__
    yield f"{name}.__func__", method.__func__


def _of_partial(name, call):
    yield f"{name}.func", call.func
    for key, item in [*enumerate(call.args), *call.keywords.items()]:
        yield f"{name}, a partial call's {key}", item


def _paused(name, value):
    """The variables of a generator or coroutine that has not ended."""
    frame = next(
        (f for f in (getattr(value, n, None) for n in ("gi_frame", "cr_frame", "ag_frame")) if f), None
    )
    for key, item in list(frame.f_locals.items()) if frame else ():
        yield f"{name}, paused with {key}", item


# By the first that a value is one of; what is none of them is asked for all it refers to.
KINDS = (
    (type, _of_class),
    ((list, tuple), _of_sequence),
    (dict, _of_dict),
    (BaseException, _of_error),
    ((set, frozenset, deque), _of_set),
    (FunctionType, _of_function),
    (MethodType, _of_method),
    (partial, _of_partial),
    ((GeneratorType, CoroutineType, AsyncGeneratorType), _paused),
    (np.ndarray, _of_objects),
)

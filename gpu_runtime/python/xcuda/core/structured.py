"""Arguments that are no arrays or numbers: tuples, structs (NamedTuples, dataclasses), records, compile-time constants.

A kernel called with such arguments runs as a variant of itself: tuples, the fields of structs and those of records
(as arrays over their memory) become parameters of their own; None, strings, dtypes, functions and members of an Enum
become constants of the variant, so that branches on them are decided while it is compiled.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
from typing import Any, NamedTuple

from xcuda.core.records import in_memory, is_records, leaves_of
from xcuda.core.types import is_type, scalar_name

MOST_VARIANTS = 64  # of one kernel; the oldest goes


class Flat(NamedTuple):
    """A call's arguments taken apart.

    key: equal for calls that one variant serves. names, values: of the variant's parameters. owners: the array or the
    records that each is a part of. forms: one a parameter of the kernel, what source.capture hands to the compiler.
    """

    key: tuple
    names: tuple[str, ...]
    values: tuple[Any, ...]
    owners: tuple[Any, ...]
    forms: tuple[tuple, ...]


class _Leaves(NamedTuple):
    names: list[str]
    values: list[Any]
    owners: list[Any]

    def add(self, name: str, value: Any, owner: Any) -> None:
        self.names.append(name)
        self.values.append(value)
        self.owners.append(owner)


def flatten(
    parameters: tuple[str, ...],
    values: tuple[Any, ...],
    constants: tuple[bool, ...] = (),
    typed: bool = False,
) -> Flat:
    """Takes the values of a call apart. Raises TypeError naming the argument that no kernel takes.

    constants: by parameter, whether its value is a constant of the variant whatever it is. typed: the values are a
    signature's items, where a text or a dtype stands for a number or an array.
    """
    leaves = _Leaves([], [], [])
    constants = constants or (False,) * len(parameters)
    forms = [
        ("constant", value) if fixed else _form(name, value, leaves, typed)
        for name, value, fixed in zip(parameters, values, constants, strict=True)
    ]
    names, arrays, owners = map(tuple, leaves)
    return Flat(tuple(_key(form) for form in forms), names, arrays, owners, tuple(forms))


def is_constant(value: Any) -> bool:
    """Whether an argument is fixed while its kernel is compiled."""
    if value is None or isinstance(value, (str, types.FunctionType, types.BuiltinFunctionType, type)):
        return True
    if _is_member(value):
        return True
    if scalar_name(value) is not None:
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.dtype, numpy.ufunc))


def _is_member(value: Any) -> bool:
    """Whether it is an Enum's member; of flags that are numbers, there are too many."""
    return isinstance(value, enum.Enum) and not (isinstance(value, enum.Flag) and isinstance(value, int))


def comes_apart(value: Any) -> bool:
    """Whether a kernel takes an argument as several: a tuple, a struct, records."""
    struct = dataclasses.is_dataclass(value) and not isinstance(value, type) and not is_type(value)
    return isinstance(value, tuple) or struct or is_records(value)


def is_fixed(item: Any) -> bool:
    """Whether an item of a signature is a constant of the version it compiles: texts and dtypes are types there."""
    function = isinstance(item, (types.FunctionType, types.BuiltinFunctionType))
    return item is None or function or _is_member(item) and not isinstance(item, str)


def _form(name: str, value: Any, leaves: _Leaves, typed: bool = False) -> tuple:
    if typed and is_constant(value) and not is_fixed(value):
        leaves.add(name, value, value)
        return ("leaf",)
    if is_constant(value):
        return ("constant", value)
    if is_records(value):
        records = in_memory(value)
        found = list(leaves_of(name, records))
        if not found:
            raise TypeError(f"'{name}' has no field that kernels take: {records.dtype}")
        for path, array in found:
            leaves.add(path, array, value)
        return ("records", records.dtype, len(records.shape))
    if type(value).__name__ == "void":
        raise TypeError(f"'{name}' is raw bytes (numpy.void), which kernels don't take")
    fields = None
    if isinstance(value, tuple):
        fields, items = getattr(value, "_fields", None), value
    elif dataclasses.is_dataclass(value):
        fields = tuple(f.name for f in dataclasses.fields(value))
        items = tuple(getattr(value, f) for f in fields)
    else:
        leaves.add(name, value, value)
        return ("leaf",)
    parts = [f"{name}.{f}" for f in fields] if fields else [f"{name}[{i}]" for i in range(len(items))]
    inner = tuple(_form(part, item, leaves, typed) for part, item in zip(parts, items, strict=True))
    return ("tuple", type(value).__name__, fields or (), not isinstance(value, tuple), inner, type(value))


def _key(form: tuple) -> tuple:
    if form[0] == "constant":
        value = form[1]
        return (type(value), id(value) if isinstance(value, types.FunctionType) else value)
    if form[0] == "tuple":
        return (*form[1:4], tuple(_key(inner) for inner in form[4]), form[5])
    return form

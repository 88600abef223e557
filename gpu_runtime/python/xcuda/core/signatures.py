"""Argument types as a user writes them: "void(float32[:, ::1], int64)", or the arguments themselves."""

import re

from xcuda.core.dtypes import NAMES, name_of


def types_from(signature):
    """[("array", dtype, ndim, layout) or ("scalar", dtype, weak)] for the runtime.

    signature: text, or a tuple or list whose items are texts or the arguments of a call.
    """
    if isinstance(signature, str):
        return [_from_text(part) for part in _split(signature)]
    if not isinstance(signature, (tuple, list)):
        signature = (signature,)
    return [_from_text(item) if isinstance(item, str) else _from_value(item) for item in signature]


def _split(text):
    inner = text.strip()
    whole = re.fullmatch(r"(?:void|none)?\s*\((.*)\)", inner, re.DOTALL)
    inner = whole[1] if whole else inner
    parts, depth, part = [], 0, ""
    for c in inner:
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return [p.strip() for p in [*parts, part] if p.strip()]


_TEXT = re.compile(r"(\w+)\s*(?:\[([:\s,1]*)\])?(\s*\(weak\))?")
_SHORT = {"int": "int64", "float": "float64", "bool_": "bool", "boolean": "bool", "double": "float64"}


def _from_text(text):
    found = _TEXT.fullmatch(text.strip())
    dtype = found and _SHORT.get(found[1], found[1])
    if not found or dtype not in (*NAMES, "bool"):
        raise TypeError(
            f'"{text}" is no argument type; write "float32[:, ::1]" for arrays, "int64" for numbers'
        )
    if found[2] is None:
        return ("scalar", dtype, bool(found[3]) or found[1] in ("int", "float"))
    axes = [axis.strip() for axis in found[2].split(",")] if found[2].strip() else []
    if any(axis not in (":", "::", "::1") for axis in axes) or "::1" in axes[:-1]:
        raise TypeError(f'"{text}": each axis is ":", the last may be "::1" for a contiguous array')
    if axes and axes[-1] != "::1":
        return ("array", dtype, len(axes), "strided")
    return ("array", dtype, len(axes), "inner" if "::" in axes else "contiguous")


def _from_value(value):
    if isinstance(value, bool):
        return ("scalar", "bool", True)
    if isinstance(value, (int, float)) and type(value).__module__ == "builtins":
        return ("scalar", "int64" if isinstance(value, int) else "float64", True)
    # NumPy's scalars have a shape too, but no items to set.
    if hasattr(value, "strides") and hasattr(value, "shape") and hasattr(type(value), "__setitem__"):
        return ("array", name_of(value.dtype), len(value.shape), _layout(value))
    if hasattr(value, "dtype"):
        return ("scalar", name_of(value.dtype), False)
    return ("scalar", name_of(value), False)


def _layout(array):
    itemsize = array.dtype.itemsize
    if 0 in array.shape:
        return "contiguous"
    expected = itemsize
    for length, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if length != 1 and stride != expected:
            inner = array.strides[-1] == itemsize or array.shape[-1] == 1
            return "inner" if inner else "strided"
        expected *= length
    return "contiguous"

"""Argument types as a user writes them: "void(float32[:, ::1], int64)", numba-like types, or a call's arguments."""

import inspect
import re

from xcuda import _runtime
from xcuda.core.dtypes import name_of
from xcuda.core.types import Array, CPointer, Type, is_signature, is_type, named, scalar_name, void


def signatures_from(given):
    """The signatures that `cuda.jit` was given: one as text, Signature or tuple of types, or a list of such."""
    found = list(given) if isinstance(given, list) else [given]
    for signature in found:
        returns = returned_by(signature)
        if returns not in (None, "none", "void"):
            raise TypeError(
                f"a kernel gives nothing back, its signature says {returns}: write void(...) and an array to write to"
            )
    return found


def declared_from(given):
    """The types of a device function for the compiler: [{"arguments": [dtype or None, ...], "returns": dtype}]."""
    found = list(given) if isinstance(given, list) else [given]
    return [
        {
            "arguments": [kind[1] if kind[0] == "scalar" else None for kind in types_from(signature)],
            "returns": returned_by(signature),
        }
        for signature in found
    ]


def returned_by(signature):
    """The name of the type that a signature says a function returns; None where it says nothing."""
    if is_signature(signature):
        return str(signature.return_type)
    whole = isinstance(signature, str) and _WHOLE.fullmatch(signature.strip())
    return (whole[1] or None) if whole else None


def types_from(signature):
    """[("array", dtype, ndim, layout), ("scalar", dtype, weak) or ("pointer", dtype)] for the runtime; an integer too
    large for 32 bits has a fourth item, since the kernel for it computes in 64.

    signature: text, a Signature, or a tuple or list whose items are texts, types or the arguments of a call.
    """
    if isinstance(signature, str):
        return [_from_text(part) for part in split(signature)]
    if is_signature(signature):
        signature = signature.args
    if not isinstance(signature, (tuple, list)):
        signature = (signature,)
    return [_from_item(item) for item in signature]


def block_given(function, signature, block, others):
    """The block of `kernel.compile(signature, block)` as (x, y, z) or None; a TypeError where arguments stand loose."""
    lengths = block if isinstance(block, (tuple, list)) else () if block is None else (block,)
    parameters = list(inspect.signature(function).parameters)
    alone = isinstance(signature, (str, tuple, list)) or is_signature(signature) or len(parameters) == 1
    if (
        others
        or not alone
        or not all(hasattr(n, "__index__") and getattr(n, "ndim", 0) == 0 for n in lengths)
    ):
        found = 1 + (block is not None) + len(others)
        raise TypeError(
            f"{function.__name__}.compile takes the arguments as one tuple, and found {found} loose: write "
            f"{function.__name__}.compile(({', '.join(parameters)}{',' * (len(parameters) == 1)}), "
            'target="sm_90"), or their types, "float32[:], int64"'
        )
    if len(lengths) > 3:
        raise TypeError(f"a block has up to three lengths (x, y, z), and found {len(lengths)}: {block}")
    return tuple([*map(int, lengths), 1, 1][:3]) if lengths else None


_WHOLE = re.compile(r"(\w+(?:\[[^\]]*\])?)?\s*\((.*)\)", re.DOTALL)


def split(text):
    inner = text.strip()
    whole = _WHOLE.fullmatch(inner)
    inner = whole[2] if whole else inner
    parts, depth, part = [], 0, ""
    for c in inner:
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return [p.strip() for p in [*parts, part] if p.strip()]


_NARROW_END = 2**31 - 2**16  # launch/signature.hpp's narrow_end
_TIME = re.compile(r"(?:datetime|timedelta)64(?:\[[A-Za-z]+\])?")
_TEXT = re.compile(rf"({_TIME.pattern}|\w+)\s*(?:\[([:\s,1]*)\])?(\s*\(weak\))?")
_SHORT = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}


def _from_text(text):
    found = _TEXT.fullmatch(text.strip())
    dtype = found and (_SHORT.get(found[1]) or scalar_name(named(found[1])))
    if found and _TIME.fullmatch(found[1]):
        dtype = found[1]
    if not dtype:
        raise TypeError(
            f'"{text}" is no argument type; write "float32[:, ::1]" for arrays, "int64" for numbers'
        )
    if found[2] is None:
        return ("scalar", dtype, bool(found[3]) or found[1] in ("int", "float", "complex"))
    axes = [axis.strip() for axis in found[2].split(",")] if found[2].strip() else []
    inside = [axis for axis in axes[1:-1] if axis == "::1"]
    if any(axis not in (":", "::", "::1") for axis in axes) or inside or axes.count("::1") > 1:
        raise TypeError(f'"{text}": each axis is ":", the last may be "::1" for a contiguous array')
    if axes and axes[-1] != "::1":
        return ("array", dtype, len(axes), "strided")
    return ("array", dtype, len(axes), "inner" if "::" in axes else "contiguous")


def _from_item(item):
    if isinstance(item, str):
        return _from_text(item)
    return _from_type(item) if is_type(item) else _from_value(item)


def _from_type(given):
    name = scalar_name(given)
    if name is not None:
        return ("scalar", name, False)
    if isinstance(given, CPointer):
        return ("pointer", scalar_name(given.dtype))
    if isinstance(given, Array) or not isinstance(given, Type) and hasattr(given, "layout"):
        dtype = scalar_name(given.dtype)
        if dtype is not None:
            contiguous = given.layout == "C" or given.ndim == 0
            return ("array", dtype, given.ndim, "contiguous" if contiguous else "strided")
    hint = "; leave void arguments out" if given == void else ""
    raise TypeError(f"a kernel can't be compiled for an argument of type {given} before it is called{hint}")


def _from_value(value):
    if value is None:
        raise TypeError(
            "None is no argument type; k.compile((x, None)) compiles for an argument that is None"
        )
    if isinstance(value, bool):
        return ("scalar", "bool", True)
    for plain, dtype in (
        (int, "int64"),
        (float, "float64"),
        (complex, "complex128"),
    ):  # an IntEnum's member too
        if isinstance(value, plain) and not hasattr(value, "dtype"):
            large = ("large",) if plain is int and abs(value) >= _NARROW_END else ()
            return ("scalar", dtype, True, *large)
    # NumPy's scalars have a shape too, but no items to set. torch's dtypes have no kind.
    numpys = hasattr(value, "strides") and hasattr(getattr(value, "dtype", None), "kind")
    if numpys and hasattr(value, "shape") and hasattr(type(value), "__setitem__"):
        return ("array", name_of(value.dtype), len(value.shape), _layout(value))
    if (read := _runtime.array_type(value)) is not None:  # torch's, JAX's, buffers: as a launch reads them
        return read[:4]
    if hasattr(value, "dtype"):
        large = (
            ("large",)
            if name_of(value.dtype) in ("int64", "uint64") and abs(int(value)) >= _NARROW_END
            else ()
        )
        return ("scalar", name_of(value.dtype), False, *large)
    return ("scalar", name_of(value), False)


def _layout(array):
    itemsize = array.dtype.itemsize
    if 0 in array.shape:
        return "contiguous"
    flags = getattr(array, "flags", None)
    if any(stride % itemsize for stride in array.strides) or getattr(flags, "aligned", True) is False:
        return "bytes"
    expected = itemsize
    for length, stride in zip(reversed(array.shape), reversed(array.strides), strict=True):
        if length != 1 and stride != expected:
            inner = array.strides[-1] == itemsize or array.shape[-1] == 1
            return "inner" if inner else "strided"
        expected *= length
    return "contiguous"

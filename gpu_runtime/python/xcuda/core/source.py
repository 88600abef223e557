"""A Python function's source as data for the compiler: its syntax tree, and what its free names mean.

`capture(function)` reads the text through linecache (files, IPython cells, `exec` with linecache), parses it with
CPython's own `ast` and resolves every free dotted name from the *objects*, so `from math import sin as s` works.
What it read is remembered, so that a launcher can ask cheaply whether any captured global or closure cell changed.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import difflib
import enum
import json
import math
import sys
import types
from dataclasses import dataclass, field
from typing import Any

from xcuda.core.constants import Frozen, array_meaning
from xcuda.core.language import Intrinsic, Namespace
from xcuda.core.records import dtype_meaning
from xcuda.core.source_dtypes import dtype_name, is_numpy_scalar, is_record_dtype, numpy_scalar
from xcuda.core.source_dtypes import loaded_numpy as _numpy
from xcuda.core.source_tree import arguments_of, constant_of, encode, parse

from ._raise import user_kind

_MISSING = object()


@dataclass
class Captured:
    """What `capture` found.

    name, file: as tracebacks name them. text, first_line: the function's own lines. ast_json, names_json: what
    `_runtime` lowers (`names_json` holds the helpers' sources too). captures: (holder, name, value) of every global,
    closure cell and helper read; a holder is a namespace dict, a cell or a function (its code). arrays: (name, array)
    of the device arrays among them, which become arguments; uses: which of them each name means, in their order;
    carries: there are some, and no forms that take them.
    """

    name: str
    file: str
    first_line: int
    text: str
    ast_json: str
    names_json: str
    captures: list[tuple[Any, str, Any]] = field(default_factory=list)
    arrays: list[tuple[str, Any]] = field(default_factory=list)
    uses: tuple[int, ...] = ()
    carries: bool = False

    def changed(self) -> bool:
        """True if a captured name means another object than at capture: then capture again."""
        for holder, name, value in self.captures:
            if type(holder) is dict:
                if holder.get(name, _MISSING) is not value:
                    return True
            elif _read(holder, name) is not value:
                return True
        return False


def capture(function: types.FunctionType, forms: tuple[tuple, ...] | None = None) -> Captured:
    """The source and the names of a plain Python function.

    forms: how a call's arguments make its parameters, from structured.flatten; None: each is an array or a number.

    Raises TypeError for what is no plain function, OSError with advice where Python has no source text for it.
    """
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"a kernel is made from a plain Python function, not from {describe(function)}")
    if function.__code__.co_name == "<lambda>":
        raise TypeError("a lambda can't be a kernel: give it a name with def")
    collector = _Collector()
    tree, lines, first_line = parse(function)
    names = collector.names_of(function, tree)
    shapes = None if forms is None else [collector.form(form) for form in forms]
    collector.finish()
    takes = forms is not None and any(form[0] == "captured" for form in forms)
    linked = getattr(function, "__xcuda_link__", [])
    known = {"names": names, "helpers": collector.helpers, "forms": shapes, "sources": linked}
    known["methods"] = collector.methods
    return Captured(
        name=function.__name__,
        file=function.__code__.co_filename,
        first_line=first_line,
        text="".join(lines),
        ast_json=json.dumps(encode(tree)),
        names_json=json.dumps(known),
        captures=[c for c in collector.captures if not is_carried(c[2])] if takes else collector.captures,
        arrays=collector.arrays,
        uses=tuple(collector.uses),
        carries=bool(collector.arrays) and not takes,
    )


# ---- names ----------------------------------------------------------------------------------------------------------


class _Collector:
    """Walks a function and the helpers it names; each helper is captured once."""

    def __init__(self):
        self.helpers: list[dict[str, Any]] = []
        self.captures: list[tuple[Any, str, Any]] = []
        self.arrays: list[tuple[str, Any]] = []
        self.uses: list[int] = []
        self._ids: dict[int, int] = {}
        self._functions: list[types.FunctionType | None] = []
        self._seen: set[tuple[int, str]] = set()
        self._done = 0
        self._structs: dict[str, type] = {}
        self.methods: dict[str, dict[str, Any]] = {}

    def finish(self) -> None:
        """Captures the helpers that were met, and theirs."""
        while self._done < len(self._functions):
            function, entry = self._functions[self._done], self.helpers[self._done]
            self._done += 1
            if function is None:  # CUDA C++
                continue
            self.remember(function, "__code__", function.__code__)
            try:
                tree, _, _ = parse(function)
            except (OSError, TypeError) as error:
                entry["error"] = str(error)
                continue
            entry["ast"] = encode(tree)
            entry["names"] = self.names_of(function, tree)
            entry["defaults"] = self._defaults(function)

    def names_of(self, function: types.FunctionType, tree: ast.FunctionDef) -> dict[str, Any]:
        finder = _FreeNames(tree)
        names: dict[str, Any] = {}
        for path in finder.paths:
            self._resolve(function, path, names, finder.bound)
        return names

    def form(self, form: tuple) -> dict[str, Any]:
        """One of structured.flatten's forms as the compiler reads it."""
        if form[0] == "constant":
            return {"kind": "constant", "meaning": self.meaning(form[1])}
        if form[0] == "records":
            return {"kind": "records", "record": dtype_meaning(form[1]), "ndim": form[2]}
        if form[0] == "tuple":
            _, name, fields, only_fields, inner, struct = form
            self.methods_of(struct)
            items = [self.form(item) for item in inner]
            return {
                "kind": "tuple",
                "name": name,
                "fields": fields,
                "only_fields": only_fields,
                "items": items,
            }
        return {"kind": "leaf", "name": form[1] if form[0] == "captured" else ""}

    def methods_of(self, struct: type) -> None:
        """A struct's methods, by "kind Class.name". Of two classes of one name neither's are known."""
        name = struct.__name__
        if name in self._structs:
            if self._structs[name] is not struct:
                self.methods = {
                    key: m for key, m in self.methods.items() if not key.split()[1].startswith(f"{name}.")
                }
            return
        self._structs[name] = struct
        if struct is tuple:
            return
        found = {key: value for base in reversed(struct.__mro__) for key, value in vars(base).items()}
        for key, value in found.items():
            kind, function = "method", value
            if isinstance(value, staticmethod):
                kind, function = "static", value.__func__
            elif isinstance(value, property):
                kind, function = "property", value.fget
            if (
                key.startswith("__")
                or not isinstance(function, types.FunctionType)
                or _library_function(function)
            ):
                continue
            if function.__module__ in ("collections", "typing") or function.__code__.co_filename.startswith(
                "<string"
            ):
                continue
            self.methods[f"{kind} {name}.{key}"] = self.meaning(function)

    def remember(self, holder: Any, name: str, value: Any) -> None:
        if (id(holder), name) not in self._seen:
            self._seen.add((id(holder), name))
            self.captures.append((holder, name, value))

    def _resolve(self, function, path: tuple[str, ...], names: dict[str, Any], bound: set[str]) -> None:
        head = path[0]
        value = self._lookup(function, head)
        if value is _MISSING:
            names[head] = {"kind": "undefined", "close": _near(head, function, bound)}
            return
        names[head] = self.meaning(value, head)
        for end in range(2, len(path) + 1):
            if not _has_members(value):
                return
            part = path[end - 1]
            holder, value = value, getattr(value, part, _MISSING)
            dotted = ".".join(path[:end])
            if value is _MISSING:
                close = difflib.get_close_matches(part, dir(holder), 1, 0.7)
                names[dotted] = {"kind": "missing", "of": describe(holder), "name": part, "close": close}
                return
            if isinstance(holder, types.ModuleType) and not _is_library(holder):
                self.remember(vars(holder), part, vars(holder).get(part, _MISSING))
            names[dotted] = self.meaning(value, part)

    def _lookup(self, function: types.FunctionType, name: str) -> Any:
        code = function.__code__
        if name in code.co_freevars:
            cell = function.__closure__[code.co_freevars.index(name)]
            value = _read(cell, name)
            self.remember(cell, name, value)
            return value
        value = function.__globals__.get(name, _MISSING)
        self.remember(function.__globals__, name, value)
        if value is not _MISSING:
            return value
        return getattr(builtins, name, _MISSING)

    def _defaults(self, function: types.FunctionType) -> dict[str, Any]:
        code = function.__code__
        positional = code.co_varnames[: code.co_argcount]
        values = function.__defaults__ or ()
        defaults = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
        defaults.update(function.__kwdefaults__ or {})
        return {name: self.meaning(value) for name, value in defaults.items()}

    def meaning(self, value: Any, written: str = "") -> dict[str, Any]:
        """What an object is to the compiler."""
        record = _record(value)
        if record is not None:
            name, fields, defaults, only_fields = record
            items = [self.meaning(item) for item in defaults]
            self.methods_of(value)
            return {
                "kind": "record",
                "name": name,
                "fields": fields,
                "items": items,
                "only_fields": only_fields,
            }
        simple = _simple_meaning(value)
        if simple is not None:
            return simple
        if isinstance(value, tuple) and (type(value) is tuple or hasattr(value, "_fields")):
            items = [self.meaning(item) for item in value]
            return {"kind": "tuple", "items": items, "fields": getattr(value, "_fields", ())}
        if getattr(type(value), "__xcuda_foreign__", False):
            return {"kind": "helper", "helper": self._foreign(value), "name": value.name}
        plain = _callable_in_kernels(value)
        if isinstance(plain, types.FunctionType) and not _library_function(plain):
            return {"kind": "helper", "helper": self._helper(plain), "name": plain.__name__}
        array = array_meaning(value)
        if array is not None:
            frozen = Frozen(value)
            self.remember(frozen, "content", frozen.content)
            return array
        if is_carried(value):
            return self._carried(value, written)
        return {"kind": "host", "type": type(value).__name__, "text": describe(value)}

    def _carried(self, value: Any, written: str) -> dict[str, Any]:
        known = [i for i, (_, array) in enumerate(self.arrays) if array is value]
        if not known:
            self.arrays.append((written or "array", value))
        self.uses.append(known[0] if known else len(self.arrays) - 1)
        return {"kind": "captured", "helper": self.uses[-1], "text": describe(value)}

    def _foreign(self, declared: Any) -> int:
        if id(declared) not in self._ids:
            self._ids[id(declared)] = len(self.helpers)
            self._functions.append(None)
            self.helpers.append({"name": declared.name, "file": "", "foreign": declared.meaning()})
        return self._ids[id(declared)]

    def _helper(self, function: types.FunctionType) -> int:
        known = self._ids.get(id(function))
        if known is not None:
            return known
        self._ids[id(function)] = len(self.helpers)
        self._functions.append(function)
        entry = {"name": function.__name__, "file": function.__code__.co_filename}
        self.helpers.append(entry | {"declared": getattr(function, "__xcuda_declared__", [])})
        return len(self.helpers) - 1


def is_carried(value: Any) -> bool:
    """Whether it is an array in a device's memory, ours or another library's: kernels take it as an argument."""
    if isinstance(value, type) or is_numpy_scalar(value):
        return False
    numpy = _numpy()
    if numpy is not None and isinstance(value, numpy.ndarray):
        return False
    return hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack_device__")


def _callable_in_kernels(value: Any) -> Any:
    """The plain function of a kernel, which other kernels may call, or of what says that it is one."""
    if isinstance(value, type):
        return value
    if getattr(type(value), "__xcuda_kernel__", False):
        return value.py_func
    return getattr(value, "__xcuda_device_function__", value)


class _FreeNames(ast.NodeVisitor):
    """The dotted names that a function reads and does not bind itself; annotations and decorators left aside."""

    def __init__(self, tree: ast.FunctionDef):
        self.bound = {a.arg for a in arguments_of(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self.bound.add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node is not tree:
                self.bound.add(node.name)
            elif isinstance(node, ast.alias):
                self.bound.add((node.asname or node.name).partition(".")[0])
        self.paths: dict[tuple[str, ...], None] = {}
        for statement in tree.body if isinstance(tree.body, list) else [tree.body]:
            self.visit(statement)

    def visit_AnnAssign(self, node):
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node):
        pass

    def visit_Name(self, node):
        if node.id not in self.bound:
            self.paths[(node.id,)] = None

    def visit_Attribute(self, node):
        parts, base = [node.attr], node.value
        while isinstance(base, ast.Attribute):
            parts.append(base.attr)
            base = base.value
        if isinstance(base, ast.Name):
            if base.id not in self.bound:
                self.paths[(base.id, *reversed(parts))] = None
        else:
            self.visit(base)


def _record(value: Any) -> tuple[str, list[str], list[Any], bool] | None:
    """Of a NamedTuple or plain dataclass: name, fields, the last ones' defaults, whether it is no sequence."""
    if not isinstance(value, type):
        return None
    if issubclass(value, tuple) and hasattr(value, "_field_defaults"):
        fields, defaults = list(value._fields), value._field_defaults
        if value.__new__ is not _named_tuple_new(value):
            return None
    elif dataclasses.is_dataclass(value) and not hasattr(value, "__post_init__"):
        params, own = value.__dataclass_params__, dataclasses.fields(value)
        if not params.init or any(not f.init or f.default_factory is not dataclasses.MISSING for f in own):
            return None
        fields = [f.name for f in own]
        defaults = {f.name: f.default for f in own if f.default is not dataclasses.MISSING}
    else:
        return None
    if list(defaults) != fields[len(fields) - len(defaults) :]:
        return None
    return value.__name__, fields, list(defaults.values()), not issubclass(value, tuple)


_CUDA_NAMES = (
    *("threadIdx", "blockIdx", "blockDim", "gridDim", "grid", "gridsize", "syncthreads", "syncwarp"),
    *("shared", "local", "const", "atomic", "laneid", "warpsize", "cg"),
)


def _near(name: str, function: types.FunctionType, bound: set[str]) -> list[str]:
    """What a name that means nothing may have been meant to be, one or none."""
    if name in _CUDA_NAMES:
        return [f"cuda.{name}"]
    known = [*function.__globals__, *dir(builtins), *bound, *function.__code__.co_freevars]
    found = difflib.get_close_matches(name, known, 1, 0.75)
    return found or difflib.get_close_matches(name, ("len", "range", "min", "max", "abs", "sum"), 1, 0.6)


def _named_tuple_new(value: type) -> Any:
    for base in value.__mro__:  # the class that typing or collections made
        if "_field_defaults" in vars(base):
            return base.__new__
    return None


def _simple_meaning(value: Any) -> dict[str, Any] | None:
    if value is None or isinstance(value, (bool, int, float, complex, str)) and not is_numpy_scalar(value):
        plain = value
        for base in (bool, int, float, complex, str):  # IntEnum and other subclasses as their number
            if isinstance(value, base):
                plain = value if base is bool else base(value)
                break
        return {"kind": "constant", **constant_of(plain), **_member(value)}
    if isinstance(value, types.MethodType) and _is_ffi(value.__self__) and value.__name__ == "from_buffer":
        return {"kind": "intrinsic", "name": "from_buffer"}
    if isinstance(value, enum.Enum):  # members are one object each: their name serves
        constant = {"kind": "constant", "type": "str", "value": f"{type(value).__module__}.{value}"}
        return {**constant, **_member(value)}
    if isinstance(value, Intrinsic):
        return {"kind": "intrinsic", "name": value.name}
    if isinstance(value, Namespace):
        return {"kind": "module", "name": f"cuda.{value.name}"}
    if isinstance(value, types.ModuleType):
        return {"kind": "module", "name": value.__name__}
    if hasattr(value, "__xcuda_vector__"):
        return {"kind": "intrinsic", "name": f"vector.{value.__xcuda_vector__}"}
    if isinstance(value, type) and value in (bool, int, float, complex):
        return {"kind": "function", "name": f"builtins.{value.__name__}"}
    if is_record_dtype(value):
        return dtype_meaning(value)
    dtype = dtype_name(value)
    if dtype is not None:
        return {"kind": "dtype", "dtype": dtype}
    if is_numpy_scalar(value):
        known = numpy_scalar(value)
        if known is None:
            return {"kind": "host", "type": type(value).__name__, "text": describe(value)}
        return {"kind": "scalar", "dtype": known[0], **constant_of(known[1])}
    if isinstance(value, type):
        named = value.__name__ in ("ndindex", "ndenumerate", "finfo", "iinfo")
        if named and value.__module__.partition(".")[0] == "numpy":
            return {"kind": "function", "name": f"numpy.{value.__name__}"}
        builtin = getattr(builtins, value.__name__, None) is value
        if builtin and issubclass(value, BaseException):
            return {"kind": "exception", "name": value.__name__}
        if builtin:
            return {"kind": "function", "name": f"builtins.{value.__name__}"}
        if issubclass(value, Exception):
            return {"kind": "exception", "name": user_kind(value)}
        found = {"kind": "class", "name": value.__name__}
        if issubclass(value, enum.Enum):  # its members have names
            items = [_simple_meaning(member) for member in value]
            if items and all(items):
                found |= {"fields": [member.name for member in value], "items": items}
        return found
    limits = _LIMITS.get(type(value).__name__)
    if limits and type(value).__module__.startswith("numpy"):  # np.finfo(np.float32), made outside
        items = [_simple_meaning(getattr(value, name)) for name in limits]
        return {"kind": "tuple", "items": items, "fields": limits}
    spelling = _spelling(value)
    return None if spelling is None else {"kind": "function", "name": spelling}


_LIMITS = {  # as frontend/lower_limits.cpp has them
    "iinfo": ("bits", "dtype", "max", "min"),
    "finfo": ("bits", "dtype", "eps", "epsneg", "max", "min", "nmant", "precision", "resolution")
    + ("smallest_normal", "smallest_subnormal", "tiny"),
}


def _member(value: Any) -> dict[str, Any]:
    """Of an Enum's member: its value and its name, beside the name it has among all."""
    if not isinstance(value, enum.Enum):
        return {}
    plain = value.value
    known = _simple_meaning(plain) if not isinstance(plain, enum.Enum) else None
    held = known or {"kind": "host", "type": type(plain).__name__, "text": repr(plain)}
    whole = f"{type(value).__module__}.{type(value).__qualname__}.{value.name}"
    return {"fields": [whole], "items": [held, {"kind": "constant", **constant_of(value.name)}]}


def _spelling(value: Any) -> str | None:
    """The name by which the compiler's table of functions knows an object: "math.sin", "numpy.sin"."""
    name = getattr(value, "__name__", None)
    if not isinstance(name, str) or not callable(value) or isinstance(value, type):
        return None
    numpy = _numpy()
    if numpy is not None and isinstance(value, numpy.ufunc):
        if getattr(numpy, name, None) is value:
            return f"numpy.{name}"
        special = sys.modules.get("scipy.special")
        if special is not None and getattr(special, name, None) is value:
            return f"scipy.special.{name}"
        return None
    module = getattr(value, "__module__", None) or ""
    if module in ("math", "builtins"):
        return f"{module}.{name}"
    if module.startswith("numpy.") and numpy is not None and getattr(numpy, name, None) is not value:
        return f"{module}.{name}"  # np.linalg.inv is not np.inv
    if isinstance(value, types.FunctionType):
        return f"{module.partition('.')[0]}.{name}" if _library_function(value) else None
    if module.partition(".")[0] in ("numpy", "operator", "_operator", "cmath", "time", "random"):
        return f"{module.partition('.')[0].lstrip('_')}.{name}"
    return None


def _library_function(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in _LIBRARIES


_LIBRARIES = {"numpy", "scipy", "math", "builtins", "operator", "random", "time", "torch", "cupy", "numba"}


def _is_library(module: types.ModuleType) -> bool:
    return module.__name__.partition(".")[0] in _LIBRARIES | {"xcuda", "cuda"}


def _has_members(value: Any) -> bool:
    return isinstance(value, (types.ModuleType, Namespace, type)) or _is_ffi(value)


def _is_ffi(value: Any) -> bool:  # cffi's FFI, of which kernels know from_buffer
    return type(value).__name__ == "FFI" and type(value).__module__.partition(".")[0] == "cffi"


def unchanged(holder: Any, name: str, value: Any) -> bool:
    """Whether a captured name still means the same object."""
    return _read(holder, name) is value


def _read(holder: Any, name: str) -> Any:
    if isinstance(holder, types.CellType):
        try:
            return holder.cell_contents
        except ValueError:  # not assigned yet
            return _MISSING
    if isinstance(holder, dict):
        return holder.get(name, _MISSING)
    return getattr(holder, name, _MISSING)


def describe(value: Any) -> str:
    """A few words on an object, for messages: "a list of 3 items", "a float32 array of shape (3, 4)"."""
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, type):
        return f"class {value.__name__}"
    if isinstance(value, Namespace):
        return f"cuda.{value.name}"
    kind = type(value).__name__
    article = "an" if kind[:1].lower() in "aeiou" else "a"
    if hasattr(value, "shape") and hasattr(value, "dtype") and not is_numpy_scalar(value):
        return f"a {value.dtype} array of shape {tuple(value.shape)}"
    if isinstance(value, (list, set, frozenset, dict, bytes)):
        return f"{article} {kind} of {len(value)} item{'s' if len(value) != 1 else ''}"
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if isinstance(value, types.FunctionType):
        return f"function {value.__name__}()"
    return f"{article} {kind}"

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
import inspect
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
from xcuda.core.source_lines import lines_of

_MISSING = object()


@dataclass
class Captured:
    """What `capture` found.

    name, file: as tracebacks name them. text, first_line: the function's own lines. ast_json, names_json: what
    `_runtime` lowers (`names_json` holds the helpers' sources too). captures: (holder, name, value) of every global,
    closure cell and helper read; a holder is a namespace dict, a cell or a function (its code).
    """

    name: str
    file: str
    first_line: int
    text: str
    ast_json: str
    names_json: str
    captures: list[tuple[Any, str, Any]] = field(default_factory=list)

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
    linked = getattr(function, "__xcuda_link__", [])
    known = {"names": names, "helpers": collector.helpers, "forms": shapes, "sources": linked}
    return Captured(
        name=function.__name__,
        file=function.__code__.co_filename,
        first_line=first_line,
        text="".join(lines),
        ast_json=json.dumps(encode(tree)),
        names_json=json.dumps(known),
        captures=collector.captures,
    )


# ---- the text and its tree ------------------------------------------------------------------------------------------


def parse(function: types.FunctionType) -> tuple[ast.FunctionDef, list[str], int]:
    """The function's FunctionDef (absolute lines, true columns), its source lines and the first one's number."""
    code = function.__code__
    name, file, first = function.__name__, code.co_filename, code.co_firstlineno
    lines = lines_of(file, function.__globals__)
    if len(lines) < first:
        raise OSError(
            f"no source text for {name}(): Python has no lines of {file!r}. Define it in a notebook cell or in a file"
            " (text run by exec() needs an entry in linecache)"
        )
    if code.co_name == "<lambda>":
        tree = _lambda(lines, code)
        return tree, lines[first - 1 : tree.end_lineno], first
    block = inspect.getblock(lines[first - 1 :])
    tree = _definition(block, first, code.co_name)
    if tree is None or [a.arg for a in _arguments(tree)] != _argument_names(code):
        raise OSError(
            f"the source of {name}() in {file!r} changed since it was defined: run the definition again"
        )
    return tree, block, first


def _definition(block: list[str], first: int, name: str) -> ast.FunctionDef | None:
    indented = block[0][:1].isspace()
    # `if 1:` keeps an indented definition's columns as they are; it costs one line.
    text = ("if 1:\n" if indented else "") + "".join(block)
    try:
        module = ast.parse(text)
    except SyntaxError:
        return None
    ast.increment_lineno(module, first - (2 if indented else 1))
    body = module.body[0].body if indented else module.body
    found = body[0] if body else None
    if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) and found.name == name:
        return found
    return None


def _compiles_to(node: ast.Lambda, code: types.CodeType) -> bool:
    """Whether a lambda of the source is the same code: then it does not matter which of two it was."""
    alone = compile(ast.Expression(node), "<lambda>", "eval").co_consts
    made = next(c for c in alone if isinstance(c, types.CodeType))
    return node.lineno == code.co_firstlineno and (made.co_code, made.co_consts) == (
        code.co_code,
        code.co_consts,
    )


def _lambda(lines: list[str], code: types.CodeType) -> ast.Lambda:
    """The lambda that `code` was compiled from, told from others of its line by where its body stands."""
    try:
        module = ast.parse("".join(lines))
    except SyntaxError:
        module = ast.Module([], [])
    candidates = [
        node
        for node in ast.walk(module)
        if isinstance(node, ast.Lambda) and [a.arg for a in _arguments(node)] == _argument_names(code)
    ]
    spots = [p for p in code.co_positions() if None not in p and (p[0], p[2]) != (p[1], p[3])]
    found = []
    for node in candidates:
        begin, end = (
            (node.body.lineno, node.body.col_offset),
            (node.body.end_lineno, node.body.end_col_offset),
        )
        if spots and all(begin <= (p[0], p[2]) and (p[1], p[3]) <= end for p in spots):
            found.append(node)
    if not spots:  # CPython 3.12 keeps no places of a lambda that only gives a constant
        found = [node for node in candidates if _compiles_to(node, code)][:1]
    found = [node for node in found if not any(node is not other and _holds(node, other) for other in found)]
    if len(found) != 1:
        raise OSError("the source of this lambda can't be told: give it a name with def")
    return found[0]


def _holds(node: ast.AST, other: ast.AST) -> bool:
    return any(inner is other for inner in ast.walk(node))


def _arguments(tree: ast.FunctionDef) -> list[ast.arg]:
    a = tree.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, [a.vararg, a.kwarg])]


def _argument_names(code: types.CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[:count])


_SKIPPED_FIELDS = {"ctx", "decorator_list", "type_comment", "type_params", "kind", "annotation", "returns"}


def encode(node: Any) -> Any:
    """A tree as JSON: a node is [kind, [line, column, end line, end column], {field: ...}]; operators are words."""
    if isinstance(node, ast.AST):
        if isinstance(node, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)):
            return type(node).__name__
        fields = {}
        for name, value in ast.iter_fields(node):
            if name in _SKIPPED_FIELDS or value is None and not isinstance(node, ast.Constant):
                continue
            fields[name] = _constant(value) if isinstance(node, ast.Constant) else encode(value)
        place = []
        if hasattr(node, "lineno"):
            place = [node.lineno, node.col_offset, node.end_lineno, node.end_col_offset]
        return [type(node).__name__, place, fields]
    if isinstance(node, list):
        return [encode(item) for item in node]
    return node


def _constant(value: Any) -> dict[str, Any]:
    """A literal: {"type": ..., "value": ...}; ints as text, floats as hex, so that nothing is rounded."""
    if value is None or value is Ellipsis:
        return {"type": "None" if value is None else "ellipsis"}
    if isinstance(value, bool):
        return {"type": "bool", "value": value}
    if isinstance(value, int):
        return {"type": "int", "value": str(value) if value.bit_length() < 1000 else "9" * 300}
    if isinstance(value, float):
        return {"type": "float", "value": value.hex()}
    if isinstance(value, complex):
        return {"type": "complex", "real": value.real.hex(), "imag": value.imag.hex()}
    if isinstance(value, str):
        return {"type": "str", "value": value}
    return {"type": type(value).__name__}


# ---- names ----------------------------------------------------------------------------------------------------------


class _Collector:
    """Walks a function and the helpers it names; each helper is captured once."""

    def __init__(self):
        self.helpers: list[dict[str, Any]] = []
        self.captures: list[tuple[Any, str, Any]] = []
        self._ids: dict[int, int] = {}
        self._functions: list[types.FunctionType | None] = []
        self._seen: set[tuple[int, str]] = set()
        self._done = 0

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
            _, name, fields, only_fields, inner = form
            items = [self.form(item) for item in inner]
            return {
                "kind": "tuple",
                "name": name,
                "fields": fields,
                "only_fields": only_fields,
                "items": items,
            }
        return {"kind": "leaf"}

    def remember(self, holder: Any, name: str, value: Any) -> None:
        if (id(holder), name) not in self._seen:
            self._seen.add((id(holder), name))
            self.captures.append((holder, name, value))

    def _resolve(self, function, path: tuple[str, ...], names: dict[str, Any], bound: set[str]) -> None:
        head = path[0]
        value = self._lookup(function, head)
        if value is _MISSING:
            known = [*function.__globals__, *dir(builtins), *bound, *function.__code__.co_freevars]
            names[head] = {"kind": "undefined", "close": difflib.get_close_matches(head, known, 1, 0.75)}
            return
        names[head] = self.meaning(value)
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
            names[dotted] = self.meaning(value)

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

    def meaning(self, value: Any) -> dict[str, Any]:
        """What an object is to the compiler."""
        record = _record(value)
        if record is not None:
            name, fields, defaults, only_fields = record
            items = [self.meaning(item) for item in defaults]
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
        return {"kind": "host", "type": type(value).__name__, "text": describe(value)}

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
        self.bound = {a.arg for a in _arguments(tree)}
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
        constant = _constant(plain)
        return {"kind": "constant", **constant}
    if isinstance(value, types.MethodType) and _is_ffi(value.__self__) and value.__name__ == "from_buffer":
        return {"kind": "intrinsic", "name": "from_buffer"}
    if isinstance(value, enum.Enum):  # members are one object each: their name serves
        return {"kind": "constant", "type": "str", "value": f"{type(value).__module__}.{value}"}
    if isinstance(value, Intrinsic):
        return {"kind": "intrinsic", "name": value.name}
    if isinstance(value, Namespace):
        return {"kind": "module", "name": f"cuda.{value.name}"}
    if isinstance(value, types.ModuleType):
        return {"kind": "module", "name": value.__name__}
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
        return {"kind": "scalar", "dtype": known[0], **_constant(known[1])}
    if isinstance(value, type):
        builtin = getattr(builtins, value.__name__, None) is value
        if builtin and issubclass(value, BaseException):
            return {"kind": "exception", "name": value.__name__}
        if builtin:
            return {"kind": "function", "name": f"builtins.{value.__name__}"}
        return {"kind": "class", "name": value.__name__}
    spelling = _spelling(value)
    return None if spelling is None else {"kind": "function", "name": spelling}


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

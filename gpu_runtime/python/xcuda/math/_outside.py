"""What a function takes from outside and writes to it: globals and cells are read at each call, writes refused."""

from __future__ import annotations

import ast
import builtins
import contextlib
import dis
import functools
import types

import numpy

from ._capture import is_array
from ._errors import refusal
from ._statements import source_tree

_CHANGING = frozenset(
    (
        *("append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "add", "discard"),
        *("sort", "reverse", "write", "writelines", "popitem", "appendleft", "extendleft"),
    )
)
_MOST_ITEMS = 1000
_LIBRARIES = frozenset(
    (
        "xcuda",
        "nvmath",
        "cupy",
        "numpy",
        "scipy",
        "builtins",
        "math",
        "cmath",
        "operator",
        "functools",
        "itertools",
    )
)
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
_MISSING = object()
_PLAIN = (str, bytes, int, float, complex, bool, type(None), numpy.dtype, numpy.generic, type, types.ModuleType,
          types.BuiltinFunctionType, range, slice)  # fmt: skip


def plain_of(function):
    """The Python function under a decorated one; None where there is none."""
    inner = getattr(function, "__wrapped__", function)
    return inner if isinstance(inner, types.FunctionType) else None


def names_of(code):
    """The globals that a code object, and those in it, read."""
    found = {}
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found[instruction.argval] = None
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            found.update(dict.fromkeys(names_of(each)))
    return list(found)


def attributes_of(code, name):
    """The attributes that a code object, and those in it, read of a global."""
    found, previous = {}, None
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and previous == name:
            found[instruction.argval] = None
        previous = instruction.argval if instruction.opname in _LOADS else None
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            found.update(dict.fromkeys(attributes_of(each, name)))
    return list(found)


class Watched:
    """All that a function and the plain functions that it calls take from outside, as it is now."""

    def __init__(self, function):
        self.places: list = []  # (dict or cell, name, value)
        self.contents: list = []  # (container, fingerprint, what is in it)
        self.functions: list = []
        self._add(function)

    def _add(self, function):
        if function in self.functions or len(self.functions) > 200:
            return
        self.functions.append(function)
        for name in names_of(function.__code__):
            value = function.__globals__.get(name, _MISSING)
            if value is _MISSING:
                if hasattr(builtins, name):
                    self.places.append((function.__globals__, name, _MISSING))
                continue
            self._take(function.__globals__, name, value, function.__code__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                self._take(cell, name, cell.cell_contents, function.__code__)
            except ValueError:  # an empty cell
                self.places.append((cell, name, _MISSING))

    def _attributes(self, module, name, code):
        """What the code reads of a module that is no library's."""
        if module.__name__.partition(".")[0] in _LIBRARIES:
            return
        for attribute in attributes_of(code, name):
            if attribute in vars(module):
                self._take(vars(module), attribute, vars(module)[attribute], code)

    def _take(self, holder, name, value, code):
        self.places.append((holder, name, value))
        if isinstance(value, types.ModuleType):
            self._attributes(value, name, code)
            return
        inner = plain_of(value) if callable(value) else None
        if inner is not None:
            if (inner.__module__ or "").partition(".")[0] not in _LIBRARIES:
                self._add(inner)
        elif not isinstance(value, _PLAIN) and not callable(value) and not is_array(value):
            inside: list = []
            self.contents.append((value, fingerprint(value, inside), inside))

    def with_symbols(self, function, symbol_of):
        """The function with arrays from outside as symbols: what it computes of them is computed at each call."""
        return Substitution(self.functions, symbol_of).of(function)

    def unchanged(self):
        """True while all of it is what it was."""
        for holder, name, value in self.places:
            if type(holder) is dict:
                if holder.get(name, _MISSING) is not value:
                    return False
            else:
                try:
                    if holder.cell_contents is not value:
                        return False
                except ValueError:
                    if value is not _MISSING:
                        return False
        return all(fingerprint(value, []) == now for value, now, _ in self.contents)

    def changed_content(self):
        """The container that is not what it was, and its name; None where there is none."""
        for value, before, _ in self.contents:
            if fingerprint(value, []) != before:
                return next(name for _, name, held in self.places if held is value)
        return None


class Substitution:
    """Copies of functions whose globals, cells and defaults have symbols where arrays were."""

    def __init__(self, functions, symbol_of):
        self.functions, self.symbol_of = functions, symbol_of
        self._spaces: dict = {}  # by the id of a globals' dict
        self._made: dict = {}  # by function

    def of(self, function):
        """The copy of a plain function."""
        if function in self._made:
            return self._made[function]
        space = self._spaces.get(id(function.__globals__))
        new = space is None
        if new:
            space = self._spaces[id(function.__globals__)] = dict(function.__globals__)
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        made = types.FunctionType(function.__code__, space, function.__name__, None, cells or None)
        self._made[function] = made
        made.__defaults__ = self._value(function.__defaults__)
        made.__kwdefaults__ = self._value(function.__kwdefaults__)
        made.__dict__.update(function.__dict__)
        for cell, theirs in zip(cells, function.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # an empty cell
                cell.cell_contents = self._value(theirs.cell_contents)
        for name in names_of(function.__code__):
            if name in function.__globals__:
                space[name] = self._value(function.__globals__[name])
        return made

    def _value(self, value):
        if is_array(value):
            return self.symbol_of(value)
        if type(value) in (tuple, list):
            return type(value)(map(self._value, value))
        if type(value) is dict:
            return {k: self._value(v) for k, v in value.items()}
        inner = plain_of(value) if callable(value) else None
        if inner is None or inner not in self.functions:
            return value
        if inner is value:
            return self.of(inner)
        return self._decorated(value, inner)

    def _decorated(self, value, inner):
        """A jitted function: part of the captured one where it is given symbols."""
        from ._symbols import has_symbols

        @functools.wraps(value)
        def either(*args, **kwargs):
            return self.of(inner)(*args, **kwargs) if has_symbols(args, kwargs) else value(*args, **kwargs)

        return either


def fingerprint(value, inside):
    """Tells whether a container still holds the same objects; they are kept in `inside`: their ids stay theirs."""
    if isinstance(value, dict):
        return tuple(
            (k if isinstance(k, _PLAIN) else id(k), fingerprint(v, inside))
            for k, v in list(value.items())[:_MOST_ITEMS]
        )
    if isinstance(value, (list, tuple, set, frozenset)):
        return len(value), tuple(fingerprint(v, inside) for v in list(value)[:_MOST_ITEMS])
    inside.append(value)
    if isinstance(value, (bool, int, float, complex, str)):
        return value if value == value else "nan"
    if (
        not isinstance(value, _PLAIN)
        and not callable(value)
        and not is_array(value)
        and hasattr(value, "__dict__")
    ):
        if len(inside) > _MOST_ITEMS:
            return id(value)
        inner = {
            k: v for k, v in vars(value).items() if isinstance(v, (*_PLAIN, list, tuple, dict)) or is_array(v)
        }
        return id(value), fingerprint(inner, inside)
    return id(value)


# -- writes ------------------------------------------------------------------------------------------


def definition_of(function):
    """The syntax tree of a function's definition; None where its source is not to be had."""
    code = function.__code__
    tree = source_tree(code.co_filename)
    if tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if first == code.co_firstlineno and getattr(node, "name", "<lambda>") == code.co_name:
                return node
    return None


def expect_no_writes(function):
    """CaptureError at the line where a function writes to what is outside of it."""
    node = definition_of(function)
    if node is None or isinstance(node, ast.Lambda):
        return
    file = function.__code__.co_filename
    if isinstance(node, ast.AsyncFunctionDef) or function.__code__.co_flags & 0x20:
        raise refusal(
            "a coroutine or generator cannot be captured", "write a plain function", _place(file, node)
        )
    local = _locals(node)
    for each in ast.walk(node):
        found = _write(each, function, local, node)
        if found is not None:
            raise refusal(*found[:2], _place(file, found[2]))


def _place(file, node):
    return file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _locals(node):
    """Names that the function binds itself, parameters included."""
    arguments = node.args
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    names |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
    outer = set()
    for each in ast.walk(node):
        if isinstance(each, (ast.Global, ast.Nonlocal)):
            outer |= set(each.names)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, (ast.Store, ast.Del)):
            names.add(each.id)
        elif isinstance(each, (ast.FunctionDef, ast.ClassDef)):
            names.add(each.name)
        elif isinstance(each, (ast.Import, ast.ImportFrom)):
            names |= {(a.asname or a.name).partition(".")[0] for a in each.names}
        elif isinstance(each, ast.arg):
            names.add(each.arg)
    return names - outer


def _write(each, function, local, definition):
    once = "it would happen when the function is captured, and not at each of its calls"
    if isinstance(each, (ast.Yield, ast.YieldFrom, ast.Await)):
        return "a generator or coroutine cannot be captured", "return a tuple or a list", each
    if isinstance(each, ast.Global) and _assigned(definition, each.names):
        return (
            f"the function writes the global {each.names[0]!r}: {once}",
            "return the value instead",
            each,
        )
    if isinstance(each, ast.Nonlocal):
        inside = [n for n in each.names if n in function.__code__.co_freevars]
        if inside and _assigned(definition, inside):
            return (
                f"the function writes {inside[0]!r} of the function around it: {once}",
                "return the value",
                each,
            )
    if isinstance(each, (ast.Subscript, ast.Attribute)) and isinstance(each.ctx, (ast.Store, ast.Del)):
        root = _root(each)
        if root is None or root in local and isinstance(each, ast.Subscript):
            return None
        if root in local and root not in _parameters(definition):
            return None
        what = "an item" if isinstance(each, ast.Subscript) else f"the attribute {each.attr!r}"
        return (
            f"the function writes {what} of {root!r}, which is not its own: {once}",
            "return the value",
            each,
        )
    if isinstance(each, ast.Call) and (told := _of_the_world(each, function, local)) is not None:
        return f"{told[0]}: {once}", told[1], each
    if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _CHANGING:
        root = each.func.value
        if isinstance(root, ast.Name) and root.id not in local:
            held = _outer_value(function, root.id)
            if isinstance(held, (list, dict, set, bytearray)) or hasattr(held, "write"):
                call = f"{root.id}.{each.func.attr}(...)"
                return f"{call} changes what is not the function's own: {once}", "return the value", each
    return None


_CLOCKS = frozenset(
    (
        "time",
        "time_ns",
        "perf_counter",
        "perf_counter_ns",
        "monotonic",
        "monotonic_ns",
        "process_time",
        "sleep",
    )
)


def _of_the_world(call, function, local):
    """(what, what to do) of a call that reads or writes what is outside of the process; None for others."""
    if isinstance(call.func, ast.Name) and call.func.id not in local:
        name = call.func.id
        if name in ("open", "input") and _outer_value(function, name) in (None, open, input):
            what = "opens a file" if name == "open" else "asks for input"
            return f"{name}() {what}", "do it outside of the function, and pass what it needs as an argument"
        held = _outer_value(function, name)
        if getattr(held, "__module__", None) == "time" and getattr(held, "__name__", "") in _CLOCKS:
            return f"{name}() reads or waits for a clock", "pass the time as an argument"
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        root = call.func.value.id
        module = None if root in local else _outer_value(function, root)
        if isinstance(module, types.ModuleType) and module.__name__ == "time" and call.func.attr in _CLOCKS:
            return f"{root}.{call.func.attr}() reads or waits for a clock", "pass the time as an argument"
    return None


def _parameters(node):
    arguments = node.args
    return {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _root(node):
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _assigned(definition, names):
    return any(
        isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)) and n.id in names
        for n in ast.walk(definition)
    )


def _outer_value(function, name):
    if name in function.__code__.co_freevars:
        cell = function.__closure__[function.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return None
    return function.__globals__.get(name)

"""The new text of a program: every operation on numbers a call of the rules, which `SPACE` holds."""

from __future__ import annotations

import ast
import functools
import math

import numpy as np

from . import rules
from .rules import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, T
from .syntax import BINARY, COMPARISONS, UNARY, Array, converter_name, dotted, is_type


def _range(*bounds):
    bounds = [int(rules.convert(b, WEAK_INT)) for b in bounds]
    return range(*bounds)


def _slice(*parts):
    return slice(*(None if p is None else int(p) for p in parts))


def _store(value, array, index):
    old = _load(array, index)  # raises IndexError where it is out of range
    if isinstance(old, np.ndarray):
        return _fill(old, value)
    array[index] = rules.convert(value, T(old.dtype.name))


def _fill(array, value, op=None):
    """Every element of one axis, or `op=` of each; of a number, or of an array of as many that is read before."""
    t = T(array.dtype.name)
    values = list(value) if isinstance(value, np.ndarray) else [value] * len(array)
    if len(values) != len(array):
        raise ValueError("lengths differ")
    for k, v in enumerate(values):
        array[k] = rules.convert(rules.binary(op, array[k], v) if op else v, t)


def _augment(array, index, op, value):
    old = _load(array, index)
    if isinstance(old, np.ndarray):
        return _fill(old, value(), op)
    _store(rules.binary(op, old, value()), array, index)


def _member(x, items):
    found = [rules.compare("==", x, item) for item in items]
    return any(found)


def _sum(converted, first, items):
    total = first
    for item in items:
        total = rules.binary("+", total, item)
        if converted:
            total = converted(total)
    return converted(total) if converted else total


def _load(array, index):
    try:
        return array[index]
    except OverflowError:
        raise IndexError("an index beyond 64 bits") from None


def _convert_all(converters, values):
    return tuple(convert(v) for v, convert in zip(values, converters, strict=True))


_CONVERTERS = {
    converter_name(t): rules.converter(t)
    for t in (
        *map(T, rules.DTYPES),
        T("bfloat16"),
        T("complex64"),
        T("complex128"),
        WEAK_INT,
        WEAK_FLOAT,
        WEAK_BOOL,
    )
    if t.dtype != "bfloat16" or rules.BFLOAT16
}


def _divmod(a, b):
    return rules.binary("//", a, b), rules.binary("%", a, b)


def unset(n, dtype, fill):
    if np.dtype(dtype) == bool:
        return np.full(n, fill > 0)
    return np.full(n * np.dtype(dtype).itemsize, fill, np.uint8).view(dtype)


class Shared:
    """The shared arrays of a block: a thread's k-th is that of the threads before it."""

    def __init__(self, cuda):
        self.cuda, self.made = cuda, 0

    def array(self, n, dtype):
        all_of_them = self.cuda.shared_arrays
        if self.made == len(all_of_them):
            all_of_them.append(unset(n, dtype, self.cuda.fill))
        self.made += 1
        return all_of_them[self.made - 1]


def _change(op):
    def change(array, index, value):
        old = _load(array, index)
        _store(op(old, rules.convert(value, T(old.dtype.name))), array, index)

    return staticmethod(change)


class Atomic:
    """Of a thread at a time."""

    add = _change(lambda a, b: rules.binary("+", a, b))
    sub = _change(lambda a, b: rules.binary("-", a, b))
    max = _change(max)
    min = _change(min)
    and_ = _change(lambda a, b: a & b)
    or_ = _change(lambda a, b: a | b)
    xor = _change(lambda a, b: a ^ b)


class Cuda:
    """Stands for xcuda.core in the reference: one thread at a time, nothing to wait for."""

    def __init__(self):
        self.thread = 0
        self.local = self
        self.shared = Shared(self)
        self.shared_arrays: list = []
        self.atomic = Atomic
        self.fill = 0  # each byte of an array that nothing was written to

    def begin(self, thread):
        self.thread, self.shared.made = thread, 0

    def grid(self, axes):
        return self.thread

    def syncthreads(self):
        pass

    def array(self, n, dtype):
        return unset(n, dtype, self.fill)


def _each(function, *args):
    """A function of numbers, of each element where arrays are among them."""
    n = next((len(a) for a in args if isinstance(a, np.ndarray)), None)
    if n is None:
        return function(*args)
    found = [function(*(a[k] if isinstance(a, np.ndarray) else a for a in args)) for k in range(n)]
    return np.array(found, found[0].dtype)


def _binary(op, a, b):
    return _each(lambda x, y: rules.binary(op, x, y), a, b)


def _compare(op, a, b):
    return _each(lambda x, y: rules.compare(op, x, y), a, b)


def _unary(op, a):
    return _each(lambda x: rules.unary(op, x), a)


def _where_whole(c, x, y):
    t = rules.join(*(T(a.dtype.name) if isinstance(a, np.ndarray) else rules.type_of(a) for a in (x, y)))
    return _each(lambda c, x, y: rules.convert(x if c else y, t), c, x, y)


def _reduced(name, array):
    if name in ("sum", "prod"):
        t = T("uint64" if rules.kind(T(array.dtype.name)) == "u" else "int64")
        return functools.reduce(
            lambda a, b: rules.binary("+" if name == "sum" else "*", a, b),
            [rules.convert(x, t) for x in array],
        )
    return getattr(np, name)(array)


def _where(c, x, y):
    return x if c else y


def _least(name, array):
    if not len(array):
        raise ValueError(f"{name}() iterable argument is empty")
    return rules.FUNCTIONS[name][1](*array)


def _functions(name, *args):
    return _each(rules.FUNCTIONS[name][1], *args)


def on_its_line(node, line):
    """Every expression of a statement gets the statement's line: programs have one statement a line."""
    if isinstance(node, ast.stmt):
        line = getattr(node, "lineno", line)
    if "lineno" in node._attributes:
        node.lineno = node.end_lineno = line
        node.col_offset = node.end_col_offset = 0
    for child in ast.iter_child_nodes(node):
        on_its_line(child, line)
    return node


class Writer(ast.NodeTransformer):
    """A function's tree with every operation on numbers as a call of the rules."""

    def __init__(self, function):
        self.function = function
        self.counter = 0

    def body(self, nodes):
        out = []
        for n in nodes:
            made = self.visit(n)
            out += made if isinstance(made, list) else [made]
        return out

    def temporary(self):
        self.counter += 1
        return f"_t{self.counter}"

    def call(self, name, *args, at):
        made = ast.Call(ast.Name(name, ast.Load()), list(args), [])
        for n in ast.walk(made):
            if not hasattr(n, "lineno"):
                ast.copy_location(n, at)
        return made

    def converted(self, value, t, at):
        if is_type(t):
            return self.call(converter_name(t), value, at=at)
        if isinstance(t, tuple):
            names = ast.Tuple([ast.Name(converter_name(item), ast.Load()) for item in t], ast.Load())
            return self.call("_convert_all", names, value, at=at)
        return value

    def assigned(self, name):
        return self.function.current.get(name)

    def target_type(self, target):
        if isinstance(target, ast.Tuple):
            return tuple(self.target_type(e) for e in target.elts)
        return self.assigned(target.id) if isinstance(target, ast.Name) else None

    def store(self, target, value, at):
        """Statements that give `target` the value of a temporary's name."""
        match target:
            case ast.Name():
                value = self.converted(value, self.assigned(target.id), at)
                return [ast.copy_location(ast.Assign([target], value), at)]
            case ast.Subscript():
                call = self.call("_store", value, self.visit(target.value), self.visit(target.slice), at=at)
                return [ast.copy_location(ast.Expr(call), at)]
            case ast.Tuple():
                name = self.temporary()
                out = [ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), at)]
                for i, e in enumerate(target.elts):
                    item = ast.parse(f"{name}[{i}]", mode="eval").body
                    ast.copy_location(item, at)
                    out += self.store(e, item, at)
                return out

    def visit_FunctionDef(self, node):
        """A function inside: one for each set of argument types that it is called with."""
        made = [s.written() for (name, _), s in self.function.inner.items() if name == node.name]
        return made or [ast.copy_location(ast.Pass(), node)]

    def visit_Match(self, node):
        cases = []
        for c in node.cases:
            cases.append(ast.match_case(c.pattern, c.guard and self.test(c.guard), self.body(c.body)))
        return ast.copy_location(ast.Match(self.visit(node.subject), cases), node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call) and dotted(node.value.func) == "cuda.syncthreads":
            return ast.copy_location(ast.Expr(ast.copy_location(ast.Yield(), node)), node)
        return self.generic_visit(node)

    def visit_Assign(self, node):
        if isinstance(node.value, ast.Lambda):
            return self.visit_FunctionDef(
                ast.FunctionDef(node.targets[0].id, node.value.args, [], [], lineno=node.lineno, col_offset=0)
            )
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self.store(node.targets[0], value, node)
        name = self.temporary()
        out = [ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node)]
        for t in node.targets:
            out += self.store(t, ast.copy_location(ast.Name(name, ast.Load()), node), node)
        return out

    def visit_AugAssign(self, node):
        op = ast.copy_location(ast.Constant(BINARY[type(node.op)]), node)
        value = self.visit(node.value)
        if isinstance(self.assigned(getattr(node.target, "id", "")), Array):
            load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
            return ast.copy_location(ast.Expr(self.call("_fill", load, value, op, at=node)), node)
        if isinstance(node.target, ast.Name):
            load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
            return self.store(node.target, self.call("_binary", op, load, value, at=node), node)
        later = ast.copy_location(ast.Lambda(ast.arguments([], [], None, [], [], None, []), value), node)
        target = node.target
        call = self.call("_augment", self.visit(target.value), self.visit(target.slice), op, later, at=node)
        return ast.copy_location(ast.Expr(call), node)

    def visit_For(self, node):
        body = []
        target = node.target
        if not (isinstance(target, ast.Name) and target.id in self.function.loop_only):
            name = self.temporary()
            body = self.store(target, ast.copy_location(ast.Name(name, ast.Load()), node), node)
            target = ast.copy_location(ast.Name(name, ast.Store()), node)
        made = ast.For(target, self.visit(node.iter), body + self.body(node.body), self.body(node.orelse))
        return ast.copy_location(made, node)

    def visit_If(self, node):
        made = ast.If(self.test(node.test), self.body(node.body), self.body(node.orelse))
        return ast.copy_location(made, node)

    def visit_While(self, node):
        made = ast.While(self.test(node.test), self.body(node.body), self.body(node.orelse))
        return ast.copy_location(made, node)

    def visit_Assert(self, node):
        return ast.copy_location(ast.Assert(self.test(node.test), node.msg), node)

    def visit_Raise(self, node):
        return node

    def visit_Return(self, node):
        if node.value is None:
            return node
        value = self.converted(self.visit(node.value), self.function.result, node)
        return ast.copy_location(ast.Return(value), node)

    def test(self, node):
        """A condition: its operands' truth, brought to no type."""
        if isinstance(node, ast.BoolOp):
            return ast.copy_location(ast.BoolOp(node.op, [self.test(v) for v in node.values]), node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ast.copy_location(ast.UnaryOp(node.op, self.test(node.operand)), node)
        return self.visit(node)

    def visit_BoolOp(self, node):
        made = ast.BoolOp(node.op, [self.visit(v) for v in node.values])
        return self.converted(ast.copy_location(made, node), self.function.notes[node], node)

    def visit_IfExp(self, node):
        made = ast.IfExp(self.test(node.test), self.visit(node.body), self.visit(node.orelse))
        return self.converted(ast.copy_location(made, node), self.function.notes[node], node)

    def visit_BinOp(self, node):
        op = ast.Constant(BINARY[type(node.op)])
        return self.call("_binary", op, self.visit(node.left), self.visit(node.right), at=node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return self.test(node)
        return self.call("_unary", ast.Constant(UNARY[type(node.op)]), self.visit(node.operand), at=node)

    def visit_Compare(self, node):
        t = self.function.notes.get(node)
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            made = self.call("_member", self.visit(node.left), self.visit(node.comparators[0]), at=node)
            if isinstance(node.ops[0], ast.NotIn):
                made = ast.copy_location(ast.UnaryOp(ast.Not(), made), node)
            return self.converted(made, t, node)
        parts, left = [], self.visit(node.left)
        for i, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.visit(right)
            if i + 1 < len(node.ops):
                name = self.temporary()
                right = ast.copy_location(ast.NamedExpr(ast.Name(name, ast.Store()), right), node)
            parts.append(self.call("_compare", ast.Constant(COMPARISONS[type(op)]), left, right, at=node))
            if i + 1 < len(node.ops):
                left = ast.copy_location(ast.Name(name, ast.Load()), node)
        if len(parts) == 1:
            return parts[0]
        return self.converted(ast.copy_location(ast.BoolOp(ast.And(), parts), node), t, node)

    def visit_NamedExpr(self, node):
        value = self.converted(self.visit(node.value), self.assigned(node.target.id), node)
        return ast.copy_location(ast.NamedExpr(node.target, value), node)

    def visit_Slice(self, node):
        parts = [self.visit(p) if p else ast.Constant(None) for p in (node.lower, node.upper, node.step)]
        return self.call("_slice", *parts, at=node)

    def visit_Subscript(self, node):
        return self.call("_load", self.visit(node.value), self.visit(node.slice), at=node)

    def visit_Call(self, node):
        name, f = dotted(node.func), self.function
        if node.args and isinstance(node.args[0], ast.GeneratorExp):
            g = node.args[0]
            [c] = g.generators
            made = ast.comprehension(c.target, self.visit(c.iter), [self.test(i) for i in c.ifs], 0)
            items = ast.copy_location(ast.GeneratorExp(self.visit(g.elt), [made]), node)
            t = f.notes[node]
            if name == "sum":
                name = ast.Name(converter_name(t), ast.Load())
                return self.call("_sum", name, ast.Constant(0), items, at=node)
            return self.converted(self.call(name, items, at=node), t, node)
        args = [self.visit(a) for a in node.args]
        if name in f.owner.functions or name in f.functions:
            types = f.notes[node]
            inner = name in f.functions
            special = f.specialise_inner if inner else f.owner.specialise
            made = ast.Call(
                ast.Name(special(name, types).name, ast.Load()),
                args,
                [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords],
            )
            parameters = (f.functions if inner else f.owner.functions)[name].args
            given = {a.arg for a in parameters.args[: len(args)]} | {k.arg for k in node.keywords}
            defaulted = parameters.args[len(parameters.args) - len(parameters.defaults) :]
            for a, d in zip(defaulted, parameters.defaults, strict=True):
                if a.arg not in given:
                    made.keywords.append(ast.keyword(a.arg, d))
            return ast.fix_missing_locations(ast.copy_location(made, node))
        if name in ("min", "max", "any", "all", "sum") and node in f.notes:  # of an array
            if name == "sum":
                to = ast.Name(converter_name(f.notes[node]), ast.Load())
                return self.call("_sum", to, ast.Constant(0), *args, at=node)
            if name in ("min", "max"):
                return self.call("_least", ast.Constant(name), *args, at=node)
            return self.converted(self.call(name, *args, at=node), f.notes[node], node)
        if name == "sum":
            return self.call("_sum", ast.Constant(None), ast.Constant(0), *args, at=node)
        if name == "range":
            return self.call("_range", *args, at=node)
        if name == "divmod":
            return self.call("_divmod", *args, at=node)
        if name.startswith("np.") and name[3:] in (
            "sum",
            "prod",
            "max",
            "min",
            "argmax",
            "argmin",
            "any",
            "all",
        ):
            return self.call("_reduced", ast.Constant(name[3:]), *args, at=node)
        if name == "np.where" and node not in f.notes:
            return self.call("_where_whole", *args, at=node)
        if name == "np.where":
            return self.converted(self.call("_where", *args, at=node), f.notes[node], node)
        if name in rules.FUNCTIONS:
            return self.call("_functions", ast.Constant(name), *args, at=node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "conjugate":
            function = ast.copy_location(
                ast.Attribute(self.visit(function.value), "conjugate", ast.Load()), node
            )
        return ast.copy_location(ast.Call(function, args, []), node)


SPACE = {
    "np": np, "bfloat16": rules.BFLOAT16, "math": math, **_CONVERTERS, "_binary": _binary, "_unary": _unary, "_compare": _compare,
    "_where_whole": _where_whole, "_reduced": _reduced,
    "_range": _range, "_store": _store, "_augment": _augment, "_member": _member, "_sum": _sum, "_load": _load,
    "_where": _where, "_convert_all": _convert_all, "_divmod": _divmod, "_functions": _functions,
    "_slice": _slice, "_fill": _fill, "_least": _least,
}  # fmt: skip

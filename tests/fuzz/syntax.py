"""What the reference knows of a program's text: operators by their syntax, loop variables, what a compiler may fold."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from .rules import T

FILE = "<program>"


class Rejected(Exception):
    """The program is not one of the language, or its types hang on what a compiler may fold."""


@dataclass(frozen=True)
class Array:
    dtype: str
    ndim: int


@dataclass(frozen=True)
class Records:
    """An array of records, or one (no axes): its fields' names, types and, of array fields, axes."""

    fields: tuple
    ndim: int

    def field(self, name):
        dtype, axes = next((d, axes) for n, d, axes in self.fields if n == name)
        return Array(dtype, self.ndim + axes) if self.ndim + axes else T(dtype)


Tuple = tuple  # of types
SLICE = "a slice"


BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
UNARY = {ast.USub: "-", ast.Invert: "~", ast.Not: "not", ast.UAdd: "+"}


def is_type(t) -> bool:
    return isinstance(t, T)


def dotted(node) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def converter_name(t: T) -> str:
    return f"_to_{'weak_' * t.weak}{t.dtype}"


def loop_only(tree) -> set[str]:
    """Loop variables that nothing but the bodies of their loops reads, and nothing else assigns."""
    loops, escaped = set(), {a.arg for a in tree.args.args}

    def visit(node, around):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            name = node.target.id
            loops.add(name)
            if name in around:
                escaped.add(name)
            visit(node.iter, around)
            for s in node.body:
                visit(s, around | {name})
            for s in node.orelse:
                visit(s, around)
            return
        if isinstance(node, ast.Name) and (isinstance(node.ctx, ast.Store) or node.id not in around):
            escaped.add(node.id)
        for child in ast.iter_child_nodes(node):
            visit(child, around)

    for s in tree.body:
        visit(s, frozenset())
    return loops - escaped


def computes_with_its_row(text: str) -> bool:
    """Whether the thread's number `i` is more than an index and a guard: a thread with another number computes else."""
    free = set()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            free |= {id(part) for part in index}
        elif isinstance(node, ast.Compare) and ast.unparse(node) in ("i >= n", "i < n"):
            free.add(id(node.left))
    names = (
        n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "i" and isinstance(n.ctx, ast.Load)
    )
    return any(id(name) not in free for name in names)


def names_that_count(node):
    """The names in an expression, but for those in x ** 0, which is 1 whatever x is, in len(), and of Python's functions."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and ast.unparse(node.right) == "0":
        return
    if isinstance(node, ast.Call) and dotted(node.func) == "len":
        return
    if isinstance(node, ast.Name):
        yield node.id
    of_python = isinstance(node, ast.Call) and dotted(node.func) in dir(builtins)  # float(2) is known
    for child in node.args if of_python else ast.iter_child_nodes(node):
        yield from names_that_count(child)


def may_be_constant(node, names) -> bool:
    """True if nothing in it depends on the thread, as far as a compiler may see."""
    if isinstance(node, ast.Subscript):
        base = node.value
        while isinstance(base, ast.Subscript):
            base = base.value
        return not isinstance(base, ast.Name) or may_be_constant(base, names)
    if isinstance(node, ast.BoolOp):
        return any(may_be_constant(v, names) for v in node.values)
    return all(name in names for name in names_that_count(node) if name not in ("np", "math", "bfloat16"))


def written_out(tree, names) -> set[str]:
    """The variables of loops over tuples with an item that may be a constant: each turn knows its own."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Tuple):
            if any(may_be_constant(e, names) for e in node.iter.elts):
                found |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
    return found


def constant_names(tree, assigned) -> set[str]:
    """Variables of which all assignments may be of one constant."""
    values: dict[str, list] = {name: [] for name in assigned}
    moving = {a.arg for a in tree.args.args}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets):
                for t in targets:
                    if isinstance(t, ast.Name):
                        values[t.id].append(node.value)
                    else:
                        moving |= {n.id for n in ast.walk(t) if isinstance(n, ast.Name)}
            case ast.AugAssign(target=ast.Name()) | ast.For():
                moving |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
            case ast.NamedExpr():
                values[node.target.id].append(node.value)
            case ast.MatchAs(name=str()):
                moving.add(node.name)
    fixed = {name for name in assigned if name not in moving and values[name]}
    while True:
        still = {
            n
            for n in fixed
            if all(may_be_constant(v, fixed) for v in values[n])
            and len({ast.dump(v) for v in values[n]}) == 1
        }
        if still == fixed:
            return fixed
        fixed = still

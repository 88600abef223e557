"""A kernel's text with its syntax tree, and edits of it that leave the rest as the user wrote it."""

from __future__ import annotations

import ast
import inspect
import textwrap

LOOPS = (ast.For, ast.While)


class NoRewriteError(Exception):
    """The text is not of a form that a rule knows how to rewrite."""


def needs(value):
    """The value itself. Raises NoRewriteError where it is None, False or empty."""
    if value is None or value is False or hasattr(value, "__len__") and len(value) == 0:
        raise NoRewriteError
    return value


class Source:
    """A function's text. `first` is the file's line of its first one; lines of nodes count from 1 in `text`."""

    def __init__(self, function):
        try:
            lines, self.first = inspect.getsourcelines(function)
            self.text = textwrap.dedent("".join(lines))
            self.tree = ast.parse(self.text).body[0]
        except (OSError, TypeError, SyntaxError, IndexError):
            raise NoRewriteError from None
        if not isinstance(self.tree, ast.FunctionDef):
            raise NoRewriteError
        if not self.text.endswith("\n"):
            self.text += "\n"
        self.parents = {c: p for p in ast.walk(self.tree) for c in ast.iter_child_nodes(p)}
        self.names = {n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name)}
        self.names |= {a.arg for a in self.tree.args.args}
        self.globals = getattr(function, "__globals__", {})
        self._starts = [0]
        for line in self.text.encode().splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._edits: list[tuple[int, int, int, str]] = []

    # ---- looking ----------------------------------------------------------------------------------------------------

    def line(self, absolute: int) -> int:
        """A line of the file as a line of the text."""
        return absolute - self.first + 1

    def unparse(self, node) -> str:
        """The node as the user wrote it."""
        return self.text.encode()[slice(*self._span(node))].decode()

    def module(self, name: str, fallback: str | None = None) -> str:
        """What a module is called in the function: "np" of numpy. Raises NoRewriteError where it is not known."""
        for alias, value in self.globals.items():
            if getattr(value, "__name__", None) == name and inspect.ismodule(value):
                return alias
        return needs(fallback)

    def cuda(self) -> str:
        """What xcuda.core is called in the function."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and node.attr in ("grid", "threadIdx", "syncthreads"):
                return self.unparse(node.value)
        return "cuda"

    def fresh(self, *wanted: str) -> str:
        """The first of these names that is free, or the last with a number."""
        for name in wanted:
            if name not in self.names:
                self.names.add(name)
                return name
        number = 2
        while f"{wanted[-1]}{number}" in self.names:
            number += 1
        return self.fresh(f"{wanted[-1]}{number}")

    def statement(self, node):
        """The statement that holds a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def around(self, node, kinds=LOOPS):
        """The nodes of these kinds that hold it, the innermost first, up to the function."""
        found = []
        while node is not self.tree:
            node = self.parents[node]
            if isinstance(node, kinds):
                found.append(node)
        return found

    def body_of(self, statement) -> list[ast.stmt]:
        """The list of statements that it stands in."""
        parent = self.parents[statement]
        for name in ("body", "orelse", "handlers", "finalbody"):
            body = getattr(parent, name, None)
            if isinstance(body, list) and statement in body:
                return body
        raise NoRewriteError

    def subscripts(self, name: str, line: int | None = None) -> list[ast.Subscript]:
        """The accesses to an array, those of one line of the text."""
        return [
            n
            for n in ast.walk(self.tree)
            if isinstance(n, ast.Subscript)
            and isinstance(n.value, ast.Name)
            and n.value.id == name
            and (line is None or n.lineno <= line <= n.end_lineno)
        ]

    def at_line(self, line: int):
        """The innermost statement that begins at, or goes over, a line."""
        found = [
            n
            for n in ast.walk(self.tree)
            if isinstance(n, ast.stmt) and n is not self.tree and n.lineno <= line <= n.end_lineno
        ]
        return min(needs(found), key=lambda n: n.end_lineno - n.lineno)

    def shared_array(self, name: str) -> ast.Assign:
        """The statement that makes a shared array."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and call_of(node.value) == "array":
                target = node.targets[0]
                if isinstance(target, ast.Name) and target.id == name:
                    return node
        raise NoRewriteError

    # ---- changing ---------------------------------------------------------------------------------------------------

    def replace(self, node, text: str) -> None:
        """Another text for an expression."""
        self._edits.append((*self._span(node), len(self._edits), text))

    def replace_statements(self, first, last, lines: list[str]) -> None:
        """Other lines, indented as the first was, for statements that follow each other."""
        start = self._line_start(first)
        self._edits.append(
            (start, self._starts[last.end_lineno], len(self._edits), self._indented(first, lines))
        )

    def before(self, statement, lines: list[str]) -> None:
        """Lines before a statement, indented as it is."""
        start = self._line_start(statement)
        self._edits.append((start, start, len(self._edits), self._indented(statement, lines)))

    def after(self, statement, lines: list[str]) -> None:
        """Lines after a statement, indented as it is."""
        self._line_start(statement)
        end = self._starts[statement.end_lineno]
        self._edits.append((end, end, len(self._edits), self._indented(statement, lines)))

    def lines_of(self, first, last) -> list[str]:
        """The text of statements that follow each other, their own indentation taken away."""
        start = self._line_start(first)
        return textwrap.dedent(
            self.text.encode()[start : self._starts[last.end_lineno]].decode()
        ).splitlines()

    def result(self) -> str:
        """The text with the edits. Raises NoRewriteError where they overlap or leave no Python."""
        data = self.text.encode()
        end = len(data) + 1
        for start, stop, _, text in sorted(self._edits, key=lambda e: (e[0], e[1], e[2]), reverse=True):
            if stop > end:
                raise NoRewriteError
            data = data[:start] + text.encode() + data[stop:]
            end = start
        made = data.decode()
        try:
            ast.parse(made)
        except SyntaxError:
            raise NoRewriteError from None
        return made

    def _span(self, node):
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def _line_start(self, statement) -> int:
        start = self._starts[statement.lineno - 1]
        needs(not self.text.encode()[start : start + statement.col_offset].strip())  # `if c: x` on one line
        return start

    def _indented(self, statement, lines) -> str:
        margin = " " * statement.col_offset
        return "".join(f"{margin}{line}\n" if line else "\n" for line in lines)


def call_of(node) -> str | None:
    """ "grid" of cuda.grid(2); None for what is no call of a name or an attribute."""
    if not isinstance(node, ast.Call):
        return None
    return getattr(node.func, "attr", getattr(node.func, "id", None))


def indices_of(subscript: ast.Subscript) -> list[ast.expr]:
    """One expression an axis."""
    inner = subscript.slice
    return list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]


def names_in(node) -> set[str]:
    """The names that an expression reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def assigned_in(nodes) -> set[str]:
    """The names that statements assign, loops' own among them."""
    return {
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def is_barrier(statement) -> bool:
    """True for a statement that is cuda.syncthreads()."""
    return isinstance(statement, ast.Expr) and call_of(statement.value) == "syncthreads"


def leaves_early(nodes) -> bool:
    """Whether a return, break or continue is among these statements."""
    return any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for node in nodes for n in ast.walk(node))

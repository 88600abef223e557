"""The text of a plain Python function, its tree, and the tree as the compiler reads it."""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any

from xcuda.core.source_lines import lines_of


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
    if tree is None or [a.arg for a in arguments_of(tree)] != _argument_names(code):
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
        if isinstance(node, ast.Lambda) and [a.arg for a in arguments_of(node)] == _argument_names(code)
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


def arguments_of(tree: ast.FunctionDef) -> list[ast.arg]:
    """All parameters, in order."""
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
            fields[name] = constant_of(value) if isinstance(node, ast.Constant) else encode(value)
        place = []
        if hasattr(node, "lineno"):
            place = [node.lineno, node.col_offset, node.end_lineno, node.end_col_offset]
        return [type(node).__name__, place, fields]
    if isinstance(node, list):
        return [encode(item) for item in node]
    return node


def constant_of(value: Any) -> dict[str, Any]:
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

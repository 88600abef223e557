"""Rewrites of arithmetic: narrower numbers, and remainders that are counted along."""

from __future__ import annotations

import ast

from xcuda.profiler.rewrites.source import Source, assigned_in, leaves_early, names_in, needs


def narrow(source: Source, finding, context) -> str:
    """float64-arithmetic: the wide operands of a line made as wide as the arrays are."""
    np = source.module("numpy")
    cast = f"{np}.float{context.float_bits}"
    statement = source.at_line(source.line(finding.line))
    changed = False
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and node.attr == "float64" and isinstance(node.ctx, ast.Load):
            source.replace(node, cast)
            changed = True
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and context.is_double(node.id):
            source.replace(node, f"{cast}({node.id})")
            changed = True
        elif (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and all(map(context.is_integer, (node.left, node.right)))
        ):
            for side in (node.left, node.right):
                if not isinstance(side, ast.Constant):
                    source.replace(side, f"{cast}({source.unparse(side)})")
                    changed = True
    needs(changed)
    return ""


def count_along(source: Source, finding, _) -> str:
    """integer-division: a remainder that goes on with the loop is counted, and starts again at the end."""
    statement = source.at_line(source.line(finding.line))
    found = [n for n in ast.walk(statement) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod)]
    node = needs(found)[0]
    loop = needs(source.around(node))[0]
    divisor = source.unparse(node.right)
    needs(not assigned_in([loop]) & names_in(node.right) and not leaves_early(loop.body))
    if (
        isinstance(statement, ast.Assign)
        and statement.value is node
        and isinstance(statement.targets[0], ast.Name)
        and isinstance(node.left, ast.BinOp)
        and isinstance(node.left.op, ast.Add)
        and statement.targets[0].id in (ast.unparse(node.left.left), ast.unparse(node.left.right))
    ):
        name = statement.targets[0].id
        lines = [
            f"{name} = {source.unparse(node.left)}",
            f"while {name} >= {divisor}:",
            f"    {name} -= {divisor}",
        ]
        source.replace_statements(statement, statement, lines)
        return "for counts that are never negative"
    _count_with_loop(source, node, loop, divisor)
    return ""


def _count_with_loop(source, node, loop, divisor):
    needs(isinstance(loop, ast.For) and isinstance(loop.target, ast.Name))
    counter, bounds = loop.target.id, loop.iter
    needs(isinstance(bounds, ast.Call) and getattr(bounds.func, "id", "") == "range" and len(bounds.args) < 3)
    needs(isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Add))
    sides = [node.left.left, node.left.right]
    mine = [s for s in sides if isinstance(s, ast.Name) and s.id == counter]
    rest = [s for s in sides if s not in mine]
    needs(len(mine) == 1 and not assigned_in([loop]) & names_in(rest[0]))
    first = source.unparse(rest[0])
    if len(bounds.args) == 2:
        first = f"{first} + {source.unparse(bounds.args[0])}"
    if not first.isidentifier():
        first = f"({first})"
    name = source.fresh("at", "turn")
    source.before(loop, [f"{name} = {first} % {divisor}"])
    source.replace(node, name)
    source.after(loop.body[-1], [f"{name} += 1", f"if {name} == {divisor}:", f"    {name} = 0"])

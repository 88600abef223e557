"""Rewrites of single accesses: order of axes, padding, values kept in variables, guards."""

from __future__ import annotations

import ast
import re

from xcuda.profiler.rewrites.source import (
    Source,
    assigned_in,
    call_of,
    indices_of,
    is_barrier,
    names_in,
    needs,
)


def swap_axes(source: Source, finding, _) -> str:
    """strided-access: the first name of cuda.grid takes the array's last axis."""
    target, first, last = grid_names(source)
    accesses = needs(source.subscripts(finding.subject, source.line(finding.line)))
    for access in accesses:
        axes = indices_of(access)
        needs(len(axes) > 1 and first.id in set().union(*map(names_in, axes[:-1])))
        needs(last.id in names_in(axes[-1]) and first.id not in names_in(axes[-1]))
    for other in ast.walk(source.tree):  # no other access may suffer by it
        if isinstance(other, ast.Subscript) and first.id in names_in(indices_of(other)[-1]):
            needs(isinstance(other.value, ast.Name) and len(indices_of(other)) == 1)
    source.replace(first, last.id)
    source.replace(last, first.id)
    return "the launch's grid and block, too, then have the columns first"


def grid_names(source: Source):
    """(the tuple, its first and its last name) of `i, j = cuda.grid(2)`."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Assign) or call_of(node.value) != "grid":
            continue
        target = node.targets[0]
        if isinstance(target, ast.Tuple) and all(isinstance(e, ast.Name) for e in target.elts):
            return target, target.elts[0], target.elts[-1]
    needs(None)


def pad(source: Source, finding, _) -> str:
    """bank-conflict: rows of the shared array as much longer as the advice says."""
    longer = needs(re.search(r"rows (\d+) element", finding.advice))[1]
    shape = source.shared_array(finding.subject).value.args[0]
    needs(isinstance(shape, ast.Tuple) and len(shape.elts) > 1)
    source.replace(shape.elts[-1], f"{source.unparse(shape.elts[-1])} + {longer}")
    return ""


def keep_in_variable(source: Source, finding, _) -> str:
    """accumulation-in-memory: the element in a variable while the loop runs."""
    access = needs(source.subscripts(finding.subject, source.line(finding.line)))[0]
    loop = unchanged_loop(source, access)
    text = ast.unparse(access)
    inside = [s for s in source.subscripts(finding.subject) if loop in source.around(s)]
    needs(all(ast.unparse(s) == text for s in inside))
    name = source.fresh("total", "value")
    for s in inside:
        source.replace(s, name)
    body = source.body_of(loop)
    before = body[body.index(loop) - 1] if body.index(loop) else None
    if (
        isinstance(before, ast.Assign)
        and ast.unparse(before.targets[0]) == text
        and isinstance(before.value, ast.Constant)
    ):
        source.replace_statements(before, before, [f"{name} = {source.unparse(before.value)}"])
    else:
        source.before(loop, [f"{name} = {source.unparse(access)}"])
    source.after(loop, [f"{source.unparse(access)} = {name}"])
    return ""


def load_before(source: Source, finding, _) -> str:
    """loop-invariant-load: read once, before the loop."""
    accesses = needs(source.subscripts(finding.subject, source.line(finding.line)))
    text = ast.unparse(accesses[0])
    loop = unchanged_loop(source, accesses[0])
    name = source.fresh(f"{finding.subject}_here")
    for s in source.subscripts(finding.subject):
        if loop in source.around(s) and ast.unparse(s) == text:
            needs(isinstance(s.ctx, ast.Load))
            source.replace(s, name)
    source.before(loop, [f"{name} = {source.unparse(accesses[0])}"])
    return ""


def unchanged_loop(source: Source, access):
    """The outermost loop around an access that changes none of the names of its index."""
    found = None
    for loop in source.around(access):
        if assigned_in([loop]) & names_in(access.slice):
            break
        found = loop
    return needs(found)


def guard(source: Source, finding, _) -> str:
    """out-of-range: the rest of the body under a test of the index."""
    line = source.line(finding.line)
    accesses = needs(source.subscripts(needs(finding.subject), line))
    tests = []
    for access in accesses:
        for axis, index in enumerate(indices_of(access)):
            needs(not isinstance(index, ast.Slice))
            if not names_in(index):
                continue
            test = f"{source.unparse(index)} < {finding.subject}.shape[{axis}]"
            if isinstance(index, ast.BinOp) and any(isinstance(n, ast.Sub) for n in ast.walk(index)):
                test = f"0 <= {test}"
            if test not in tests:
                tests.append(test)
    statement = source.statement(accesses[0])
    body = source.body_of(statement)
    rest = body[body.index(statement) :]
    if any(is_barrier(n) for s in rest for n in ast.walk(s)):
        rest = [statement]
    if body is source.tree.body and len(rest) == 1 and isinstance(statement, ast.Assign):
        needs(not isinstance(statement.targets[0], ast.Name))  # a value that others read later
    inner = ["    " + text if text else "" for text in source.lines_of(rest[0], rest[-1])]
    source.replace_statements(rest[0], rest[-1], [f"if {' and '.join(needs(tests))}:", *inner])
    return ""

"""Rewrites of a kernel's head and of its launch: what is not used, how large a block is, the compiler's limits."""

from __future__ import annotations

import ast
import re

from xcuda.profiler.rewrites.source import Source, needs


def take_out(source: Source, finding, _) -> str:
    """unused: without the argument, or without the shared array and what is written to it."""
    name = finding.subject
    arguments = source.tree.args
    if any(a.arg == name for a in arguments.args):
        needs(not arguments.defaults and not arguments.kwonlyargs and not arguments.posonlyargs)
        head = ", ".join(
            a.arg if a.annotation is None else f"{a.arg}: {source.unparse(a.annotation)}"
            for a in arguments.args
            if a.arg != name
        )
        line = source.text.splitlines()[source.tree.lineno - 1]
        needs(line.rstrip().endswith("):") or "):" in line)
        whole = re.sub(r"\(.*?\):", lambda _: f"({head}):", line, count=1)
        source.replace(_Line(source.tree.lineno, line), whole)
        return "calls, too, then leave it out"
    made = source.shared_array(name)
    source.replace_statements(made, made, [])
    for access in source.subscripts(name):
        statement = source.statement(access)
        needs(isinstance(statement, ast.Assign) and statement.targets[0] is access)
        needs(len(source.body_of(statement)) > 1)
        source.replace_statements(statement, statement, [])
    return ""


def whole_warps(source: Source, finding, context) -> str:
    """part-warp: the launch with a block of whole warps."""
    threads = context.block[0] * context.block[1] * context.block[2]
    needs(context.block[1:] == (1, 1) and context.grid[1:] == (1, 1))
    whole = -(-threads // 32) * 32
    return f"{source.tree.name}[{-(-context.grid[0] * threads // whole)}, {whole}](...)"


def without_limit(source: Source, finding, _) -> str:
    """register-spills: the decorator without its limit."""
    for decorator in source.tree.decorator_list:
        if isinstance(decorator, ast.Call):
            kept = [k for k in decorator.keywords if k.arg != "max_registers"]
            needs(len(kept) < len(decorator.keywords))
            inner = [source.unparse(a) for a in decorator.args]
            inner += [f"{k.arg}={source.unparse(k.value)}" for k in kept]
            head = source.unparse(decorator.func)
            source.replace(decorator, f"{head}({', '.join(inner)})" if inner else head)
            return ""
    needs(None)


def with_limit(source: Source, finding, _) -> str:
    """low-occupancy: a limit of registers, or another block, as the advice names it."""
    registers = re.search(r"max_registers=(\d+)", finding.advice)
    block = re.search(r"blocks of (\d+) threads", finding.advice)
    if block and source.tree.name:
        return f"{source.tree.name}[blocks, {block[1]}](...)  # and as many blocks as cover the elements"
    needs(registers)
    for decorator in source.tree.decorator_list:
        if isinstance(decorator, ast.Attribute):
            source.replace(decorator, f"{source.unparse(decorator)}(max_registers={registers[1]})")
            return ""
    needs(None)


class _Line:
    """A whole line of the text, for Source.replace."""

    def __init__(self, number, text):
        self.lineno = self.end_lineno = number
        self.col_offset, self.end_col_offset = 0, len(text.encode())

"""Rewrites of what threads do together: barriers, branches."""

from __future__ import annotations

import ast

from xcuda.profiler.rewrites.source import (
    LOOPS,
    Source,
    assigned_in,
    is_barrier,
    leaves_early,
    names_in,
    needs,
)


def add_barrier(source: Source, finding, _) -> str:
    """race: cuda.syncthreads() between the two accesses, in a loop also before its next turn."""
    source.shared_array(finding.subject)  # of a block: a barrier helps
    later, first = source.line(finding.line), source.line(finding.other_line)
    barrier = f"{source.cuda()}.syncthreads()"
    here = source.at_line(later)
    parted = any(is_barrier(s) and first < s.lineno < later for s in ast.walk(source.tree))
    if first < later and not parted:
        statement, body = here, source.body_of(here)
        while not any(s.lineno <= first <= s.end_lineno for s in body):
            statement = source.parents[statement]
            needs(statement is not source.tree)
            body = source.body_of(statement)
        needs(not source.around(statement, ast.If))
        source.before(statement, [barrier])
        return ""
    loop = needs([w for w in source.around(here, LOOPS) if w.lineno <= first <= w.end_lineno])[0]
    needs(not source.around(loop, ast.If) and not leaves_early(loop.body))
    source.after(loop.body[-1], [barrier])
    return ""


def barrier_outside(source: Source, finding, _) -> str:
    """divergent-barrier: the condition before and after it, and not round it."""
    barrier = source.at_line(source.line(finding.line))
    needs(is_barrier(barrier))
    branch = source.parents[barrier]
    needs(isinstance(branch, ast.If) and barrier in branch.body and not branch.orelse)
    needs(not source.around(branch, ast.If))
    at = branch.body.index(barrier)
    before, after = branch.body[:at], branch.body[at + 1 :]
    needs(not leaves_early(branch.body) and not any(is_barrier(s) for s in before + after))
    needs(not assigned_in(before) & names_in(branch.test))
    condition = f"if {source.unparse(branch.test)}:"
    lines = []
    for part in (before, [barrier], after):
        if part == [barrier]:
            lines += source.lines_of(barrier, barrier)
        elif part:
            lines += [condition, *("    " + t if t else "" for t in source.lines_of(part[0], part[-1]))]
    source.replace_statements(branch, branch, lines)
    return ""


def choose_value(source: Source, finding, _) -> str:
    """divergent-branch: a choice between two values where both sides assign the same."""
    branch = source.at_line(source.line(finding.line))
    while not isinstance(branch, ast.If):
        branch = source.parents[needs(branch is not source.tree and branch)]
    needs(len(branch.body) == 1 and len(branch.orelse) == 1)
    yes, no = branch.body[0], branch.orelse[0]
    needs(type(yes) is type(no) and isinstance(yes, (ast.Assign, ast.AugAssign)))
    if isinstance(yes, ast.AugAssign):
        needs(type(yes.op) is type(no.op))
        sign = source.text.encode().splitlines()[yes.target.end_lineno - 1][yes.target.end_col_offset :]
        operator = sign.split(b"=")[0].decode().strip() + "="
        targets = yes.target, no.target
    else:
        needs(len(yes.targets) == 1 and len(no.targets) == 1)
        operator, targets = "=", (yes.targets[0], no.targets[0])
    needs(ast.unparse(targets[0]) == ast.unparse(targets[1]))
    test, one, other = (source.unparse(n) for n in (branch.test, yes.value, no.value))
    needs("\n" not in test + one + other)
    source.replace_statements(
        branch, branch, [f"{source.unparse(targets[0])} {operator} {one} if {test} else {other}"]
    )
    return ""

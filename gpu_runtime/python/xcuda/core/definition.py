"""What is wrong with a kernel whatever it is called with: said where it is defined, as a KernelWarning."""

from __future__ import annotations

import ast
import warnings

from xcuda.core.lost_updates import idle_numbers, lost_updates


class KernelWarning(UserWarning):
    """A kernel that compiles, and has something in it that can't be meant."""


def warn(tree: ast.FunctionDef, file: str) -> None:
    """Warns of each finding in a kernel's tree, whose lines are the file's. A kernel with a `...` is unfinished."""
    if any(isinstance(n, ast.Expr) and getattr(n.value, "value", None) is ... for n in ast.walk(tree)):
        return
    looks = (_unused_arguments, _unread_shared, _parted_barriers, _breakpoints, lost_updates, idle_numbers)
    for line, sentence in [found for look in looks for found in look(tree)]:
        warnings.warn_explicit(f"{tree.name}: {sentence}", KernelWarning, file, line)


def _unused_arguments(tree):
    if all(map(_is_blank, tree.body)):
        return  # a stub, yet to be written
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    arguments = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    idle = [a for a in arguments if a.arg not in read and not a.arg.startswith("_")]
    if len(idle) == 1:
        yield (
            idle[0].lineno,
            f"the argument {idle[0].arg} is never used: take it out, or begin its name with _",
        )
    elif idle:
        *names, last = [a.arg for a in idle]
        yield (
            idle[0].lineno,
            f"the arguments {', '.join(names)} and {last} are never used: take them out, or begin their names with _",
        )


def _is_blank(statement):
    """`pass`, `...`, a docstring."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _unread_shared(tree):
    """Shared arrays that are stored to at most: an array that is read, handed on or named otherwise is in use."""
    made = {
        node.targets[0].id: node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and _is_shared_array(node.value)
    }
    augmented = {n.target for n in ast.walk(tree) if isinstance(n, ast.AugAssign)}
    stored = {
        n.value
        for n in ast.walk(tree)
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and n not in augmented
    }
    used = {
        n.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n not in stored
    }
    for name, line in made.items():
        if name not in used:
            yield (
                line,
                f"the shared array {name} is never read: take it out, it limits how many blocks run at once",
            )


def _parted_barriers(tree):
    """Barriers in a branch on the thread's own place in its block."""
    own = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _names_thread(node.value)
        for target in _targets(node)
    }
    for branch in ast.walk(tree):
        if not isinstance(branch, ast.If) or not _depends(branch.test, own):
            continue
        for node in ast.walk(branch):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "syncthreads":
                yield (
                    node.lineno,
                    f"syncthreads() stands under the condition of line {branch.lineno}, in which the threads of a "
                    "block differ: all of them must come to it; take it out of the `if`",
                )


def _breakpoints(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "breakpoint":
            yield (
                node.lineno,
                "breakpoint() stops under %%cuda_debug (cuda.debug); in a launch it does nothing",
            )


def _is_shared_array(node):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "array"
        and isinstance(node.func.value, (ast.Attribute, ast.Name))
        and getattr(node.func.value, "attr", getattr(node.func.value, "id", "")) == "shared"
    )


def _names_thread(node):
    return any(isinstance(n, ast.Attribute) and n.attr == "threadIdx" for n in ast.walk(node)) and not any(
        isinstance(n, (ast.Subscript, ast.Call, ast.FloorDiv)) for n in ast.walk(node)
    )


def _targets(node):
    for target in node.targets:
        yield from (n for n in ast.walk(target) if isinstance(n, ast.Name))


def _depends(test, own):
    """Whether it compares the thread's own number with something: `t < 32`, `threadIdx.x == 0`."""
    return isinstance(test, ast.Compare) and any(
        isinstance(side, ast.Name) and side.id in own or _names_thread(side)
        for side in [test.left, *test.comparators]
    )

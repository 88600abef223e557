"""Makes a failing program small: fewer statements, simpler expressions, fewer threads; what is left is printed whole."""

from __future__ import annotations

import ast
import contextlib
import copy
import re
import signal
import threading
import time
from dataclasses import replace

import numpy as np

from .check import Outcome, check, chosen
from .programs import Program, variable_of
from .rules import T, cast_name

SECONDS = 40
EACH = 10  # seconds that a candidate may take: a range may have become endless


class Endless(BaseException):
    """Not an Exception: a program's own may be caught."""


@contextlib.contextmanager
def at_most(seconds):
    """Ends what takes longer in this process's Python code; only a main thread has signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_):
        raise Endless

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def bodies(tree):
    """Every list of statements in a tree."""
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            statements = getattr(node, name, None)
            if isinstance(statements, list) and statements and isinstance(statements[0], ast.stmt):
                yield node, name, statements


def reads_the_thread(node):
    """`i = cuda.grid(1)` stays: without it all threads would write one element."""
    node = node.value if isinstance(node, ast.Assign) else node
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "cuda.grid"


def without_statements(tree):
    """Trees with one statement less, or with a compound one's body in its place."""
    for where, (_, _, statements) in enumerate(bodies(tree)):
        for i in range(len(statements) - 1, -1, -1):
            if reads_the_thread(statements[i]):
                continue
            for how in ("drop", "body", "orelse"):
                made = copy.deepcopy(tree)
                node, name, now = list(bodies(made))[where]
                s = now[i]
                inner = [] if how == "drop" else getattr(s, how, None)
                if how != "drop" and (
                    not isinstance(inner, list) or not inner or isinstance(s, ast.FunctionDef)
                ):
                    continue
                now[i : i + 1] = inner
                if not now:
                    if name == "body" and isinstance(node, ast.Module):
                        continue
                    if name == "body":
                        now.append(ast.Pass())
                yield made


def simpler_expressions(tree):
    """Trees with one expression replaced by a part of it, or by a literal."""
    count = sum(isinstance(n, ast.expr) for n in ast.walk(tree))
    for k in range(count):
        nodes = [n for n in ast.walk(tree) if isinstance(n, ast.expr)]
        node = nodes[k]
        if reads_the_thread(node):
            continue
        if isinstance(node, ast.Constant | ast.Name | ast.Attribute | ast.Tuple) or isinstance(
            getattr(node, "ctx", None), ast.Store
        ):
            continue
        parts = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        parts = [p for p in parts if not isinstance(p, ast.Attribute)]
        for p in [*parts, ast.Constant(1)]:
            made = copy.deepcopy(tree)
            old = [n for n in ast.walk(made) if isinstance(n, ast.expr)][k]

            class Swap(ast.NodeTransformer):
                def generic_visit(self, n, old=old, p=p):
                    return copy.deepcopy(p) if n is old else super().generic_visit(n)

                def visit(self, n, old=old, p=p):
                    return copy.deepcopy(p) if n is old else super().visit(n)

            yield Swap().visit(made)


def guarded(tree) -> bool:
    """True where no thread beyond n gets to an array."""
    return any(
        isinstance(n, ast.If)
        and (
            ast.unparse(n.test) == "i < n"
            or (ast.unparse(n.test) == "i >= n" and isinstance(n.body[0], ast.Return))
        )
        for n in ast.walk(tree)
    )


def fits(program: Program, tree) -> Program | None:
    """The program with this tree and only the arguments it names."""
    if program.guarded and not guarded(tree):
        return None
    f = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "f"), None)
    if f is None:
        return None
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    assigned = {n.id for n in ast.walk(f) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    outputs = [o for o in program.outputs if o in read and variable_of(o) in assigned]
    arguments = {k: v for k, v in program.arguments.items() if k in read or k == "n"}
    kept = [a for a in f.args.args if a.arg in arguments or a.arg in outputs]
    if {a.arg for a in f.args.args} & read - {a.arg for a in kept}:
        return None
    f.args.args = kept
    inexact = [z for z in program.inexact if z in arguments]
    rows = [r for r in program.rows if r in arguments]
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return replace(program, text=text, arguments=arguments, outputs=outputs, inexact=inexact, rows=rows)


def what(outcome: Outcome) -> set[str]:
    """The kinds of exceptions that an outcome tells of, or how a refusal begins: another one is another finding."""
    if m := re.match(r"line \d+: (.{1,20})", outcome.detail):
        return {m.group(1)}
    return set(re.findall(r"[A-Z]\w*Error", outcome.detail))


def reduced(program: Program, outcome: Outcome, **how) -> tuple[Program, Outcome]:
    """The smallest program found in a while that fails in the same way."""
    end = time.time() + SECONDS

    def fails(candidate):
        if candidate is None:
            return None
        try:
            with at_most(EACH):
                made = check(candidate, **how)
        except (Exception, Endless):
            return None
        return made if made.kind == outcome.kind and what(made) == what(outcome) else None

    changed = True
    while changed and time.time() < end:
        changed = False
        for step in (without_statements, simpler_expressions):
            progress = True
            while progress and time.time() < end:
                progress = False
                for tree in step(ast.parse(program.text)):
                    if time.time() > end:
                        break
                    candidate = fits(program, tree)
                    if candidate and len(candidate.text) < len(program.text) and (again := fails(candidate)):
                        program, outcome, progress, changed = candidate, again, True, True
                        break
    for i in range(program.threads):
        one = replace(program, arguments=chosen(program, program.arguments, [i]), threads=1)
        if again := fails(one):
            return one, again
    return program, outcome


def written(value) -> str:
    if isinstance(value, np.ndarray) and value.dtype.names:
        fields = [(n, value.dtype[n].base.name, value.dtype[n].shape) for n in value.dtype.names]
        items = ", ".join(map(str, value.tolist())).replace("nan", "np.nan").replace("inf", "np.inf")
        return f"np.array([{items}], np.dtype({fields}, align={value.dtype.isalignedstruct}))"
    if isinstance(value, np.ndarray):
        dtype = cast_name(T(value.dtype.name))
        listed = np.array2string(
            value, separator=", ", threshold=10**6, floatmode="unique", max_line_width=10**6
        )
        listed = (
            " ".join(listed.split())
            .replace("nan", "np.nan")
            .replace("inf", "np.inf")
            .replace("np.infj", "np.inf*1j")
            .replace("np.nanj", "np.nan*1j")
        )
        return f"np.array({listed}, {dtype})"
    if isinstance(value, np.generic):
        return f"{cast_name(T(value.dtype.name))}({written(value.item())})"
    return (
        repr(value)
        if not isinstance(value, float) or np.isfinite(value)
        else f"np.{value!r}".replace("np.-inf", "-np.inf")
    )


def script(program: Program, outcome: Outcome) -> str:
    """A complete file that shows it."""
    arguments = {**program.arguments}
    lines = [
        "import math",
        *(["from ml_dtypes import bfloat16"] if "bfloat16" in program.text else []),
        "import numpy as np",
        "from xcuda import core as cuda",
        "",
        "@cuda.kernel(fma=False)",
    ]
    at = program.text.index("def f(")
    lines[-1:-1] = program.text[:at].rstrip().split("\n") if program.text[:at].strip() else []
    lines += program.text[at:].rstrip().split("\n")
    lines += [f"{k} = {written(v)}" for k, v in arguments.items()]
    lines += [f"{o} = np.zeros({program.threads})  # of {variable_of(o)}'s dtype" for o in program.outputs]
    names = [*arguments, *program.outputs]
    lines.append(f"f[1, {program.threads}]({', '.join(names)})")
    lines.append(f"# {outcome.kind}: {outcome.detail}")
    return "\n".join(lines)

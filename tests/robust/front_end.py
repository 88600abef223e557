"""The front end on mutated Python: whatever a kernel says, it is compiled or refused with a sentence, never worse."""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import random
import textwrap

from checked import PAIRS as CHECKED
from planted import PAIRS as PLANTED
from xcuda import _runtime
from xcuda.core import InternalError
from xcuda.core.signatures import types_from
from xcuda.core.source import capture

# What a user's mistake may be told as.
TOLD = (SyntaxError, TypeError, ValueError, NameError, AttributeError, OverflowError, ZeroDivisionError)

CONSTANTS = (0, -1, 1, 2**31, 2**63, 2**64, 10**40, 1e308, 1e400, -0.0, 2j, True, None, "text", b"b", ...)
STATEMENTS = (
    "break", "continue", "return", "return 1", "pass", "del i", "global i", "nonlocal i", "yield", "yield from i",
    "import os", "from os import path", "raise", "raise ValueError", "raise ValueError('x', 2)", "assert i, i",
    "i: int = 3", "i: float", "i, *j = 1, 2, 3", "(i := 3)", "i = j = k = 0", "i @= 2", "i **= -1", "print(i, end='')",
    "f = lambda x: x + 1", "[x for x in range(3)]", "{1: 2}", "{1, 2}", "f'{i!r:>{i}}'", "i[...]", "i[None, ::2]",
    "def inner(x=[]):\n    return x", "class C:\n    pass", "async def g():\n    await i", "try:\n    i\nexcept E:\n    i",
    "with i as j:\n    i", "match i:\n    case [1, *_]:\n        i\n    case {'a': x}:\n        x", "while i:\n    i",
    "for i in (1, 2.0):\n    j = i\nelse:\n    i", "cuda.syncthreads()", "cuda.shared.array(i, float)",
    "cuda.shared.array((0, -1), 'float32')", "cuda.local.array(2**40, int)", "cuda.atomic.add(i, i, i)",
    "cuda.shfl_sync(1, 2)", "cuda.grid(4)", "cuda.nothing_such(i)", "breakpoint()", "exit()", "eval('1')", "i.x.y.z",
    "i(*i, **i)", "int('3')", "range(1, 2, 0)", "i if i else j", "not i", "i < j < k in i", "i is j",
)  # fmt: skip


def corpus() -> list[tuple[ast.FunctionDef, list, dict]]:
    """(tree, argument types, globals) of the kernels that other tests plant faults in."""
    found = []
    for pair in [*CHECKED.values(), *PLANTED.values()]:
        for twin in (False, True):
            callee, arguments = pair.call(twin)
            kernel = getattr(callee, "kernel", callee)
            tree = ast.parse(textwrap.dedent(inspect.getsource(kernel.py_func))).body[0]
            tree.decorator_list = []
            try:
                found.append((tree, list(types_from(arguments)), kernel.py_func.__globals__))
            except TypeError:
                continue  # an array of records: another road
    return found


def expressions(tree) -> list[ast.expr]:
    return [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.expr) and not isinstance(getattr(n, "ctx", None), ast.Store)
    ]


def bodies(tree) -> list[list[ast.stmt]]:
    lists = [getattr(n, name, None) for n in ast.walk(tree) for name in ("body", "orelse")]
    return [body for body in lists if isinstance(body, list) and body]


class Replace(ast.NodeTransformer):
    def __init__(self, target, by):
        self.target, self.by = target, by

    def visit(self, node):
        return self.by if node is self.target else self.generic_visit(node)


def mutated(rng: random.Random, tree: ast.FunctionDef, others: list[ast.expr]) -> ast.FunctionDef:
    """A copy with one to four changes."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(7)
        if kind <= 2:
            found = expressions(tree)
            if not found:
                continue
            by = (
                ast.Constant(rng.choice(CONSTANTS))
                if kind == 0
                else copy.deepcopy(rng.choice(others))
                if kind == 1
                else ast.Name(rng.choice(["cuda", "np", "len", "print", "unknown", *names(tree)]), ast.Load())
            )
            tree = Replace(rng.choice(found), by).visit(tree)
            continue
        body = rng.choice(bodies(tree))
        at = rng.randrange(len(body))
        if kind == 3:
            body[at:at] = ast.parse(rng.choice(STATEMENTS)).body
        elif kind == 4:
            body[at] = ast.Pass()
        elif kind == 5:
            other = rng.randrange(len(body))
            body[at], body[other] = body[other], body[at]
        else:
            [wrapped] = ast.parse(rng.choice(["if i:\n    pass", "while True:\n    pass", "for q in range(9):\n    pass",
                                              "with i:\n    pass", "try:\n    pass\nfinally:\n    pass"])).body  # fmt: skip
            wrapped.body = [body[at]]
            body[at] = wrapped
    return tree


def names(tree) -> list[str]:
    return sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {a.arg for a in tree.args.args})


def fuzz(seed: int, count: int) -> tuple[dict[str, int], list[str]]:
    """({outcome: how often}, what must not have happened, each with its source)."""
    rng = random.Random(seed)
    kernels = corpus()
    others = [e for tree, _, _ in kernels for e in expressions(tree)]
    outcomes: dict[str, int] = {}
    wrong = []
    for number in range(count):
        tree, types, space = rng.choice(kernels)
        try:
            text = ast.unparse(ast.fix_missing_locations(mutated(rng, tree, others)))
            code = compile(text, f"<mutant {seed}.{number}>", "exec")
        except (SyntaxError, ValueError, RecursionError, TypeError):
            outcomes["no Python"] = outcomes.get("no Python", 0) + 1
            continue
        outcome = lowered(code, text, types, space, tree.name)
        kind = outcome.partition(":")[0]
        outcomes[kind] = outcomes.get(kind, 0) + 1
        if kind == "WRONG":
            wrong.append(f"{outcome}\n{text}")
    return outcomes, wrong


def lowered(code, text, types, space, name) -> str:
    file = code.co_filename
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names_here = dict(space)
    try:
        exec(code, names_here)
        made = capture(names_here[name])
        _runtime.lower_text(made.name, made.file, made.ast_json, made.names_json, types, True)
    except TOLD as error:
        return "refused" if str(error) else f"WRONG: {type(error).__name__} without a word"
    except InternalError as error:
        return f"WRONG: a bug of ours: {error}"
    except Exception as error:
        return f"WRONG: {type(error).__name__}: {error}"
    finally:
        linecache.cache.pop(file, None)
    return "compiled"

"""Rewrites that bring shared memory in: a block's own counters, tiles of a product, tiles of a list."""

from __future__ import annotations

import ast

from xcuda.profiler.rewrites.source import Source, call_of, indices_of, is_barrier, names_in, needs

MOST_COUNTERS = 4096


def own_counters(source: Source, finding, context) -> str:
    """contended-atomics: each block adds into counters of its own, and those to the array once."""
    cuda, np = source.cuda(), source.module("numpy")
    array = needs(context.array(finding.subject))
    needs(array.ndim == 1 and 0 < array.size <= MOST_COUNTERS)
    calls = [
        n
        for n in ast.walk(source.tree)
        if isinstance(n, ast.Call) and n.args and ast.unparse(n.args[0]) == finding.subject
    ]
    needs(calls and all(call_of(c) == "add" for c in calls))
    uses = [n for n in ast.walk(source.tree) if isinstance(n, ast.Name) and n.id == finding.subject]
    needs(len(uses) == len(calls) and not any(isinstance(n, ast.Return) for n in ast.walk(source.tree)))
    mine, thread, k = source.fresh("mine"), source.fresh("thread"), source.fresh("k")
    for call in calls:
        source.replace(call.args[0], mine)
    threads = context.block
    linear = f"{cuda}.threadIdx.x"
    if threads[1] > 1 or threads[2] > 1:
        linear = f"{cuda}.threadIdx.x + {cuda}.blockDim.x * {cuda}.threadIdx.y"
        needs(threads[2] == 1)
    step = f"{cuda}.blockDim.x" + (f" * {cuda}.blockDim.y" if threads[1] > 1 else "")
    body = source.tree.body
    first = body[1] if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else body[0]
    each = f"for {k} in range({thread}, {array.size}, {step}):"
    if array.size <= threads[0] * threads[1]:
        each, k = f"if {thread} < {array.size}:", thread
    source.before(
        first,
        [
            f"{mine} = {cuda}.shared.array({array.size}, {np}.{array.dtype})",
            f"{thread} = {linear}",
            each,
            f"    {mine}[{k}] = 0",
            f"{cuda}.syncthreads()",
        ],
    )
    source.after(
        body[-1],
        [f"{cuda}.syncthreads()", each, f"    {cuda}.atomic.add({finding.subject}, {k}, {mine}[{k}])"],
    )
    return ""


def tile(source: Source, finding, context) -> str:
    """repeated-reads: the sum over k of a product by tiles, or the walk over a list by pieces of a block's size."""
    loop, branch = _guarded_loop(source)
    needs(not any(is_barrier(n) for n in ast.walk(source.tree)))
    access = needs([s for s in source.subscripts(finding.subject) if loop in source.around(s)])
    if len(indices_of(access[0])) == 2:
        return _product(source, loop, branch, context)
    return _list(source, finding.subject, access, loop, branch, context)


def _guarded_loop(source):
    """(the one loop over a range, the guard that it stands in): all else of the kernel is before and after it."""
    loops = [n for n in ast.walk(source.tree) if isinstance(n, (ast.For, ast.While))]
    needs(len(loops) == 1 and isinstance(loops[0], ast.For))
    loop = loops[0]
    branch = source.parents[loop]
    needs(isinstance(branch, ast.If) and not branch.orelse and source.parents[branch] is source.tree)
    needs(branch is source.tree.body[-1] and isinstance(loop.target, ast.Name))
    bounds = loop.iter
    needs(
        isinstance(bounds, ast.Call) and getattr(bounds.func, "id", "") == "range" and len(bounds.args) == 1
    )
    needs(
        not loop.orelse
        and not any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for n in ast.walk(branch))
    )
    return loop, branch


def _product(source, loop, branch, context):
    cuda, np = source.cuda(), source.module("numpy")
    n = context.block[0]
    needs(context.block == (n, n, 1) and n <= 32 and len(loop.body) == 1)
    statement, k = loop.body[0], loop.target.id
    arrays = [s for s in ast.walk(statement) if isinstance(s, ast.Subscript)]
    needs(
        len(arrays) == 2 and isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name)
    )
    row_wise = [s for s in arrays if ast.unparse(indices_of(s)[-1]) == k]
    column_wise = [s for s in arrays if ast.unparse(indices_of(s)[0]) == k]
    needs(len(row_wise) == 1 and len(column_wise) == 1 and row_wise[0] is not column_wise[0])
    a, b = row_wise[0], column_wise[0]
    x_name, y_name = _axes(source)
    i, j = source.unparse(indices_of(a)[0]), source.unparse(indices_of(b)[1])
    needs((j, i) == (x_name, y_name))  # threads in x go along a row
    A, B = a.value.id, b.value.id
    x, y, start = source.fresh("x"), source.fresh("y"), source.fresh("start")
    one, other = source.fresh(f"tile_{A}"), source.fresh(f"tile_{B}")
    types = [needs(context.array(name)).dtype for name in (A, B)]
    total = source.unparse(statement.value).replace(source.unparse(a), f"{one}[{y}, {k}]")
    total = total.replace(source.unparse(b), f"{other}[{k}, {x}]")
    before, after = branch.body[: branch.body.index(loop)], branch.body[branch.body.index(loop) + 1 :]

    def within(array, row, column):
        return f"{row} < {array}.shape[0] and {column} < {array}.shape[1]"

    lines = [
        f"{one} = {cuda}.shared.array(({n}, {n}), {np}.{types[0]})",
        f"{other} = {cuda}.shared.array(({n}, {n}), {np}.{types[1]})",
        f"{x}, {y} = {cuda}.threadIdx.x, {cuda}.threadIdx.y",
        *_lines(source, before),
        f"for {start} in range(0, {source.unparse(loop.iter.args[0])}, {n}):",
        f"    {one}[{y}, {x}] = {A}[{i}, {start} + {x}] if {within(A, i, f'{start} + {x}')} else 0",
        f"    {other}[{y}, {x}] = {B}[{start} + {y}, {j}] if {within(B, f'{start} + {y}', j)} else 0",
        f"    {cuda}.syncthreads()",
        f"    for {k} in range({n}):",
        f"        {statement.target.id} += {total}",
        f"    {cuda}.syncthreads()",
        f"if {source.unparse(branch.test)}:",
        *("    " + t for t in _lines(source, after)),
    ]
    needs(after and not any(isinstance(s, ast.Subscript) for b in before for s in ast.walk(b)))
    source.replace_statements(branch, branch, lines)
    return ""


def _list(source, name, accesses, loop, branch, context):
    cuda, np = source.cuda(), source.module("numpy")
    n = context.block[0]
    needs(context.block == (n, 1, 1) and n >= 32)
    k = loop.target.id
    needs(all(ast.unparse(s.slice) == k and isinstance(s.ctx, ast.Load) for s in accesses))
    before, after = branch.body[: branch.body.index(loop)], branch.body[branch.body.index(loop) + 1 :]
    tile, thread = source.fresh(f"tile_{name}"), source.fresh("thread")
    start, inside = source.fresh("start"), source.fresh("inside")
    length = source.unparse(loop.iter.args[0])
    body = _lines(source, loop.body)
    body = [line.replace(f"{name}[{k}]", f"{tile}[{k} - {start}]") for line in body]
    needs(sum(line.count(f"{tile}[") for line in body) == len(accesses))
    lines = [
        f"{tile} = {cuda}.shared.array({n}, {np}.{needs(context.array(name)).dtype})",
        f"{thread}, {inside} = {cuda}.threadIdx.x, {source.unparse(branch.test)}",
        *([f"if {inside}:", *("    " + t for t in _lines(source, before))] if before else []),
        f"for {start} in range(0, {length}, {n}):",
        f"    {tile}[{thread}] = {name}[{start} + {thread}] if {start} + {thread} < {length} else 0",
        f"    {cuda}.syncthreads()",
        f"    if {inside}:",
        f"        for {k} in range({start}, min({start} + {n}, {length})):",
        *("            " + t for t in body),
        f"    {cuda}.syncthreads()",
        f"if {inside}:",
        *("    " + t for t in _lines(source, needs(after))),
    ]
    needs(
        not names_in(loop.iter)
        & {s.id for b in before for s in ast.walk(b) if isinstance(s, ast.Name)} - {name}
    )
    source.replace_statements(branch, branch, lines)
    return ""


def _lines(source, statements):
    return source.lines_of(statements[0], statements[-1]) if statements else []


def _axes(source):
    from xcuda.profiler.rewrites.accesses import grid_names

    target, first, last = grid_names(source)
    needs(len(target.elts) == 2)
    return first.id, last.id

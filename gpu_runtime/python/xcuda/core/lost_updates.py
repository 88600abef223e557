"""Updates that are lost: `h[x[i]] += 1` by many threads with no atomic, and numbers that a kernel only changes.

A read, a sum and a write are three steps. Where the index does not hold the thread's own place, two threads may do the
first before either does the last. Only what the text shows is told; conditions that may leave one thread are believed.
"""

from __future__ import annotations

import ast

PLACES = {"grid", "threadIdx", "blockIdx", "laneid", "thread_rank", "block_rank", "cluster_rank"}
ATOMICS = {ast.Add: "add", ast.Sub: "sub", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}


def lost_updates(tree: ast.FunctionDef):
    """(line, sentence) of each update in which threads may meet."""
    if not any(_is_place(node) for node in ast.walk(tree)) or _locks(tree):
        return  # the work of one thread, or one that sees to it
    looked = _Look(tree)
    looked.body(tree.body)
    yield from looked.found


def idle_numbers(tree: ast.FunctionDef):
    """(line, sentence) of each parameter that is changed as a whole, and read for nothing but that."""
    for argument in tree.args.posonlyargs + tree.args.args + tree.args.kwonlyargs:
        name = argument.arg
        own = [node for node in ast.walk(tree) if _changes(node, name)]
        if not own:
            continue
        inside = {id(n) for change in own for n in ast.walk(change)}
        bases = {id(n.value) for n in ast.walk(tree) if isinstance(n, (ast.Subscript, ast.Attribute))}
        uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
        if all(id(use) in inside and id(use) not in bases for use in uses):
            yield (
                own[0].lineno,
                f"{name} is changed and never used: a number's change stays in its thread; pass an array of one "
                f"element, and write cuda.atomic.add({name}, 0, ...)",
            )


def _changes(node, name):
    """`name += ...`, `name = name + ...`."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and node.target.id == name
    return (
        isinstance(node, ast.Assign)
        and [getattr(target, "id", None) for target in node.targets] == [name]
        and isinstance(node.value, ast.BinOp)
        and name in _names(node.value)
    )


def _is_place(node):
    """`cuda.grid(...)`, `cuda.threadIdx.x`, and both without `cuda`."""
    return (isinstance(node, ast.Attribute) and node.attr in PLACES) or (
        isinstance(node, ast.Name) and node.id in PLACES
    )


def _is_shared_array(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("shared.array")


def _locks(tree):
    return any(
        isinstance(n, ast.Attribute) and n.attr in ("cas", "compare_and_swap", "exch") for n in ast.walk(tree)
    )


def _names(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _set(target):
    """The names that a target gives a value: not those of the arrays it stores into."""
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _outside_brackets(node):
    """The nodes of an index that are not themselves read out of an array."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Subscript):
            yield from _outside_brackets(child)


class _Look:
    def __init__(self, tree):
        arguments = tree.args.posonlyargs + tree.args.args + tree.args.kwonlyargs
        bound = [pair for node in ast.walk(tree) for pair in _bindings(node)]
        shared = [target for target, value in bound if _is_shared_array(value)]
        self.arrays = {argument.arg for argument in arguments} - {
            n for target, _ in bound for n in _set(target)
        }
        self.arrays |= {name for target in shared for name in _set(target)}
        self.own, self.found = set(), []
        before = None
        while before != self.own:  # what is made of the thread's place is a place of its own
            before = set(self.own)
            for target, value in bound:
                if self.of_thread(value):
                    self.own |= _set(target)

    def of_thread(self, node):
        """Whether it holds the thread's place, other than as the index of something that is read."""
        if isinstance(node, ast.Subscript):
            return False
        return any(
            _is_place(n) or (isinstance(n, ast.Name) and n.id in self.own) for n in _outside_brackets(node)
        )

    def body(self, statements):
        for statement in statements:
            if isinstance(statement, ast.If):
                if self.leaves_many(statement.test, True):
                    self.body(statement.body)
                if self.leaves_many(statement.test, False):
                    self.body(statement.orelse)
                leaves = isinstance(statement.body[-1], (ast.Return, ast.Continue, ast.Break))
                if leaves and not self.leaves_many(statement.test, False):
                    return
            elif isinstance(statement, ast.For) or (
                isinstance(statement, ast.While) and self.leaves_many(statement.test, True)
            ):
                self.body(statement.body)
                self.body(statement.orelse)
            else:
                self.statement(statement)

    def leaves_many(self, test, truth):
        """Whether more than one thread is sure to go on where the test is so: bounds, and what the data say."""
        if isinstance(test, ast.BoolOp):
            return all(self.leaves_many(part, truth) for part in test.values)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.leaves_many(test.operand, not truth)
        if not isinstance(test, ast.Compare):
            return False
        if not self.of_thread(test):
            return True
        one = ast.Eq if truth else ast.NotEq
        numbers = [n for n in (test.left, *test.comparators) if isinstance(n, ast.Constant)]
        return not numbers and not any(isinstance(op, (one, ast.Is)) for op in test.ops)

    def statement(self, statement):
        if isinstance(statement, ast.AugAssign):
            target, operation, value = statement.target, statement.op, statement.value
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
            (target, *_), sum_ = statement.targets, statement.value
            if ast.unparse(sum_.left) != ast.unparse(target):
                return
            operation, value = sum_.op, sum_.right
        else:
            return
        if not (isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)):
            return
        array, index = target.value.id, target.slice
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if array not in self.arrays or any(
            self.of_thread(part) or isinstance(part, ast.Slice) for part in parts
        ):
            return
        at = ast.unparse(index)
        atomic = ATOMICS.get(type(operation))
        remedy = (
            f"write cuda.atomic.{atomic}({array}, {at}, {ast.unparse(value)})"
            if atomic
            else "give each thread an element of its own"
        )
        self.found.append(
            (
                statement.lineno,
                f"threads that meet at {array}[{at}] lose updates, since each reads, computes and writes; {remedy}",
            )
        )


def _bindings(node):
    """(target, value) of what gives names a value."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield target, node.value
    elif isinstance(node, (ast.AugAssign, ast.NamedExpr)) or (isinstance(node, ast.AnnAssign) and node.value):
        yield node.target, node.value
    elif isinstance(node, ast.For):
        yield node.target, node.iter

"""One capture of a function: the graph as written and as rewritten, its program, and what it took from outside."""

from __future__ import annotations

import ast

import numpy

from ._capture import Capture, is_array
from ._errors import CaptureError, refusal
from ._functions import is_lazy
from ._graph import Node, Spec, leaves, mapped
from ._modules import Watching
from ._outside import Watched, definition_of, expect_no_writes
from ._program import Program
from ._rewrite import rewritten
from ._symbols import Array, Number

NUMBERS = (int, float, complex, numpy.number)
_NO_CALLS = frozenset(("input", "constant", "getitem", "astype", "copy", "dim", "size", "part"))


class Captured:
    """One capture of a function: the graph as written and as rewritten, the program, and what it took from outside."""

    def __init__(self, call):
        jit, function = call.jit, call.jit.__wrapped__
        self.watched = Watched(function)
        for each in self.watched.functions:
            expect_no_writes(each)
        looked = jit._numbers.get(call.signature, set())
        capture = Capture(function.__code__)
        capture.exact = ("shape",) in looked
        inputs, self.places = [], []
        names = iter(_argument_names(function, call))

        def symbol(value):
            if is_array(value):
                place = sum(of_array for of_array, _ in self.places)
                node = Node("input", (place,), None, Spec(tuple(value.shape), numpy.dtype(value.dtype)))
                made, of_array = Array(capture, node), True
            elif isinstance(value, NUMBERS) and not isinstance(value, bool):
                place = symbol.numbers
                symbol.numbers += 1
                if ("number", place) in looked:
                    next(names)
                    return value
                node = Node("input", (place,), None, None, value)
                made, of_array = Number(capture, node), False
            else:
                return value
            capture.names[node] = next(names)
            inputs.append(node)
            self.places.append((of_array, place))
            return made

        symbol.numbers = 0
        args = mapped(tuple(call.args), symbol)
        kwargs = {k: mapped(call.kwargs[k], symbol) for k in sorted(call.kwargs)}
        before = [
            (each, list(each) if isinstance(each, list) else dict(each))
            for each in _containers((args, kwargs))
        ]
        with capture, Watching():
            substituted = self.watched.with_symbols(function, lambda a: Array(capture, capture.node_of(a)))
            given = substituted(*args, **kwargs)
            self._expect_untouched(function, before)
            outputs = _outputs(given, capture, function)
        jit.captures += 1
        self.inputs, self.names = inputs, dict(capture.names)
        self.labels = capture.labels | self.names
        self.written = outputs  # the graph as the user wrote it
        outputs, self.findings = rewritten(outputs, self.labels)
        self.program = Program(inputs, outputs, function, jit.precision == "fast")
        self.returned_inputs = {n: n.args[0] for n in leaves(outputs) if n.op == "input" and n.is_array}
        self._function, self._host = function, None
        self.tuning = capture.tuning
        self.fuses = all(is_lazy(n.op) or n.op in _NO_CALLS for n in self.program.nodes)

    def host_program(self):
        """The same in NumPy on the host; None where it has functions that NumPy lacks."""
        if self._host is None:
            try:
                self._host = Program(self.inputs, self.program.outputs, self._function, host=True)
            except NotImplementedError:
                self._host = False
        return self._host or None

    def _expect_untouched(self, function, before):
        name = self.watched.changed_content()
        if name is None:
            name = next(("an argument" for each, was in before if not _same_items(each, was)), None)
        if name is None:
            return
        node = definition_of(function)
        place = (function.__code__.co_filename, function.__code__.co_firstlineno, 0, None, None)
        if node is not None:
            place = (place[0], *_writing_line(node, name))
        raise refusal(
            f"the function changes {name}: it would happen when the function is captured, and not at each of its calls",
            "return the value instead",
            place,
        )


def _same_items(now, was):
    """Whether a list or dict holds the very same values as before."""
    if isinstance(now, dict):
        return list(now) == list(was) and all(now[k] is was[k] for k in was)
    return len(now) == len(was) and all(a is b for a, b in zip(now, was, strict=True))


def _writing_line(definition, name):
    """Where a list or dict is written: the statement with that name in it, else the definition."""
    for each in ast.walk(definition):
        changing = isinstance(each, ast.Subscript) and isinstance(each.ctx, (ast.Store, ast.Del))
        changing |= isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
        if changing and (
            name == "an argument" or any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(each))
        ):
            return each.lineno, each.col_offset, each.end_lineno, each.end_col_offset
    return definition.lineno, definition.col_offset, definition.lineno, None


def _containers(tree):
    if isinstance(tree, (list, dict)):
        yield tree
    if isinstance(tree, (tuple, list, dict)):
        for each in tree.values() if isinstance(tree, dict) else tree:
            yield from _containers(each)


def _argument_names(function, call):
    """What the leaves of the arguments are called, in order: x, params['w'], args[2]."""
    code = function.__code__
    names = list(code.co_varnames[: code.co_argcount])
    given = [(names[i] if i < len(names) else f"args[{i}]", a) for i, a in enumerate(call.args)]
    given += [(k, call.kwargs[k]) for k in sorted(call.kwargs)]
    for name, value in given:
        yield from (leaf for leaf, _ in leaf_names(name, value))


def leaf_names(name, value):
    if isinstance(value, (tuple, list)):
        fields = getattr(value, "_fields", None)
        for i, each in enumerate(value):
            yield from leaf_names(f"{name}.{fields[i]}" if fields else f"{name}[{i}]", each)
    elif isinstance(value, dict):
        for k, each in value.items():
            yield from leaf_names(f"{name}[{k!r}]", each)
    elif is_array(value) or isinstance(value, NUMBERS) and not isinstance(value, bool):
        yield name, value


def _outputs(given, capture, function):
    """The function's results as nodes."""

    def node(value):
        found = capture.node_of(value)
        if isinstance(found, Node) or found is None or isinstance(found, (str, bool, *NUMBERS)):
            return found
        raise CaptureError(
            f"{function.__name__}() returns a {type(value).__name__}; return arrays, numbers, and tuples, lists and "
            "dicts of them"
        )

    return mapped(given, node)

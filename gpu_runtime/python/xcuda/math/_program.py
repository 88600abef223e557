"""A captured function as a Python function over numeric, on the user's lines: kernels and errors are told there."""

from __future__ import annotations

import ast

import numpy

from . import _epilogues, _functions
from ._graph import Node, leaves, ordered, users_of
from ._text import _INFIX

_INFIX_SAFE = frozenset(op for op in _INFIX if "." not in op and op != "matmul")


class Program:
    """`run(values)` gives the outputs' tree for the inputs' values; `text` is what it does, a line a node."""

    def __init__(self, inputs, outputs, function, fast=False, host=False):
        self.inputs, self.outputs = inputs, outputs
        self.nodes = ordered(outputs)
        self.fast, self.host = fast, host
        self._function, self._code = function, function.__code__
        self.space = {"__name__": function.__module__ or "__main__", "__builtins__": __builtins__}
        self.names: dict[Node, str] = {}
        self.lines: list[tuple[str, int]] = []
        self._write()
        self.run = self._compiled(function.__name__)

    @property
    def text(self):
        """The program's lines."""
        return "\n".join(line for line, _ in self.lines if not line.startswith("del "))

    # -- writing -------------------------------------------------------------------------------------

    def _write(self):
        for i, node in enumerate(self.inputs):
            self.names[node] = f"a{i}"
        counts = users_of(self.nodes, self.outputs)
        last = {}
        for node in self.nodes:
            for each in leaves((node.args, node.kwargs)):
                last[each] = node
        kept = set(leaves(self.outputs)) | set(self.inputs)
        for node in self.nodes:
            if node in self.names:
                continue
            name = self.names[node] = (
                f"t{len(self.lines)}" if node.op != "constant" else f"c{len(self.lines)}"
            )
            self.lines.append((f"{name} = {self._expression(node, counts)}", node.line))
            gone = [
                self.names[each]
                for each in dict.fromkeys(leaves((node.args, node.kwargs)))
                if last[each] is node and each not in kept
            ]
            if gone:
                self.lines.append((f"del {', '.join(gone)}", node.line))
        self.lines.append((f"return {self._literal(self.outputs)}", self._code.co_firstlineno))

    def _expression(self, node, counts):
        op = node.op
        if op == "constant":
            place = f"v{len(self.space)}"
            self.space[place] = node.value
            self.space["_constant"] = _host_constant if self.host else _constant
            return f"_constant({place})"
        if op == "xm.epilogue":
            return self._product_with_tail(node)
        given = [self._literal(a) for a in node.args]
        if op == "part":
            return f"{given[0]}[{node.args[1]}]"
        if op == "getitem":
            return f"{given[0]}[{given[1]}]"
        if op == "dim":
            return f"{given[0]}.shape[{node.args[1]}]"
        if op == "size":
            return f"{given[0]}.size"
        if op == "astype":
            return f"{given[0]}.astype({given[1]}, copy=False)"
        if op == "copy" and len(given) == 1:
            return f"{given[0]}.copy()"
        if op == "setitem":
            target = node.args[0]
            alone = counts[target] == 1 and target.op not in ("input", "constant")
            given.append(repr(alone))
        elif op in _INFIX_SAFE and not node.kwargs and len(given) == 2 and _plain_operands(node):
            return f"{given[0]} {_INFIX[op]} {given[1]}"
        place = "f_" + op.replace(".", "_")
        if place not in self.space:
            self.space[place] = _functions.on_host(op) if self.host else _functions.resolved(op, self.fast)
            if self.space[place] is None:
                raise NotImplementedError(op)
        given += [f"{k}={self._literal(v)}" for k, v in node.kwargs.items()]
        return f"{place}({', '.join(given)})"

    def _product_with_tail(self, node):
        if self.host:
            raise NotImplementedError(node.op)
        tail, *given = node.args
        written = Program(tail.inputs, tail.output, self._function, self.fast).run
        place = self._kept(_epilogues.bound(tail, written, self.fast))
        return f"{place}({', '.join(map(self._literal, given))})"

    def _literal(self, value):
        if isinstance(value, Node):
            return self.names[value]
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self._kept(type(value))}({', '.join(map(self._literal, value))})"
        if type(value) in (tuple, list):
            inside = ", ".join(map(self._literal, value))
            return f"[{inside}]" if type(value) is list else f"({inside}{',' * (len(value) == 1)})"
        if type(value) is dict:
            return "{" + ", ".join(f"{self._literal(k)}: {self._literal(v)}" for k, v in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self._literal, (value.start, value.stop, value.step)))})"
        if value is None or type(value) in (bool, int, str):
            return repr(value)
        return self._kept(value)

    def _kept(self, value):
        for name, held in self.space.items():
            if held is value and name.startswith("k"):
                return name
        name = f"k{len(self.space)}"
        self.space[name] = value
        return name

    # -- compiling -----------------------------------------------------------------------------------

    def _compiled(self, name):
        name = name if name.isidentifier() else "captured"
        parameters = ", ".join(f"a{i}" for i in range(len(self.inputs)))
        text = f"def {name}({parameters}):\n" + "".join(f"    {line}\n" for line, _ in self.lines)
        tree = ast.parse(text)
        definition = tree.body[0]
        first = self._code.co_firstlineno
        for statement, (_, line) in zip(definition.body, self.lines, strict=True):
            for each in ast.walk(statement):
                if hasattr(each, "lineno"):
                    each.lineno = each.end_lineno = max(line or first, first)
                    each.col_offset = each.end_col_offset = 0
        definition.lineno = definition.end_lineno = first
        exec(compile(tree, self._code.co_filename, "exec"), self.space)
        return self.space[name]


def _plain_operands(node):
    """An operator may stand for the function: an array is among the operands, and no NumPy scalar on the left."""
    left, right = node.args
    arrays = [isinstance(v, Node) and v.is_array for v in (left, right)]
    if isinstance(left, Node) and not left.is_array and isinstance(left.value, numpy.generic):
        return False
    return (
        any(arrays)
        and not isinstance(left, numpy.generic)
        and all(isinstance(v, (Node, int, float, complex)) for v in (left, right))
    )


def _constant(value):
    from ._places import as_numeric

    return as_numeric(value)


def _host_constant(value):
    if isinstance(value, numpy.ndarray):
        return value
    raise NotImplementedError("a constant on the device")

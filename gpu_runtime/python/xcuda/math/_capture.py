"""One capture: what the function asks for while it runs over symbols, as nodes."""

from __future__ import annotations

import sys
import threading

import numpy

from xcuda.core.arrays import DeviceArray, _on_a_gpu
from xcuda.numeric._array import ndarray

from . import _infer, _special
from ._errors import refused
from ._graph import Node, Spec, leaves, mapped

_local = threading.local()

# What shares its operand's memory, or may: neither may be written while the other is seen.
VIEWS = frozenset(
    (
        *(
            "getitem",
            "reshape",
            "transpose",
            "swapaxes",
            "squeeze",
            "ravel",
            "moveaxis",
            "rollaxis",
            "part",
            "real",
        ),
        *(
            "broadcast_to",
            "broadcast_arrays",
            "diagonal",
            "expand_dims",
            "flip",
            "fliplr",
            "flipud",
            "rot90",
            "imag",
        ),
        *(
            "atleast_1d",
            "atleast_2d",
            "atleast_3d",
            "split",
            "array_split",
            "hsplit",
            "vsplit",
            "dsplit",
            "unstack",
        ),
        *("matrix_transpose", "linalg.matrix_transpose", "linalg.diagonal", "permute_dims", "diag"),
    )
)
# Not pure: two calls are two values.
_DRAWS = "random."


class Respecialise(BaseException):
    """The function wants the value of a number: the capture starts anew with it as a constant."""

    def __init__(self, roots):
        super().__init__()
        self.roots = roots


def current():
    """The capture under way in this thread; None where there is none."""
    return getattr(_local, "capture", None)


class Capture:
    """Collects nodes while the function of `code` runs; a context manager."""

    def __init__(self, code):
        self.code = code
        self.known: dict = {}  # calls met before: what is computed twice is computed once
        self.constants: dict[int, Node] = {}
        self.kept: list = []  # constants, so that their ids stay theirs
        self.names: dict[Node, str] = {}  # of inputs, for messages
        self.labels: dict[Node, str] = {}  # of results, by the variables that hold them
        self.exact = False  # lengths are constants
        self.tuning = None  # (budget, deterministic) of an auto_tune that the function enters

    def __enter__(self):
        self.before = current()
        _local.capture = self
        return self

    def __exit__(self, *exception):
        _local.capture = self.before

    # -- nodes ---------------------------------------------------------------------------------------

    def line(self):
        """The line of the captured function that is running; of a function that it called, the call's."""
        frame = sys._getframe(2)
        found = None
        while frame is not None:
            if frame.f_code is self.code:
                found = frame.f_lineno
                self._label(frame.f_locals)
                break
            frame = frame.f_back
        return found or self.code.co_firstlineno

    def _label(self, variables):
        """Results get the names of the variables that hold them."""
        from ._symbols import Symbol

        for name, value in variables.items():
            if (
                isinstance(value, Symbol)
                and value._node not in self.labels
                and name not in self.labels.values()
            ):
                self.labels[value._node] = name

    def node_of(self, value):
        """The node of a symbol, or of a constant array; other values as they are."""
        from ._symbols import Symbol

        if isinstance(value, Symbol):
            if value._capture is not self:
                raise refused(
                    "this array is a symbol of another capture, which is over",
                    "return arrays from the function instead of keeping them elsewhere",
                )
            return value._node
        if is_array(value):
            node = self.constants.get(id(value))
            if node is None:
                spec = Spec(tuple(value.shape), numpy.dtype(value.dtype))
                node = self.constants[id(value)] = Node("constant", (), None, spec, value, self.line())
                self.kept.append(value)
            return node
        return value

    def record(self, op, args, kwargs=None):
        """The symbols of what `op` gives."""
        if op in VIEWS:
            self._seen_through(args)
        args, kwargs = mapped((tuple(args), kwargs or {}), self.node_of)
        key = self._key(op, args, kwargs)
        node = None if key is None else self.known.get(key)
        if node is None:
            spec = self._inferred(op, args, kwargs)
            node = Node(op, args, kwargs, spec, None, self.line())
            if key is not None:
                self.known[key] = node
        return self.symbols(node)

    @staticmethod
    def _seen_through(args):
        from ._symbols import Symbol

        for each in args:
            if isinstance(each, Symbol):
                each._viewed = True

    def symbols(self, node):
        """What the user's code gets for a node: one symbol, or one for each result in NumPy's container."""
        from ._symbols import Array

        if node.is_array:
            return Array(self, node)
        made = []
        for i, spec in enumerate(node.spec):
            made.append(self._part(node, i, spec))
        kind = type(node.spec)
        return kind(*made) if hasattr(kind, "_fields") else kind(made)

    def _part(self, node, i, spec):
        from ._symbols import Array

        key = ("part", id(node), i)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = Node("part", (node, i), None, spec, None, node.line)
        return Array(self, found)

    def number(self, op, args, value):
        """A symbol of a number: computed by Python when the function is called."""
        from ._symbols import Number

        args = tuple(mapped(args, self.node_of))
        key = self._key(op, args, {})
        node = None if key is None else self.known.get(key)
        if node is None:
            node = Node(op, args, None, None, value, self.line())
            if key is not None:
                self.known[key] = node
        return Number(self, node)

    def _key(self, op, args, kwargs):
        if op.startswith(_DRAWS) or op == "setitem":
            return None
        try:
            key = (op, _frozen(args), _frozen(kwargs))
            hash(key)
        except TypeError:
            return None
        return key

    # -- what comes out ------------------------------------------------------------------------------

    def _inferred(self, op, args, kwargs):
        if op in _infer.VALUES:
            raise refused(
                f"what {op}() gives depends on the arrays' values, which a captured function does not have",
                "call it outside of the captured function, or keep the shape with nvmath.where(...)",
            )
        if op in _infer.WRITES:
            raise refused(
                f"{op}() writes to an array that it is given",
                "make a new array: nvmath.where(...), or x = x.copy() and x[key] = value",
            )
        if kwargs.get("out") is not None:
            raise refused("out= writes to an array that the function was given", "return the result instead")
        given = mapped((args, kwargs), lambda leaf: _known(leaf))
        try:
            if op.startswith(_DRAWS):
                spec = _infer.random_spec(op.removeprefix(_DRAWS), *given)
                if spec is None:
                    raise refused(
                        f"nvmath.{op}() is none of the distributions that a captured function draws from anew at "
                        "each call",
                        "draw outside of the function and pass the array",
                    )
                return spec
            if op in _special.TABLE:
                return _special.infer(op, *given[0])
            return _infer.infer(op, *given)
        except _infer.Mismatch as error:
            raise self.mismatch(op, args, error) from None
        except AttributeError as error:
            raise refused(f"NumPy has no function {op}", "") from error

    def mismatch(self, op, args, error):
        """The same error, with both operands named by the user's words."""
        from ._text import words

        nodes = list(args)
        told = []
        for place in error.operands:
            each = nodes[place] if place < len(nodes) else None
            if isinstance(each, Node):
                told.append(f"{words(each, self.labels | self.names)} {_shown(each.spec)}")
            else:
                told.append(repr(each))
        kind = TypeError if "dtypes" in str(error) else ValueError
        call = op.rpartition(".")[2]
        return kind(f"{call} of {' and '.join(told)}: {error} (line {self.line()} of {self.code.co_name})")


def _shown(spec):
    shape = str(spec.shape).replace(" ", "") if isinstance(spec, Spec) else ""
    return f"of shape {shape} and {spec.dtype}" if isinstance(spec, Spec) else ""


def _known(leaf):
    """What inference takes for a node: its Spec, or the value that a number had at the capture."""
    if not isinstance(leaf, Node):
        return leaf
    return leaf.spec if leaf.is_array else leaf.value


def _frozen(tree):
    if isinstance(tree, Node):
        return "node", id(tree)
    if isinstance(tree, dict):
        return tuple((k, _frozen(v)) for k, v in sorted(tree.items()))
    if isinstance(tree, (tuple, list)):
        return (type(tree).__name__, *map(_frozen, tree))
    if isinstance(tree, slice):
        return "slice", _frozen(tree.start), _frozen(tree.stop), _frozen(tree.step)
    return type(tree), repr(tree) if isinstance(tree, float) else tree


def is_array(value):
    """True for arrays of the host and of devices, of whatever library."""
    return isinstance(value, (numpy.ndarray, ndarray, DeviceArray)) or _on_a_gpu(value)


def roots_of(node):
    """The inputs that a number comes from: ("number", place) and ("shape",)."""
    found, open_ = set(), [node]
    while open_:
        each = open_.pop()
        if each.op == "input":
            found.add(("number", each.args[0]) if not each.is_array else ("shape",))
        elif each.op in ("dim", "size"):
            found.add(("shape",))
        else:
            open_.extend(leaves((each.args, each.kwargs)))
    return found

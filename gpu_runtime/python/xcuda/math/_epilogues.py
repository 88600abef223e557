"""What follows a product of matrices (scale, bias, residual, activation) as a part of the product's own kernel.

A rule gathers it in the graph; at each call cuBLASLt is given what it has an epilogue for. Where it has none, and on
the CPU device, the product is a library's call as ever, and all that follows it one kernel.
"""

from __future__ import annotations

import math

import numpy

from xcuda import _runtime
from xcuda._dense import products
from xcuda._dense.layout import empty, from_host
from xcuda.numeric._array import ndarray
from xcuda.numeric._stacks import as_it_lies, ours

from . import _functions, _structured
from ._graph import Node, leaves

DTYPES = ("float16", "bfloat16", "float32")  # cuBLASLt has no bias or activation of float64
_MOST_PROBED = 256
GELU_FACTOR, GELU_CUBE = 0.7978845608028654, 0.044715


class Tail:
    """What follows a product. `steps`, as a library knows them: ("scale", which operand), ("add", which operand),
    ("relu",), ("gelu",); `output`: all of it as written, over `inputs`: the product and the operands."""

    def __init__(self, inputs, output, steps=()):
        self.inputs, self.output, self.steps = inputs, output, steps

    @classmethod
    def of(cls, product):
        """Nothing yet."""
        alone = Node("input", (0,), None, product.spec)
        return cls((alone,), alone)

    @property
    def kinds(self):
        """The steps' names."""
        return tuple(step[0] for step in self.steps)

    def text(self, words, given):
        """As written, with `given`'s words for the product and the operands."""
        return words(self.output, dict(zip(self.inputs, given, strict=True)))


# -- in the graph ------------------------------------------------------------------------------------


def carried(node):
    """(tail, a, b, operands) of a product, or of what stands for one with a part of its tail; None of others."""
    if not isinstance(node, Node):
        return None
    if node.op == "xm.epilogue":
        tail, a, b, *operands = node.args
        return tail, a, b, tuple(operands)
    if node.op not in ("matmul", "dot", "linalg.matmul") or node.kwargs or len(node.args) != 2:
        return None
    a, b = node.args
    if not all(isinstance(x, Node) and x.is_array and x.ndim >= 2 for x in (a, b)) or b.ndim != 2:
        return None
    dtypes = {a.spec.dtype, b.spec.dtype, node.spec.dtype}
    return (Tail.of(node), a, b, ()) if len(dtypes) == 1 and node.spec.dtype.name in DTYPES else None


def _is_held(node):
    """An array that is in memory when the product is made; others are part of the kernel after it."""
    while node.op == "getitem":
        node = node.args[0]
    return node.op in ("input", "constant", "part") or not _functions.is_lazy(node.op)


def _with(node, product, operand, step):
    """`node` as the product with one step more."""
    tail, a, b, operands = carried(product)
    inputs = tail.inputs
    placed = {product: tail.output}
    if isinstance(operand, Node):
        added = Node("input", (len(inputs),), None, operand.spec, operand.value)
        placed[operand] = added
        inputs, operands = (*inputs, added), (*operands, operand)
    elif operand is not None:
        operands = (*operands, operand)
        inputs = (*inputs, Node("input", (len(inputs),), None, None, operand))
    output = _copied(node, placed)
    step = step if operand is None else (*step, len(operands) - 1)
    tail = Tail(inputs, output, (*tail.steps, step))
    return Node("xm.epilogue", (tail, a, b, *operands), None, node.spec, None, node.line)


def _copied(node, placed):
    """The graph under `node` over what `placed` has in place of some nodes."""
    made = placed.get(node)
    if made is None:
        args = tuple(_copied(a, placed) if isinstance(a, Node) else a for a in node.args)
        made = placed[node] = node.with_args(args, node.kwargs)
    return made


def _pairs(node, scope):
    """(product, the other operand) of an operation of two, where the product is read by it alone."""
    if node.kwargs or len(node.args) != 2 or not node.is_array:
        return
    for product, other in (node.args, node.args[::-1]):
        found = carried(product)
        if found is not None and scope.reads(product) == 1 and product.spec == node.spec:
            yield product, found[0].kinds, other


def added(node, scope):
    """product + bias, product + residual."""
    for product, kinds, other in _pairs(node, scope):
        fits = (
            isinstance(other, Node)
            and other.is_array
            and 1 <= other.ndim <= product.ndim
            and other.spec.dtype == product.spec.dtype
            and _is_held(other)
        )
        if fits and kinds in ((), ("scale",), ("add",), ("scale", "add")):
            return _with(node, product, other, ("add",))
    return None


def scaled(node, scope):
    """number * product; and the last operation of a GELU."""
    for product, kinds, other in _pairs(node, scope):
        value = other.value if isinstance(other, Node) and not other.is_array else other
        if kinds == () and type(value) in (int, float) and not (isinstance(other, Node) and other.spec):
            return _with(node, product, other, ("scale",))
    return _activated(node, scope)


def rectified(node, scope):
    """maximum(product, 0)."""
    for product, kinds, other in _pairs(node, scope):
        if type(other) in (int, float) and other == 0 and not {"relu", "gelu"} & set(kinds):
            return _with(node, product, None, ("relu",))
    return None


def _activated(node, scope):
    """0.5 u (1 + tanh(0.79788 (u + 0.044715 u^3))), u the product."""
    u = _gelu_of(node)
    if u is None:
        return None
    found = carried(u)
    if found is None or {"relu", "gelu"} & set(found[0].kinds) or u.spec != node.spec:
        return None
    inner, uses = _between(node, u)
    if scope.reads(u) != uses or any(scope.reads(n) != 1 for n in inner if n is not node):
        return None
    return _with(node, u, None, ("gelu",))


def _between(node, u):
    """(the nodes from `node` down to `u`, how often they read it)."""
    found, uses, open_ = [], 0, [node]
    while open_:
        each = open_.pop()
        if each in found:
            continue
        found.append(each)
        for under in leaves((each.args, each.kwargs)):
            if under is u:
                uses += 1
            elif under.is_array:
                open_.append(under)
    return found, uses


def _factors(node):
    """(the product of its numbers, its other factors) of nested multiplications."""
    if type(node) in (int, float):
        return float(node), []
    if not isinstance(node, Node) or node.kwargs:
        return 1.0, [node]
    if node.op == "multiply" and len(node.args) == 2:
        (m, left), (n, right) = map(_factors, node.args)
        return m * n, left + right
    exponent = {"square": 2}.get(node.op) or (node.args[1] if node.op == "power" else None)
    if type(exponent) in (int, float) and exponent in (2, 3):
        number, inner = _factors(node.args[0])
        return number**exponent, inner * int(exponent)
    return 1.0, [node]


def _sum_with_one(node, function):
    """x of 1 + x where x is of that operation ("" for any); None of others."""
    if isinstance(node, Node) and node.op == "add" and not node.kwargs:
        for one, other in (node.args, node.args[::-1]):
            if type(one) in (int, float) and one == 1 and isinstance(other, Node):
                return other if not function or other.op == function else None
    return None


def _gelu_of(node):
    """u of GELU's tanh form; None where the node is none."""
    half, factors = _factors(node)
    if not math.isclose(half, 0.5) or len(factors) != 2:
        return None
    for u, other in (factors, factors[::-1]):
        tanh = _sum_with_one(other, "tanh")
        if tanh is None or not isinstance(u, Node) or not u.is_array:
            continue
        number, inside = _factors(tanh.args[0])
        if math.isclose(number, GELU_FACTOR, rel_tol=1e-6) and _is_cubic(inside, u):
            return u
    return None


def _is_cubic(factors, u):
    """u + 0.044715 u^3, or u (1 + 0.044715 u^2)."""
    if (
        len(factors) == 1
        and isinstance(factors[0], Node)
        and factors[0].op == "add"
        and not factors[0].kwargs
    ):
        sides = factors[0].args
        rest = sides[1] if sides[0] is u else sides[0] if sides[1] is u else None
        power = 3
    elif len(factors) == 2 and u in factors:
        rest = _sum_with_one(factors[1] if factors[0] is u else factors[0], "")
        power = 2
    else:
        return False
    if rest is None:
        return False
    number, inside = _factors(rest)
    return (
        math.isclose(number, GELU_CUBE, rel_tol=1e-6) and len(inside) == power and all(x is u for x in inside)
    )


RULES = {"add": (added,), "multiply": (scaled,), "maximum": (rectified,)}

# -- at a call ---------------------------------------------------------------------------------------


def bound(tail, written, fast):
    """What a program calls for a product with this tail; `written`: the tail as a function of product and operands."""

    def run(a, b, *operands):
        wanted = [x for x in (a, b) if x._pending]
        if wanted:
            _runtime.numeric_compute(wanted, fast)
        launched = _runtime.numeric_counts()[0]
        way, made = _chosen(tail, written, fast, a, b, operands)
        if _functions.calls_at is not None:
            _functions.calls_at.append((launched, way))
        return made

    return run


def _chosen(tail, written, fast, a, b, operands):
    """(way, result): "within" the product's kernel, or "apart"."""
    from .optimization import _choices

    def apart():
        product = _structured.fast_product(a, b) if fast else _structured.tuned_product(a, b)
        return written(product, *operands)

    if a._host_accessible:
        return "apart", apart()
    parts = _parts(tail, fast, a, b, operands)
    if parts is None:
        return "apart", apart()
    if _choices.active() is not None:
        return _choices.epilogue(tail.kinds, a, b, apart, lambda k: _within(a, b, fast, parts, k))
    made = _within(a, b, fast, parts)
    return ("apart", apart()) if made is None else ("within", made)


def _parts(tail, fast, a, b, operands):
    """{alpha, residual, bias, activation} for these operands; None where no epilogue has the values wanted."""
    dtype = a.dtype
    if b.dtype != dtype or a.ndim < 2 or b.ndim != 2 or a.shape[-1] != b.shape[0] or not a.size or not b.size:
        return None
    shape = (*a.shape[:-1], b.shape[1])
    parts = {"alpha": 1.0, "residual": None, "bias": None, "activation": ""}
    for step in tail.steps:
        if step[0] == "scale":
            parts["alpha"] = operands[step[1]]
        elif step[0] == "add":
            which = _kind_of(operands[step[1]], shape, dtype)
            if which is None or parts[which] is not None:
                return None
            parts[which] = as_it_lies(operands[step[1]].reshape(-1, shape[-1]) if which == "residual" else
                                      operands[step[1]].reshape(-1))  # fmt: skip
        else:
            parts["activation"] = step[0]
    return parts if _has_values(parts, fast, dtype) else None


def _kind_of(operand, shape, dtype):
    if (
        not isinstance(operand, ndarray)
        or operand._pending
        or operand.dtype != dtype
        or not operand._c_contiguous
    ):
        return None
    if operand._host_accessible or as_it_lies(operand)._address % 16:
        return None
    if operand.shape == shape:
        return "residual"
    return "bias" if operand.shape[-1] == shape[-1] == operand.size else None


def _has_values(parts, fast, dtype):
    """Whether the library's epilogue gives what is asked for: its tanh is an approximation that float32 would show."""
    if not -1e300 < parts["alpha"] < 1e300:
        return False
    return parts["activation"] != "gelu" or fast or dtype.itemsize == 2


def _within(a, b, fast, parts, choice=0):
    """By cuBLASLt's algorithm number `choice`; None where it has no such."""
    shape = (*a.shape[:-1], b.shape[1])
    left = a if a.ndim == 2 else a.reshape(-1, a.shape[-1])
    left, right = (as_it_lies(x if _structured._lies_well(x) else x.copy()) for x in (left, b))
    parts = dict(parts)
    if parts["activation"] == "relu":
        if parts["bias"] is None:  # of the two epilogues the one that is asked about nan below
            parts["bias"] = empty((shape[-1],), a.dtype, left)
            parts["bias"]._fill_bytes(0)
        if not fast and not _keeps_nan(left, right, parts, choice):
            return None
    made = products.with_epilogue(left, right, tf32=fast and a.dtype == numpy.float32, choice=choice, **parts)
    return None if made is None else ours(made).reshape(shape)


_probed: dict = {}  # by product and algorithm: whether its relu gives nan for nan, as NumPy's maximum does


def _keeps_nan(left, right, parts, choice):
    key = (str(left.device), left.dtype.name, left.shape, right.shape, left.strides, right.strides,
           parts["residual"] is None, choice)  # fmt: skip
    known = _probed.get(key)
    if known is None:
        nan = from_host(numpy.full(right.shape[1], numpy.nan, left.dtype), left)
        made = products.with_epilogue(left, right, **(parts | {"bias": nan}), choice=choice)
        ends = [] if made is None else [made[:1, :1], made[-1:, -1:]]
        known = bool(ends) and all(
            numpy.isnan(end.copy_to_host().astype(numpy.float32)).all() for end in ends
        )
        while len(_probed) >= _MOST_PROBED:
            _probed.pop(next(iter(_probed)))
        _probed[key] = known
    return known

"""Shapes and dtypes of results, uncomputed: by NumPy's promotion, rules, and NumPy on arrays without memory."""

from __future__ import annotations

import functools
import inspect
import warnings

import numpy
from numpy.lib.array_utils import normalize_axis_tuple

from xcuda.numeric._dtypes import UFUNCS

from ._graph import Spec, mapped

# Their results' shapes, or that they are Python's numbers, depend on values.
VALUES = frozenset(
    (
        *(
            "allclose",
            "array_equal",
            "array_equiv",
            "nonzero",
            "argwhere",
            "flatnonzero",
            "extract",
            "compress",
        ),
        *(
            "unique",
            "unique_all",
            "unique_counts",
            "unique_inverse",
            "unique_values",
            "trim_zeros",
            "bincount",
        ),
        *(
            "intersect1d",
            "union1d",
            "setdiff1d",
            "setxor1d",
            "histogram_bin_edges",
            "array_repr",
            "array2string",
        ),
        *("array_str", "save", "savez", "savetxt", "savez_compressed", "asnumpy", "linalg.matrix_rank"),
    )
)
WRITES = frozenset(("copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "random.shuffle"))
_REDUCTIONS = frozenset(
    (
        *("sum", "prod", "max", "min", "amax", "amin", "all", "any", "mean", "var", "std", "ptp", "median"),
        *(
            "nansum",
            "nanprod",
            "nanmax",
            "nanmin",
            "nanmean",
            "nanvar",
            "nanstd",
            "count_nonzero",
            "linalg.norm",
        ),
        *("argmax", "argmin", "average", "linalg.vector_norm", "linalg.matrix_norm"),
    )
)
_SAME = frozenset(("sort", "argsort", "cumsum", "cumprod", "nancumsum", "nancumprod"))
_OF_MATRICES = frozenset(
    (
        *("linalg.inv", "linalg.det", "linalg.slogdet", "linalg.cholesky", "linalg.qr", "linalg.svd"),
        *(
            "linalg.eigh",
            "linalg.eigvalsh",
            "linalg.svdvals",
            "linalg.solve",
            "linalg.pinv",
            "linalg.matrix_power",
        ),
    )
)


class Mismatch(ValueError):
    """Operands that don't go together; `operands`: their places among the arguments."""

    def __init__(self, message, *operands):
        super().__init__(message)
        self.operands = operands


def infer(op, args, kwargs):
    """What `op` gives: a Spec, or a tuple (perhaps named) or list of them. Arrays among the arguments are Specs."""
    rule = _RULES.get(op)
    if rule is not None:
        return rule(*args, **kwargs)
    if op in UFUNCS and UFUNCS[op].signature is None and "out" not in kwargs:
        return _of_elements(op, args, kwargs)
    if op in _REDUCTIONS:
        return _reduced(op, args, kwargs)
    if op in _SAME:
        return _along(op, args, kwargs)
    if op.startswith("fft.") and not op.endswith(("shift", "freq")):
        return _transformed(op, args, kwargs)
    return _by_numpy(numpy_function(op), args, kwargs)


def numpy_function(op):
    """NumPy's function of a public name such as "linalg.solve"; AttributeError where it has none."""
    found = numpy
    for part in op.split("."):
        found = getattr(found, part)
    return found


def ghost(spec):
    """An array of that shape and dtype in the memory of one element."""
    return numpy.broadcast_to(numpy.zeros((), spec.dtype), spec.shape)


def specs_of(result):
    """The Specs of NumPy's results, in the same containers."""
    if isinstance(result, (numpy.ndarray, numpy.generic)):
        return Spec(tuple(result.shape), result.dtype)
    if isinstance(result, (tuple, list)):
        return mapped(result, specs_of)
    raise TypeError(f"a result of type {type(result).__name__}")


def _by_numpy(function, args, kwargs):
    concrete = mapped((args, kwargs), lambda leaf: ghost(leaf) if isinstance(leaf, Spec) else leaf)
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return specs_of(function(*concrete[0], **concrete[1]))


# -- functions of elements ---------------------------------------------------------------------------


def kind(value):
    """What NumPy's promotion takes for an operand: a dtype, or the type of a weak Python number."""
    if hasattr(value, "dtype"):
        return value.dtype
    if isinstance(value, (bool, numpy.bool_)):
        return numpy.dtype(bool)
    for weak in (int, float, complex):
        if isinstance(value, weak):
            return weak
    raise TypeError(f"an operand of type {type(value).__name__}")


def shape_of(value):
    """The shape of an operand."""
    return value.shape if hasattr(value, "shape") else numpy.shape(value)


def broadcast(operands):
    """The shape of all; Mismatch names the first two that don't go together."""
    shape, first = (), None
    for place, each in enumerate(operands):
        here = shape_of(each)
        try:
            shape = numpy.broadcast_shapes(shape, here)
        except ValueError:
            raise Mismatch("their shapes don't broadcast", first or 0, place) from None
        if here and first is None:
            first = place
    return tuple(shape)


def _of_elements(op, args, kwargs):
    ufunc = UFUNCS[op]
    if len(args) != ufunc.nin:
        raise TypeError(f"{op}() takes {ufunc.nin} operands, {len(args)} were given")
    where = kwargs.get("where", True)
    shape = broadcast(args if where is True else (*args, where))
    how = {k: v for k, v in kwargs.items() if k in ("casting", "signature")}
    if kwargs.get("dtype") is not None:
        how["signature"] = (None,) * ufunc.nin + (numpy.dtype(kwargs["dtype"]),) * ufunc.nout
    try:
        found = ufunc.resolve_dtypes((*map(kind, args), *(None,) * ufunc.nout), **how)
    except TypeError as error:
        if len(args) == 2:
            raise Mismatch("no loop takes their dtypes", 0, 1) from error
        raise
    results = [Spec(shape, d) for d in found[ufunc.nin :]]
    return results[0] if ufunc.nout == 1 else tuple(results)


def result_dtype(*operands):
    """numpy.result_type of operands, weak numbers included."""
    return numpy.result_type(*(o if isinstance(k := kind(o), type) else k for o in operands))


def _where(condition, x, y):
    return Spec(broadcast((condition, x, y)), result_dtype(x, y))


def _clip(a, a_min=None, a_max=None, *, min=None, max=None):
    given = [a, *(v for v in (a_min, a_max, min, max) if v is not None)]
    return Spec(broadcast(given), result_dtype(*given))


def _round(a, decimals=0):
    return Spec(a.shape, numpy.dtype("float16") if a.dtype.kind == "b" else a.dtype)


def _astype(a, dtype, *rest, **how):
    return Spec(a.shape, numpy.dtype(dtype))


def _set_item(a, key, value):
    target = _by_numpy(lambda x, k: x[k], (a, key), {})
    if isinstance(value, Spec) and numpy.broadcast_shapes(target.shape, value.shape) != target.shape:
        raise ValueError(
            f"could not broadcast input array from shape {value.shape} into shape {target.shape}"
        )
    return a


# -- folds -------------------------------------------------------------------------------------------


@functools.cache
def _signature(op):
    return inspect.signature(numpy_function(op))


def _bound(op, args, kwargs):
    return _signature(op).bind(*args, **kwargs).arguments


def _reduced(op, args, kwargs):
    given = _bound(op, args, kwargs)
    a = next(iter(given.values()))
    if not isinstance(a, Spec):
        return _by_numpy(numpy_function(op), args, kwargs)
    axis = given.get("axis")
    if op == "linalg.matrix_norm":
        axis = (-2, -1)
    keepdims = given.get("keepdims") is True
    axes = range(len(a.shape)) if axis is None else normalize_axis_tuple(axis, len(a.shape))
    shape = tuple(1 if i in axes else n for i, n in enumerate(a.shape) if keepdims or i not in axes)
    if op in ("max", "min", "amax", "amin", "argmax", "argmin") and "initial" not in kwargs:
        for i in axes:
            if a.shape[i] == 0 and all(a.shape[k] for k in range(len(a.shape)) if k not in axes):
                raise ValueError(f"zero-size array to reduction operation {op} which has no identity")
    # The dtype of one element's result; its shape is computed above.
    one = mapped((args, kwargs), lambda leaf: numpy.ones((1,) * len(leaf.shape), leaf.dtype)
                 if isinstance(leaf, Spec) else leaf)  # fmt: skip
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = numpy_function(op)(*one[0], **one[1])
    return Spec(shape, numpy.asarray(result).dtype)


def _along(op, args, kwargs):
    given = _bound(op, args, kwargs)
    a = next(iter(given.values()))
    axis = given.get("axis", None if op.startswith(("cum", "nancum")) else -1)
    if axis is not None:
        normalize_axis_tuple(axis, len(a.shape))
    shape = (a.size,) if axis is None else a.shape
    small = Spec((1,) * len(a.shape), a.dtype)
    return Spec(shape, _by_numpy(numpy_function(op), (small, *args[1:]), kwargs).dtype)


# -- matrices ----------------------------------------------------------------------------------------


def _matmul(a, b):
    for place, each in enumerate((a, b)):
        if not shape_of(each):
            raise Mismatch("a product of matrices takes no 0-dimensional operand", place)
    rows = b.shape[-2] if len(b.shape) > 1 else b.shape[0]
    if a.shape[-1] != rows:
        raise Mismatch(f"{a.shape[-1]} columns don't meet {rows} rows", 0, 1)
    lead = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*lead, *a.shape[-2:-1], *(b.shape[-1:] if len(b.shape) > 1 else ()))
    return Spec(shape, numpy.result_type(a.dtype, b.dtype))


def _dot(a, b):
    if not shape_of(a) or not shape_of(b):
        return _of_elements("multiply", (a, b), {})
    if len(b.shape) <= 2:
        if a.shape[-1] != b.shape[0]:
            raise Mismatch(f"{a.shape[-1]} columns don't meet {b.shape[0]} rows", 0, 1)
        return Spec((*a.shape[:-1], *b.shape[1:]), numpy.result_type(a.dtype, b.dtype))
    if a.shape[-1] != b.shape[-2]:
        raise Mismatch(f"{a.shape[-1]} columns don't meet {b.shape[-2]} rows", 0, 1)
    shape = (*a.shape[:-1], *b.shape[:-2], b.shape[-1])
    return Spec(shape, numpy.result_type(a.dtype, b.dtype))


def _einsum(subscripts, *operands, **how):
    terms, _, out = subscripts.replace(" ", "").partition("->")
    if "." in subscripts:
        return _by_numpy(numpy.einsum, (subscripts, *operands), {})
    lengths: dict = {}
    for place, (term, each) in enumerate(zip(terms.split(","), operands, strict=True)):
        if len(term) != len(each.shape):
            raise Mismatch(f"{term!r} names {len(term)} axes", place)
        for letter, n in zip(term, each.shape, strict=True):
            if lengths.setdefault(letter, n) != n and 1 not in (n, lengths[letter]):
                raise Mismatch(f"axis {letter!r} has two lengths, {lengths[letter]} and {n}", place)
            lengths[letter] = max(lengths[letter], n)
    if "->" not in subscripts:
        out = "".join(sorted(c for c in set(terms) - {","} if terms.count(c) == 1))
    return Spec(tuple(lengths[c] for c in out), numpy.result_type(*(o.dtype for o in operands)))


def _tensordot(a, b, axes=2):
    if hasattr(axes, "__index__"):
        left, right = list(range(-int(axes), 0)), list(range(int(axes)))
    else:
        left, right = ([x] if hasattr(x, "__index__") else list(x) for x in axes)
    left, right = [i % len(a.shape) for i in left], [i % len(b.shape) for i in right]
    if [a.shape[i] for i in left] != [b.shape[i] for i in right]:
        raise Mismatch("the summed axes have other lengths", 0, 1)
    shape = [n for i, n in enumerate(a.shape) if i not in left] + [
        n for i, n in enumerate(b.shape) if i not in right
    ]
    return Spec(tuple(shape), numpy.result_type(a.dtype, b.dtype))


def _matrix_results(op):
    def rule(*args, **kwargs):
        return _without_stack(_stacked(op, args, kwargs))

    return rule


def _stacked(op, args, kwargs):
    first, *others = args
    # The axis of no arrays lies before the longest of the stacks.
    axes = max(len(o.shape) for o in args if isinstance(o, Spec))

    def none_of(o):
        return Spec((0, *(1,) * (axes - len(o.shape)), *o.shape), o.dtype)

    rest = [none_of(o) if isinstance(o, Spec) and len(o.shape) > 1 else o for o in others]
    try:
        return _by_numpy(numpy_function(op), (none_of(first), *rest), kwargs)
    except numpy.linalg.LinAlgError:
        raise
    except ValueError:
        if len(args) > 1 and isinstance(args[1], Spec):
            rows = shape_of(args[1])[-2:][0]
            if rows == first.shape[-1]:
                raise Mismatch("their stacks don't go together", 0, 1) from None
            raise Mismatch(f"{first.shape[-1]} columns don't meet {rows} rows", 0, 1) from None
        raise


def _without_stack(made):
    if isinstance(made, Spec):
        return Spec(made.shape[1:], made.dtype)
    return (
        type(made)(*map(_without_stack, made))
        if hasattr(made, "_fields")
        else tuple(map(_without_stack, made))
    )


def _lstsq(a, b, rcond=None):
    kind_ = numpy.result_type(a.dtype, b.dtype, numpy.float32)
    real = numpy.zeros(0, kind_).real.dtype
    *stack, m, n = a.shape
    if stack:
        lengths = (*stack, m)
        if b.shape[: len(lengths)] != lengths or len(b.shape) > len(a.shape):
            raise Mismatch("the stacks' lengths or rows don't meet", 0, 1)
        columns = b.shape[len(lengths) :]
        return (
            Spec((*stack, n, *columns), kind_),
            Spec((*stack, *columns), real),
            Spec(tuple(stack), numpy.dtype(int)),
            Spec((*stack, min(m, n)), real),
        )
    if b.shape[0] != m:
        raise Mismatch(f"{m} rows don't meet {b.shape[0]}", 0, 1)
    # The residuals and the rank are there or not by the values: they are no arrays of a captured function.
    return (
        Spec((n, *b.shape[1:]), kind_),
        Spec(b.shape[1:] if m > n else (0,), real),
        Spec((), numpy.dtype(int)),
        Spec((min(m, n),), real),
    )


def _transformed(op, args, kwargs):
    """A Fourier transform of a stack of no arrays."""
    given = dict(_bound(op, args, kwargs))
    a = given.pop("a")
    ndim = len(a.shape)
    if "axis" in given:
        given["axis"] = given["axis"] - ndim if given["axis"] >= 0 else given["axis"]
    if given.get("axes") is not None:
        given["axes"] = tuple(i - ndim if i >= 0 else i for i in given["axes"])
    elif op.endswith("n"):
        count = ndim if given.get("s") is None else len(given["s"])
        given["axes"] = tuple(range(-count, 0))
    return _without_stack(_by_numpy(numpy_function(op), (Spec((0, *a.shape), a.dtype),), given))


# -- arrays from nothing -----------------------------------------------------------------------------


def _lengths(size):
    return () if size is None else (int(size),) if hasattr(size, "__index__") else tuple(map(int, size))


def random_spec(name, args, kwargs):
    """Of numpy.random's functions: `size`, broadcast parameters and the dtype, without drawing."""
    source = numpy.random.RandomState(0)
    if name in ("rand", "randn"):
        return Spec(tuple(map(int, args)), numpy.dtype(float))
    if name in ("random", "random_sample", "ranf", "sample"):
        return Spec(_lengths(args[0] if args else kwargs.get("size")), numpy.dtype(float))
    names = _RANDOM_PARAMETERS.get(name)
    if names is None:
        return None
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    size = given.pop("size", None)
    shape = _lengths(size) if size is not None else broadcast([v for k, v in given.items() if k != "dtype"])
    small = {
        k: (ghost(Spec((1,) * len(v.shape), v.dtype)) + 1 if isinstance(v, Spec) else v)
        for k, v in given.items()
    }
    return Spec(shape, numpy.asarray(getattr(source, name)(**small)).dtype)


_RANDOM_PARAMETERS = {
    "normal": ("loc", "scale", "size"),
    "standard_normal": ("size",),
    "uniform": ("low", "high", "size"),
    "randint": ("low", "high", "size", "dtype"),
    "exponential": ("scale", "size"),
    "standard_exponential": ("size",),
    "gamma": ("shape", "scale", "size"),
    "beta": ("a", "b", "size"),
    "poisson": ("lam", "size"),
    "binomial": ("n", "p", "size"),
    "lognormal": ("mean", "sigma", "size"),
    "laplace": ("loc", "scale", "size"),
    "logistic": ("loc", "scale", "size"),
    "rayleigh": ("scale", "size"),
}


def _eye(N, M=None, k=0, dtype=float, order="C", **others):
    return Spec((int(N), int(N if M is None else M)), numpy.dtype(dtype))


_RULES = {
    "where": _where,
    "clip": _clip,
    "round": _round,
    "around": _round,
    "astype": _astype,
    "copy": lambda a, *rest, **how: a,
    "setitem": _set_item,
    "getitem": lambda a, key: _by_numpy(lambda x, k: x[k], (a, key), {}),
    "matmul": _matmul,
    "linalg.matmul": _matmul,
    "dot": _dot,
    "einsum": _einsum,
    "tensordot": _tensordot,
    "linalg.tensordot": _tensordot,
    "outer": lambda a, b: Spec((a.size, b.size), numpy.result_type(a.dtype, b.dtype)),
    "linalg.multi_dot": lambda arrays: functools.reduce(_dot, arrays),
    "linalg.lstsq": _lstsq,
    "eye": _eye,
    "identity": lambda n, dtype=float: _eye(n, dtype=dtype),
    **{op: _matrix_results(op) for op in sorted(_OF_MATRICES)},
}

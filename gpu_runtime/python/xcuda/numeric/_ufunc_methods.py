"""ufunc's methods accumulate, reduceat and at, and folds that the graph has not."""

import functools

import numpy
from numpy.lib.array_utils import normalize_axis_index

from xcuda import core as cuda

from . import _dtypes
from ._array import asarray, ndarray
from ._fallback import on_host
from ._index_plan import plan
from ._indexing import _plain, taken
from ._joining import concatenate, joined
from ._layouts import as_numpys, empty_as, order_of, planes
from ._nonzero import flat_places
from ._paths import by_numpy, device_of, held_array, on_host_memory
from ._registry import TABLE, register
from ._scans import folded_parts, known, scanned
from ._sort_kernels import stable_order
from ._ufuncs import _into, ufunc


def _loop_dtype(self, array, dtype, method):
    """What the folds are computed in; raises as NumPy does where it has no such loop."""
    if dtype is None and self.__name__ in ("add", "multiply") and array.dtype.kind in "biu":
        least = numpy.dtype("uint64" if array.dtype.kind == "u" else "int64")
        if array.dtype.itemsize <= 8:
            return least
    kind = array.dtype if dtype is None else _dtypes.as_dtype(dtype)
    # An array of one element tells: the dtype of the result, and the errors.
    return getattr(self._numpy, method)(
        numpy.zeros(1, array.dtype),
        *(([0],) if method == "reduceat" else ()),
        dtype=None if dtype is None else kind,
    ).dtype


def _one_axis(axis, array, method, name):
    if isinstance(axis, tuple):
        if len(axis) != 1:
            raise ValueError(f"{method} does not allow multiple axes")
        axis = axis[0]
    if axis is None:
        if array.ndim != 1:
            raise ValueError(f"{method} does not allow multiple axes")
        axis = 0
    if not array.ndim:
        raise TypeError(f"cannot {method} on a scalar")
    return normalize_axis_index(axis, array.ndim)


def _expect_binary(self, method):
    if self.nin != 2:
        raise ValueError(f"{method} only supported for binary functions")
    if self.nout != 1:
        raise ValueError(f"{method} only supported for functions returning a single value")


def accumulate(self, array, axis=0, dtype=None, out=None):
    """The folds of all beginnings, along an axis."""
    how = {"axis": axis, "dtype": dtype} if out is None else {"axis": axis, "dtype": dtype, "out": out}
    if on_host_memory(array):
        return by_numpy(self._numpy.accumulate, (array,), how)
    _expect_binary(self, "accumulate")
    a = asarray(array)
    axis = _one_axis(axis, a, "accumulate", self.__name__)
    loop = _loop_dtype(self, a, dtype, "accumulate") if isinstance(a, ndarray) else None
    if loop is None or not _dtypes.held(loop) or not known(self.__name__, (loop, a.dtype)):
        return on_host(f"{self.__name__}.accumulate", self._numpy.accumulate, (array,), how)
    layout = as_numpys(self._numpy.accumulate, a, axis=axis)
    with device_of(a):
        made = empty_as(layout, a.shape, loop)
        scanned(self.__name__, *(planes(x, axis, layout.order) for x in (a, made)))
    return made if out is None else _into([made], (_only(out),), True, self)


def reduceat(self, array, indices, axis=0, dtype=None, out=None):
    """Folds of slices along an axis."""
    how = {"axis": axis, "dtype": dtype} if out is None else {"axis": axis, "dtype": dtype, "out": out}
    if on_host_memory(array):
        return by_numpy(self._numpy.reduceat, (array, indices), how)
    _expect_binary(self, "reduceat")
    a = asarray(array)
    axis = _one_axis(axis, a, "reduceat", self.__name__)
    loop = _loop_dtype(self, a, dtype, "reduceat") if isinstance(a, ndarray) else None
    if loop is None or not _dtypes.held(loop) or not known(self.__name__, (loop, a.dtype)):
        return on_host(f"{self.__name__}.reduceat", self._numpy.reduceat, (array, indices), how)
    starts = numpy.asarray(indices.get() if isinstance(indices, ndarray) else indices)
    n = a.shape[axis]
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or (starts < 0).any() or (starts >= n).any():
        return self._numpy.reduceat(numpy.broadcast_to(numpy.zeros((), a.dtype), n), starts)
    stops = numpy.append(starts[1:], n)
    stops = numpy.where(stops > starts, stops, starts + 1)
    layout = as_numpys(self._numpy.reduceat, a, (0,) * max(1, min(starts.size, 2)), axis=axis)
    with device_of(a):
        parts = asarray(starts.astype("int64")), asarray(stops)
        made = empty_as(layout, a.shape[:axis] + (starts.size,) + a.shape[axis + 1 :], loop)
        folded_parts(self.__name__, *(planes(x, axis, layout.order) for x in (a, made)), *parts)
    return made if out is None else _into([made], (_only(out),), True, self)


def reduce_otherwise(self, array, axes, how, out):
    """reduce where the graph has no fold: of functions with no identity, and of complex extremes."""
    if out is not None:
        how["out"] = out
    if on_host_memory(array):
        return by_numpy(self._numpy.reduce, (array,), how)
    if isinstance(array, ndarray) and len(axes) > 1:
        self._numpy.reduce(numpy.ones((1,) * array.ndim, array.dtype), axes)  # raises where the order counts
    loop = None
    if isinstance(array, ndarray) and len(axes) == 1 and "where" not in how and array.shape[axes[0]]:
        loop = _loop_dtype(self, array, how.get("dtype"), "accumulate")
    if loop is None or not _dtypes.held(loop) or not known(self.__name__, (loop, array.dtype)):
        return on_host(f"{self.__name__}.reduce", self._numpy.reduce, (array,), how)
    made = _folded(self, array, axes[0], how, loop)
    return made if out is None else _into([made], (out,), True, self)


def _folded(self, array, axis, how, loop):
    """The fold along one axis, a thread a row."""
    keeps, order = bool(how.get("keepdims")), order_of(array)
    layout = as_numpys(self._numpy.reduce, array, axis=axis, keepdims=keeps)
    if keeps:
        order = layout.order
    else:  # the result's axes as they lie there, the folded one where it lies in the operand
        order_of_rest = [k + (k >= axis) for k in layout.order]
        place = order.index(axis)
        order = (*order_of_rest[:place], axis, *order_of_rest[place:])
    rows = planes(array, axis, order)
    if how.get("initial") is not None:
        first = TABLE["full"].function((rows.shape[0], 1, rows.shape[2]), how["initial"], loop)
        rows = joined([first, rows], 1, loop)
    ends = asarray(numpy.array([0])), asarray(numpy.array([rows.shape[1]]))
    shape = array.shape
    made = empty_as(layout, shape[:axis] + ((1,) if keeps else ()) + shape[axis + 1 :], loop)
    apart = made if keeps else TABLE["expand_dims"].function(made, axis)
    folded_parts(self.__name__, rows, planes(apart, axis, order), *ends)
    return made


def _only(out):
    return out[0] if isinstance(out, tuple) else out


@functools.cache
def _at_kernel(name, out, loop, nin):
    op, T, E = getattr(numpy, name), loop.type, out.type
    if nin == 2:

        @cuda.kernel(checked=False)
        def apply_at(memory, places, order, heads, ends, values):
            t = cuda.grid(1)
            if t < heads.shape[0]:
                place = places[order[heads[t]]]
                total = E(memory[place])
                for k in range(heads[t], ends[t]):
                    total = E(op(T(total), T(values[order[k]])))
                memory[place] = total

    else:

        @cuda.kernel(checked=False)
        def apply_at(memory, places, order, heads, ends):
            t = cuda.grid(1)
            if t < heads.shape[0]:
                place = places[order[heads[t]]]
                total = E(memory[place])
                for _ in range(heads[t], ends[t]):
                    total = E(op(T(total)))
                memory[place] = total

    return apply_at


def at(self, a, indices, b=None, /):
    """Applies the function in place at indices, again and again where they repeat."""
    if not isinstance(a, ndarray):
        return self._numpy.at(
            *(x._host() if isinstance(x, ndarray) else x for x in (a, indices, b) if x is not None)
        )
    given = (a, indices) if b is None else (a, indices, b)
    loops = None if on_host_memory(a) else _at_loops(self, a, b)
    if loops is None:
        if on_host_memory(a):
            return by_numpy(self._numpy.at, given, {}, writes=0)
        from ._fallback import tell

        tell(f"{self.__name__}.at")
        host = a.get()
        self._numpy.at(host, *(x.get() if isinstance(x, ndarray) else x for x in given[1:]))
        a[...] = host
        return None
    with device_of(a):
        _apply_at(self, a, _plain(indices), b, loops)
    return None


def _apply_at(self, a, key, b, loop):
    wanted = plan(a, key if isinstance(key, tuple) else (key,))
    places = wanted.all_places()
    if not places.size:
        return
    places = places.reshape(-1)
    order = stable_order(places.reshape(1, -1)).reshape(-1)
    heads, ends = runs(taken(places, order, 0))
    more = ()
    if b is not None:
        fitted = held_array(b)._broadcast(wanted.shape)
        if fitted is None:
            raise ValueError("array is not broadcastable to correct shape")
        more = (fitted.copy().reshape(-1),)
    _at_kernel(self.__name__, a.dtype, loop, self.nin)(wanted.memory, places, order, heads, ends, *more)


def _at_loops(self, a, b):
    """The dtype that `at` computes in; None where there is no kernel for it."""
    if self.nin == 2 and b is not None and self.nout == 1:
        kinds = (
            a.dtype,
            getattr(b, "dtype", None) or (type(b) if type(b) in (int, float, complex) else None),
        )
        kinds = (kinds[0], kinds[1] or numpy.asarray(b).dtype)
        loop = self._numpy.resolve_dtypes((*kinds, None))
        same = loop[0] == loop[1] and (loop[2].kind != "c" or a.dtype.kind == "c")
        return loop[0] if same and _dtypes.held(loop[0]) and known(self.__name__, loop) else None
    if self.nin == 1 and b is None and self.nout == 1 and self.__name__ in _UNARY:
        loop = self._numpy.resolve_dtypes((a.dtype, None))
        return loop[0] if loop[0] == loop[1] == a.dtype and a.dtype.name != "bfloat16" else None
    return None


_UNARY = {
    "negative",
    "absolute",
    "square",
    "sqrt",
    "reciprocal",
    "exp",
    "log",
    "sin",
    "cos",
    "sign",
    "invert",
}


def runs(ordered):
    """(first places, places after the last) of the runs of equal elements in a 1-d array."""
    heads = flat_places(concatenate((numpy.ones(1, bool), ordered[1:] != ordered[:-1])))
    return heads, concatenate((heads[1:], numpy.array([ordered.size])))


register("_reduce", reduce_otherwise, __name__)
ufunc.accumulate = accumulate
ufunc.reduceat = reduceat
ufunc.at = at

"""Arrays put together: concatenate, stacks, block, append, insert, delete, resize."""

import operator

import numpy
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ._array import asarray, ndarray
from ._creation import empty
from ._dtypes import as_dtype
from ._fallback import to_host
from ._gather import index_ramp
from ._indexing import taken
from ._layouts import as_numpys, empty_as
from ._paths import as_numpy_raises, held_array, native_twice
from ._registry import TABLE
from ._shapes import is_integer


def joined(arrays, axis, dtype=None, out=None, layout=None):
    """Arrays that differ in the length of one axis only, one after the other along it; in C order by default."""
    shape = list(arrays[0].shape)
    shape[axis] = 0
    for a in arrays:
        shape[axis] += a.shape[axis]
    if out is None:
        out = empty(shape, dtype) if layout is None else empty_as(layout, shape, dtype)
        out._join([a if a.dtype == out.dtype else a.astype(out.dtype) for a in arrays], axis)
        return out
    first = 0
    for a in arrays:
        if a.size:
            key = (*(slice(None),) * axis, slice(first, first + a.shape[axis]))
            out[key] = a if a.dtype == out.dtype else a.astype(out.dtype)
        first += a.shape[axis]
    return out


def _arrays(sequence, name="concatenate", stacking=True):
    if not hasattr(sequence, "__getitem__"):
        raise TypeError(
            'arrays to stack must be passed as a "sequence" type such as list or tuple.'
            if stacking
            else "The first input argument needs to be a sequence"
        )
    made = [held_array(a) for a in sequence]
    if not made:
        raise ValueError(f"need at least one array to {name}")
    return made


def _axis_of(axis, ndim):
    return normalize_axis_index(operator.index(axis), ndim)


@native_twice("concatenate", "concat", reference=numpy.concatenate)
def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays one after the other along an axis; flat ones where it is None."""
    made = _arrays(arrays, stacking=False)
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    if axis is None:
        made, axis = [a.reshape(-1) for a in made], 0
    ndim = made[0].ndim
    alike = all(a.ndim == ndim for a in made)
    if ndim and alike:
        axis = _axis_of(axis, ndim)
        lengths = [a.shape[:axis] + a.shape[axis + 1 :] for a in made]
        alike = all(n == lengths[0] for n in lengths)
    if not ndim or not alike:
        as_numpy_raises(numpy.concatenate, made, axis)
    kind = numpy.result_type(*(a.dtype for a in made)) if dtype is None else as_dtype(dtype)
    if out is not None:
        kind = out.dtype
        total = list(made[0].shape)
        total[axis] = sum(a.shape[axis] for a in made)
        if tuple(total) != out.shape:
            raise ValueError("Output array is the wrong shape")
    for a in made:
        if not numpy.can_cast(a.dtype, kind, casting):
            raise TypeError(
                f"Cannot cast array data from {a.dtype!r} to {kind!r} according to the rule '{casting}'"
            )
    in_c_order = out is not None or all(a._c_contiguous for a in made)
    layout = None if in_c_order else as_numpys(numpy.concatenate, made, axis=axis)
    return joined(made, axis, kind, out, layout)


@native_twice(reference=numpy.stack)
def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays of one shape along a new axis."""
    made = _arrays(arrays, "stack")
    if any(a.shape != made[0].shape for a in made):
        raise ValueError("all input arrays must have the same shape")
    axis = _axis_of(axis, made[0].ndim + 1)
    shape = made[0].shape
    in_c_order = all(a._c_contiguous for a in made)
    if out is None and axis < len(shape) and made[0].size and in_c_order:
        # The same elements in the same order, and no view gives a part that nobody names a name.
        joint = concatenate(made, axis, dtype=dtype, casting=casting)
        return joint.reshape(*shape[:axis], len(made), *shape[axis:])
    widened = [a[(*(slice(None),) * axis, None)] for a in made]
    return concatenate(widened, axis, out, dtype=dtype, casting=casting)


@native_twice("vstack", "row_stack", reference=numpy.vstack)
def vstack(tup, *, dtype=None, casting="same_kind"):
    """Rows one under the other."""
    made = _arrays(tup)
    if made[0].ndim == 1 and all(a.shape == made[0].shape for a in made):
        return stack(made, 0, dtype=dtype, casting=casting)
    made = [TABLE["atleast_2d"].function(a) for a in made]
    return concatenate(made, 0, dtype=dtype, casting=casting)


@native_twice(reference=numpy.hstack)
def hstack(tup, *, dtype=None, casting="same_kind"):
    """Columns side by side."""
    made = [TABLE["atleast_1d"].function(a) for a in _arrays(tup)]
    return concatenate(made, 0 if made[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@native_twice(reference=numpy.dstack)
def dstack(tup):
    """Along the third axis."""
    return concatenate([TABLE["atleast_3d"].function(a) for a in _arrays(tup)], 2)


@native_twice(reference=numpy.column_stack)
def column_stack(tup):
    """1-d arrays as the columns of a matrix."""
    made = [a if a.ndim > 1 else a.reshape(-1, 1) for a in _arrays(tup)]
    return concatenate(made, 1)


@native_twice(reference=numpy.block)
def block(arrays):
    """An array of nested lists of blocks."""
    depth = _depth(arrays)
    if depth is None:
        numpy.block(to_host(arrays))  # raises as NumPy does
    ndim = max(depth, _most_axes(arrays))
    made = _blocks(arrays, depth, ndim)
    return made if depth else made.copy()


def _depth(value):
    if type(value) is tuple:
        raise TypeError(
            "arrays is a tuple. Only lists can be used to arrange blocks, and np.block does not allow implicit "
            "conversion from tuple to ndarray."
        )
    if type(value) is not list:
        return 0
    if not value:
        raise ValueError("List at arrays cannot be empty")
    depths = [_depth(v) for v in value]
    if depths[0] is None or any(d != depths[0] for d in depths):
        return None
    return 1 + depths[0]


def _most_axes(value):
    return max(map(_most_axes, value)) if type(value) is list else numpy.ndim(value)


def _blocks(value, depth, ndim):
    if type(value) is not list:
        a = held_array(value)
        return a if a.ndim == ndim else a.reshape((1,) * (ndim - a.ndim) + a.shape)
    return concatenate([_blocks(v, depth - 1, ndim) for v in value], -depth)


@native_twice(reference=numpy.append)
def append(arr, values, axis=None):
    """The values after the array's elements, flat where no axis is given."""
    arr, values = held_array(arr), held_array(values)
    if axis is None:
        arr, values, axis = arr.reshape(-1), values.reshape(-1), 0
    return concatenate((arr, values), axis)


@native_twice(reference=numpy.delete)
def delete(arr, obj, axis=None):
    """Without the slices that `obj` names along an axis."""
    arr = held_array(arr)
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    axis = _axis_of(axis, arr.ndim)
    n = arr.shape[axis]
    # What is left is found on the host, from an array of `n` places at most.
    index = obj.get() if isinstance(obj, ndarray) else obj
    left = numpy.delete(numpy.arange(n), index) if axis == 0 else _left_along(axis, arr.ndim, n, index)
    one = isinstance(index, slice) or numpy.size(index) == 1  # of several, NumPy's is an index by a mask
    order = as_numpys(numpy.delete, arr, 0 if one else (0, 0), axis=axis, longest={axis: 3}).order
    return taken(arr, asarray(left), axis, order)


def _left_along(axis, ndim, n, index):
    """numpy.delete's choice along an axis, whose number its errors name."""
    shape = [1] * ndim
    shape[axis] = n
    return numpy.delete(numpy.arange(n).reshape(shape), index, axis).reshape(-1)


@native_twice(reference=numpy.insert)
def insert(arr, obj, values, axis=None):
    """With values before the places that `obj` names along an axis."""
    arr = held_array(arr)
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    axis = _axis_of(axis, arr.ndim)
    n = arr.shape[axis]
    values = held_array(values).astype(arr.dtype, copy=False)
    index = obj.get() if isinstance(obj, ndarray) else obj
    # Where each slice of the result comes from is found on the host: an element, or -1 - number of the value.
    single = (
        isinstance(index, (int, numpy.integer)) or numpy.ndim(index) == 0 and not isinstance(index, slice)
    )
    lead = arr.ndim - values.ndim
    values = values.reshape((1,) * lead + values.shape) if lead > 0 else values
    if single:
        values = TABLE["moveaxis"].function(values, 0, axis)
    count = values.shape[axis]
    probe = numpy.full(n, -1)
    if single:
        source = numpy.insert(probe, int(index), numpy.arange(count))
    else:
        source = _inserted(probe, index, count, axis, arr.ndim)
    shape = [*arr.shape]
    shape[axis] = source.size
    made = empty_as(as_numpys(numpy.insert, arr, 0, 0, axis=axis), shape, arr.dtype)
    before = (slice(None),) * axis
    made[(*before, numpy.flatnonzero(source < 0))] = arr
    new = numpy.flatnonzero(source >= 0)
    taken = source[new]
    chosen = values if numpy.array_equal(taken, numpy.arange(count)) else values[(*before, taken)]
    made[(*before, new)] = chosen
    return made


def _inserted(probe, index, count, axis, ndim):
    """Which value stands where, along the axis; numpy.insert's errors name it by its number."""
    shape = [1] * ndim
    shape[axis] = -1
    numbers = numpy.arange(count).reshape(shape)
    return numpy.insert(probe.reshape(shape), index, numbers, axis).reshape(-1)


@native_twice(reference=numpy.resize)
def resize(a, new_shape):
    """The elements in C order, again and again, in another shape."""
    a = held_array(a)
    shape = (new_shape,) if is_integer(new_shape) else tuple(map(operator.index, new_shape))
    size = 1
    for n in shape:
        size *= n
        if n < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    if not a.size or not size:
        return TABLE["zeros"].function(shape, a.dtype)
    flat = a.reshape(-1)
    if size <= flat.size:
        return flat[:size].copy().reshape(shape)
    return flat[index_ramp(size) % flat.size].reshape(shape)


@native_twice(reference=numpy.tile)
def tile(A, reps):
    """The array repeated along its axes."""
    a = held_array(A)
    reps = (reps,) if is_integer(reps) else tuple(map(operator.index, reps))
    ndim = max(a.ndim, len(reps))
    reps = (1,) * (ndim - len(reps)) + reps
    a = a.reshape((1,) * (ndim - a.ndim) + a.shape)
    if any(r < 0 for r in reps):
        as_numpy_raises(numpy.tile, a, reps)
    if 2 * ndim > 8 or not a.size:
        if not a.size:
            return empty([n * r for n, r in zip(a.shape, reps, strict=True)], a.dtype)
        for axis, r in enumerate(reps):
            if r != 1:
                a = joined([a] * r, axis, a.dtype) if r else a[(*(slice(None),) * axis, slice(0, 0))]
        return a.copy()
    twice = [n for pair in zip(reps, a.shape, strict=True) for n in pair]
    apart = a.reshape([n for length in a.shape for n in (1, length)])
    made = TABLE["broadcast_to"].function(apart, twice).copy()
    return made.reshape([n * r for n, r in zip(a.shape, reps, strict=True)])


@native_twice(reference=numpy.repeat)
def repeat(a, repeats, axis=None):
    """Each element (or slice along an axis) several times."""
    a = held_array(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    axes = normalize_axis_tuple(axis, a.ndim)
    axis = axes[0]
    n = a.shape[axis]
    if isinstance(repeats, (bool, int, float, numpy.integer)):
        times = int(repeats)
        if times < 0:
            raise ValueError("negative dimensions are not allowed")
        return taken(a, index_ramp(n * times) // max(times, 1), axis)
    times = asarray(repeats) if isinstance(repeats, (ndarray, numpy.ndarray)) else asarray(repeats, "int64")
    if times.dtype.kind not in "biu" or times.dtype == numpy.uint64:
        what = "array data" if times.ndim else "scalar"
        raise TypeError(
            f"Cannot cast {what} from {times.dtype!r} to dtype('int64') according to the rule 'safe'"
        )
    times = times.astype("int64", copy=False)
    if times.ndim > 1:
        raise ValueError("object too deep for desired array")
    times = times.reshape(-1)
    if times.size == 1 and n != 1:
        return repeat(a, int(times._one()), axis)
    if times.size != n:
        raise ValueError(f"operands could not be broadcast together with shape ({n},) ({times.size},)")
    if n and bool((times < 0).any()):
        raise ValueError("repeats may not contain negative values.")
    ends = TABLE["cumsum"].function(times)
    total = int(ends[-1]) if n else 0
    which = TABLE["searchsorted"].function(ends, index_ramp(total), "right")
    return taken(a, which, axis)

"""Other shapes and orders of axes over the same memory."""

import numpy

from ._array import asarray
from ._registry import native
from ._shapes import lengths as lengths_of


@native()
def reshape(a, /, shape, order="C", *, copy=None):
    """The elements in another shape; shares memory where the strides allow it."""
    a = asarray(a)
    lengths = lengths_of(shape)
    unknown = [i for i, n in enumerate(lengths) if n < 0]
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    size = 1
    for n in lengths:
        size *= n if n >= 0 else 1
    fits = a.size == size
    if unknown:
        fits = size > 0 and a.size % size == 0
        lengths[unknown[0]] = a.size // size if fits else -1
    if not fits:
        shown = str(tuple(lengths_of(shape))).replace(" ", "")
        raise ValueError(f"cannot reshape array of size {a.size} into shape {shown}")
    if order == "A":
        order = "F" if a._f_contiguous and not a._c_contiguous else "C"
    if order == "F":
        made = a.T._reshaped(lengths[::-1])
        if made is None:
            if copy is False:
                raise ValueError("Unable to avoid creating a copy while reshaping.")
            made = a.T.copy()._reshaped(lengths[::-1])
        return made.T
    made = a._reshaped(lengths)
    if made is None:
        if copy is False:
            raise ValueError("Unable to avoid creating a copy while reshaping.")
        return a.copy()._reshaped(lengths)
    return made.copy() if copy else made


@native("transpose", "permute_dims")
def transpose(a, axes=None):
    """The axes in another order."""
    a = asarray(a)
    if axes is None:
        order = range(a.ndim)[::-1]
    else:
        axes = tuple(axes)
        if len(axes) != a.ndim:
            raise ValueError("axes don't match array")
        order = numpy.lib.array_utils.normalize_axis_tuple(axes, a.ndim)
    return _permuted(a, order)


def _steps(a):
    return [s // a.itemsize for s in a.strides]


def _permuted(a, order):
    steps = _steps(a)
    return a._view(0, [a.shape[i] for i in order], [steps[i] for i in order])


@native("matrix_transpose")
def matrix_transpose(x, /):
    """The last two axes exchanged."""
    x = asarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.mT


@native()
def swapaxes(a, axis1, axis2):
    """Two axes exchanged."""
    a = asarray(a)
    i, k = (numpy.lib.array_utils.normalize_axis_index(x, a.ndim) for x in (axis1, axis2))
    order = list(range(a.ndim))
    order[i], order[k] = order[k], order[i]
    return _permuted(a, order)


@native()
def moveaxis(a, source, destination):
    """Axes moved to other places."""
    a = asarray(a)
    tuple_of = numpy.lib.array_utils.normalize_axis_tuple
    source, destination = tuple_of(source, a.ndim, "source"), tuple_of(destination, a.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [n for n in range(a.ndim) if n not in source]
    for to, what in sorted(zip(destination, source, strict=True)):
        order.insert(to, what)
    return _permuted(a, order)


@native()
def rollaxis(a, axis, start=0):
    """An axis moved back until it lies before another."""
    a = asarray(a)
    axis = numpy.lib.array_utils.normalize_axis_index(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    if not 0 <= start <= a.ndim:
        raise numpy.exceptions.AxisError(
            f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in"
        )
    order = list(range(a.ndim))
    order.remove(axis)
    order.insert(start - 1 if axis < start else start, axis)
    return _permuted(a, order)


@native()
def ravel(a, order="C"):
    """One axis; shares memory where the elements lie side by side in that order."""
    a = asarray(a)
    if order == "K":  # as they lie in memory
        a, order = a.transpose(a._order()), "C"
    flat = reshape(a, (-1,) if a.size else (0,), order)
    return flat if flat._c_contiguous else flat.copy()


@native()
def squeeze(a, axis=None):
    """Without axes of length 1."""
    a = asarray(a)
    if axis is None:
        gone = [i for i, n in enumerate(a.shape) if n == 1]
    else:
        gone = numpy.lib.array_utils.normalize_axis_tuple(axis, a.ndim)
        if any(a.shape[i] != 1 for i in gone):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    kept = [i for i in range(a.ndim) if i not in gone]
    steps = _steps(a)
    return a._view(0, [a.shape[i] for i in kept], [steps[i] for i in kept])


@native()
def expand_dims(a, axis):
    """With new axes of length 1."""
    a = asarray(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = a.ndim + len(axes)
    axes = numpy.lib.array_utils.normalize_axis_tuple(axes, ndim)
    lengths = iter(a.shape)
    return reshape(a, [1 if i in axes else next(lengths) for i in range(ndim)])


@native()
def broadcast_to(array, shape, subok=False):
    """A read-only view with another shape, lengths of 1 stretched."""
    a = asarray(array)
    shape = lengths_of(shape)
    if any(n < 0 for n in shape):
        raise ValueError("all elements of broadcast shape must be non-negative")
    made = a._broadcast(shape)
    if made is None:
        numpy.broadcast_to(numpy.empty(a.shape, bool), shape)  # raises as NumPy does
    return made


@native()
def broadcast_arrays(*args, subok=False):
    """All with one shape."""
    arrays = [asarray(a) for a in args]
    shape = numpy.broadcast_shapes(*(a.shape for a in arrays))
    return tuple(a if a.shape == shape else broadcast_to(a, shape) for a in arrays)


def _flipped(axis):
    return slice(None, None, -1) if axis else slice(None)


@native()
def flip(m, axis=None):
    """Elements in reverse order along axes."""
    m = asarray(m)
    axes = range(m.ndim) if axis is None else numpy.lib.array_utils.normalize_axis_tuple(axis, m.ndim)
    return m[tuple(_flipped(i in axes) for i in range(m.ndim))]


@native()
def flipud(m):
    """Reversed along the first axis."""
    m = asarray(m)
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return m[::-1]


@native()
def fliplr(m):
    """Reversed along the second axis."""
    m = asarray(m)
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return m[:, ::-1]


@native()
def rot90(m, k=1, axes=(0, 1)):
    """Rotated by quarters in the plane of two axes."""
    m = asarray(m)
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == m.ndim:
        raise ValueError("Axes must be different.")
    k %= 4
    if k == 0:
        return m[:]
    if k == 2:
        return flip(flip(m, axes[0]), axes[1])
    return swapaxes(flip(m, axes[1]), *axes) if k == 1 else flip(swapaxes(m, *axes), axes[1])


@native()
def atleast_1d(*arys):
    """With at least one axis."""
    made = [a if a.ndim else a.reshape(1) for a in map(asarray, arys)]
    return made[0] if len(made) == 1 else tuple(made)


@native()
def atleast_2d(*arys):
    """With at least two axes."""
    made = [a if a.ndim > 1 else a.reshape(1, -1) for a in map(asarray, arys)]
    return made[0] if len(made) == 1 else tuple(made)


@native()
def atleast_3d(*arys):
    """With at least three axes."""
    made = []
    for a in map(asarray, arys):
        made.append(a if a.ndim > 2 else a[:, :, None] if a.ndim == 2 else a.reshape(1, -1, 1))
    return made[0] if len(made) == 1 else tuple(made)


@native()
def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonal of two axes: a read-only view."""
    a = asarray(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    i, k = (numpy.lib.array_utils.normalize_axis_index(x, a.ndim) for x in (axis1, axis2))
    if i == k:
        raise ValueError("axis1 and axis2 cannot be the same")
    steps = _steps(a)
    down, along = (-offset, 0) if offset < 0 else (0, offset)
    length = max(min(a.shape[i] - down, a.shape[k] - along), 0)
    others = [x for x in range(a.ndim) if x not in (i, k)]
    first = down * steps[i] + along * steps[k] if length else 0
    made = a._view(
        first, [*(a.shape[x] for x in others), length], [*(steps[x] for x in others), steps[i] + steps[k]]
    )
    made._readonly = True
    return made


@native()
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """The sum of a diagonal."""
    from ._reductions import sum

    return sum(diagonal(a, offset, axis1, axis2), -1, dtype, out)


@native()
def shape(a):
    """The lengths of the axes."""
    return a.shape if hasattr(a, "shape") else numpy.shape(a)


@native()
def ndim(a):
    """The number of axes."""
    return a.ndim if hasattr(a, "ndim") else numpy.ndim(a)


@native()
def size(a, axis=None):
    """The number of elements."""
    if axis is None:
        return a.size if hasattr(a, "size") else numpy.size(a)
    lengths = shape(a)
    made = 1
    for each in numpy.lib.array_utils.normalize_axis_tuple(axis, len(lengths)):
        made *= lengths[each]
    return made

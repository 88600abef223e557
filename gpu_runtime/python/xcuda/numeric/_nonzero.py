"""Where arrays are not zero: places of elements, by a scan of the mask."""

import numpy

from xcuda import core as cuda
from xcuda.core.own_kernel import own_kernel

from ._creation import empty
from ._paths import held_array, native_twice
from ._scans import scanned


@own_kernel(checked=False)
def _write_places(out, mask, counts):
    t = cuda.grid(1)
    if t < mask.shape[0] and mask[t]:
        out[counts[t] - 1] = t


def flat_places(mask):
    """The places of the true elements in C order, as int64."""
    mask = mask.astype(bool, copy=False)
    flat = mask.reshape(-1)
    if not flat.size:
        return empty(0, "int64")
    counts = empty(flat.size, "int64")
    scanned("add", flat.reshape(1, -1, 1), counts.reshape(1, -1, 1))
    out = empty(counts[-1]._one(), "int64")
    if out.size:
        _write_places()(out, flat, counts)
    return out


def unravelled(flat, shape):
    """Places in C order as one index array an axis."""
    made = []
    step = 1
    for n in reversed(shape):
        made.append(flat // step % n if step > 1 else flat % n if len(shape) > 1 else flat)
        step *= n
    return tuple(made[::-1])


@native_twice(reference=numpy.nonzero)
def nonzero(a):
    """The indices of what is not zero, an array an axis."""
    a = held_array(a)
    if not a.ndim:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        )
    return unravelled(flat_places(a), a.shape)


@native_twice(reference=numpy.flatnonzero)
def flatnonzero(a):
    """The places in C order of what is not zero."""
    return flat_places(held_array(a))


@native_twice(reference=numpy.argwhere)
def argwhere(a):
    """The indices of what is not zero, a row an element."""
    from ._registry import TABLE

    a = held_array(a)
    flat = flat_places(a)
    if not a.ndim:
        return empty((flat.size, 0), "int64")
    return TABLE["stack"].function(unravelled(flat, a.shape), -1)

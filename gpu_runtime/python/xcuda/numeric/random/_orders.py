"""Generator's choices and orders: the places are NumPy's, what stands there moves on the device."""

import numpy as np

from .._array import asarray, asarray_or_host, ndarray
from .._fallback import to_host
from .._registry import TABLE


def _taken(a, order, axis):
    return TABLE["take"].function(a, asarray(order), axis=axis)


def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    """Elements of an array, or numbers below `a`, with or without putting back; NumPy's choice."""
    p = to_host(p)
    if np.ndim(a) == 0:
        made = _chosen(self, to_host(a), size, replace, p, shuffle)
        return made if size is None else asarray(made)
    a = asarray_or_host(a)
    if not isinstance(a, ndarray):  # text and the like
        return self._host.choice(a, size, replace, p, axis, shuffle)
    axis = np.lib.array_utils.normalize_axis_index(axis, a.ndim)
    if a.shape[axis] == 0 and (size is None or np.prod(size)):
        self._host.choice(np.empty(a.shape, bool), size, replace, p, axis, shuffle)  # raises
    at = _chosen(self, a.shape[axis], size, replace, p, shuffle)
    return a[(*(slice(None),) * axis, int(at))] if size is None else _taken(a, at, axis)


def _chosen(self, count, size, replace, p, shuffle):
    """Places below `count`: on the device where they are independent."""
    if size is None or not replace:
        return self._host.choice(count, size, replace, p, 0, shuffle)
    self._host.choice(count, 0, replace, p, 0, shuffle)  # raises what NumPy raises
    if p is None:
        return self.integers(0, int(count), size)
    up_to = np.cumsum(np.asarray(p, np.float64))
    up_to /= up_to[-1]
    return TABLE["searchsorted"].function(asarray(up_to), self.random(size), side="right")


def permutation(self, x, axis=0):
    """A copy with its entries along an axis in random order, or the numbers below x; NumPy's order."""
    if np.ndim(x) == 0 and not isinstance(x, ndarray) and isinstance(x, (int, np.integer)):
        return asarray(self._host.permutation(x))
    a = asarray_or_host(x)
    if not isinstance(a, ndarray):
        return self._host.permutation(a, axis)
    axis = np.lib.array_utils.normalize_axis_index(axis, a.ndim)
    order = np.arange(a.shape[axis])
    self._host.shuffle(order)
    return _taken(a, order, axis)


def shuffle(self, x, axis=0):
    """Puts the entries of an array along an axis into random order, in place; NumPy's order."""
    if not isinstance(x, ndarray):
        return self._host.shuffle(x, axis)
    if not x.ndim:
        raise TypeError("an array without axes has no entries to shuffle")
    axis = np.lib.array_utils.normalize_axis_index(axis, x.ndim)
    order = np.arange(x.shape[axis])
    self._host.shuffle(order)
    x[...] = _taken(x, order, axis)
    return None


def permuted(self, x, *, axis=None, out=None):
    """Each slice along an axis in a random order of its own (all elements without one); NumPy's orders."""
    a = asarray(x)
    order = self._host.permuted(np.arange(a.size).reshape(a.shape), axis=axis)
    made = _taken(a.reshape(-1), order.reshape(-1), 0).reshape(a.shape)
    if out is None:
        return made
    if out.shape != made.shape:
        raise ValueError("out must have the same shape as x")
    if not np.can_cast(made.dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast array data from {made.dtype!r} to {out.dtype!r} according to the rule 'same_kind'"
        )
    out[...] = made
    return out

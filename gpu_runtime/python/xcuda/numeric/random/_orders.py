"""Generator's choices and orders: the places are NumPy's, what stands there moves on the device."""

import numpy as np

from .._array import asarray, ndarray
from .._fallback import to_host
from .._registry import TABLE


def _places(n):
    return np.arange(n)


def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    """Elements of an array, or numbers below `a`, with or without putting back; NumPy's choice."""
    host = a if np.ndim(a) == 0 and not isinstance(a, ndarray) else None
    if host is not None or a.ndim == 0 if isinstance(a, ndarray) else host is not None:
        count = to_host(a)
        return asarray(_chosen(self, count, size, replace, to_host(p), shuffle)) if size is not None else (
            self._host.choice(count, size, replace, to_host(p), axis, shuffle)
        )  # fmt: skip
    a = asarray(a)
    axis = np.lib.array_utils.normalize_axis_index(axis, a.ndim)
    if a.shape[axis] == 0 and (size is None or np.prod(size)):
        self._host.choice(np.empty(a.shape, bool), size, replace, to_host(p), axis, shuffle)  # raises
    at = _chosen(self, a.shape[axis], size, replace, to_host(p), shuffle)
    if size is None:
        return a[(*(slice(None),) * axis, int(at))]
    return TABLE["take"].function(a, asarray(at), axis=axis) if "take" in TABLE else asarray(
        np.take(to_host(a), to_host(at), axis)
    )  # fmt: skip


def _chosen(self, count, size, replace, p, shuffle):
    """Places below `count`: on the device where they are independent."""
    if size is None or not replace:
        return self._host.choice(count, size, replace, p, 0, shuffle)
    self._host.choice(count, 0, replace, p, 0, shuffle)  # raises what NumPy raises
    if p is None:
        return self.integers(0, int(count), size)
    up_to = np.cumsum(np.asarray(p, np.float64))
    up_to /= up_to[-1]
    return TABLE["searchsorted"].function(asarray(up_to), self.random(size), side="right") if (
        "searchsorted" in TABLE
    ) else asarray(np.searchsorted(up_to, to_host(self.random(size)), side="right"))  # fmt: skip


def _taken(a, order, axis):
    if "take" in TABLE:
        return TABLE["take"].function(a, asarray(order), axis=axis)
    return asarray(np.take(to_host(a), order, axis))


def permutation(self, x, axis=0):
    """A copy with its entries along an axis in random order, or the numbers below x; NumPy's order."""
    if np.ndim(x) == 0 and not isinstance(x, ndarray) and isinstance(x, (int, np.integer)):
        return asarray(self._host.permutation(x))
    a = asarray(x)
    axis = np.lib.array_utils.normalize_axis_index(axis, a.ndim)
    order = _places(a.shape[axis])
    self._host.shuffle(order)
    return _taken(a, order, axis)


def shuffle(self, x, axis=0):
    """Puts the entries of an array along an axis into random order, in place; NumPy's order."""
    if not isinstance(x, ndarray):
        return self._host.shuffle(x, axis)
    axis = np.lib.array_utils.normalize_axis_index(axis, x.ndim)
    order = _places(x.shape[axis])
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
    out[...] = made
    return out

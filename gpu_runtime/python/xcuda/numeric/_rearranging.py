"""roll."""

import numpy
from numpy.lib.array_utils import normalize_axis_tuple

from ._joining import joined
from ._layouts import as_numpys, laid
from ._paths import held_array, native_twice


@native_twice(reference=numpy.roll)
def roll(a, shift, axis=None):
    """Elements moved along axes; what leaves at one end comes back at the other."""
    a = held_array(a)
    if axis is None:
        return roll(a.reshape(-1), shift, 0).reshape(a.shape)
    axes = normalize_axis_tuple(axis, a.ndim, allow_duplicate=True)
    pairs = numpy.broadcast(shift, axes)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    by = dict.fromkeys(range(a.ndim), 0)
    for s, k in pairs:
        by[k] += int(s)
    made, layout = a, as_numpys(numpy.roll, a, 0, axis=axes)
    for k, s in by.items():
        n = a.shape[k]
        if n and s % n:
            before = (slice(None),) * k
            cut = n - s % n
            made = joined(
                [made[(*before, slice(cut, None))], made[(*before, slice(0, cut))]], k, a.dtype, layout=layout
            )
    return made if made is not a else laid(a.copy("K"), layout)

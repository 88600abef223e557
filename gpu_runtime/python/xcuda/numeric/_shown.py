"""What an array prints as: of a large one no more comes to the host than is shown."""

import re

import numpy


def shown(a):
    """A host array that prints as the whole one does, with no more copied than is shown."""
    options = numpy.get_printoptions()
    if a.size <= options["threshold"] or a.ndim == 0:
        return a.get()
    edge = options["edgeitems"]
    # The corners, in a host array of the full shape that takes no memory of that size where it can be avoided.
    return a.get() if a.size < 1_000_000 else _corners(a, edge)


class _Corners:
    """The two texts of an array whose middle was not copied."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text[0]

    def __str__(self):
        return self.text[1]


def _corner(a, edge, axis=0):
    """On the host: what lies within `edge` of the ends of every axis, and one more that is not shown."""
    if axis == a.ndim:
        return a.get()
    n = a.shape[axis]
    if n <= 2 * edge + 1:
        return _corner(a, edge, axis + 1)
    before = (slice(None),) * axis
    parts = [a[(*before, slice(0, edge + 1))], a[(*before, slice(n - edge, n))]]
    return numpy.concatenate([_corner(part, edge, axis + 1) for part in parts], axis)


def _corners(a, edge):
    host = _corner(a, edge)
    with numpy.printoptions(threshold=0, edgeitems=edge):
        text = re.sub(r", shape=\([^)]*\)", f", shape={a.shape}", repr(host))
        return _Corners((text, str(host)))

"""`r_` and `c_`: arrays put together by indexing."""

import numpy

from ._array import asarray, ndarray
from ._fallback import tell, to_host, to_ours
from ._registry import TABLE, register


class _Pieces:
    """numpy.r_ (along the first axis) or numpy.c_ (as columns); strings of directives go by NumPy on the host."""

    def __init__(self, name):
        self._name, self._host = name, getattr(numpy, name)

    def __getitem__(self, key):
        items = key if isinstance(key, tuple) else (key,)
        if not any(isinstance(item, ndarray) for item in items):
            return to_ours(self._host[key])
        if any(isinstance(item, str) for item in items):
            tell(self._name)
            return to_ours(self._host[to_host(key)])
        kinds, pieces = [], []
        for item in items:
            number = isinstance(item, (bool, int, float, complex))
            piece = item if number else asarray(numpy.r_[item] if isinstance(item, slice) else item)
            kinds.append(item if number else piece.dtype)
            pieces.append(piece)
        kind = numpy.result_type(*kinds)
        shaped = [
            self._shaped(
                p.astype(kind, copy=False) if isinstance(p, ndarray) else asarray(numpy.array(p, kind))
            )
            for p in pieces
        ]
        return TABLE["concatenate"].function(shaped, -1 if self._name == "c_" else 0)

    def _shaped(self, piece):
        if self._name == "c_":
            return piece.reshape(piece.size, 1) if piece.ndim < 2 else piece
        return piece.reshape(1) if piece.ndim == 0 else piece

    def __len__(self):
        return 0

    def __repr__(self):
        return f"<numeric.{self._name}>"


for _name in ("r_", "c_"):
    register(_name, _Pieces(_name), __name__, "strings of directives")

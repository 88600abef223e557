"""NumPy's ufuncs of whole axes (matmul, vecdot, ...): `axes`, `axis`, `keepdims` and `out` around functions of the last
axes."""

import contextlib
import operator

import numpy
from numpy.lib.array_utils import normalize_axis_index

from ._array import asarray, ndarray
from ._dtypes import as_dtype
from ._fallback import on_host
from ._out import given
from ._registry import TABLE, NotHeldError, register
from ._shapes import is_integer
from ._ufuncs import ufunc


class gufunc(ufunc):
    """A function of arrays' last axes, as numpy.ufunc with a signature."""

    def __init__(self, reference, core):
        self.__name__, self.__doc__ = reference.__name__, reference.__doc__
        self._numpy, self._core = reference, core
        self.nin, self.nout, self.nargs = reference.nin, reference.nout, reference.nargs
        self.types, self.ntypes, self.identity = reference.types, reference.ntypes, reference.identity
        self.signature = reference.signature
        inputs, result = self.signature.split("->")
        self._inputs = [part.strip("()").split(",") for part in inputs.split("),(")]
        self._result = [name for name in result.strip("()").split(",") if name]

    def __call__(
        self, a, b, /, out=None, *, axes=None, axis=None, keepdims=False, casting="same_kind", order="K", dtype=None,
        subok=True, signature=None, sig=None,
    ):  # fmt: skip
        plain = out is axes is axis is dtype is signature is sig is None and not keepdims
        if plain and type(a) is ndarray and type(b) is ndarray and a.dtype is b.dtype and self._in_full(a, b):
            return self._core(a, b, a.dtype)
        if signature is not None or sig is not None:
            dtype = self._numpy.resolve_dtypes(
                (asarray(a).dtype, asarray(b).dtype, None), signature=signature or sig, casting=casting
            )[2]
        try:
            a, b = asarray(a), asarray(b)
        except NotHeldError:
            how = {"out": out, "axes": axes, "axis": axis, "keepdims": keepdims or None, "dtype": dtype}
            how = {k: v for k, v in how.items() if v is not None}
            return on_host(self.__name__, self._numpy, (a, b), how, of_host_values=True)
        kind = numpy.result_type(a.dtype, b.dtype) if dtype is None else as_dtype(dtype)
        for each in (a, b):
            if not numpy.can_cast(each.dtype, kind, casting):
                raise TypeError(
                    f"Cannot cast {self.__name__} input from {each.dtype!r} to {kind!r} with '{casting}'"
                )
        places = self._places(axes, axis, keepdims, a.ndim, b.ndim)
        if places is None:
            self._expect(a, b)
            made = self._core(a, b, kind)
        else:
            a, b = (_to_the_end(x, place) for x, place in zip((a, b), places[:2], strict=True))
            self._expect(a, b)
            made = self._core(a, b, kind)
            if keepdims:
                made = made.reshape(*made.shape, *(1,) * len(self._inputs[0]))
            if places[2]:
                made = _from_the_end(made, places[2])
        return self._broadcast_into(made, out, len(self._result) + bool(keepdims), casting)

    def _in_full(self, a, b):
        """The everyday case: as many axes as the signature names, of lengths that fit."""
        names = [*self._inputs[0], *self._inputs[1]]
        shape = (*a.shape, *b.shape)
        if a.ndim != len(self._inputs[0]) or len(shape) != len(names):
            return False
        sizes = dict(zip(names, shape, strict=True))
        return all(sizes[name] == n for name, n in zip(names, shape, strict=True))

    def _broadcast_into(self, made, out, core, casting):
        """Into `out`, whose leading axes may be more than the result's."""
        (out,) = out if isinstance(out, tuple) else (out,)
        if isinstance(out, ndarray) and out.shape != made.shape and out.ndim >= made.ndim:
            lead = out.shape[: out.ndim - core]
            with contextlib.suppress(ValueError):  # `given` tells it
                made = TABLE["broadcast_to"].function(made, (*lead, *made.shape[made.ndim - core :]))
        if isinstance(out, ndarray) and not numpy.can_cast(made.dtype, out.dtype, casting):
            raise numpy._core._exceptions._UFuncOutputCastingError(
                self._numpy, casting, made.dtype, out.dtype, 0
            )
        return given(made, out, casting)

    def _places(self, axes, axis, keepdims, *ndims):
        """The core axes of both inputs and of the result; None where they are the last ones."""
        counts = [len(names) for names in self._inputs]
        name = self.__name__
        alone = counts == [1, 1] and self._inputs[0] == self._inputs[1] and not self._result
        if axis is not None and not alone:
            raise TypeError(
                f"{name}: axis can only be used with a single shared core dimension: {self.signature}"
            )
        if keepdims and not alone:
            raise TypeError(
                f"{name} does not support keepdims: the result of {self.signature} has axes of its own"
            )
        if axes is not None and axis is not None:
            raise TypeError("cannot specify both 'axis' and 'axes'")
        kept = counts[0] if keepdims else len(self._result)
        if axis is not None:
            return [(axis,), (axis,), (axis,) if keepdims else ()]
        if axes is None:
            return [tuple(range(-n, 0)) for n in (*counts, kept)] if keepdims else None
        if not isinstance(axes, list):
            raise TypeError("axes should be a list.")
        if len(axes) not in ((2, 3) if not self._result else (3,)):
            raise ValueError("axes should be a list with an entry for all 3 inputs and outputs")
        for i, each in enumerate(axes):
            if not isinstance(each, tuple) and not is_integer(each):
                raise TypeError(f"{name}: axes item {i} should be a tuple.")
        axes = axes if len(axes) == 3 else [*axes, tuple(range(-kept, 0))]
        places = [tuple(map(operator.index, (each,) if is_integer(each) else each)) for each in axes]
        for i, (place, n, ndim) in enumerate(zip(places, (*counts, kept), (*ndims, None), strict=True)):
            if len(place) != n and not (ndim is not None and len(place) == ndim):
                raise numpy.exceptions.AxisError(
                    f"{name}: operand {i} has {n} core dimensions, but {len(place)} dimensions are specified by axes "
                    "tuple."
                )
            if len(set(place)) != len(place):
                raise ValueError(f"axes tuple {i} contains duplicate values")
        return places

    def _expect(self, a, b):
        sizes = {}
        for number, (x, names) in enumerate(zip((a, b), self._inputs, strict=True)):
            needed = sum(not name.endswith("?") for name in names)
            if x.ndim < needed:
                raise ValueError(
                    f"{self.__name__}: Input operand {number} does not have enough dimensions (has {x.ndim}, gufunc "
                    f"core with signature {self.signature} requires {needed})"
                )
            present = names if x.ndim >= len(names) else [n for n in names if not n.endswith("?")]
            for place, name in enumerate(present):
                size = x.shape[x.ndim - len(present) + place]
                if sizes.setdefault(name, size) != size:
                    raise ValueError(
                        f"{self.__name__}: Input operand {number} has a mismatch in its core dimension {place}, with "
                        f"gufunc signature {self.signature} (size {size} is different from {sizes[name]})"
                    )

    def _no_method(self, *args, **kwargs):
        raise RuntimeError("Reduction not defined on ufunc with signature")

    reduce = accumulate = reduceat = _no_method

    def outer(self, *args, **kwargs):
        """There is none."""
        raise TypeError("method outer is not allowed in ufunc with non-trivial signature")

    def at(self, *args, **kwargs):
        """There is none."""
        raise TypeError("ufunc.at does not support ufuncs with non-trivial signatures")


def _to_the_end(x, places):
    places = [normalize_axis_index(p, x.ndim) for p in places]
    return x.transpose([*(i for i in range(x.ndim) if i not in places), *places])


def _from_the_end(x, places):
    places = [normalize_axis_index(p, x.ndim) for p in places]
    return TABLE["moveaxis"].function(x, range(x.ndim - len(places), x.ndim), places)


def of_last_axes(name):
    """Registers the function (a, b, dtype) below as NumPy's gufunc of that name."""

    def make(core):
        return register(name, gufunc(getattr(numpy, name), core), core.__module__)

    return make

"""Element types: what device arrays hold, and NumPy's promotion asked of NumPy itself."""

import functools

import numpy

from xcuda import _runtime
from xcuda.core.dtypes import OF_ML_DTYPES, numpy_dtype

# In the order of the runtime's own enumeration.
NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
HELD = frozenset(NAMES)
WEAK = {15: int, 16: float, 17: complex}


@functools.cache
def of_place(place):
    """The NumPy dtype at a place of the runtime's enumeration; ml_dtypes is imported where bfloat16 is asked for."""
    try:
        return numpy_dtype(NAMES[place])
    except ImportError:  # bfloat16 without ml_dtypes
        return numpy.dtype("uint16")


def as_dtype(dtype):
    """numpy.dtype(dtype); also for the names of ml_dtypes' dtypes, which NumPy knows only once that is imported."""
    return numpy_dtype(dtype) if isinstance(dtype, str) and dtype in OF_ML_DTYPES else numpy.dtype(dtype)


_held = {}  # dtype -> whether device arrays can have it; NumPy makes a dtype's name anew each time


def held(dtype):
    """True where device arrays can have the NumPy dtype."""
    known = _held.get(dtype)
    if known is None:
        known = _held[dtype] = dtype.name in HELD and dtype.isnative
    return known


def of_code(code):
    """What NumPy's promotion takes for a code of the runtime: a dtype, or the type of a Python number."""
    return WEAK[code] if code in WEAK else of_place(code)


def resolve(name, codes):
    """The loop's dtypes by name, for operands of these codes: ((in, ...), out); None where arrays can't hold them.

    Raises what NumPy raises where it has no loop.
    """
    if name == "where":
        dtype = numpy.result_type(*(WEAK[c](0) if c in WEAK else of_place(c) for c in codes[1:]))
        return (("bool", dtype.name, dtype.name), dtype.name) if held(dtype) else None
    ufunc = UFUNCS[name]
    if ufunc.nout != 1:
        return None  # a loop has one result; the ufunc itself puts several together
    found = ufunc.resolve_dtypes((*map(of_code, codes), *(None,) * ufunc.nout))
    if not all(held(dtype) for dtype in found):
        return None
    return tuple(d.name for d in found[: ufunc.nin]), found[ufunc.nin].name


UFUNCS = {name: f for name, f in vars(numpy).items() if isinstance(f, numpy.ufunc)}


def _same_kind(a, b):
    """numpy.can_cast(a, b, "same_kind") of two names, ml_dtypes' rows for bfloat16 written out."""
    if "bfloat16" in (a, b):
        return not a.startswith("complex") and b[0] in "bfc" and b != "bool"
    return numpy.can_cast(a, b, "same_kind")


SAME_KIND = [(i, k) for i, a in enumerate(NAMES) for k, b in enumerate(NAMES) if _same_kind(a, b)]


def flush():
    """Computes all that is pending."""
    _runtime.numeric_flush()

"""Element types by name, as NumPy has them; usable in kernels as casts and as arguments."""

OF_ML_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")
NAMES = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *(*OF_ML_DTYPES, "float16", "float32", "float64", "complex64", "complex128"),
)


def numpy_dtype(name):
    """The NumPy dtype of one of NAMES; some are ml_dtypes'. Raises ImportError where that is not installed."""
    import numpy

    if name in OF_ML_DTYPES:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, name))
    return numpy.dtype(name)


def in_kernels(dtype):
    """Whether kernels know this NumPy dtype's kind; not of which size."""
    return dtype.kind in "biufcMm" or dtype.name in OF_ML_DTYPES


def bits_of(dtype):
    """The integer dtype as which elements that have no buffer are passed on; None for those that have one."""
    if dtype.name in OF_ML_DTYPES:
        return f"uint{8 * dtype.itemsize}"
    return "int64" if dtype.kind in "Mm" else None


def plain(array):
    """An array that has a buffer: a bfloat16 or datetime64 array as the integers of its bits, without a copy."""
    bits = bits_of(array.dtype)
    return array if bits is None else array.view(bits)


def scalar_bits(value):
    """(name of its dtype, its bits) of a NumPy scalar that has no buffer: bfloat16, datetime64."""
    import numpy

    return value.dtype.name, int(numpy.asarray(value).view(bits_of(value.dtype)).astype("uint64"))


_known: dict = {}


def name_of(dtype):
    """NumPy's name of what a user gave as a dtype; None means float64, as NumPy has it.

    Raises TypeError naming what there is for anything else, also for another byte order.
    """
    if dtype is None:
        return "float64"
    if isinstance(dtype, str) and (dtype in NAMES or dtype == "bool"):
        return dtype
    import numpy

    named = isinstance(dtype, numpy.dtype) or isinstance(dtype, type) and issubclass(dtype, numpy.generic)
    if named and dtype in _known:
        return _known[dtype]

    from xcuda.core.types import scalar_name

    given, dtype = dtype, scalar_name(dtype) or dtype
    try:
        found = numpy.dtype(dtype)
    except TypeError:
        raise TypeError(f"{dtype!r} is no dtype; use bool, {', '.join(NAMES)}") from None
    if not found.isnative:
        raise TypeError(
            f"{found} has another byte order than the machine; use {found.newbyteorder('=').name}"
        )
    if named and found.kind in "biufc":
        _known[given] = found.name  # NumPy makes the name anew each time
    return found.name

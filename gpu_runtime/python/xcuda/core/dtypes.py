"""Element types by name, as NumPy has them; usable in kernels as casts and as arguments."""

NAMES = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("bfloat16", "float16", "float32", "float64", "complex64", "complex128"),
)


def numpy_dtype(name):
    """The NumPy dtype of one of NAMES; bfloat16 is ml_dtypes'. Raises ImportError where that is not installed."""
    import numpy

    if name == "bfloat16":
        import ml_dtypes

        return numpy.dtype(ml_dtypes.bfloat16)
    return numpy.dtype(name)


def plain(array):
    """An array that has a buffer: a bfloat16 array as the uint16 of its bits, without a copy."""
    return array.view("uint16") if array.dtype.name == "bfloat16" else array


def name_of(dtype):
    """NumPy's name of what a user gave as a dtype; None means float64, as NumPy has it.

    Raises TypeError naming what there is for anything else, also for another byte order.
    """
    if dtype is None:
        return "float64"
    if isinstance(dtype, str) and (dtype in NAMES or dtype == "bool"):
        return dtype
    import numpy

    from xcuda.core.types import scalar_name

    dtype = scalar_name(dtype) or dtype
    try:
        found = numpy.dtype(dtype)
    except TypeError:
        raise TypeError(f"{dtype!r} is no dtype; use bool, {', '.join(NAMES)}") from None
    if not found.isnative:
        raise TypeError(
            f"{found} has another byte order than the machine; use {found.newbyteorder('=').name}"
        )
    return found.name

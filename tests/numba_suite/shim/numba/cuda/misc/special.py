"""numba's `literal_unroll`: xcuda unrolls loops over tuples by itself."""


def literal_unroll(items):
    """The tuple as it is."""
    return items


literal_unroll.__module__ = "stand_in"  # a function of a module called numba is no helper of a kernel

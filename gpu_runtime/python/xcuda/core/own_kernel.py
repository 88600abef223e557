"""Kernels of the package's own."""

import functools

from xcuda.core.kernels import kernel


def own_kernel(**options):
    """Decorates a function that gives a kernel: `kernel(**options)` of it is made when it is first asked for.

    Reading and checking a kernel's source takes milliseconds, which no import should cost:

    >>> @own_kernel(checked=False)
    ... def _negated(out, a):
    ...     i = cuda.grid(1)
    ...     if i < out.shape[0]:
    ...         out[i] = -a[i]
    >>> _negated()(out, a)
    """

    def later(function):
        @functools.cache
        def made():
            return kernel(function, **options)

        return made

    return later

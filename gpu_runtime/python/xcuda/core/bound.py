"""Bound launches: what `k.bind(grid, block, ...)` gives can do beside being called."""

import functools

from xcuda import _runtime


def bind(callee, args, kwargs):
    """A Bound of a Kernel or a configured one over these arguments."""
    return _runtime.Bound(callee, _values(kernel_of(callee), args, kwargs))


def kernel_of(callee):
    """The Kernel behind a Kernel, a configured or a bound one."""
    if isinstance(callee, _runtime.Bound):
        callee = callee._callee
    return callee.kernel if isinstance(callee, _runtime.Configured) else callee


def rebind(bound, *args, **kwargs):
    """Gives the launch other arguments: all of them, or some by name. Returns the bound launch.

    Raises TypeError for names that the kernel has not. A launch that was started before keeps what it had.
    """
    kernel = kernel_of(bound)
    if args:
        values = _values(kernel, args, kwargs)
    else:
        names = list(kernel.__signature__.parameters)
        unknown = [name for name in kwargs if name not in names]
        if unknown:
            raise TypeError(f"{kernel.__name__} has no parameter '{unknown[0]}'; it has {', '.join(names)}")
        held = dict(zip(names, bound._given, strict=True)) | kwargs
        values = tuple(held[name] for name in names)
    bound._set_values(values)
    return bound


def arguments(bound):
    """The arguments by name."""
    return dict(zip(kernel_of(bound).__signature__.parameters, bound._given, strict=True))


def attribute(bound, name):
    """What a Bound's type does not know itself."""
    if name == "rebind":
        return functools.partial(rebind, bound)
    if name == "arguments":
        return arguments(bound)
    if name == "kernel":
        return kernel_of(bound)
    raise AttributeError(f"a bound launch has no attribute '{name}'; it has rebind, arguments and kernel")


def describe(bound):
    """The repr."""
    return f"<bound launch of {kernel_of(bound).__name__}({', '.join(arguments(bound))})>"


def _values(kernel, args, kwargs):
    try:
        found = kernel.__signature__.bind(*args, **kwargs)
    except TypeError as e:
        raise TypeError(f"{kernel.__name__}.bind: {e}") from None
    found.apply_defaults()
    return tuple(found.arguments.values())

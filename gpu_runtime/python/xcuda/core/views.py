"""Shapes and strides of views, as NumPy computes them; strides are in elements."""

from operator import index as as_int


def indexed(shape, steps, key):
    """(offset, shape, steps, scalar) of array[key] for ints, slices, `...` and None.

    `scalar` is true where every axis got an int. Raises IndexError as NumPy does; other keys are a TypeError.
    """
    keys = key if isinstance(key, tuple) else (key,)
    taken = sum(1 for k in keys if k is not None and k is not Ellipsis)
    if taken > len(shape):
        raise IndexError(f"too many indices for an array of {len(shape)} dimensions: {taken}")
    dots = [i for i, k in enumerate(keys) if k is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can have only one '...'")
    whole = (slice(None),) * (len(shape) - taken)
    at = dots[0] if dots else len(keys)
    keys = keys[:at] + whole + keys[at + 1 :]
    offset, axis, new_shape, new_steps = 0, 0, [], []
    for k in keys:
        if k is None:
            new_shape.append(1)
            new_steps.append(0)
            continue
        length, step = shape[axis], steps[axis]
        if isinstance(k, slice):
            start, stop, stride = k.indices(length)
            count = len(range(start, stop, stride))
            offset += start * step if count else 0
            new_shape.append(count)
            new_steps.append(step * stride)
        else:
            offset += _wrapped(k, axis, length) * step
        axis += 1
    return offset, new_shape, new_steps, not new_shape and not dots


def slowest_first(strides):
    """The axes in the order of their strides' sizes, as NumPy's copies have them (order "K")."""
    return sorted(range(len(strides)), key=lambda axis: -abs(strides[axis]))


def put_back(order):
    """The order of axes that undoes a transpose by `order`."""
    return sorted(range(len(order)), key=order.__getitem__)


def _wrapped(key, axis, length):
    if isinstance(key, bool) or not hasattr(key, "__index__"):
        raise TypeError(
            f"device arrays are indexed by ints, slices, '...' and None, not by {type(key).__name__}"
        )
    number = as_int(key)
    if not -length <= number < length:
        raise IndexError(f"index {number} is out of bounds for axis {axis} with size {length}")
    return number % length


def reshaped(shape, steps, wanted):
    """(shape, steps) of the same memory in another shape; steps is None where only a copy can have it."""
    size = 1
    for length in shape:
        size *= length
    wanted = tuple(as_int(length) for length in wanted)
    if wanted.count(-1) > 1:
        raise ValueError("only one length can be -1")
    known = 1
    for length in wanted:
        known *= 1 if length == -1 else length
    if -1 in wanted:
        if known == 0 or size % known:
            raise ValueError(f"an array of {size} elements can't have the shape {wanted}")
        wanted = tuple(size // known if length == -1 else length for length in wanted)
        known = size
    if known != size or any(length < 0 for length in wanted):
        raise ValueError(f"an array of {size} elements can't have the shape {wanted}")
    return wanted, _steps_of(shape, steps, wanted) if size else _c_steps(wanted)


def _c_steps(shape):
    steps, step = [], 1
    for length in reversed(shape):
        steps.append(step)
        step *= max(length, 1)
    return steps[::-1]


def _steps_of(shape, steps, wanted):
    """Groups old and new axes that hold equally many elements; each old group must be one run of memory."""
    old = [(length, step) for length, step in zip(shape, steps, strict=True) if length != 1]
    new_steps = [0] * len(wanted)
    axis = 0
    position = 0
    axes = [i for i, length in enumerate(wanted) if length != 1]
    while position < len(axes):
        group, have = [axes[position]], wanted[axes[position]]
        position += 1
        old_group, held = [old[axis]], old[axis][0]
        axis += 1
        while have != held:
            if have < held:
                group.append(axes[position])
                have *= wanted[axes[position]]
                position += 1
            else:
                old_group.append(old[axis])
                held *= old[axis][0]
                axis += 1
        for (_, outer), (length, inner) in zip(old_group, old_group[1:], strict=False):
            if outer != inner * length:
                return None
        step = old_group[-1][1]
        for i in reversed(group):
            new_steps[i] = step
            step *= wanted[i]
    return new_steps


def check_broadcast(shape, wanted):
    """Raises ValueError naming both shapes where `shape` can't be broadcast to `wanted`."""
    short = shape
    while len(short) > len(wanted) and short[0] == 1:
        short = short[1:]
    if len(short) > len(wanted) or any(
        a not in (1, b) for a, b in zip(reversed(short), reversed(wanted), strict=False)
    ):
        raise ValueError(f"values of shape {tuple(shape)} don't fit into an array of shape {tuple(wanted)}")

"""The names of fft, linalg and random: native functions by their rows, the others NumPy's."""

from ._fallback import wrapped
from ._registry import TABLE


def names_of(part, theirs, space):
    """__getattr__ and __dir__ of the module with these variables, whose functions are `part.NAME` in the table."""

    def attribute(name):
        row = TABLE.get(f"{part}.{name}")
        if row is not None:
            made = row.function
        elif name.startswith("_") or not hasattr(theirs, name):
            raise AttributeError(f"module {space['__name__']!r} has no attribute {name!r}")
        else:
            made = wrapped(f"{part}.{name}", getattr(theirs, name))
        space[name] = made
        return made

    return attribute, lambda: sorted({*space, *dir(theirs)})

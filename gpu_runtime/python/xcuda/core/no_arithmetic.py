"""What a device array says to those who expect NumPy's arithmetic of it: where that is to be had."""

from __future__ import annotations

OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
WHERE = "xcuda.numeric.asarray(d) computes with the same memory, as NumPy would"


def explain(cls: type) -> type:
    """Gives the class operators and a `__getattr__` that raise with this advice. Other arrays get their turn
    first: NumPy's and xcuda.numeric's take it."""
    for name, sign in OPERATORS.items():
        setattr(cls, f"__{name}__", _operator(f"__{name}__", sign, cls, plain=(int, float, complex)))
        if sign not in ("<", "<=", ">", ">="):
            setattr(cls, f"__r{name}__", _operator(f"__r{name}__", sign, cls, plain=(int, float, complex)))
    cls.__getattr__ = _getattr
    return cls


def _operator(name, sign, cls, plain):
    def operator(self, other):
        if isinstance(other, (cls, *plain)):
            raise TypeError(f"device arrays have no {sign}; {WHERE}")
        return NotImplemented

    operator.__name__ = name
    return operator


def _getattr(self, name):
    import numpy

    from xcuda.core.elsewhere import of_an_array

    if advice := of_an_array(name):
        raise AttributeError(f"'DeviceArray' object has no attribute {name!r}{advice}", name=name, obj=self)
    if not name.startswith("_") and hasattr(numpy.ndarray, name):
        raise AttributeError(f"device arrays have no .{name}; {WHERE}", name=name, obj=self)
    return object.__getattribute__(self, name)  # raises what it raised

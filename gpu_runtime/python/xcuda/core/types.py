"""Types as numba's users write them: `void(float32[:, ::1], int32)`, and inside kernels `float32(x)`.

A scalar type is also a dtype: `numpy.zeros(n, types.float32)`, `cuda.shared.array(n, types.float32)`.
"""

from xcuda.core.dtypes import NAMES, numpy_dtype


class Type:
    """A type of a signature; types of one name are equal."""

    def __init__(self, name):
        self.name = name

    @property
    def mangling_args(self):
        """The name and no parameters; numba's types have it too, and are known by it."""
        return self.name, ()

    def __call__(self, *arguments):
        """A signature that gives this type: `float32(float32, float32)`."""
        return Signature(self, arguments)

    def __getitem__(self, axes):
        """An array of this type: `float32[:]`, `float32[:, ::1]` (C order), `float32[::1, :]` (Fortran order)."""
        axes = axes if isinstance(axes, tuple) else (axes,)
        if any(not isinstance(axis, slice) or axis.start or axis.stop for axis in axes):
            raise TypeError(f"{self}[...]: an array's axes are ':' or '::1', as in {self}[:, ::1]")
        steps = [axis.step for axis in axes]
        if any(step not in (None, 1) for step in steps) or steps.count(1) > 1:
            raise TypeError(f"{self}[...]: only one axis can be '::1'")
        if steps[-1] == 1:
            return Array(self, len(axes), "C")
        if steps[0] == 1:
            return Array(self, len(axes), "F")
        if 1 in steps:
            raise TypeError(f"{self}[...]: only the first or the last axis can be '::1'")
        return Array(self, len(axes), "A")

    def __eq__(self, other):
        return isinstance(other, Type) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return self.name

    def __reduce__(self):
        return Type, (self.name,)


class Scalar(Type):
    """A number's type; called with one value it converts it, as NumPy does."""

    @property
    def dtype(self):
        """The NumPy dtype."""
        return numpy_dtype(self.name)

    @property
    def bitwidth(self):
        """Bits of a value."""
        return self.dtype.itemsize * 8

    @property
    def underlying_float(self):
        """Of a complex type the type of its parts."""
        if self.dtype.kind != "c":
            raise AttributeError(f"{self.name} is no complex type")
        return Scalar(f"float{self.bitwidth // 2}")

    def __call__(self, *arguments):
        if len(arguments) == 1 and not is_type(arguments[0]):
            import numpy

            return numpy.asarray(arguments[0]).astype(self.dtype)[()]
        return super().__call__(*arguments)

    def __reduce__(self):
        return Scalar, (self.name,)


class Array(Type):
    """An array's type. layout: "C", "F" (Fortran order) or "A" (any strides)."""

    def __init__(self, dtype, ndim, layout, readonly=False):
        if layout not in ("C", "F", "A"):
            raise ValueError(f"an array's layout is 'C', 'F' or 'A', not {layout!r}")
        self.dtype, self.ndim, self.layout, self.mutable = dtype, ndim, layout, not readonly
        super().__init__(f"array({dtype}, {ndim}d, {layout})")

    def __reduce__(self):
        return Array, (self.dtype, self.ndim, self.layout, not self.mutable)


class CPointer(Type):
    """The type of a pointer to `dtype`, for functions in CUDA C++ (see declare_device)."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(f"{dtype}*")

    def __reduce__(self):
        return CPointer, (self.dtype,)


class Tuple(Type):
    """A tuple's type, of the types of its items."""

    def __init__(self, types):
        self.types = tuple(types)
        super().__init__(f"Tuple({', '.join(map(str, self.types))})")

    def __len__(self):
        return len(self.types)

    def __iter__(self):
        return iter(self.types)

    def __reduce__(self):
        return Tuple, (self.types,)


def UniTuple(dtype, count):  # a class in numba
    """The type of a tuple of `count` items of one type."""
    return Tuple((dtype,) * count)


class Signature:
    """The types of a function's arguments and of what it returns."""

    def __init__(self, return_type, args):
        self.return_type, self.args = return_type, tuple(args)

    def __eq__(self, other):
        return isinstance(other, Signature) and (self.return_type, self.args) == (
            other.return_type,
            other.args,
        )

    def __hash__(self):
        return hash((self.return_type, self.args))

    def __repr__(self):
        return f"{self.return_type}({', '.join(map(str, self.args))})"


def is_type(value):
    """True for a type of a signature, xcuda's or numba's."""
    return isinstance(value, Type) or (
        type(value).__module__.startswith("numba.") and hasattr(value, "mangling_args")
    )


def is_signature(value):
    """True for a signature, xcuda's or numba's."""
    return isinstance(value, Signature) or (
        type(value).__name__ == "Signature" and hasattr(value, "return_type")
    )


def scalar_name(value):
    """NumPy's name of a scalar type of xcuda's or numba's; None for anything else."""
    if isinstance(value, Scalar):
        return value.name
    if is_type(value) and not isinstance(value, Type) and hasattr(value, "bitwidth"):
        return value.name
    if is_type(value) and type(value).__name__ == "Boolean":
        return "bool"
    return None


def named(name):
    """The type of that name ("float32", "f4", "void"), or None."""
    return globals()[name] if name in __all__ and isinstance(globals()[name], Type) else None


def from_dtype(dtype):
    """The type of a NumPy dtype's elements."""
    import numpy

    return Scalar(numpy.dtype(dtype).name)


def NPDatetime(unit):  # a class in numba
    """The type of datetime64 of a unit, such as "D"; None for the one without."""
    return _time("datetime64", unit)


def NPTimedelta(unit):  # a class in numba
    """The type of timedelta64 of a unit, such as "D"; None for the one without."""
    return _time("timedelta64", unit)


def _time(kind, unit):
    import numpy

    return from_dtype(numpy.dtype(f"{kind}[{unit}]" if unit else kind))


_SAME = {
    "bool": "boolean bool_ b1",
    "int8": "i1 byte_ char",
    "int16": "i2 short",
    "int32": "i4 intc int_c",
    "int64": "i8 intp int_ long_ longlong",
    "uint8": "u1 byte uchar",
    "uint16": "u2 ushort",
    "uint32": "u4 uintc",
    "uint64": "u8 uintp uint ulong ulonglong size_t",
    "float16": "f2",
    "float32": "f4 float_",
    "float64": "f8 double",
    "complex64": "c8",
    "complex128": "c16",
}

void = none = Type("none")
globals().update({name: Scalar(name) for name in NAMES})
voidptr = CPointer(Scalar("uint8"))
globals().update({alias: Scalar(name) for name, aliases in _SAME.items() for alias in aliases.split()})

_OWN = (
    "Type",
    "Scalar",
    "Array",
    "Tuple",
    "UniTuple",
    "Signature",
    "void",
    "none",
    "from_dtype",
    "NPDatetime",
    "NPTimedelta",
    "CPointer",
    "voidptr",
)
__all__ = (*_OWN, *NAMES, *" ".join(_SAME.values()).split())  # noqa: PLE0604

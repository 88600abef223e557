"""`Generator`: NumPy's, its arrays made on the device from the same stream."""

import math
import operator

import numpy as np

from .._array import asarray, ndarray
from .._creation import empty
from .._fallback import on_host, to_host, to_ours
from .._registry import TABLE
from .._shapes import is_integer
from ._distributions import DISTRIBUTIONS
from ._fill import fill, fill_each
from ._state import TURN, stream_of

SMALL = 2048  # as many numbers NumPy draws on the host: the same ones, sooner than a kernel is launched


class Generator:
    """NumPy's Generator, for arrays on the device.

    With a Philox, PCG64 or PCG64DXSM stream and scalar parameters the numbers are those that NumPy draws, in its order,
    to the rounding of log, exp and pow. With arrays of parameters (but those that only move and scale) they have the
    same distribution, and each comes from a Philox stream of its own, under a key of two draws. Other bit generators
    draw on the host. A number without a size is Python's, as NumPy's is.
    """

    def __init__(self, bit_generator):
        self._host = np.random.Generator(bit_generator)

    @property
    def bit_generator(self):
        """NumPy's bit generator, which keeps the state."""
        return self._host.bit_generator

    def spawn(self, n_children):
        """Independent generators."""
        return [type(self)(child.bit_generator) for child in self._host.spawn(n_children)]

    def bytes(self, length):
        """Random bytes, on the host."""
        return self._host.bytes(length)

    def __repr__(self):
        return f"{self} at 0x{id(self):X}"

    def __str__(self):
        return f"{type(self).__name__}({type(self.bit_generator).__name__})"

    def __reduce__(self):
        return type(self), (self.bit_generator,)


def by_host(generator, name, args, kwargs):
    """NumPy draws on the host, and that is told."""
    with TURN:
        return on_host(f"random.Generator.{name}", getattr(generator._host, name), args, kwargs)


def few(generator, name, args, kwargs):
    """NumPy draws a few numbers on the host."""
    with TURN:
        return to_ours(getattr(generator._host, name)(*to_host(args), **to_host(kwargs)))


def lengths(size):
    """The shape that `size` names."""
    found = tuple(map(operator.index, (size,) if is_integer(size) else size))
    if any(n < 0 for n in found):
        raise ValueError("negative dimensions are not allowed")
    return found


def shape_of(size, given):
    """The shape of the result; NumPy's error where the parameters don't fit it."""
    shapes = [np.shape(value) for value in given]
    shape = np.broadcast_shapes(*shapes)
    if size is None:
        return shape
    wanted = lengths(size)
    try:
        fits = np.broadcast_shapes(wanted, *shapes) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"Output size {wanted} is not compatible with broadcast dimensions of inputs {shape}."
        )
    return wanted


def _shape_of_out(out, size, dtype, in_c_order):
    if not isinstance(out, ndarray):
        raise TypeError(f"out is an array of numeric's, not {type(out).__name__}")
    if out.dtype != dtype:
        raise TypeError(
            f"Supplied output array has the wrong type. Expected {dtype.name}, got {out.dtype.name}"
        )
    if not (out._c_contiguous or out._f_contiguous and not in_c_order):
        raise ValueError("Supplied output array is not contiguous, writable or aligned.")
    if size is not None and lengths(size) != out.shape:
        raise ValueError("size must match out.shape when used together")
    return out.shape


def _parameter(value):
    return value if np.ndim(value) == 0 and not isinstance(value, ndarray) else asarray(value)


_fine: set = set()  # draws without parameters that NumPy takes, by name and options


def _checked(generator, name, given, options):
    """Raises what NumPy raises for these parameters; draws nothing."""
    key = None
    if not given and all(isinstance(value, str | type | np.dtype) for value in options.values()):
        key = name, *options.items()
        if key in _fine:
            return
    host = [to_host(value) for value in given]
    getattr(generator._host, name)(*host, size=(0, *np.broadcast_shapes(*map(np.shape, host))), **options)
    if key is not None:
        _fine.add(key)


def _method(name, row):
    def method(self, *args, **kwargs):
        bound = row.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        how = bound.arguments
        given = {parameter: _parameter(how[parameter]) for parameter, _ in row.parameters}
        options = {key: how[key] for key in ("dtype", "method") if key in how}
        size, out = how["size"], how.get("out")
        values = tuple(given.values())
        if size is None and out is None and not any(isinstance(v, ndarray) for v in values):
            with TURN:
                return getattr(self._host, name)(*values, **options)
        _checked(self, name, values, options)
        dtype = np.dtype(options.get("dtype", row.dtype))
        shape = _shape_of_out(out, size, dtype, bool(values)) if out is not None else shape_of(size, values)
        if math.prod(shape) <= SMALL or any(not isinstance(v, ndarray) and v != v for v in values):
            made = few(self, name, values, {"size": shape, **options})
        elif stream_of(self.bit_generator) is None:
            made = by_host(self, name, values, {"size": shape, **options})
        else:
            made = _drawn(self.bit_generator, row, given, shape, dtype, options)
        if out is None:
            return made
        out[...] = made
        return out

    method.__name__, method.__signature__ = name, row.signature
    method.__doc__ = getattr(np.random.Generator, name).__doc__
    return method


def _drawn(bit_generator, row, given, shape, dtype, options):
    inner = [given[parameter] for parameter in row.inner]
    outer = [value for parameter, value in given.items() if parameter not in row.inner]
    if any(isinstance(value, ndarray) for value in inner):
        made = _drawn_each(bit_generator, row.kernel, inner, shape, np.dtype(row.dtype))
    else:
        made = _drawn_alike(bit_generator, row, inner, shape, dtype, options)
    return row.finish(made, *outer) if row.finish else made


def _drawn_alike(bit_generator, row, inner, shape, dtype, options):
    """Numbers of scalar parameters."""
    constant = row.constant(*inner) if row.constant else None
    if constant is not None:
        return TABLE["full"].function(shape, constant, dtype)
    single, inverted = dtype == np.float32, options.get("method") == "inv"
    words = 1 if inverted else row.words(*inner) if callable(row.words) else row.words
    made = empty(math.prod(shape), dtype)
    fill(
        bit_generator,
        stream_of(bit_generator),
        made.to_device_array(),
        row.kernel + "_inverted" * inverted + "_single" * single,
        [*map(float, inner), 0.0, 0.0, 0.0][:3],
        bits=32 if single else 64,
        words=words,
    )
    return made.reshape(shape)


def _drawn_each(bit_generator, kernel, inner, shape, dtype):
    """Numbers of parameters of their own."""
    made = empty(math.prod(shape), dtype)
    arrays = [
        TABLE["broadcast_to"].function(asarray(value), shape).astype("float64").reshape(-1) for value in inner
    ]
    flat = [(a if a._c_contiguous else a.copy()).to_device_array() for a in arrays]
    fill_each(bit_generator, made.to_device_array(), kernel, [*flat, flat[0], flat[0]][:3])
    return made.reshape(shape)


for _name, _row in DISTRIBUTIONS.items():
    setattr(Generator, _name, _method(_name, _row))

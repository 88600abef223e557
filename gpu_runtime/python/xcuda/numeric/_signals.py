"""Convolution, interpolation, phases, and the statistics of several variables."""

import functools
import math

import numpy

from xcuda import core as cuda
from xcuda.core.own_kernel import own_kernel

from ._array import asarray
from ._creation import empty
from ._registry import TABLE, native
from ._stacks import device_array

_MODES = {0: "valid", 1: "same", 2: "full"}


def _f(name):
    return TABLE[name].function


@own_kernel(checked=False)
def _convolved(out, a, v, shift):
    i = cuda.grid(1)
    if i < out.shape[0]:
        at = i + shift
        total = 0
        for k in range(max(0, at - a.shape[0] + 1), min(v.shape[0], at + 1)):
            total += a[at - k] * v[k]
        out[i] = total


@own_kernel(checked=False)
def _convolved_booleans(out, a, v, shift):
    i = cuda.grid(1)
    if i < out.shape[0]:
        at = i + shift
        found = False
        for k in range(max(0, at - a.shape[0] + 1), min(v.shape[0], at + 1)):
            found = found or (a[at - k] and v[k])
        out[i] = found


def _mode(mode):
    if mode in ("valid", "same", "full"):
        return mode
    if mode in _MODES:
        return _MODES[mode]
    if mode is None:
        raise TypeError("convolve/correlate mode is 'valid', 'same' or 'full', not None")
    if hasattr(mode, "__index__"):
        raise ValueError("integer convolve/correlate mode must be 0, 1, or 2")
    raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")


def _sliding(a, v, mode, later=False):
    """Of vectors, `a` at least as long as `v`: sums of a[i - k] * v[k]. `later`: where the middle of an even v is."""
    result = kind = numpy.result_type(a.dtype, v.dtype)
    if kind == numpy.float16:
        kind = numpy.dtype("float32")  # what NumPy sums halves in
    a, v = (device_array(x.astype(kind, copy=False)) for x in (a, v))
    n, m = a.shape[0], v.shape[0]
    middle = m // 2 if later else (m - 1) // 2
    length, shift = {"full": (n + m - 1, 0), "same": (n, middle), "valid": (n - m + 1, m - 1)}[mode]
    out = empty(length, kind)
    kernel = (_convolved_booleans if kind.kind == "b" else _convolved)()
    kernel[(length + 127) // 128, 128](out.to_device_array(), a, v, shift)
    return out.astype(result, copy=False)


def _arrays(a, v, empty_error):
    a, v = asarray(a), asarray(v)
    for x, name in ((a, "a"), (v, "v")):
        if not x.size:
            raise ValueError(empty_error[name])
    return a, v


def _as_vectors(a, v):
    if max(a.ndim, v.ndim) > 1:
        raise ValueError("object too deep for desired array")
    return a.reshape(a.size), v.reshape(v.size)


@native("convolve")
def convolve(a, v, mode="full"):
    """numpy.convolve of two vectors: each sum as written, not by FFT."""
    a, v = _arrays(a, v, {"a": "a cannot be empty", "v": "v cannot be empty"})
    mode = _mode(mode)
    a, v = _as_vectors(a, v)
    return _sliding(a, v, mode) if a.size >= v.size else _sliding(v, a, mode)


@native("correlate")
def correlate(a, v, mode="valid"):
    """numpy.correlate of two vectors: sums of a[n + k] * conj(v[n])."""
    mode = _mode(mode)
    a, v = _as_vectors(asarray(a), asarray(v))
    empty_error = "{} array argument cannot be empty"
    a, v = _arrays(a, v, {"a": empty_error.format("first"), "v": empty_error.format("second")})
    v = v.conj() if v.dtype.kind == "c" else v
    if a.size >= v.size:
        return _sliding(a, v[::-1], mode)
    return _sliding(v[::-1], a, mode, later=True)


@functools.cache
def _interpolating(parts):
    @cuda.kernel(checked=False, fma=False)
    def interpolate(out, x, places, values, left, right):
        i = cuda.grid(1)
        if i < x.shape[0]:
            at, n = x[i], places.shape[0]
            if at != at and n > 1:
                for part in range(parts):
                    out[i, part] = at
            elif at < places[0]:
                for part in range(parts):
                    out[i, part] = left[part]
            elif at > places[n - 1]:
                for part in range(parts):
                    out[i, part] = right[part]
            else:
                low, high = 0, n  # places[low] <= at < places[high]
                while high - low > 1:
                    middle = (low + high) // 2
                    if places[middle] <= at:
                        low = middle
                    else:
                        high = middle
                for part in range(parts):
                    if low == n - 1 or places[low] == at:
                        out[i, part] = values[low, part]
                    else:
                        slope = (values[low + 1, part] - values[low, part]) / (places[low + 1] - places[low])
                        made = slope * (at - places[low]) + values[low, part]
                        if made != made:
                            made = slope * (at - places[low + 1]) + values[low + 1, part]
                            if made != made and values[low, part] == values[low + 1, part]:
                                made = values[low, part]
                        out[i, part] = made

    return interpolate


def _as_pairs(values, parts):
    if parts == 1:
        return values.astype("float64", copy=False).reshape(-1, 1)
    made = empty((values.size, 2), "float64")
    made[:, 0], made[:, 1] = values.real, values.imag
    return made


@native("interp")
def interp(x, xp, fp, left=None, right=None, period=None):
    """numpy.interp: straight lines between the points (xp, fp), float64 or complex128."""
    x, xp, fp = asarray(x), asarray(xp), asarray(fp)
    parts = 2 if fp.dtype.kind == "c" else 1
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        if xp.ndim != 1 or fp.ndim != 1:
            raise ValueError("Data points must be 1-D sequences")
        if xp.shape[0] != fp.shape[0]:
            raise ValueError("fp and xp are not of the same length")
        from xcuda import numeric as m

        x, xp = x.astype("float64") % period, xp.astype("float64") % period
        order = m.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = m.concatenate((xp[-1:] - period, xp, xp[0:1] + period))
        fp = m.concatenate((fp[-1:], fp, fp[0:1]))
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError(
            "object too deep for desired array"
            if max(xp.ndim, fp.ndim) > 1
            else "object of too small depth for desired array"
        )
    if xp.shape[0] == 0:
        raise ValueError("array of sample points is empty")
    if xp.shape[0] != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    for value in (x, xp):
        if value.dtype.kind == "c":
            raise TypeError(
                "Cannot cast array data from dtype('complex128') to dtype('float64') according to the rule 'safe'"
            )
    flat = x.astype("float64").reshape(-1)
    values = _as_pairs(fp, parts)
    kind = fp.dtype if parts == 2 else numpy.dtype(float)
    ends = [
        values[i] if given is None else _as_pairs(asarray(given).astype(kind).reshape(1), parts)[0]
        for given, i in ((left, 0), (right, -1))
    ]
    out = empty((flat.size, parts), "float64")
    if flat.size:
        _interpolating(parts)[(flat.size + 127) // 128, 128](
            out.to_device_array(), *map(device_array, (flat, xp.astype("float64"), values, *ends))
        )
    made = out[:, 0] if parts == 1 else out.view("complex128")[:, 0]
    return made.reshape(x.shape)


@native("unwrap")
def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    """numpy.unwrap: jumps beyond half a period become their complement."""
    from xcuda import numeric as m

    p = asarray(p)
    steps = m.diff(p, axis=axis)
    discont = period / 2 if discont is None else discont
    after = [slice(None)] * p.ndim
    after[axis] = slice(1, None)
    kind = numpy.result_type(steps.dtype, period)
    if numpy.issubdtype(kind, numpy.integer):
        high, rest = divmod(period, 2)
        ambiguous = rest == 0
    else:
        ambiguous, high = True, period / 2
    low = -high
    wrapped = m.mod(steps - low, period) + low
    if ambiguous:
        wrapped = m.where((wrapped == low) & (steps > 0), high, wrapped)
    correction = m.where(abs(steps) < discont, 0, wrapped - steps)
    up = m.array(p, copy=True, dtype=kind)
    up[tuple(after)] = p[tuple(after)] + m.cumsum(correction, axis)
    return up


@native("sinc")
def sinc(x):
    """sin(pi x) / (pi x), 1 at 0."""
    x = asarray(x)
    if x.dtype.kind in "biu":
        x = x.astype("float64")
    y = numpy.pi * _f("where")(x == 0, x.dtype.type(1e-20) if x.dtype.itemsize > 2 else x.dtype.type(1e-7), x)
    return _f("sin")(y) / y


@own_kernel(checked=False)
def _bessel(out, x):
    i = cuda.grid(1)
    if i < out.shape[0]:
        at = x[i]
        if at <= 30.0:  # Abramowitz and Stegun 9.6.12: all terms are positive
            z, term, total, k = at * at / 4.0, 1.0, 1.0, 1.0
            while term > total * 1e-17:
                term *= z / (k * k)
                total += term
                k += 1.0
            out[i] = total
        else:  # 9.7.1, whose terms have become small enough here
            term, total = 1.0, 1.0
            for k in range(1, 40):
                term *= (2 * k - 1) * (2 * k - 1) / (8.0 * at * k)
                total += term
            out[i] = math.exp(at) / math.sqrt(2.0 * math.pi * at) * total


@native("i0")
def i0(x):
    """The modified Bessel function of the first kind and order 0."""
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    size = abs(x.astype("float64"))
    flat = size.ravel("K")
    out = empty(flat.shape, "float64")
    if flat.size:
        _bessel()[(flat.size + 127) // 128, 128](out.to_device_array(), device_array(flat))
    slowest = size._order()
    made = out.reshape([x.shape[i] for i in slowest]).transpose([slowest.index(i) for i in range(x.ndim)])
    return made.astype(x.dtype) if x.dtype.kind == "f" else made


@native("fix")
def fix(x, out=None):
    """numpy.fix: rounded towards zero."""
    x = asarray(x)
    made = x.copy("K") if x.dtype.kind in "biu" else _f("trunc")(x)
    if out is None:
        return made
    out[...] = made
    return out


@native("real_if_close")
def real_if_close(a, tol=100):
    """numpy.real_if_close: the real part where all imaginary ones are next to nothing."""
    a = asarray(a)
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol *= numpy.finfo(a.dtype).eps
    return a.real if bool((abs(a.imag) < tol).all()) else a


@native("cov")
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """numpy.cov: the covariances of variables, one a row."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = asarray(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if y is not None and asarray(y).ndim > 2:
        raise ValueError("y has more than 2 dimensions")
    if dtype is None:
        dtype = numpy.result_type(m.dtype, *(() if y is None else (asarray(y).dtype,)), numpy.float64)
    x = _rows(m, dtype, rowvar)
    if x.shape[0] == 0:
        return empty((0, 0), dtype)
    if y is not None:
        x = _f("concatenate")((x, _rows(asarray(y), dtype, rowvar)), 0)
    ddof = int(not bias) if ddof is None else ddof
    weights = _weights(x, fweights, aweights)
    if weights is None:
        middle, total = x.mean(axis=1, keepdims=True), x.shape[1]
        scale = x.shape[1] - ddof
    else:
        total = weights.sum()
        middle = (x * weights).sum(axis=1, keepdims=True) / total
        if ddof == 0:
            scale = float(total)
        elif aweights is None:
            scale = float(total) - ddof
        else:
            scale = float(total) - ddof * float((weights * asarray(aweights)).sum()) / float(total)
    if scale <= 0:
        import warnings

        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        scale = 0.0
    x = x - middle
    other = x if weights is None else x * weights
    made = _f("matmul")(x, other.conj().T if other.dtype.kind == "c" else other.T)
    return _f("squeeze")(made * _f("true_divide")(asarray(1.0), scale).astype(made.real.dtype))


def _rows(m, dtype, rowvar):
    x = m.astype(dtype)
    x = x.reshape(1, -1) if x.ndim < 2 else x
    return x.T if not rowvar and m.ndim != 1 else x


def _weights(x, fweights, aweights):
    made = None
    for given, name in ((fweights, "fweights"), (aweights, "aweights")):
        if given is None:
            continue
        given = asarray(given).astype("float64")
        if name == "fweights" and not bool((given == _f("rint")(given)).all()):
            raise TypeError("fweights must be integer")
        if given.ndim > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if given.shape[0] != x.shape[1]:
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        if bool((given < 0).any()):
            raise ValueError(f"{name} cannot be negative")
        made = given if made is None else made * given
    return made


@native("corrcoef")
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """numpy.corrcoef: the correlations of variables, one a row."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = _f("sqrt")(_f("diagonal")(c).real)
    c = c / deviation[:, None]
    c = c / deviation[None, :]
    if c.dtype.kind == "c":
        return _f("clip")(c.real, -1, 1) + 1j * _f("clip")(c.imag, -1, 1)
    return _f("clip")(c, -1, 1)

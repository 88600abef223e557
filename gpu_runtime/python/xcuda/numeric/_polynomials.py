"""The poly functions of NumPy's first polynomial API: coefficients from the highest power down."""

import numpy

from ._array import asarray, ndarray
from ._registry import TABLE, native
from ._signals import convolve

_poly1d = numpy.poly1d


def _f(name):
    return TABLE[name].function


def _as_given(made, *given):
    """poly1d, on the host, where one of the arguments is one."""
    return _poly1d(made.get()) if any(isinstance(g, _poly1d) for g in given) else made


def _coefficients(p):
    return _f("atleast_1d")(asarray(p.coeffs if isinstance(p, _poly1d) else p))


@native("polyval")
def polyval(p, x):
    """numpy.polyval, by Horner's rule: one fused kernel for arrays."""
    p = p.coeffs if isinstance(p, _poly1d) else p
    if isinstance(x, _poly1d):
        return numpy.polyval(p.get() if isinstance(p, ndarray) else p, x)
    if isinstance(p, ndarray):
        p = p.get()
    x = asarray(x)
    made = _f("zeros_like")(x)
    for c in numpy.asarray(p):
        made = made * x + c
    return made


@native("polyadd")
def polyadd(a1, a2):
    """numpy.polyadd."""
    return _as_given(_sum(a1, a2, 1), a1, a2)


@native("polysub")
def polysub(a1, a2):
    """numpy.polysub."""
    return _as_given(_sum(a1, a2, -1), a1, a2)


def _sum(a1, a2, sign):
    a, b = _coefficients(a1), _coefficients(a2)
    longest = max(a.size, b.size)
    kind = numpy.result_type(a.dtype, b.dtype)
    made = _f("zeros")(longest, kind)
    made[longest - a.size :] = a
    made[longest - b.size :] = made[longest - b.size :] + b if sign > 0 else made[longest - b.size :] - b
    return made


@native("polymul")
def polymul(a1, a2):
    """numpy.polymul."""
    return _as_given(convolve(_from_the_first(a1), _from_the_first(a2)), a1, a2)


def _from_the_first(p):
    """The coefficients from the first on that is not zero; one that is zero where all are."""
    c = _coefficients(p)
    there = numpy.flatnonzero(c.get())
    return c[there[0] :] if there.size else _f("zeros")(1, c.dtype)


@native("polyder")
def polyder(p, m=1):
    """numpy.polyder: the m-th derivative."""
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    made = _coefficients(p)
    for _ in range(m):
        n = made.size - 1
        made = made[:-1] * _f("arange")(n, 0, -1)
    return _as_given(made, p)


@native("polyint")
def polyint(p, m=1, k=None):
    """numpy.polyint: the m-th integral with constants k."""
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    k = numpy.zeros(m, float) if k is None else numpy.atleast_1d(k.get() if isinstance(k, ndarray) else k)
    if len(k) == 1 and m > 1:
        k = k[0] * numpy.ones(m, float)
    if len(k) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    made = _coefficients(p)
    for constant in k[:m]:
        up = _f("empty")(made.size + 1, numpy.result_type(made.dtype, float, constant))
        up[:-1] = made / _f("arange")(made.size, 0, -1)
        up[-1:] = constant
        made = up
    return _as_given(made, p)


@native("polydiv")
def polydiv(u, v):
    """numpy.polydiv: (quotient, remainder); long division, on the host."""
    host = [p.get() if isinstance(p, ndarray) else p for p in (u, v)]
    quotient, rest = numpy.polydiv(*host)
    if isinstance(quotient, _poly1d):
        return quotient, rest
    return asarray(quotient), asarray(rest)


@native("poly")
def poly(seq_of_zeros):
    """numpy.poly: the polynomial with these roots, or a matrix' characteristic one."""
    roots = _f("atleast_1d")(asarray(seq_of_zeros))
    if roots.ndim == 2 and roots.shape[0] == roots.shape[1] and roots.shape[0] != 0:
        from xcuda import numeric as m

        roots = m.linalg.eigvals(roots)
    elif roots.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    made = numpy.poly(roots.get())
    return asarray(made) if isinstance(made, numpy.ndarray) else made


@native("roots")
def roots(p):
    """numpy.roots: eigenvalues of the companion matrix."""
    host = numpy.atleast_1d(_coefficients(p).get())
    if host.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    kept = numpy.nonzero(host)[0]
    if not len(kept):
        return _f("zeros")(0)
    trailing = len(host) - kept[-1] - 1
    host = host[kept[0] : kept[-1] + 1]
    if not issubclass(host.dtype.type, (numpy.floating, numpy.complexfloating)):
        host = host.astype(float)
    if len(host) < 2:
        return _f("zeros")(trailing)
    companion = numpy.diag(numpy.ones(len(host) - 2, host.dtype), -1)
    companion[0] = -host[1:] / host[0]
    from xcuda import numeric as m

    found = m.linalg.eigvals(asarray(companion))
    if found.dtype.kind == "c" and companion.dtype.kind != "c" and not bool(found.imag.any()):
        # Of a real polynomial, whatever NumPy's eigvals gives: since 2.5 always complex numbers.
        found = found.real
    made = _f("zeros")(found.size + trailing, found.dtype)
    made[: found.size] = found
    return made


@native("polyfit")
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """numpy.polyfit: the least squares' fit of a polynomial of degree `deg`."""
    from xcuda import numeric as m

    order = int(deg) + 1
    x, y = asarray(x) + 0.0, asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    rcond = x.size * numpy.finfo(x.dtype).eps if rcond is None else rcond
    matrix = m.empty((x.size, order), x.dtype)
    for k in range(order):
        matrix[:, k] = x ** (order - 1 - k)
    right = y
    if w is not None:
        w = asarray(w) + 0.0
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
        matrix = matrix * w[:, None]
        right = right * (w[:, None] if y.ndim == 2 else w)
    scale = m.sqrt((matrix * matrix).sum(axis=0))
    matrix = matrix / scale
    c, residuals, rank, s = m.linalg.lstsq(matrix, right, rcond)
    c = (c.T / scale).T
    if rank != order and not full:
        import warnings

        warnings.warn("Polyfit may be poorly conditioned", numpy.exceptions.RankWarning, stacklevel=2)
    if full:
        return c, residuals, rank, s, rcond
    if not cov:
        return c
    base = m.linalg.inv(m.matmul(matrix.T, matrix)) / m.outer(scale, scale)
    factor = 1
    if cov != "unscaled":
        if x.size <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (x.size - order)
    return (c, base * factor) if y.ndim == 1 else (c, base[:, :, None] * factor)

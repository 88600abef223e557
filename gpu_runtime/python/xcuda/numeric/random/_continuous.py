"""The continuous distributions in kernels: float64 of three parameters, draw for draw what NumPy does.

Each takes a stream, the ziggurat's tables and parameters a, b, c in the order of the Generator's method; some are drawn
in standard form and scaled afterwards (_distributions).
"""

import math

import numpy as np

from ._streams import next_double, next_float
from ._ziggurat import (
    standard_exponential,
    standard_exponential_single,
    standard_normal,
    standard_normal_single,
)

_LEAST = 2.0**-54  # in place of a draw of exactly 0, one in 2**53, where NumPy draws again
_THIRD32 = np.float32(1) / np.float32(3)


def random(s, t, a, b, c):
    """From 0 up to but not 1."""
    return next_double(s)


def random_single(s, t, a, b, c):
    """The same of float32."""
    return next_float(s)


def normal(s, t, a, b, c):
    """Mean 0, deviation 1."""
    return standard_normal(s, t)


def normal_single(s, t, a, b, c):
    """The same of float32."""
    return standard_normal_single(s, t)


def exponential(s, t, a, b, c):
    """Mean 1."""
    return standard_exponential(s, t)


def exponential_single(s, t, a, b, c):
    """The same of float32."""
    return standard_exponential_single(s, t)


def exponential_inverted(s, t, a, b, c):
    """Mean 1, by the inverse of its distribution."""
    return -math.log1p(-next_double(s))


def exponential_inverted_single(s, t, a, b, c):
    """The same of float32."""
    return -math.log1p(-next_float(s))


def standard_gamma(s, t, shape):
    """Marsaglia and Tsang (2000) from shape 1 up; below it Ahrens and Dieter's GS (1974)."""
    if shape == 1.0:
        return standard_exponential(s, t)
    if shape == 0.0:
        return 0.0
    if shape < 1.0:
        while True:
            u = next_double(s)
            v = standard_exponential(s, t)
            if u <= 1.0 - shape:
                x = math.pow(u, 1.0 / shape)
                if x <= v:
                    return x
            else:
                y = -math.log((1.0 - u) / shape)
                x = math.pow(1.0 - shape + shape * y, 1.0 / shape)
                if x <= v + y:
                    return x
    b = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * b)
    while True:
        x = standard_normal(s, t)
        v = 1.0 + c * x
        while v <= 0.0:
            x = standard_normal(s, t)
            v = 1.0 + c * x
        v = v * v * v
        u = next_double(s)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if np.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
            return b * v


def gamma(s, t, a, b, c):
    """Shape a, scale 1."""
    return standard_gamma(s, t, a)


def gamma_single(s, t, a, b, c):
    """The same of float32."""
    shape, one = np.float32(a), np.float32(1)
    if shape == one:
        return standard_exponential_single(s, t)
    if shape == np.float32(0):
        return np.float32(0)
    if shape < one:
        while True:
            u = next_float(s)
            v = standard_exponential_single(s, t)
            if u <= one - shape:
                x = math.pow(u, one / shape)
                if x <= v:
                    return x
            else:
                y = -math.log((one - u) / shape)
                x = math.pow(one - shape + shape * y, one / shape)
                if x <= v + y:
                    return x
    d = shape - _THIRD32
    e = one / math.sqrt(np.float32(9) * d)
    while True:
        x = standard_normal_single(s, t)
        v = one + e * x
        while v <= np.float32(0):
            x = standard_normal_single(s, t)
            v = one + e * x
        v = v * v * v
        u = next_float(s)
        if u < one - np.float32(0.0331) * (x * x) * (x * x):
            return d * v
        if np.log(u) < np.float32(0.5) * x * x + d * (one - v + math.log(v)):
            return d * v


def beta(s, t, a, b, c):
    """Johnk's where both are at most 1, else of two gammas."""
    if a > 1.0 or b > 1.0:
        left = standard_gamma(s, t, a)
        return left / (left + standard_gamma(s, t, b))
    if a < 3e-103 and b < 3e-103:  # the powers below would all be 0
        return 1.0 if (a + b) * next_double(s) < a else 0.0
    while True:
        u = next_double(s)
        v = next_double(s)
        x = math.pow(u, 1.0 / a)
        y = math.pow(v, 1.0 / b)
        if x + y <= 1.0 and u + v > 0.0:
            if x + y > 0.0 and x > 0.0 and y > 0.0:
                return x / (x + y)
            p, q = np.log(u) / a, np.log(v) / b
            most = max(p, q)
            p, q = p - most, q - most
            return math.exp(p - math.log(math.exp(p) + math.exp(q)))


def chisquare(s, t, a, b, c):
    """a degrees of freedom."""
    return 2.0 * standard_gamma(s, t, a / 2.0)


def f(s, t, a, b, c):
    """a and b degrees of freedom."""
    return chisquare(s, t, a, b, c) * b / (chisquare(s, t, b, b, c) * a)


def small_poisson(s, a):
    """Poisson of a mean under 10, by products of uniform numbers."""
    least = math.exp(-a)
    found, product = 0, next_double(s)
    while product > least:
        found += 1
        product *= next_double(s)
    return found


def log_gamma(x):
    """log(gamma(x)) by Stirling's series from 7 up, and downwards from there (Zhang and Jin, 1996)."""
    if x == 1.0 or x == 2.0:
        return 0.0
    steps = np.int64(7.0 - x) if x < 7.0 else np.int64(0)
    top = x + np.float64(steps)
    z = (1.0 / top) * (1.0 / top)
    series = -1.39243221690590e00
    for term in (1.796443723688307e-01, -2.955065359477124e-02, 6.410256410256410e-03, -1.917526917526918e-03,
                 8.417508417508418e-04, -5.952380952380952e-04, 7.936507936507937e-04, -2.777777777777778e-03,
                 8.333333333333333e-02):  # fmt: skip
        series = series * z + term
    value = series / top + 0.5 * math.log(2.0 * math.pi) + (top - 0.5) * math.log(top) - top
    for _ in range(steps):
        top -= 1.0
        value -= math.log(top)
    return value


def large_poisson(s, a):
    """Poisson of a mean from 10 up: transformed rejection (Hoermann, 1993)."""
    root, logarithm = math.sqrt(a), math.log(a)
    b = 0.931 + 2.53 * root
    slope = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    quick = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = next_double(s) - 0.5
        v = next_double(s)
        near = 0.5 - abs(u)
        k = np.floor((2.0 * slope / near + b) * u + a + 0.43)
        if near >= 0.07 and v <= quick:
            return np.int64(k)
        if k < 0.0 or (near < 0.013 and v > near):
            continue
        if np.log(v) + math.log(inverse) - math.log(
            slope / (near * near) + b
        ) <= -a + k * logarithm - log_gamma(k + 1.0):
            return np.int64(k)


def draw_poisson(s, a):
    """Poisson of mean a, an int64."""
    if a >= 10.0:
        return large_poisson(s, a)
    if a == 0.0:
        return np.int64(0)
    return np.int64(small_poisson(s, a))


def noncentral_chisquare(s, t, a, b, c):
    """a degrees of freedom, noncentrality b."""
    if np.isnan(b):
        return b
    if b == 0.0:
        return 2.0 * standard_gamma(s, t, a / 2.0)
    if a > 1.0:
        central = 2.0 * standard_gamma(s, t, (a - 1.0) / 2.0)
        n = standard_normal(s, t) + math.sqrt(b)
        return central + n * n
    i = draw_poisson(s, b / 2.0)
    return 2.0 * standard_gamma(s, t, (a + 2.0 * np.float64(i)) / 2.0)


def noncentral_f(s, t, a, b, c):
    """a and b degrees of freedom, noncentrality c."""
    above = noncentral_chisquare(s, t, a, c, c) * b
    return above / (2.0 * standard_gamma(s, t, b / 2.0) * a)


def standard_cauchy(s, t, a, b, c):
    """A quotient of two normal numbers."""
    above = standard_normal(s, t)
    return above / standard_normal(s, t)


def standard_t(s, t, a, b, c):
    """a degrees of freedom."""
    above = standard_normal(s, t)
    below = standard_gamma(s, t, a / 2.0)
    return math.sqrt(a / 2.0) * above / math.sqrt(below)


def pareto(s, t, a, b, c):
    """Pareto II (Lomax), shape a."""
    return math.expm1(standard_exponential(s, t) / a)


def weibull(s, t, a, b, c):
    """Shape a."""
    if a == 0.0:
        return 0.0
    return math.pow(standard_exponential(s, t), 1.0 / a)


def power(s, t, a, b, c):
    """Density a x**(a - 1)."""
    return math.pow(-math.expm1(-standard_exponential(s, t)), 1.0 / a)


def laplace(s, t, a, b, c):
    """Location a, scale b."""
    u = max(next_double(s), _LEAST)
    return a - b * math.log(2.0 - u - u) if u >= 0.5 else a + b * math.log(u + u)


def gumbel(s, t, a, b, c):
    """Location a, scale b."""
    u = max(next_double(s), _LEAST)
    return a - b * math.log(-math.log1p(-u) if u < 2.0**-53 else -math.log(1.0 - u))


def logistic(s, t, a, b, c):
    """Location a, scale b."""
    u = max(next_double(s), _LEAST)
    return a + b * math.log(u / (1.0 - u))


def rayleigh(s, t, a, b, c):
    """Mode 1."""
    return math.sqrt(2.0 * standard_exponential(s, t))


def wald(s, t, a, b, c):
    """Mean a, scale b (Michael, Schucany and Haas, 1976)."""
    y = standard_normal(s, t)
    y = a * y * y
    x = a * (1.0 - 2.0 / (1.0 + math.sqrt(1.0 + 4.0 * b / y)))
    return x if next_double(s) <= a / (a + x) else a * a / x


def triangular(s, t, a, b, c):
    """From a to c, mode b."""
    base, left = c - a, b - a
    u = next_double(s)
    return (
        a + math.sqrt(u * (left * base)) if u <= left / base else c - math.sqrt((1.0 - u) * ((c - b) * base))
    )


def vonmises(s, t, a, b, c):
    """Mean direction a, concentration b (Best and Fisher, 1979); nearly flat and nearly normal ones by their limits."""
    if np.isnan(b):
        return b
    if b < 1e-8:
        return math.pi * (2.0 * next_double(s) - 1.0)
    if b > 1e6:
        angle = a + math.sqrt(1.0 / b) * standard_normal(s, t)
        if angle < -math.pi:
            angle += 2.0 * math.pi
        return angle - 2.0 * math.pi if angle > math.pi else angle
    r = 1.0 + math.sqrt(1.0 + 4.0 * b * b)
    rho = (r - math.sqrt(2.0 * r)) / (2.0 * b)
    peak = 1.0 / b + b if b < 1e-5 else (1.0 + rho * rho) / (2.0 * rho)
    w, found = 0.0, False
    while not found:
        z = math.cos(math.pi * next_double(s))
        w = (1.0 + peak * z) / (peak + z)
        y = b * (peak - w)
        v = next_double(s)
        found = y * (2.0 - y) - v >= 0.0 or np.log(y / v) + 1.0 - y >= 0.0
    angle = math.acos(w)
    angle = (-angle if next_double(s) < 0.5 else angle) + a
    folded = math.fmod(abs(angle) + math.pi, 2.0 * math.pi) - math.pi
    return -folded if angle < 0.0 else folded

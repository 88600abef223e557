"""The discrete distributions in kernels: int64 of parameters, draw for draw what NumPy does."""

import math

import numpy as np

from xcuda import core as cuda

from ._continuous import draw_poisson, standard_gamma
from ._streams import next32, next64, next_bits, next_double
from ._ziggurat import standard_exponential

_U = np.uint64
_MOST = 9.223372036854775807e18
_LAST = np.int64(0x7FFFFFFFFFFFFFFF)


def poisson(s, t, a, b, c):
    """Mean a."""
    return draw_poisson(s, a)


def negative_binomial(s, t, a, b, c):
    """Failures before a successes of probability b: a Poisson number of a gamma-distributed mean."""
    return draw_poisson(s, (1.0 - b) / b * standard_gamma(s, t, a))


def _inverted_binomial(s, n, p):
    q = 1.0 - p
    first = math.exp(n * math.log1p(-p))
    mean = n * p
    bound = np.floor(min(n, mean + 10.0 * math.sqrt(mean * q + 1.0)))
    x, density, u = 0.0, first, next_double(s)
    while u > density:
        x += 1.0
        if x > bound:
            x, density, u = 0.0, first, next_double(s)
        else:
            u -= density
            density = (n - x + 1.0) * p * density / (x * q)
    return x


def _series(x):
    z = x * x
    return (13680.0 - (462.0 - (132.0 - (99.0 - 140.0 / z) / z) / z) / z) / x / 166320.0


def _rejected_binomial(s, n, p):
    """BTPE (Kachitvichyanukul and Schmeiser, 1988) for p <= 0.5."""
    r, q = p, 1.0 - p
    top = n * r + r
    m = np.floor(top)
    variance = n * r * q
    p1 = np.floor(2.195 * math.sqrt(variance) - 4.6 * q) + 0.5
    middle = m + 0.5
    left, right = middle - p1, middle + p1
    c = 0.134 + 20.5 / (15.3 + m)
    slope = (top - left) / (top - left * r)
    lower = slope * (1.0 + slope / 2.0)
    slope = (right - top) / (right * q)
    upper = slope * (1.0 + slope / 2.0)
    p2 = p1 * (1.0 + 2.0 * c)
    p3 = p2 + c / lower
    p4 = p3 + c / upper
    while True:
        u = next_double(s) * p4
        v = next_double(s)
        if u <= p1:
            return np.floor(middle - p1 * v + u)
        if u <= p2:
            x = left + (u - p1) / c
            v = v * c + 1.0 - abs(m - x + 0.5) / p1
            if v > 1.0:
                continue
            y = np.floor(x)
        elif v == 0.0:
            continue
        elif u <= p3:
            y = np.floor(left + math.log(v) / lower)
            if y < 0.0:
                continue
            v = v * (u - p2) * lower
        else:
            y = np.floor(right - math.log(v) / upper)
            if y > n:
                continue
            v = v * (u - p3) * upper
        k = abs(y - m)
        if k <= 20.0 or k >= variance / 2.0 - 1.0:
            odds = r / q
            a = odds * (n + 1.0)
            ratio = 1.0
            i = m + 1.0
            while i <= y:
                ratio *= a / i - odds
                i += 1.0
            i = y + 1.0
            while i <= m:
                ratio /= a / i - odds
                i += 1.0
            if v <= ratio:
                return y
            continue
        rho = k / variance * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / variance + 0.5)
        t = -k * k / (2.0 * variance)
        a = np.log(v)
        if a < t - rho:
            return y
        if a > t + rho:
            continue
        x1, f1, z, w = y + 1.0, m + 1.0, n + 1.0 - m, n - y + 1.0
        bound = (
            middle * math.log(f1 / x1)
            + (n - m + 0.5) * math.log(z / w)
            + (y - m) * math.log(w * r / (x1 * q))
        )
        if a <= bound + _series(f1) + _series(z) + _series(x1) + _series(w):
            return y


def binomial(s, t, a, b, c):
    """Successes of a trials with probability b."""
    if a == 0.0 or b == 0.0:
        return np.int64(0)
    p = b if b <= 0.5 else 1.0 - b
    found = _inverted_binomial(s, a, p) if p * a <= 30.0 else _rejected_binomial(s, a, p)
    return np.int64(found if b <= 0.5 else a - found)


def geometric(s, t, a, b, c):
    """Trials up to the first success of probability a."""
    if a >= 0.333333333333333333333333:
        u = next_double(s)
        found, total, product = np.int64(1), a, a
        while u > total:
            product *= 1.0 - a
            total += product
            found += 1
        return found
    value = np.ceil(-standard_exponential(s, t) / math.log1p(-a))
    return _LAST if value >= _MOST else np.int64(value)


def logseries(s, t, a, b, c):
    """Shape a (Kemp, 1981)."""
    r = math.log1p(-a)
    while True:
        v = next_double(s)
        if v >= a:
            return np.int64(1)
        q = -math.expm1(r * next_double(s))
        if v <= q * q:
            value = np.floor(1.0 + np.log(v) / np.log(q))
            if value < 1.0 or v == 0.0:
                continue
            return np.int64(value)
        return np.int64(1) if v >= q else np.int64(2)


def zipf(s, t, a, b, c):
    """Exponent a, no greater than the greatest int64 (Devroye, 1986)."""
    if a >= 1025.0:
        return np.int64(1)
    less = a - 1.0
    power = math.pow(2.0, less)
    least = math.pow(_MOST, -less)
    while True:
        u = next_double(s)
        u = u * least + (1.0 - u)
        v = next_double(s)
        x = np.floor(math.pow(u, -1.0 / less))
        if x > _MOST or x < 1.0:
            continue
        t1 = math.pow(1.0 + 1.0 / x, less)
        if v * x * (t1 - 1.0) / (power - 1.0) <= t1 / power:
            return _LAST if x >= _MOST else np.int64(x)


def bounded32(s, t, a, b, c):
    """b to b + a, by 32-bit draws (Lemire, 2019)."""
    if a == _U(0xFFFFFFFF):
        return b + next32(s)
    count = a + _U(1)
    product = next32(s) * count
    if product & _U(0xFFFFFFFF) < count:
        least = (_U(0xFFFFFFFF) - a) % count
        while product & _U(0xFFFFFFFF) < least:
            product = next32(s) * count
    return b + (product >> 32)


def bounded64(s, t, a, b, c):
    """b to b + a, by 64-bit draws (Lemire, 2019)."""
    if a == _U(0xFFFFFFFFFFFFFFFF):
        return b + next64(s)
    count = a + _U(1)
    word = next64(s)
    if word * count < count:
        least = (_U(0xFFFFFFFFFFFFFFFF) - a) % count
        while word * count < least:
            word = next64(s)
    return b + cuda.mulhi(word, count)


def bounded_bits(s, a, b, bits):
    """b to b + a, by draws of 16 or 8 bits."""
    most = _U((1 << bits) - 1)
    if a == most:
        return b + next_bits(s, bits)
    count = a + _U(1)
    product = next_bits(s, bits) * count
    if product & most < count:
        least = (most - a) % count
        while product & most < least:
            product = next_bits(s, bits) * count
    return b + (product >> _U(bits))


def bounded16(s, t, a, b, c):
    """b to b + a, by 16-bit draws."""
    return bounded_bits(s, a, b, 16)


def bounded8(s, t, a, b, c):
    """b to b + a, by 8-bit draws."""
    return bounded_bits(s, a, b, 8)


def one_bit(s, t, a, b, c):
    """False or True."""
    return next_bits(s, 1) == _U(1)


def bounded(s, t, a, b, c):
    """b to b + a, by the least of 32 or 64 bits that hold a; a and b are uint64."""
    return bounded32(s, t, a, b, c) if a <= _U(0xFFFFFFFF) else bounded64(s, t, a, b, c)

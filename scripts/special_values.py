"""Writes tests/python/special_values.json: special functions at chosen numbers, computed with mpmath to 40 digits.

Each row: a function, its operands (float32 or float64, as hexadecimal), the value (hexadecimal of the nearest float64,
and what is left of it as a second float64). Needs `pip install mpmath`; python scripts/special_values.py
"""

import json
import random
from pathlib import Path

import mpmath as mp
import numpy

mp.mp.dps = 40
PLACE = Path(__file__).parents[1] / "tests/python/special_values.json"
POINTS = 24  # of each function and dtype


def _quantile(p):
    """Where the normal distribution function is p, by Newton's method from a bracket."""
    tail = min(p, 1 - p)
    low, high = mp.mpf(-40), mp.mpf(0)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mp.erfc(-middle / mp.sqrt(2)) / 2 < tail else (low, middle)
    z = low
    for _ in range(4):
        z -= (mp.erfc(-z / mp.sqrt(2)) / 2 - tail) / (mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi))
    return z if p < mp.mpf("0.5") else -z


EXACT = {
    "erf": mp.erf,
    "erfc": mp.erfc,
    "erfinv": lambda x: mp.erfinv(x) if abs(x) < 0.5 else mp.sign(x) * -_quantile((1 - abs(x)) / 2) / mp.sqrt(2),
    "erfcinv": lambda x: -_quantile(x / 2) / mp.sqrt(2),
    "ndtr": lambda x: mp.erfc(-x / mp.sqrt(2)) / 2,
    "ndtri": _quantile,
    "gamma": mp.gamma,
    "gammaln": lambda x: mp.log(abs(mp.gamma(x))),
    "beta": mp.beta,
    "betaln": lambda a, b: mp.log(mp.beta(a, b)),
    "digamma": mp.digamma,
    "j0": lambda x: mp.besselj(0, x),
    "j1": lambda x: mp.besselj(1, x),
    "y0": lambda x: mp.bessely(0, x),
    "y1": lambda x: mp.bessely(1, x),
    "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x),
    "i0e": lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
    "i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x),
    "expit": lambda x: 1 / (1 + mp.exp(-x)),
    "logit": lambda x: mp.log(x) - mp.log1p(-x),
    "log_expit": lambda x: -mp.log1p(mp.exp(-x)) if x > -200 else x - mp.exp(x),
    "exprel": lambda x: mp.expm1(x) / x,
    "sinc": lambda x: mp.sincpi(x),
    "xlogy": lambda x, y: x * mp.log(y),
    "xlog1py": lambda x, y: x * mp.log1p(y),
    "entr": lambda x: -x * mp.log(x),
    "rel_entr": lambda x, y: x * mp.log(x / y),
    "kl_div": lambda x, y: x * mp.log(x / y) - x + y,
}


def _spread(low, high):
    """Numbers of every size between two of one sign."""
    return lambda r: 10 ** r.uniform(low, high)


def _signed(one):
    return lambda r: one(r) * r.choice((-1, 1))


def _even(low, high):
    return lambda r: r.uniform(low, high)


def _mix(*of):
    return lambda r: r.choice(of)(r)


def domain(name, single):
    """What draws each operand: over the whole range in which the function is neither 0 nor infinite."""
    top = 80 if single else 700
    small = -30 if single else -290
    near_one = lambda r: 1 - 10 ** r.uniform(-6 if single else -14, -1)  # noqa: E731
    return {
        "erf": [_mix(_signed(_spread(small, 0)), _even(-5, 5))],
        "erfc": [_even(-6, 9 if single else 26)],
        "erfinv": [_mix(_signed(_spread(small, 0)), _even(-1, 1), near_one)],
        "erfcinv": [_mix(_spread(small, 0), _even(0, 2))],
        "ndtr": [_even(-12 if single else -37, 8)],
        "ndtri": [_mix(_spread(small, 0), _even(0, 1), near_one)],
        "gamma": [_mix(_even(0.01, 34 if single else 170), _spread(small, 0))],
        "gammaln": [_mix(_even(0.01, 3), _spread(small, 20))],
        "beta": [_mix(_spread(-3, 1.9), _even(0.1, 80)), _mix(_spread(-3, 1.9), _even(0.1, 80))],
        "betaln": [_spread(-3, 3), _spread(-3, 3)],
        "digamma": [_mix(_even(0.5, 3), _spread(-10, 6))],
        **dict.fromkeys(("j0", "j1"), [_mix(_signed(_spread(-8, 4)), _even(-40, 40))]),
        **dict.fromkeys(("y0", "y1"), [_mix(_spread(-8, 4), _even(0.1, 40))]),
        **dict.fromkeys(("i0", "i1"), [_mix(_even(-top, top), _even(-9, 9))]),
        **dict.fromkeys(("i0e", "i1e"), [_mix(_signed(_spread(-8, 4)), _even(-9, 9))]),
        **dict.fromkeys(("expit", "log_expit"), [_mix(_even(-top, top), _even(-9, 9))]),
        "exprel": [_mix(_even(-top, top), _signed(_spread(small, 0)))],
        "logit": [_mix(_spread(small, 0), _even(0, 1), near_one)],
        "sinc": [_mix(_even(-9.5, 9.5), _signed(_spread(-8, 3)))],
        "entr": [_spread(small, 5)],
        **dict.fromkeys(("xlogy", "rel_entr"), [_spread(-5, 5), _spread(-5, 5)]),
        "xlog1py": [_spread(-5, 5), _mix(_even(-0.99, 5), _spread(-9, 5))],
        "kl_div": [_mix(_spread(-5, 5), _even(0.5, 2)), _mix(_spread(-5, 5), _even(0.5, 2))],
    }[name]


def main():
    """The file."""
    rows = []
    for name, exact in EXACT.items():
        for kind in (numpy.float32, numpy.float64):
            r = random.Random(f"{name} {kind.__name__}")
            draws = domain(name, kind is numpy.float32)
            done = 0
            while done < POINTS:
                given = [float(kind(draw(r))) for draw in draws]
                limit = numpy.finfo(kind)
                try:
                    value = exact(*map(mp.mpf, given))
                except (ZeroDivisionError, ValueError):
                    continue
                if not isinstance(value, mp.mpf) or not float(limit.tiny) < abs(value) < float(limit.max):
                    continue
                near = float(value)
                rows.append([name, kind.__name__, [x.hex() for x in given], near.hex(), float(value - near).hex()])
                done += 1
    PLACE.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    print(f"{len(rows)} values in {PLACE}")


if __name__ == "__main__":
    main()

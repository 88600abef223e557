"""Prints the Chebyshev series of prelude_special.hpp, computed with mpmath: python scripts/special_coefficients.py

Each row is a function on an interval, scaled so that it neither vanishes nor overflows. Needs `pip install mpmath`.
"""

import mpmath as mp

mp.mp.dps = 40

# name, function of t in [-1, 1], relative size of the last coefficient that is kept
SERIES = (
    ("xc_i0_large", lambda t: _large(0, t)),
    ("xc_i1_large", lambda t: _large(1, t)),
)
KEPT = {"f64": mp.mpf("3e-18"), "f32": mp.mpf("3e-9")}


def _large(order, t):
    """sqrt(x) exp(-x) i_order(x) with t = 16 / x - 1; at x = infinity 1 / sqrt(2 pi)."""
    if t <= mp.mpf("-1") + mp.mpf("1e-30"):
        return 1 / mp.sqrt(2 * mp.pi)
    x = 16 / (t + 1)
    if x < 2000:
        return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)
    term = total = mp.mpf(1)  # the asymptotic series: terms fall by far more than they need to here
    for k in range(1, 16):
        term *= -(4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x)
        total += term
    return total / mp.sqrt(2 * mp.pi)


def chebyshev(function, count=48):
    """Coefficients of the interpolation at the Chebyshev nodes, the first one halved."""
    nodes = [mp.cos(mp.pi * (j + mp.mpf("0.5")) / count) for j in range(count)]
    values = [function(t) for t in nodes]
    made = []
    for k in range(count):
        total = sum(v * mp.cos(mp.pi * k * (j + mp.mpf("0.5")) / count) for j, v in enumerate(values))
        made.append(total * (1 if k == 0 else 2) / count)
    return made


def main():
    """The tables as C++."""
    for name, function in SERIES:
        found = chebyshev(function)
        for kind, least in KEPT.items():
            last = max(k for k, c in enumerate(found) if abs(c) > least * abs(found[0]))
            digits, suffix = (17, "") if kind == "f64" else (9, "f")
            numbers = ", ".join(
                mp.nstr(c, digits, min_fixed=0, max_fixed=0) + suffix for c in found[: last + 1]
            )
            print(f"static constexpr {kind} {name}_{kind}[] = {{{numbers}}};")


if __name__ == "__main__":
    main()

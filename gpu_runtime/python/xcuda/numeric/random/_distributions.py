"""The Generator's distributions: a row each, from its signature to its kernel."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

_REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Distribution:
    """A method of Generator.

    kernel: the draw in _continuous or _discrete (there is one with "_single" where the method takes a dtype).
    parameters: (name, default). inner: those that the kernel takes; `finish` scales what it draws by the others. words:
    of the stream that a number takes, about; 1: all but always just one. constant: the value of all numbers where these
    parameters leave no choice and nothing is drawn, else None.
    """

    kernel: str
    parameters: tuple = ()
    words: float | Callable = 1.02
    dtype: str = "float64"
    inner: tuple = ()
    finish: Callable | None = None
    constant: Callable | None = None
    options: tuple = ()
    signature: inspect.Signature = field(init=False)

    def __post_init__(self):
        either = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = [*self.parameters, ("size", None), *self.options]
        object.__setattr__(
            self,
            "signature",
            inspect.Signature([inspect.Parameter(name, either, default=value) for name, value in names]),
        )


def _exp(values):
    from .._registry import TABLE

    return TABLE["exp"].function(values)


def _scaled(values, scale):
    return values * scale


def _moved(values, loc, scale):
    return loc + scale * values


def _zero_where(*tests):
    """0 where one of the parameters is what the test of its place names."""

    def constant(*given):
        return (
            0
            if any(test is not None and value == test for value, test in zip(given, tests, strict=True))
            else None
        )

    return constant


_SINGLE = (("dtype", np.float64), ("out", None))


def _of(name, *parameters, **how):
    required = [p if isinstance(p, tuple) else (p, _REQUIRED) for p in parameters]
    how.setdefault("inner", tuple(p for p, _ in required))
    return Distribution(name, tuple(required), **how)


def _locating(name, words, loc="loc", scale="scale"):
    return _of(name, (loc, 0.0), (scale, 1.0), words=words)


DISTRIBUTIONS = {
    "random": Distribution("random", words=1, options=_SINGLE),
    "standard_normal": Distribution("normal", options=_SINGLE),
    "standard_exponential": Distribution("exponential", options=(_SINGLE[0], ("method", "zig"), _SINGLE[1])),
    "standard_gamma": _of("gamma", "shape", words=2.1, constant=_zero_where(0), options=_SINGLE),
    "uniform": _of("random", ("low", 0.0), ("high", 1.0), words=1, inner=(),
                   finish=lambda u, low, high: low + (high - low) * u),
    "normal": _of("normal", ("loc", 0.0), ("scale", 1.0), inner=(), finish=_moved),
    "exponential": _of("exponential", ("scale", 1.0), inner=(), finish=_scaled),
    "lognormal": _of("normal", ("mean", 0.0), ("sigma", 1.0), inner=(),
                     finish=lambda z, mean, sigma: _exp(mean + sigma * z)),
    "rayleigh": _of("rayleigh", ("scale", 1.0), inner=(), finish=_scaled),
    "gamma": _of("gamma", "shape", ("scale", 1.0), words=2.1, inner=("shape",), finish=_scaled,
                 constant=_zero_where(0)),
    "beta": _of("beta", "a", "b", words=4.2),
    "chisquare": _of("chisquare", "df", words=2.1),
    "f": _of("f", "dfnum", "dfden", words=4.2),
    "noncentral_chisquare": _of("noncentral_chisquare", "df", "nonc", words=3.2),
    "noncentral_f": _of("noncentral_f", "dfnum", "dfden", "nonc", words=5.3),
    "standard_cauchy": _of("standard_cauchy", words=2.1),
    "standard_t": _of("standard_t", "df", words=3.1),
    "pareto": _of("pareto", "a"),
    "weibull": _of("weibull", "a", constant=_zero_where(0)),
    "power": _of("power", "a"),
    "laplace": _locating("laplace", 1),
    "gumbel": _locating("gumbel", 1),
    "logistic": _locating("logistic", 1),
    "wald": _of("wald", "mean", "scale", words=2.1),
    "triangular": _of("triangular", "left", "mode", "right", words=1),
    "vonmises": _of("vonmises", "mu", "kappa", words=lambda mu, kappa: 1.02 if kappa < 1e-8 or kappa > 1e6 else 4.0),
    "poisson": _of("poisson", ("lam", 1.0), dtype="int64", constant=_zero_where(0),
                   words=lambda lam: 2.6 if lam >= 10 else lam + 1.02),
    "negative_binomial": _of("negative_binomial", "n", "p", dtype="int64", words=5.0),
    "binomial": _of("binomial", "n", "p", dtype="int64", constant=_zero_where(0, 0),
                    words=lambda n, p: 1.02 if min(p, 1 - p) * n <= 30 else 2.4),
    "geometric": _of("geometric", "p", dtype="int64", words=lambda p: 1 if p >= 1 / 3 else 1.02),
    "logseries": _of("logseries", "p", dtype="int64", words=lambda p: 1 + p),
    "zipf": _of("zipf", "a", dtype="int64", words=2.8, constant=lambda a: 1 if a >= 1025 else None),
}  # fmt: skip

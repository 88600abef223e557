"""Quantiles, histograms, bincount and pad against NumPy, by both native ways."""

import numpy
import pytest
from numeric_calls import no_fallback, same_call  # noqa: F401

R = numpy.random.default_rng(8)
X = R.normal(0, 2, (4, 7))
I = R.integers(-20, 20, 31)
NANS = numpy.where(R.random((4, 7)) < 0.3, numpy.nan, X)
F = X.astype("f4")
A = numpy.arange(6.0).reshape(2, 3) ** 2
J = numpy.arange(6).reshape(2, 3) * 7
METHODS = [
    *(
        "inverted_cdf",
        "averaged_inverted_cdf",
        "closest_observation",
        "interpolated_inverted_cdf",
        "hazen",
        "weibull",
    ),
    *("linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"),
]
COUNTS = R.integers(0, 12, 200)

pytestmark = pytest.mark.usefixtures("no_fallback")

CASES = [
    ("quantile", (X, 0.3)),
    ("quantile", (X, [0, 0.25, 1], 1), {"keepdims": True}),
    ("quantile", (F, 0.7, 0)),
    ("quantile", (F, numpy.array([0.1, 0.9]), (0, 1))),
    ("quantile", (X, 1.5)),
    ("quantile", (X, 0.5), {"method": "mode"}),
    ("quantile", (X + 1j, 0.5)),
    ("quantile", (X, 0.5, 2)),
    ("percentile", (I, [10, 50, 99.5])),
    ("percentile", (F, 40.0, -1)),
    ("percentile", (NANS, 50, 1)),
    ("percentile", (I, 101.0)),
    ("nanquantile", (NANS, [0.2, 0.8], 1)),
    ("nanquantile", (NANS, 0.5, 0), {"method": "hazen"}),
    ("nanpercentile", (NANS, 30.0)),
    ("nanpercentile", (I, 30.0)),
    ("median", (X,)),
    ("median", (I, 0)),
    ("median", (NANS, 1)),
    ("median", (F, (0, 1)), {"keepdims": True}),
    ("median", (F.astype("f2"), 0)),
    ("nanmedian", (NANS, 0)),
    ("nanmedian", (NANS,), {"keepdims": True}),
    ("bincount", (COUNTS,)),
    ("bincount", (COUNTS, R.random(200), 20)),
    ("bincount", (COUNTS * 200,)),
    ("bincount", ([],), {"minlength": 3}),
    ("bincount", ([1, -1],)),
    ("bincount", ([1.0],)),
    ("bincount", ([[1]],)),
    ("bincount", ([1, 2], [1.0])),
    ("bincount", ([1, 2], None, -1)),
    ("histogram", (X,)),
    ("histogram", (I, 7, (-10, 11))),
    ("histogram", (F, [-2.0, -1.0, 0.0, 3.5])),
    ("histogram", (X, 5), {"density": True}),
    ("histogram", (X, 5), {"weights": X * 2}),
    ("histogram", (I, 5), {"weights": I}),
    ("histogram", (I > 0,)),
    ("histogram", (NANS,)),
    ("histogram", (NANS, 4, (-1, 1))),
    ("histogram", (X, 0)),
    ("histogram", (X, 2.5)),
    ("histogram", (X, [1, 0])),
    ("histogram", (X, 3, (2, 1))),
    ("histogram", (X, 3), {"weights": [1]}),
    ("histogram", ([], 3)),
    *(
        ("histogram_bin_edges", (COUNTS * 0.7, b))
        for b in "auto doane fd rice scott sqrt stone sturges".split()
    ),
    ("histogram_bin_edges", (COUNTS, "auto", (2, 9))),
    ("histogram_bin_edges", (COUNTS, "fancy")),
    ("histogram_bin_edges", (X, "auto"), {"weights": X}),
    ("histogram2d", (X[0], X[1])),
    ("histogram2d", (X[0], X[1], [3, [-5.0, 0.0, 5.0]]), {"density": True}),
    ("histogram2d", (X[0], X[1], numpy.array([-1.0, 0, 1]))),
    ("histogramdd", (X.T[:, :3], 3)),
    ("histogramdd", (X.T[:, :2], (2, 4), ((-1, 1), None)), {"weights": X[0]}),
    ("histogramdd", (X.T[:, :2], (2, 4, 5))),
    ("histogramdd", (X.T[:, :2], (2, 0))),
    ("pad", (A, 1)),
    ("pad", (A, ((1, 2), (0, 3))), {"constant_values": ((1, 2), (3, 4))}),
    ("pad", (A, (1, 2), "edge")),
    ("pad", (A, ((2, 1), (5, 4)), "reflect")),
    ("pad", (A, ((2, 3), (5, 4)), "symmetric")),
    ("pad", (J, ((2, 3), (5, 4)), "wrap")),
    ("pad", (A, (2, 3), "linear_ramp"), {"end_values": (5, -4)}),
    ("pad", (J, (2, 3), "linear_ramp")),
    ("pad", (J.astype("u1"), (2, 3), "linear_ramp"), {"end_values": 40}),
    ("pad", (J, (1, 2), "mean")),
    ("pad", (A, (1, 2), "median"), {"stat_length": 2}),
    ("pad", (J, (1, 2), "maximum"), {"stat_length": ((1, 2), (2, 1))}),
    ("pad", (A, (1, 0), "minimum")),
    ("pad", (A, {0: 1, -1: (0, 2)})),
    ("pad", (A, -1)),
    ("pad", (A, 1.5)),
    ("pad", (A, (1, 2, 3))),
    ("pad", (A, 1, "edge"), {"constant_values": 3}),
    ("pad", (A, 1, "mirror")),
    ("pad", (A[:0], 1, "edge")),
    ("pad", (A[:0], 1)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_as_numpy(case):
    path, args, kwargs = (*case, {})[:3]
    same_call(path, *args, tolerance=2e-6, **kwargs)


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_by_every_method(method):
    q = numpy.array([0, 0.05, 0.125, 0.3, 0.5, 0.7, 0.9, 1])
    for a in (I, numpy.arange(6.0), numpy.arange(5)):
        same_call("quantile", a, q, method=method, tolerance=1e-12)
    same_call("nanquantile", NANS, q, 1, method=method, tolerance=1e-12)
    same_call("quantile", F, 0.3, 1, method=method, tolerance=1e-6)

"""Generator's distributions of vectors."""

import numpy as np

from .._array import asarray, ndarray
from .._fallback import to_host
from .._registry import TABLE
from . import _generator
from ._state import stream_of


def _rows(size, more):
    return (*(() if size is None else _generator.lengths(size)), *more)


def multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd"):
    """Normal vectors of a mean (d) and a covariance (d, d): normal numbers, NumPy's, times a factor of the covariance.

    The factor is that of the device's solver, whose columns may have other signs than NumPy's.
    """
    mean, cov = asarray(mean), asarray(cov)
    self._host.multivariate_normal(
        to_host(mean), to_host(cov), 0, check_valid, tol, method=method
    )  # raises, warns
    d = mean.shape[0]
    x = self.standard_normal(_rows(size, (d,)))
    from xcuda import numeric as m

    wide = cov.astype("float64")
    if method == "svd":
        u, s, _ = m.linalg.svd(wide)
        factor = u * m.sqrt(s)
    elif method == "eigh":
        s, u = m.linalg.eigh(wide)
        factor = u * m.sqrt(abs(s))
    else:
        factor = m.linalg.cholesky(wide)
    return mean + m.matmul(x.reshape(-1, d), factor.T).reshape(x.shape)


def dirichlet(self, alpha, size=None):
    """Vectors that sum to 1, of concentrations alpha (k): gamma numbers over their sum.

    The distribution is NumPy's, not the stream; up to 2048 numbers both are.
    """
    alpha = np.asarray(to_host(asarray(alpha)), np.float64)
    self._host.dirichlet(alpha, 0)  # raises what NumPy raises
    shape = _rows(size, alpha.shape)
    count = int(np.prod(shape))
    if count <= _generator.SMALL:
        return _generator.few(self, "dirichlet", (alpha, size), {})
    # Small concentrations make gamma numbers that are all zero: NumPy breaks sticks there.
    if stream_of(self.bit_generator) is None or alpha.max() < 0.1:
        return _generator.by_host(self, "dirichlet", (alpha, size), {})
    drawn = self.standard_gamma(asarray(alpha), shape)
    return drawn / drawn.sum(axis=-1, keepdims=True)


def multinomial(self, n, pvals, size=None):
    """How often each of k outcomes comes in n trials: binomial numbers of what is left, outcome after outcome.

    The distribution is NumPy's, not the stream; up to 2048 numbers both are.
    """
    n, given = to_host(n), to_host(pvals)
    trials, pvals = np.asarray(n), np.asarray(given, np.float64)
    lead = np.broadcast_shapes(trials.shape, pvals.shape[:-1])
    self._host.multinomial(n, given, (0, *lead) if lead else 0)  # raises what NumPy raises
    shape = (*(lead if size is None else _generator.lengths(size)), pvals.shape[-1])
    if np.broadcast_shapes(lead, shape[:-1]) != shape[:-1]:
        self._host.multinomial(n, pvals, size)
    if np.prod(shape) <= _generator.SMALL or stream_of(self.bit_generator) is None:
        return _generator.few(self, "multinomial", (n, pvals, size), {})
    out = TABLE["zeros"].function(shape, "int64")
    left = TABLE["broadcast_to"].function(asarray(trials.astype(np.int64)), shape[:-1]).copy()
    rest = np.ones(pvals.shape[:-1])
    for k in range(shape[-1] - 1):
        share = np.clip(np.divide(pvals[..., k], rest, out=np.zeros_like(rest), where=rest > 0), 0, 1)
        made = self.binomial(left, asarray(share) if share.ndim else float(share), shape[:-1])
        out[..., k] = made
        left = left - made
        rest = rest - pvals[..., k]
    out[..., -1] = left
    return out


def multivariate_hypergeometric(self, colors, nsample, size=None, method="marginals"):
    """Counts by colour of things drawn without putting back; NumPy draws on the host."""
    return _generator.by_host(self, "multivariate_hypergeometric", (colors, nsample, size, method), {})


def hypergeometric(self, ngood, nbad, nsample, size=None):
    """Good things of a sample drawn without putting back; NumPy draws on the host."""
    given = [to_host(v) for v in (ngood, nbad, nsample)]
    if (
        size is None
        and not any(isinstance(v, ndarray) for v in (ngood, nbad, nsample))
        and not any(map(np.ndim, given))
    ):
        return self._host.hypergeometric(*given)
    return _generator.by_host(self, "hypergeometric", (*given, size), {})

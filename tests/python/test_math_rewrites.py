"""Linear algebra found in captured graphs: the rule, the same numbers, and what is done instead."""

import numpy as np
import pytest
import xcuda.math as nvmath
from xcuda.math import _structured

RNG = np.random.default_rng(0)
A, B, S = RNG.normal(size=(40, 30)), RNG.normal(size=(30, 20)), RNG.normal(size=(30, 30))
V, W = RNG.normal(size=30), RNG.normal(size=40)
GOOD = S @ S.T + 30 * np.eye(30)


def rules(explanation):
    return [finding.rule for finding in explanation.findings]


# (function of nvmath or numpy and arrays, arguments, rules that are found, library calls that are left)
CASES = {
    "a @ a.T": (lambda np, a: a @ a.T, (A,), ["symmetric product"], 1),
    "a.T @ a": (lambda np, a: a.T @ a, (A,), ["symmetric product"], 1),
    "dot(a, a.T)": (lambda np, a: np.dot(a, np.transpose(a)), (A,), ["symmetric product"], 1),
    "a @ a.T + c eye": (
        lambda np, a: a @ a.T + 0.5 * np.eye(40),
        (A,),
        ["symmetric product", "diagonal added"],
        1,
    ),
    "a @ b + eye / c": (lambda np, s: s @ s + np.eye(30) / 4, (S,), ["diagonal added"], 1),
    "a @ b - c eye": (lambda np, s: s @ s - 2 * np.eye(30), (S,), ["diagonal added"], 1),
    "a @ b + number eye": (lambda np, s, c: s @ s + c * np.eye(30), (S, 1.5), ["diagonal added"], 1),
    "inv(a) @ b": (lambda np, s, b: np.linalg.inv(s) @ b, (GOOD, B), ["inverse times matrix"], 1),
    "inv(a) @ vector": (lambda np, s, v: np.linalg.inv(s) @ v, (GOOD, V), ["inverse times matrix"], 1),
    "b @ inv(a)": (lambda np, s, a: a @ np.linalg.inv(s), (GOOD, A), ["inverse times matrix"], 1),
    "vector @ inv(a)": (lambda np, s, v: v @ np.linalg.inv(s), (GOOD, V), ["inverse times matrix"], 1),
    "solve(a @ a.T + c eye)": (
        lambda np, s, b: np.linalg.solve(s @ s.T + 3 * np.eye(30), b),
        (S, B),
        ["symmetric product", "diagonal added", "symmetric positive definite system"],
        2,
    ),
    "inv(a @ a.T + c eye) @ b": (
        lambda np, s, b: np.linalg.inv(s @ s.T + 3 * np.eye(30)) @ b,
        (S, B),
        ["symmetric product", "diagonal added", "symmetric positive definite system"],
        2,
    ),
    "ridge": (
        lambda np, a, w: np.linalg.solve(a.T @ a + 2.0 * np.eye(30), a.T @ w),
        (A, W),
        ["symmetric product", "diagonal added", "symmetric positive definite system"],
        3,
    ),
    "solve(tril)": (
        lambda np, s, b: np.linalg.solve(np.tril(s), b),
        (GOOD, B),
        ["triangular system"],
        None,
    ),
    "solve(triu)": (lambda np, s, v: np.linalg.solve(np.triu(s), v), (GOOD, V), ["triangular system"], None),
    "solve(tril.T)": (
        lambda np, s, v: np.linalg.solve(np.tril(s).T, v),
        (GOOD, V),
        ["triangular system"],
        None,
    ),
    "solve(cholesky)": (
        lambda np, s, b: np.linalg.solve(np.linalg.cholesky(s), b),
        (GOOD, B),
        ["triangular system"],
        2,
    ),
    "solve(diag)": (lambda np, d, b: np.linalg.solve(np.diag(d), b), (V, B), ["diagonal system"], 1),
    "diag @ b": (lambda np, d, b: np.diag(d) @ b, (V, B), ["diagonal matrix"], 0),
    "a @ diag": (lambda np, a, d: a @ np.diag(d), (A, V), ["diagonal matrix"], 0),
    "diag @ vector": (lambda np, d, v: np.diag(d) @ v, (V, V), ["diagonal matrix"], 0),
    "trace(a @ b)": (lambda np, a, b: np.trace(a @ b), (A, A.T.copy()), ["trace of a product"], 0),
    "trace(a @ a.T)": (lambda np, a: np.trace(a @ a.T), (A,), ["symmetric product", "trace of a product"], 0),
    "diagonal(a @ b)": (lambda np, a, b: np.diagonal(a @ b), (A, B), ["diagonal of a product"], 0),
    "diag(a @ b)": (lambda np, a, b: np.diag(a @ b), (A, B), ["diagonal of a product"], 0),
    "a @ s @ v": (lambda np, a, s, v: a @ s @ v, (A, S, V), ["order of products"], 1),
    "a @ s @ s @ b": (
        lambda np, a, s, b: a @ s @ s @ b,
        (A, S, B[:, :2].copy()),
        ["order of products"] * 2,
        1,
    ),
    "a @ a.T @ v": (
        lambda np, a, w: a @ a.T @ w,
        (RNG.normal(size=(200, 10)), RNG.normal(size=200)),
        ["symmetric product", "order of products"],
        1,
    ),
    "x.T.T": (lambda np, a: a.T.T + 1, (A,), [], 0),
    "eye @ a": (lambda np, s: np.eye(30) @ (s @ s), (S,), ["identity"], 1),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rule_is_found_and_changes_no_number(name):
    function, arguments, found, library = CASES[name]
    f = nvmath.jit(lambda *given: function(nvmath, *given))
    np.testing.assert_allclose(f(*arguments), function(np, *arguments), rtol=1e-9, atol=1e-10)
    told = f.explain(*arguments)
    assert rules(told) == found
    assert library is None or len(told.library) == library


# What looks alike and is something else.
OTHERS = {
    "another's transpose": (lambda np, a, b: a @ b.T, (A, A.copy())),
    "two readers of the product": (lambda np, a, b: (np.trace(a @ b), a @ b), (A, A.T.copy())),
    "two readers of the inverse": (lambda np, s, v: (np.linalg.inv(s) @ v, np.linalg.inv(s)), (GOOD, V)),
    "eye off the diagonal": (lambda np, s: s @ s + np.eye(30, k=1), (S,)),
    "eye of another shape": (lambda np, s: s @ s + np.eye(1), (S,)),
    "a matrix times eye": (lambda np, s: s @ s + s * np.eye(30), (S,)),
    "integers": (lambda np, a: a @ a.T, (np.arange(6).reshape(2, 3),)),
    "complex": (lambda np, a: a @ a.T, (A[:3] + 1j * A[3:6],)),
    "stacks": (lambda np, a: a @ np.swapaxes(a, -1, -2), (RNG.normal(size=(3, 4, 5)),)),
    "best already": (lambda np, a, s, v: a @ (s @ v), (A, S, V)),
    "eye minus": (lambda np, s: np.eye(30) - s @ s, (S,)),
    "indefinite": (lambda np, s, v: np.linalg.solve(s + s.T, v), (GOOD, V)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_looks_alike_is_left_as_it_is(name):
    function, arguments = OTHERS[name]
    f = nvmath.jit(lambda *given: function(nvmath, *given))
    got, want = f(*arguments), function(np, *arguments)
    for one, other in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)
        assert one.dtype == other.dtype
    assert rules(f.explain(*arguments)) == []


def test_a_matrix_that_somebody_else_reads_is_not_written_in_place():
    @nvmath.jit
    def f(a):
        product = a @ a.T
        return product + 2 * nvmath.eye(40), product

    shifted, product = f(A)
    np.testing.assert_allclose(product, A @ A.T)
    np.testing.assert_allclose(shifted, A @ A.T + 2 * np.eye(40))
    assert "into a copy" in str(f.explain(A))


def test_other_lengths_of_the_same_capture_are_checked_again():
    f = nvmath.jit(lambda s, n: s @ s + 2 * nvmath.eye(5))
    five = RNG.normal(size=(5, 5))
    np.testing.assert_allclose(f(five, 0), five @ five + 2 * np.eye(5))
    with pytest.raises(ValueError, match=r"broadcast together with shapes \(4,4\)"):
        f(five[:4, :4], 0)
    one = five[:1, :1]  # NumPy broadcasts it
    np.testing.assert_allclose(f(one, 0), one @ one + 2 * np.eye(5))


def test_not_positive_definite_after_all_goes_by_lu():
    f = nvmath.jit(lambda s, b, c: nvmath.linalg.solve(s @ s.T + c * nvmath.eye(30), b))
    np.testing.assert_allclose(f(S, B, 1.0), np.linalg.solve(S @ S.T + np.eye(30), B), rtol=1e-8)
    np.testing.assert_allclose(f(S, B, -2.0), np.linalg.solve(S @ S.T - 2 * np.eye(30), B), rtol=1e-8)
    assert f.captures == 1


SINGULAR = np.ones((4, 4))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: nvmath.linalg.solve(a, b),
        lambda a, b: nvmath.linalg.inv(a) @ b,
        lambda a, b: nvmath.linalg.solve(nvmath.tril(a) - nvmath.eye(4), b),
        lambda a, b: nvmath.linalg.solve(nvmath.diag(a[0] - 1), b),
        lambda a, b: nvmath.linalg.solve(0 * (a @ a.T) + 0.0 * nvmath.eye(4), b),
    ],
)
def test_singular_matrices_raise(function):
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        nvmath.jit(function)(SINGULAR, np.ones(4))


@pytest.mark.parametrize("n", [3, 6, 9])
def test_hilbert_matrices_are_solved_as_well_as_by_lapack(n):
    i = np.arange(n)
    hilbert = 1 / (i[:, None] + i + 1)
    b = hilbert @ np.ones(n)
    with nvmath.optimization.auto_tune():  # Cholesky and LU by measurement
        tuned = nvmath.linalg.solve(hilbert, b).get()
    positive = nvmath.jit(lambda h, b: nvmath.linalg.solve(h.T @ h + 1e-3 * nvmath.eye(n), b))(hilbert, b)
    for matrix, x in ((hilbert, tuned), (hilbert.T @ hilbert + 1e-3 * np.eye(n), positive)):
        theirs = np.linalg.norm(matrix @ np.linalg.solve(matrix, b) - b)
        assert np.linalg.norm(matrix @ x - b) <= 20 * theirs + 50 * np.finfo(float).eps


@pytest.mark.parametrize("kind", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("n", [1, 5, 64, 65, 200])
def test_substitution_by_halves(kind, n):
    from xcuda._dense.triangular import substituted

    rng = np.random.default_rng(n)
    t = rng.normal(size=(n, n)).astype(kind) + (n + 2) * np.eye(n, dtype=kind)
    b = rng.normal(size=(n, 3)).astype(kind)
    for lower, part in ((True, np.tril), (False, np.triu)):
        x = substituted(t, b, lower)
        assert x.dtype == kind
        np.testing.assert_allclose(part(t) @ x, b, rtol=2e-4 if kind == "float32" else 1e-11, atol=1e-5)


def test_refinement_reaches_float64_or_says_so():
    from xcuda import numeric as xnp

    x = _structured.refined_solve(xnp.asarray(GOOD), xnp.asarray(B)).get()
    assert np.abs(GOOD @ x - B).max() < 1e-12
    i = np.arange(12)
    with pytest.raises(np.linalg.LinAlgError, match="too ill-conditioned for float32"):
        _structured.refined_solve(xnp.asarray(1 / (i[:, None] + i + 1)), xnp.ones(12)[:, None])

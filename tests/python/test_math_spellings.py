"""One structure, written in many ways: the same rule is found in all, none in what looks alike, never another number."""

import numpy as np
import pytest
import xcuda.math as nvmath

RNG = np.random.default_rng(5)
A, B, S = RNG.normal(size=(40, 30)), RNG.normal(size=(30, 20)), RNG.normal(size=(30, 30))
V, W = RNG.normal(size=30), RNG.normal(size=40)
G = S @ S.T + 30 * np.eye(30)
T = A.T.copy()
A3, G3 = RNG.normal(size=(4, 6, 5)), RNG.normal(size=(4, 6, 6)) + 9 * np.eye(6)
GIVEN = {"a": A, "b": B, "s": S, "v": V, "w": W, "g": G, "t": T, "c": 2.5, "a3": A3, "g3": G3, "z": A + 1j}

# kind: (the rule, spellings in which it is found, what looks alike)
KINDS = {
    "a matrix times itself turned": (
        "symmetric product",
        [
            "np.matmul(a, a.T)", "np.dot(a.T, a)", "a.dot(a.T)", "np.inner(a, a)", "np.einsum('ij,kj->ik', a, a)",
            "np.einsum('ji,jk->ik', a, a)", "np.einsum('ij,kj->ki', a, a)", "np.tensordot(a, a, axes=(1, 1))",
            "np.tensordot(a, a.T, 1)", "np.tensordot(a, a, ([0], [0]))", "np.linalg.multi_dot([a, a.T])",
            "a @ np.swapaxes(a, 0, 1)", "a @ np.moveaxis(a, 0, 1)", "a @ a.transpose(1, 0)", "a @ a.mT",
            "a @ a.conj().T", "a.T.conj() @ a", "2.0 * a @ a.T", "(a / c) @ a.T", "a @ (c * a).T", "(-a).T @ a",
            "(2 * a).T @ (c * a)", "(a - a.mean(0)).T @ (a - a.mean(0)) / 39", "a[:10] @ a[:10].T", "a @ a.T.copy()",
        ],
        [
            "a @ t", "np.inner(a, t.T)", "np.einsum('ij,ij->ij', a, a)", "np.tensordot(a, a, 2)", "z @ z.T",
            "z @ z.conj().T", "a @ (w[:, None] * a).T", "a @ (a + 1).T", "s @ s", "np.einsum('ij,jk->ik', s, s)",
            "a @ a[::-1].T", "a3 @ a3.mT",
        ],
    ),
    "a product and a multiple of the identity": (
        "diagonal added",
        [
            "s @ s + c * np.identity(30)", "c * np.eye(30) + s @ s", "s @ s - c * np.eye(30)", "s @ s + np.eye(30) / c",
            "s @ s + np.eye(30) * c * 2", "s @ s + -np.eye(30)", "np.add(s @ s, 2 * np.eye(30))",
            "s @ s + np.eye(s.shape[0]) * c", "s @ s + np.diag(np.full(30, 2.0))", "s @ s + 2 * np.diag(np.ones(30))",
            "s @ s + np.diag(v)", "s @ s - np.diag(v * v)", "s @ s + (np.eye(30) / c) / c",
        ],
        [
            "s @ s + np.eye(30, k=1)", "c * np.eye(30) - s @ s", "s @ s + s * np.eye(30)", "s @ s + v * np.eye(30)",
            "s @ s + np.diag(v[1:], 1)", "s @ s + np.eye(1)", "s @ s + np.diag(s)", "s @ s + np.eye(30, dtype=complex)",
        ],
    ),
    "an inverse that multiplies": (
        "inverse times matrix",
        [
            "np.linalg.inv(g).dot(b)", "np.matmul(np.linalg.inv(g), b)", "np.linalg.inv(g).T @ b",
            "2 * np.linalg.inv(g) @ b", "(np.linalg.inv(g) / c) @ v", "np.linalg.inv(2 * g) @ b",
            "np.linalg.inv(g.T) @ b", "b.T @ np.linalg.inv(g).T", "v @ np.linalg.inv(g) @ v", "np.linalg.inv(g3) @ a3",
            "np.linalg.matrix_power(g, -1) @ b", "b.T @ np.linalg.inv(g) @ b",
        ],
        [
            "np.linalg.inv(g)", "np.linalg.inv(g) * g", "np.linalg.matrix_power(g, 2) @ b",
            "np.linalg.inv(g) @ v + np.linalg.inv(g).sum()", "np.linalg.pinv(g) @ b",
        ],
    ),
    "the trace of a product": (
        "trace of a product",
        [
            "np.trace(a @ t)", "(a @ t).trace()", "np.linalg.trace(a @ t)", "np.trace(np.dot(a, t))", "np.trace(2 * (a @ t))",
            "np.trace((a @ t).T)", "np.trace(t @ a + s)", "np.trace(s - t @ a / c)", "np.einsum('ii->', a @ t)",
            "np.trace(s @ s @ s)", "np.trace(a.T @ a)", "np.trace(np.inner(a, t.T))",
        ],
        [
            "np.trace(a @ t, offset=1)", "np.trace(s)", "np.trace(s * s)", "np.trace(s + g)", "(a @ t).sum()",
            "np.trace(v * (s @ s))",
        ],
    ),
    "the diagonal of a product": (
        "diagonal of a product",
        ["np.diag(a @ t)", "np.diagonal(a @ t)", "np.sum(np.diag(a @ t))", "np.einsum('ii->i', a @ t)", "np.diag(a @ a.T)"],
        ["np.diag(a @ t, 1)", "np.diagonal(a @ t, offset=-1)", "np.diag(a @ w[:30])", "np.diag(s)"],
    ),
    "products in a dear order": (
        "order of products",
        [
            "a @ s @ v", "np.dot(np.dot(a, s), v)", "a.dot(s).dot(v)", "2 * a @ s @ v", "(a @ s) * 2 @ v", "-(a @ s) @ v",
            "(a @ s).T @ w", "(s @ s / c) @ v", "w @ (a @ s)", "(a @ (s @ s)).mT @ w",
        ],
        ["a @ (s @ v)", "v @ s @ a.T", "np.linalg.multi_dot([a, s, v])", "(a @ s + 1) @ v", "a.astype('f4') @ s @ v"],
    ),
    "triangles": (
        "triangular system",
        [
            "np.linalg.solve(np.tril(g), v)", "np.linalg.solve(2 * np.tril(g), v)", "np.linalg.solve(np.tril(g) + np.eye(30), v)",
            "np.linalg.solve(np.tril(g) @ np.tril(g), v)", "np.linalg.solve(np.triu(g, k=1) + np.eye(30), b)",
            "np.linalg.solve(np.tril(g) - np.diag(v) / 99, b)", "np.linalg.solve(-np.triu(g), v)",
            "np.linalg.solve(np.tril(g) * s, v)", "np.linalg.solve(np.tril(g).T, v)", "np.linalg.inv(np.tril(g)) @ b",
            "np.linalg.solve(np.linalg.cholesky(g), v)",
        ],
        [
            "np.linalg.solve(np.triu(g, -1), v)", "np.linalg.solve(np.tril(g, 1), v)", "np.linalg.solve(np.tril(g) + 1, v)",
            "np.linalg.solve(np.tril(g) + np.triu(g), v)", "np.linalg.solve(np.tril(g) + v / 99, v)",
            "np.linalg.solve(np.tri(30, k=1) * g, v)", "np.linalg.solve(np.tril(g) + np.tril(g[:1, :1]), v)",
        ],
    ),
    "diagonal matrices": (
        "diagonal system",
        [
            "np.linalg.solve(np.diag(v), b)", "np.linalg.solve(2 * np.diag(v), v)", "np.linalg.solve(np.diag(v) + np.eye(30), v)",
            "np.linalg.solve(np.diag(v) @ np.diag(v), v)", "np.linalg.inv(np.diag(v)) @ v", "np.linalg.solve(g * np.eye(30), v)",
            "np.linalg.solve(c * np.eye(30), v)", "np.linalg.solve(v * np.eye(30), v)",
        ],
        ["np.linalg.solve(np.diag(v, 1)[:30, :30] + g, v)", "np.linalg.solve(np.diag(v) + g, v)"],
    ),
    "positive matrices": (
        "symmetric positive definite system",
        [
            "np.linalg.solve(np.eye(30) + s @ s.T, v)", "np.linalg.solve(s @ s.T + 2 * np.eye(30) + np.eye(30), v)",
            "np.linalg.solve((s @ s.T + 2 * np.eye(30)) * 3, v)", "np.linalg.solve(s @ s.T + np.diag(np.exp(v)), v)",
            "np.linalg.solve(s @ s.T + np.diag(v * v + 1), v)", "np.linalg.solve(np.inner(s, s) / c + np.eye(30), v)",
        ],
        [
            "np.linalg.solve(s @ s.T - 200 * np.eye(30), v)", "np.linalg.solve(s @ s + 50 * np.eye(30), v)",
            "np.linalg.solve(s @ s.T + np.diag(v), v)", "np.linalg.solve(np.eye(30) * 99 - s @ s.T, v)",
        ],
    ),
    "determinants of triangles": (
        "determinant of a triangle",
        ["np.linalg.det(np.tril(s))", "np.linalg.det(np.triu(s).T)", "np.linalg.det(np.diag(v))"],
        ["np.linalg.det(s)", "np.linalg.det(np.tril(s, 1))"],
    ),
    "inverses of triangles": (
        "inverse of a triangle",
        ["np.linalg.inv(np.tril(g))", "np.linalg.inv(np.triu(g))", "np.linalg.inv(np.tril(g) * 2)"],
        ["np.linalg.inv(g)", "np.linalg.inv(np.tril(g, 1))", "np.linalg.inv(np.diag(v))"],
    ),
    "products that are summed": (
        "inner product",
        ["np.vdot(a - 1, a - 1)", "np.dot((a - 1).ravel(), (a - 1).ravel())", "np.dot(v - 1, v)", "(v - 1) @ (v * 2)"],
        ["np.vdot(a, a)", "np.dot(v, v)", "v @ v", "np.dot(v - 1, s)", "np.vdot(z, z)"],
    ),
}  # fmt: skip
FOUND = [(kind, text, True) for kind, (_, found, _) in KINDS.items() for text in found]
ALIKE = [(kind, text, False) for kind, (_, _, others) in KINDS.items() for text in others]


def evaluated(text):
    """(results of a jitted function, NumPy's, what explain says)."""
    import re

    names = [n for n in GIVEN if re.search(rf"(?<![.\w'\"]){n}(?![\w'\"(])", text)]
    given = [GIVEN[n] for n in names]
    f = nvmath.jit(eval(f"lambda {', '.join(names)}: {text}", {"np": nvmath}))
    with np.errstate(all="ignore"):
        want = eval(f"lambda {', '.join(names)}: {text}", {"np": np})(*given)
    return f(*given), want, f.explain(*given)


@pytest.mark.parametrize(("kind", "text", "wanted"), FOUND + ALIKE)
def test_a_structure_is_found_however_it_is_written(kind, text, wanted):
    try:
        got, want, told = evaluated(text)
    except np.linalg.LinAlgError:
        assert not wanted
        return
    np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-8)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    assert (KINDS[kind][0] in [finding.rule for finding in told.findings]) == wanted


def test_sums_of_products_by_einsum_are_kernels():
    for text in ("np.einsum('ij,ij->', a, a)", "np.einsum('ij,ji->', a, t)", "np.einsum('ij,ij->i', a, a)",
                 "np.einsum('ij,ji->ji', a, t)", "np.einsum('ij,ij->j', a - 1, a)"):  # fmt: skip
        got, want, told = evaluated(text)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
        assert not told.library


# A length of 1 broadcasts: what was rewritten for other lengths does not hold there.
@pytest.mark.parametrize(
    "text",
    [
        "np.linalg.solve(np.tril(a) + np.tril(b), v)",
        "np.linalg.solve(np.tril(a) - np.tril(b), v)",
        "np.linalg.solve(np.tril(a) * b, v)",
        "np.linalg.solve(a @ a.T + b @ b.T + np.eye(5), v)",
        "np.einsum('ij,ji->', a, b)",
        "np.trace(a + b @ b)",
        "a @ a + np.diag(b[0])",
    ],
)
def test_lengths_of_one_are_captured_apart(text):
    rng = np.random.default_rng(1)
    a, v = rng.normal(size=(5, 5)) + 5 * np.eye(5), rng.normal(size=5)
    f = nvmath.jit(eval(f"lambda a, b, v: {text} + 0 * v[0]", {"np": nvmath}))
    plain = eval(f"lambda a, b, v: {text} + 0 * v[0]", {"np": np})
    for b in (rng.normal(size=(5, 5)), rng.normal(size=(1, 1)), rng.normal(size=(5, 5))):
        np.testing.assert_allclose(f(a, b, v), plain(a, b, v), rtol=1e-9)
    assert f.captures == 2


def test_a_copy_stays_one():
    f = nvmath.jit(lambda a: (a.conj(), a.copy(), a.T.copy().T))
    a = RNG.normal(size=(4, 4))
    for each in f(a):
        np.testing.assert_array_equal(each, a)
        assert not np.shares_memory(each, a)


def test_singular_structure_raises():
    for function in (
        lambda a: nvmath.linalg.inv(nvmath.tril(a)),
        lambda a: nvmath.linalg.inv(nvmath.diag(a[0])),
        lambda a: nvmath.linalg.solve(a * nvmath.eye(3), a[0]),
    ):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            nvmath.jit(function)(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"square|shape"):
        nvmath.jit(lambda a: nvmath.linalg.det(nvmath.tril(a)))(np.zeros((3, 4)))

"""einsum and einsum_path against NumPy's."""

import numpy
import pytest
import xcuda.numeric as np
from numeric_twins import twins

R = numpy.random.default_rng(0)
A, B, C, V, Q = (R.normal(size=s) for s in ((3, 4), (4, 5), (5, 3), (4,), (3, 3)))
T, W = R.normal(size=(2, 3, 4)), R.normal(size=(3, 3, 4))
CASES = [
    ("ij,jk", A, B), ("ij,jk->ki", A, B), ("ij,jk,kl->il", A, B, C), ("ii", Q), ("ii->i", Q), ("ij->ji", A), ("ij->", A),
    ("ij->j", A), ("...j,jk->...k", T, B), ("bij,bij->b", T, T), ("bij,bij", T, T), ("bij,bkj->bik", T, T), ("i,j->ij", V, V),
    ("i,i", V, V), ("ij,ij->ij", A, A), ("iij->j", W), ("ij,jk,kl,lm->im", A, B, C, A), ("bi,bij,bj->b", T[:, :, 0], T, T[:, 0]),
    ("ijk,jil->kl", R.normal(size=(3, 4, 5)), R.normal(size=(4, 3, 2))), ("k...,jk", A, C[:, :]), ("ki,...k->i...", A, C),
    (" i j , jk -> i k", A, B), ("a,b,c->abc", V, V, V), ("ab,b", A[:, :1], V), ("ab,ab->a", A[:, :1], A), ("ij->", A > 0),
    ("ij,jk", A > 0, B > 0), ("ij,j->i", (A * 3).astype(int), (V * 3).astype(int)), ("ij,j->i", (A * 9).astype("i1"), V.astype("i1")),
    ("ij,jk", A + 1j, B), ("ij,jk", A.astype("f"), B.astype("f")), ("ij,jk", A[::-1, ::2], B.T[::2, :2]), ("", numpy.array(3.0)),
    (",i", numpy.array(3.0), V), ("ijij->ij", R.normal(size=(2, 3, 2, 3))), ("ij,kj->", A, A), ("i,ij,jk,k", V[:3], A, B, C[:, 0]),
    ("ij,jk", A[:0], B), ("ij,jk", A[:, :0], B[:0]),
]  # fmt: skip
WRONG = [
    ("ij,jk", A, A), ("ij,jk->iz", A, B), ("ij..,jk", A, B), ("ij", V), ("ij,jk", A), ("ij->ii", A), ("i$", A), ("ij,jk,kl", A, B),
]  # fmt: skip


@pytest.mark.parametrize("optimize", [False, True, "optimal"])
def test_contractions(optimize):
    for case in (*CASES, *WRONG):
        twins(lambda m, *a: m.einsum(*a, optimize=optimize), *case)


def test_lists_of_axes_out_dtype_and_views():
    twins(lambda m, a, b: m.einsum(a, [0, 1], b, [1, 2], [0, 2]), A, B)
    twins(lambda m, a, b: m.einsum(a, [0, 1], b, [1, 2]), A, B)
    twins(lambda m, a: m.einsum(a, [0, Ellipsis]), A)
    twins(lambda m, a, b: m.einsum("ij,jk", a, b, out=m.zeros((3, 5))), A, B)
    twins(lambda m, a, b: m.einsum("ij,jk", a, b, dtype="complex128"), A, B)
    twins(lambda m, a, b: m.einsum("ij,jk", a, b, dtype="float32"), A, B)
    twins(lambda m, a, b: m.einsum("ij,jk", a, b, dtype="float32", casting="same_kind"), A, B, tolerance=1e-5)
    x = np.zeros((3, 3))
    np.einsum("ii->i", x)[:] = 2  # a view, as NumPy's
    assert x.sum() == 6 and x[1, 1] == 2


def test_paths_are_numpy_s():
    for optimize in (True, "optimal", "greedy"):
        ours = np.einsum_path("ij,jk,kl->il", *map(np.asarray, (A, B, C)), optimize=optimize)
        assert ours == numpy.einsum_path("ij,jk,kl->il", A, B, C, optimize=optimize)
    path = numpy.einsum_path("ij,jk,kl->il", A, B, C)[0]
    twins(lambda m, *a: m.einsum("ij,jk,kl->il", *a, optimize=path), A, B, C)

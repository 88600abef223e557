"""auto_tune: real candidates that agree, a winner that is kept on disk, a budget, and the same choice each time if asked."""

import subprocess
import sys

import numpy as np
import pytest
import xcuda.math as nvmath
from xcuda import numeric as xnp
from xcuda.math.optimization import _tuning

RNG = np.random.default_rng(3)
S = RNG.normal(size=(40, 40))
POSITIVE = xnp.asarray(S @ S.T + 40 * np.eye(40))
RIGHT = xnp.asarray(RNG.normal(size=(40, 3)))
WANT = np.linalg.solve(POSITIVE.get(), RIGHT.get())


@pytest.fixture(autouse=True)
def nothing_known():
    nvmath.optimization.forget()
    yield
    nvmath.optimization.forget()


def rows(what):
    return [row for row in nvmath.optimization.report().rows if row.what == what]


def test_a_positive_system_is_tried_by_lu_and_cholesky():
    with nvmath.optimization.auto_tune(budget=60):
        np.testing.assert_allclose(nvmath.linalg.solve(POSITIVE, RIGHT).get(), WANT, rtol=1e-10)
    (row,) = rows("solve")
    assert set(row.seconds) == {"LU", "Cholesky"} and row.winner in row.seconds
    assert row.source == "measured" and row.seconds[row.winner] == min(row.seconds.values())
    assert all(0 < s < 10 for s in row.seconds.values()) and row.gain >= 1
    text = str(nvmath.optimization.report())
    assert "solve symmetric float64(40, 40) float64(40, 3): " in text and "Cholesky" in text
    assert "<table>" in nvmath.optimization.report()._repr_html_()


def test_without_tuning_nothing_is_recorded():
    nvmath.linalg.solve(POSITIVE, RIGHT)
    assert not nvmath.optimization.report().rows
    assert "nothing was tuned" in str(nvmath.optimization.report())


def test_the_winner_is_on_disk_for_other_processes():
    with nvmath.optimization.auto_tune(budget=60):
        nvmath.linalg.solve(POSITIVE, RIGHT)
    (row,) = rows("solve")
    _tuning._winners.clear()
    _tuning.records.clear()
    with nvmath.optimization.auto_tune(budget=0):  # nothing could be measured
        np.testing.assert_allclose(nvmath.linalg.solve(POSITIVE, RIGHT).get(), WANT, rtol=1e-10)
    (again,) = rows("solve")
    assert (again.source, again.winner) == ("disk", row.winner)
    program = (
        "import numpy, xcuda.math as m, xcuda.numeric as x\n"
        "s = x.asarray(numpy.eye(40) * 2.0)\n"
        "with m.optimization.auto_tune(budget=0): m.linalg.solve(s, x.ones((40, 3)))\n"
        "print(m.optimization.report().rows[0].source)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "disk", done.stderr


def test_deterministic_measures_nothing():
    with nvmath.optimization.auto_tune(deterministic=True):
        np.testing.assert_allclose(nvmath.linalg.solve(POSITIVE, RIGHT).get(), WANT, rtol=1e-10)
        f = nvmath.jit(lambda a, b: nvmath.linalg.solve(a @ a.T + nvmath.eye(40), b))
        f(POSITIVE, RIGHT)
    by_test, by_structure = rows("solve")
    assert (by_test.winner, by_test.source, by_test.seconds) == ("LU", "rule", {})
    assert (by_structure.winner, by_structure.source) == ("Cholesky", "rule")


def test_a_used_up_budget_takes_the_plain_way():
    with nvmath.optimization.auto_tune(budget=0):
        np.testing.assert_allclose(nvmath.linalg.solve(POSITIVE, RIGHT).get(), WANT, rtol=1e-10)
    (row,) = rows("solve")
    assert row.source == "rule" and "used up" in row.why_not["LU"]
    with (
        pytest.raises(ValueError, match="the budget is in seconds, at least 0, not -1"),
        nvmath.optimization.auto_tune(-1),
    ):
        pass


def test_a_candidate_that_disagrees_is_none():
    with nvmath.optimization.auto_tune(budget=60):
        made = _tuning.choose("sum", ("test",), {"plain": lambda: np.ones(3), "wrong": lambda: np.ones(3) * 1.001,
                                                 "other shape": lambda: np.ones(4)})  # fmt: skip
    assert (made == 1).all()
    (row,) = rows("sum")
    assert row.winner == "plain" and "differs by 1.0e-03" in row.why_not["wrong"]
    assert "gives float64 (4,) in place of float64 (3,)" in row.why_not["other shape"]


def test_memory_that_runs_out_in_tuning_falls_back():
    def full():
        raise MemoryError("no room")

    with nvmath.optimization.auto_tune(budget=60):
        assert _tuning.choose("one", ("m",), {"plain": lambda: np.ones(2), "large": full}).sum() == 2
    (row,) = rows("one")
    assert row.winner == "plain" and row.why_not["large"] == "MemoryError: no room"


def test_errors_of_the_plain_way_are_the_callers():
    singular = xnp.ones((40, 40))
    with nvmath.optimization.auto_tune(budget=60), pytest.raises(np.linalg.LinAlgError, match="Singular"):
        nvmath.linalg.solve(singular, RIGHT)


def test_another_matrix_of_the_same_shape_may_be_indefinite():
    with nvmath.optimization.auto_tune(budget=60):
        for _ in range(2):
            nvmath.linalg.solve(POSITIVE, RIGHT)
        _tuning._winners[next(iter(_tuning._winners))] = "Cholesky"
        other = POSITIVE.get()
        other[0, 1] = other[1, 0] = 1e4  # symmetric, its diagonal positive, not positive definite
        x = nvmath.linalg.solve(xnp.asarray(other), RIGHT).get()
    np.testing.assert_allclose(x, np.linalg.solve(other, RIGHT.get()), rtol=1e-7)


def test_products_are_tried_in_several_layouts():
    a = xnp.asarray(RNG.normal(size=(30, 20)))
    with nvmath.optimization.auto_tune(budget=60):
        np.testing.assert_allclose(nvmath.matmul(a, a.T).get(), a.get() @ a.get().T, rtol=1e-12)
    (row,) = rows("product")
    assert set(row.seconds) == {"as it lies", "in C order first", "syrk"}


def test_small_functions_may_run_on_the_host():
    @nvmath.jit
    def f(x):
        return nvmath.sqrt(x) + nvmath.sin(x).sum()

    x = np.linspace(1, 2, 6)
    with nvmath.optimization.auto_tune(budget=60):
        for _ in range(2):
            np.testing.assert_allclose(f(x), np.sqrt(x) + np.sin(x).sum(), rtol=1e-14)
    (row,) = rows("f()")
    assert set(row.seconds) == {"fused", "NumPy, on the host"}


def test_large_functions_are_tried_in_several_layouts():
    @nvmath.jit
    def f(x, y):
        return nvmath.sqrt(x) + y, (x * y).sum(axis=1)

    x = np.linspace(1, 2, 400 * 400).reshape(400, 400)
    with nvmath.optimization.auto_tune(budget=60):
        for _ in range(2):
            made, sums = f(x, x.T)
            np.testing.assert_allclose(made, np.sqrt(x) + x.T, rtol=1e-14)
            np.testing.assert_allclose(sums, (x * x.T).sum(axis=1), rtol=1e-13)
    (row,) = rows("f()")
    assert set(row.seconds) >= {
        "fused",
        "blocks of 64 threads",
        "blocks of 128 threads",
        "blocks of 512 threads",
    }
    assert not row.why_not

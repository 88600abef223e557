"""The commands that hold numeric against NumPy: its own tests' rewriting and sorting, random programs."""

import ast
import importlib.util

import numpy
import pytest
from xcuda import numeric as np


@pytest.fixture
def load(root, monkeypatch):
    def from_folder(folder, name):
        monkeypatch.syspath_prepend(str(root / "tests" / folder))
        spec = importlib.util.spec_from_file_location(
            f"{folder}_{name}", root / "tests" / folder / f"{name}.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    monkeypatch.setattr(np.config, "_fallback", "silent")
    return from_folder


SOURCE = """import numpy as np, sys
from numpy.testing import (assert_equal,
    assert_allclose as near)
class Test:
    array = np.array
    def test(self):
        import numpy.linalg as la; return la
"""


def test_imports_are_rewritten_line_for_line(load):
    made = load("numpy_suite", "rewrite").rewritten(SOURCE)
    assert len(made.split("\n")) == len(SOURCE.split("\n"))
    ast.parse(made)
    assert "np = substitute.module('numpy'); import sys" in made
    assert "near = substitute.name('numpy.testing', 'assert_allclose')" in made.split("\n")[1]
    assert "    array = staticmethod(np.array)" in made
    assert "        import substitute; la = substitute.module('numpy.linalg'); return la" in made


def test_the_stand_in_gives_numeric_and_notes_what_is_asked(load, root):
    substitute = load("numpy_suite/shim", "substitute")
    ours = substitute.module("numpy")
    assert ours.sum is np.sum and "sum" in substitute.touched and ours.pi is numpy.pi
    assert substitute.name("numpy._core.umath", "add") is np.add
    assert substitute.name("numpy.lib._function_base_impl", "interp") is np.interp
    substitute.testing.assert_equal(np.ones(2).sum(), 2.0)
    with pytest.raises(AssertionError):
        substitute.testing.assert_array_equal(np.ones(2), [1, 2])


def test_tests_are_sorted_by_file_source_and_name(load):
    classify = load("numpy_suite", "classify")
    classes = classify.Classes()
    assert (
        classes.of_file("_core/test_nditer.py") == "C internals"
        and classes.of_file("lib/test_arraypad.py") is None
    )
    plain = {
        "source": "@pytest.mark.parametrize('t', np.typecodes['All'])\ndef test(self, t):\n    assert np.ones(2, t)"
    }
    assert classes.of("lib/test_x.py::test[d]", plain) == classify.APPLICABLE
    assert classes.of("lib/test_x.py::test[O]", plain) == "dtypes that devices can't hold"
    assert (
        classes.of("lib/test_x.py::test", {"source": "def test():\n    sys.getrefcount(x)"}) == "C internals"
    )
    outcomes = {
        "lib/a.py::t": {"outcome": "pass", "touched": 2, "fallbacks": []},
        "lib/a.py::u": {"outcome": "fail", "why": ""},
        "lib/a.py::v": {"outcome": "skip", "why": ""},
    }
    assert (
        "lib          applicable: 1 of 2 pass, 50.0 %"
        in list(classify.rates(classify.counted(outcomes, classes)))[0]
    )


def test_a_journal_goes_on(load, tmp_path):
    results = load("numpy_suite", "results")
    first = results.Journal(tmp_path / "j.jsonl")
    first["a"] = {"outcome": "pass"}
    first.keep("a")
    assert results.Journal(tmp_path / "j.jsonl") == {"a": {"outcome": "pass"}}


@pytest.mark.parametrize("seed", [3, 7, 11, 19])
@pytest.mark.parametrize("elements", [0, 512])
def test_random_programs(load, monkeypatch, seed, elements):
    before, np.config.host_elements = np.config.host_elements, elements
    try:
        assert load("numeric_fuzz", "check").check(seed) is None
    finally:
        np.config.host_elements = before


def test_random_programs_differ_where_numeric_is_wrong(load, monkeypatch):
    check = load("numeric_fuzz", "check")
    monkeypatch.setattr(np, "square", np.negative, raising=False)
    lines = ["v1 = D(3, (6,), 'float64')", "v2 = v1 + 1", "v3 = np.square(v1)", "v4 = v2 * 2"]
    assert "v3: " in check.fault_of(lines, False)[1]
    assert check.shortest(lines, False) == ["v1 = D(3, (6,), 'float64')", "v3 = np.square(v1)"]


def test_programs_of_a_seed_are_the_same(load):
    programs = load("numeric_fuzz", "programs")
    made = [programs.Program(seed).lines for seed in (5, 5, 6)]
    assert made[0] == made[1] != made[2] and 5 <= len(made[0]) <= 33


def test_a_failure_without_a_reason_is_told(load, tmp_path):
    classify, expected = load("numpy_suite", "classify"), load("numpy_suite", "expected")
    reasons = expected.Reasons()
    assert reasons.of("random/test_random.py::TestRegression::test_permutation_subclass")["kind"] == "differs"
    file = tmp_path / "expected.toml"
    file.write_text(
        '[[group]]\nkind = "words"\nwhy = "so"\ntests = ["lib/test_a.py::test_b[[]1*", "lib/test_a.py::test_d"]\n'
    )
    reasons = expected.Reasons(file)
    outcomes = {
        f"lib/test_a.py::{name}": {"outcome": outcome, "why": "because", "source": ""}
        for name, outcome in (
            ("test_b[1-2]", "fail"),
            ("test_b[2]", "fail"),
            ("test_c", "pass"),
            ("test_d", "pass"),
        )
    }
    assert expected.unexpected(outcomes, classify.Classes(), reasons) == [
        ("lib/test_a.py::test_b[2]", "because")
    ]
    assert expected.idle(outcomes, reasons) == ["lib/test_a.py::test_d"]

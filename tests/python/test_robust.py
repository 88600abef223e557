"""Short runs of the fuzzers of tests/robust; `./run check` has the long ones."""

import ast
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from robust import front_end, reports, threads


def test_the_front_end_compiles_or_refuses_mutated_kernels():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes, wrong = front_end.fuzz(seed=3, count=80)
    assert wrong == []
    assert outcomes["compiled"] > 5 and outcomes["refused"] > 25


def test_hostile_names_stay_text():
    made, wrong = reports.fuzz(seed=5, count=120)
    assert wrong == [] and set(made) == set(reports.PAGES)


def test_threads_get_what_they_would_get_alone():
    done, wrong = threads.fuzz(seed=5, count=80)
    assert wrong == [] and set(done) == set(threads.WORK)


@pytest.mark.parametrize("page", reports.PAGES)
def test_a_name_that_is_mark_up_is_shown_as_it_is(page):
    shown = reports.PAGES[page]("<i>&</i>")["text/html"]
    assert "&lt;i&gt;&amp;&lt;/i&gt;" in shown and "<i>" not in shown


# Who runs text or unpickles, and what: a cell's own code on its user's order, text that the package makes, a module's source.
RUNS_CODE = {
    "magics/limits.py": "the cell of %%cuda_limit",
    "magics/time_cell.py": "the cell of %%cuda_time",
    "magics/check_cell.py": "the cell of %%cuda_check",
    "magics/debug_cell.py": "the cell of %%cuda_debug",
    "magics/profile_cell.py": "the cell of %%cuda_profile",
    "kernel/python/requests.py": "a silent request's code, a request's user_expressions",
    "gpu_runtime/python/xcuda/math/_program.py": "a program's own tree, rewritten",
    "gpu_runtime/python/xcuda/check/debugger.py": "the condition of --break, without builtins",
    "gpu_runtime/python/xcuda/core/generated.py": "text that the package makes",
    "gpu_runtime/python/xcuda/core/_raise.py": "a line that raises, with the user's file and line",
    "gpu_runtime/python/xcuda/core/ahead.py": "an annotation of the user's own function",
    "gpu_runtime/python/xcuda/core/pickled.py": "a kernel's constants, where its user unpickles it",
}


def test_code_is_run_in_known_places_alone():
    root = Path(__file__).parents[2]
    found = set()
    for folder in ("gpu_runtime", "magics", "kernel"):
        for file in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if not isinstance(node, ast.Call):
                    continue
                f = node.func
                owner = getattr(getattr(f, "value", None), "id", None)
                if (isinstance(f, ast.Name) and f.id in ("eval", "exec")) or (
                    owner in ("pickle", "marshal", "dill", "cloudpickle") and f.attr in ("load", "loads")
                ):
                    found.add(str(file.relative_to(root)))
    assert found == set(RUNS_CODE)

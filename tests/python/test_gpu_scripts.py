"""What the scripts of tests/gpu make of what their children tell: no GPU is needed for that."""

import importlib
import sys
import time

import pytest


@pytest.fixture
def script(root, monkeypatch):
    """A script by its name, which finds what lies beside it."""
    monkeypatch.syspath_prepend(root / "tests/gpu")
    return importlib.import_module


@pytest.fixture
def tiles_plans(script):
    return script("tiles_plans")


def told(tiles_plans, seconds, off=0.0, **more):
    """A child's words about one plan, in the order in which it says them."""
    rows = [{"begun": True}]
    for shape in tiles_plans.TIMED:
        rows += [{"trying": list(shape)}]
        rows += [
            {"shape": list(shape), "kind": "timed", "off": off, "tolerance": 1e-3, "seconds": seconds, **more}
        ]
    return [{"dtype": "float16", **row} for row in [*rows, {"ended": True}]]


def test_the_table_and_the_fastest_plan_of_what_was_told(tiles_plans, root, capsys):
    other, wrong, *_ = (name for name in tiles_plans.PLANS if name != "own")
    results = {
        ("float16", "own"): (told(tiles_plans, 2e-3, library=1e-3), ""),
        ("float16", other): (told(tiles_plans, 1e-3), ""),
        ("float16", wrong): (told(tiles_plans, 1e-4, off=1.0), ""),
        ("bfloat16", "own"): (
            [{"dtype": "bfloat16", "begun": True}, {"dtype": "bfloat16", "trying": [1, 2, 3]}],
            "hung",
        ),
    }
    tiles_plans.table(results)
    printed = capsys.readouterr().out
    assert "(0.50)" in printed and "(1.00)" in printed and "hung" in printed
    best = tiles_plans.fastest(results)
    assert best and {name for name, _ in best.values()} == {other}
    assert all(gain == pytest.approx(2.0) for _, gain in best.values())
    header = (root / "gpu_runtime/tiles/measured.hpp").read_text()
    assert '"sm_90", DType::f16' in tiles_plans.written(header, best, "sm_90")


@pytest.mark.parametrize(
    ("child", "rows", "why", "words"),
    [
        ("tell(a=1); tell(b=[2])", [{"a": 1}, {"b": [2]}], "", ""),
        ("tell(a=1); print('{no row'); raise ValueError('bad')", [{"a": 1}], "", "ValueError: bad"),
        ("tell(a=1); time.sleep(60)", [{"a": 1}], "silent", ""),
        ("import os; tell(x=os.environ['OF_THE_CHILD'])", [{"x": "7"}], "", ""),
    ],
)
def test_what_a_watched_child_tells(script, root, child, rows, why, words):
    watched = script("watched_child")
    begun = (
        f"import sys, time; sys.path.insert(0, {str(root / 'tests/gpu')!r}); from watched_child import tell\n"
    )
    command = [sys.executable, "-c", begun + child]
    silence = 3 if why else 60
    found = watched.rows_of(command, silence, time.monotonic() + 120, env={"OF_THE_CHILD": "7"})
    assert found == (rows, why, words)


def test_a_watched_child_ends_with_its_time(script):
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert script("watched_child").rows_of(command, 60, time.monotonic() + 1) == ([], "over", "")

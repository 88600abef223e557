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


def test_the_summary_of_a_run(script, tmp_path):
    summary = script("summary")
    logs = {
        "tests.log": "...F\nFAILED tests/python/test_a.py::test_b[x y] - AssertionError: no\n1 failed, 3 passed in 9.1s\n",
        "tests_alone.log": "= 2 passed, 1 skipped in 1.00s =\n",
        "memcheck.log": "5 passed in 3s\n========= ERROR SUMMARY: 0 errors\n",
        "bench_gpu.log": "| launch | us |\n| --- | ---: |\n| xcuda | 4 |\nnoise\n| copies | GB/s |\n"
        "goal: launch, of CUDA C++: 1.3 (<= 1.2): no\ngoal: first kernel, ms: 30 (<= 120): yes\n"
        "later failed: ValueError: x\n",
        "bench_tiles.log": "result: not run: no time was left\n",
        "bench_math.log": "| what |\nresult: CuPy / xcuda: 6.5\n",
        "steps.txt": "tests 100 1\ntests_alone 20 0\nmemcheck 90 0\nbench_gpu 40 0\nbench_math 50 124\n",
    }
    for name, text in logs.items():
        (tmp_path / name).write_text(text)
    told = summary.summary(tmp_path)
    for line in (
        "- Tests, side by side: 1 failed, 3 passed in 9.1s; 100 s, ended with 1",
        "- Tests, alone: 2 passed, 1 skipped in 1.00s; 20 s",
        "- Tests, `compute-sanitizer --tool memcheck`: 5 passed in 3s; ERROR SUMMARY: 0 errors; 90 s",
        "- FAILED tests/python/test_a.py::test_b[x y] - AssertionError: no",
        "- `bench/gpu.py`, 40 s: 1 of 2 goals reached",
        "  - later failed: ValueError: x",
        "  - missed: launch, of CUDA C++: 1.3 (goal <= 1.2)",
        "- `bench/tiles.py products attention rows`:\n  - not run: no time was left",
        "- `bench/math.py`, 50 s, its time was over: no goal was told\n  - CuPy / xcuda: 6.5",
        "Seconds: tests 100, tests_alone 20",
    ):
        assert line in told
    assert summary.tables(logs["bench_gpu.log"].splitlines()) == [
        *logs["bench_gpu.log"].splitlines()[:3], "", "| copies | GB/s |", ""
    ]  # fmt: skip


def test_what_benchmarks_tell_is_what_the_summary_reads(script, root, monkeypatch, capsys):
    monkeypatch.syspath_prepend(root / "bench")
    measure = importlib.import_module("_measure")
    assert not measure.goal("a, of b: c", 1.34, 1.2) and measure.goal("a", 2, 2, least=True)
    assert not measure.goal("nothing known", float("nan"), 1)
    measure.result("words")
    lines = capsys.readouterr().out.splitlines()
    told = script("summary").bench_told("bench", lines, (3, 0))
    assert told == [
        "- `bench`, 3 s: 1 of 3 goals reached",
        "  - words",
        "  - missed: a, of b: c: 1.34 (goal <= 1.2)",
        "  - missed: nothing known: nan (goal <= 1)",
    ]

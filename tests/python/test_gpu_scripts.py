"""What the scripts of tests/gpu make of what their children tell: no GPU is needed for that."""

import importlib.util

import pytest


@pytest.fixture
def tiles_plans(root):
    spec = importlib.util.spec_from_file_location("tiles_plans", root / "tests/gpu/tiles_plans.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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

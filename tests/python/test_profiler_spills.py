"""Spilled registers by the lines that pay for them."""

import inspect
import re
from collections import Counter

import pytest
from planted import launches
from planted.launches import lines
from xcuda import profiler
from xcuda.profiler.spills import spilled_lines, told

SOURCE, FIRST = inspect.getsourcelines(launches.many_values_few_registers.py_func)
LINES = range(FIRST, FIRST + len(SOURCE))


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100", "sm_120"])
def test_the_advice_names_the_lines_that_spill(target):
    found = profiler.analyze(launches.many_values_few_registers, *lines(1024, 16 * 1024)(), target=target)
    if found.not_compiled:
        pytest.skip(found.not_compiled)
    (finding,) = found.of("register-spills")
    worst, share, whole = map(
        int, re.search(r"most in line (\d+) \((\d+) of (\d+) loads and stores\)", finding.evidence).groups()
    )
    assert worst in LINES[5:]  # within the guard
    assert 0 < share <= whole
    # Every spilled word is stored at least once, in pieces of up to four.
    assert whole * 16 >= int(finding.evidence.split()[0])


def test_a_kernel_with_room_has_none():
    made = profiler.analyze(launches.many_values, *lines(1024, 16 * 1024)(), target="sm_90")
    if made.not_compiled:
        pytest.skip(made.not_compiled)
    cubin = launches.many_values.compile(lines(1024, 16 * 1024)(), (256, 1, 1), target="sm_90")
    counts = spilled_lines(cubin["cubin"], cubin["entry"], launches.__file__, LINES)
    assert not counts and told(counts) == ""


def test_words():
    assert told(Counter({7: 12, 9: 8, 0: 20})) == (
        "most in line 7 (12 of 40 loads and stores), then in line 9 (8)"
    )
    assert told(Counter({0: 3})) == "" and not spilled_lines(b"", "k", "cell", range(3))

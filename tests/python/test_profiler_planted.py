"""The analyzer on kernels with one planted fault each, and on their clean twins: all found, none false.

What a finding's rewrite makes of the kernel is run: it writes the same, and the fault is gone.
"""

import itertools
import linecache

import numpy as np
import pytest
from planted import PAIRS
from xcuda import profiler


def analyzed(pair, twin):
    callee, arguments = pair.call(twin)
    found = profiler.analyze(callee, *arguments, target="sm_90", multiprocessors=pair.multiprocessors)
    if pair.rule in ("low-occupancy", "register-spills", "small-grid") and found.not_compiled:
        pytest.skip(found.not_compiled)
    return found


@pytest.mark.parametrize("name", PAIRS)
def test_the_fault_is_found_at_its_line_and_nothing_else_is(name):
    pair = PAIRS[name]
    found = analyzed(pair, twin=False)
    assert pair.line in [f.line for f in found.of(pair.rule)], found
    assert {f.rule for f in found} <= {pair.rule, *pair.also}, found
    if pair.rule not in pair.also:
        assert {f.line for f in found.of(pair.rule)} == {pair.line}, found
    for finding in found:
        assert finding.evidence and finding.advice


@pytest.mark.parametrize("name", PAIRS)
def test_the_clean_twin_is_left_in_peace(name):
    found = analyzed(PAIRS[name], twin=True)
    assert len(found) == 0, found
    assert found.complete and found.records > 0


@pytest.mark.parametrize("name", [n for n, p in PAIRS.items() if p.same])
def test_both_write_the_same(name):
    (faulty, mine), (clean, others) = PAIRS[name].call(False), PAIRS[name].call(True)
    if PAIRS[name].rule not in ("race", "out-of-range", "divergent-barrier"):
        faulty(*mine)
        clean(*others)
        assert_same(mine, others)


def test_there_are_forty_pairs_and_each_rule_has_one():
    assert len(PAIRS) >= 40
    assert {pair.rule for pair in PAIRS.values()} == set(profiler.rules())


# Faults whose repair only a person can choose.
BY_HAND = {
    "accesses: every eighth",
    "accesses: gathered",
    "accesses: fields side by side",
    "accesses: written transposed",
    "accesses: a row a thread",
    "accesses: a piece a thread",
    "shared: steps of four words",
    "shared: in place",
    "shared: last one wins",
    "flow: triangle",
    "flow: until each is done",
    "flow: two barriers",
    "flow: left before",
    "launches: much shared memory",
    "launches: few blocks",
    "launches: a nearly empty wave",
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_rewrite_mends_the_kernel(name):
    pair = PAIRS[name]
    finding = next(f for f in analyzed(pair, twin=False).of(pair.rule) if f.line == pair.line)
    assert (finding.rewrite is None) == (name in BY_HAND), finding.rewrite
    if finding.rewrite is None:
        return
    assert str(finding.rewrite)
    made = compiled(finding.rewrite.text, pair.faulty)
    _, arguments = pair.call(False)
    if pair.rule == "unused" and "weights" in finding.subject:
        arguments = arguments[:2]
    launch = pair.launch
    if pair.rule == "strided-access":  # as the note says
        launch = pair.twin_launch
    if "](...)" in finding.rewrite.note:
        launch = pair.twin_launch
    callee = made[launch] if launch else made
    after = profiler.analyze(callee, *arguments, target="sm_90")
    assert not after.of(pair.rule), after
    twin, expected = pair.call(True)
    if pair.same:
        callee(*arguments)
        twin(*expected)
        assert_same(arguments, expected)


_numbers = itertools.count()


def compiled(text, kernel):
    """The kernel that a rewrite's text makes, with its source where inspect finds it."""
    file = f"<rewritten {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = dict(kernel.py_func.__globals__)
    exec(compile(text, file, "exec"), names)
    return names[kernel.__name__]


def assert_same(mine, others):
    for one, other in zip(mine, others, strict=False):
        if isinstance(one, np.ndarray):
            np.testing.assert_allclose(one, other, rtol=1e-6)

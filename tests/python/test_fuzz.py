"""A short run of tests/fuzz: random programs on the present device against CPython; and that it finds what is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from fuzz import check as fuzz_check
from fuzz import rules
from fuzz.programs import Maker, Program
from fuzz.reduce import reduced, script
from fuzz.reference import Reference
from fuzz.rich import RichMaker
from fuzz.shards import run_one
from fuzz.syntax import Array

SEED = os.environ.get("XCUDA_FUZZ_SEED", "ci")
SLICES, EACH = 6, int(os.environ.get("XCUDA_FUZZ_EACH", "10"))


def nvrtc_is_here():
    from xcuda import _runtime

    row = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
    return row is not None and not row["problem"]


def expect_good(part, kind=""):
    """Of a part of the seed's programs of a kind."""
    for k in range(part * EACH, (part + 1) * EACH):
        program, outcome = run_one(SEED, k, nvrtc=k % EACH == 0 and nvrtc_is_here(), kind=kind)
        if not outcome.good:
            smaller, again = reduced(program, outcome)
            pytest.fail(f"program {k} of seed {SEED} {kind}:\n{script(smaller, again)}")


@pytest.mark.parametrize("part", range(SLICES))
def test_programs_give_what_python_gives(part):
    expect_good(part)


@pytest.mark.parametrize("part", range(2))
def test_wide_programs_give_what_python_gives(part):
    """With bfloat16 (where ml_dtypes is), records, slices and Python's numbers of math."""
    expect_good(part, kind="wide")


def test_wide_programs_hold_what_narrow_ones_do_not():
    texts = "".join(Maker(f"hold/{k}", wide=True).program().text for k in range(60))
    narrow = "".join(Maker(f"hold/{k}").program().text for k in range(60))
    for part in (
        "bfloat16(",
        "rec['",
        "r[i]['",
        "s0 = ",
        "s0[",
        "math.isnan(",
        "copysign(",
        "sum(s",
        "len(s",
    ):
        assert part in texts and part not in narrow, part


@pytest.mark.parametrize("part", range(2))
def test_rich_programs_give_what_python_gives(part):
    """With match, complex numbers, inner functions, zip, whole arrays, atomics and shared memory."""
    expect_good(part, kind="rich")


def test_rich_programs_hold_what_wide_ones_do_not():
    texts = "".join(RichMaker(f"hold/{k}").program().text for k in range(100))
    wide = "".join(Maker(f"hold/{k}", wide=True).program().text for k in range(60))
    for part in (
        "match ",
        "case _:",
        "c0 = y0[i]",
        ".conjugate()",
        "lambda g0a",
        "def g0(",
        "zip(",
        "reversed(",
        "np.where(q0",
        "np.sum(",
        "cuda.atomic.",
        "cuda.shared.array(",
        "d0, d1 = d1, d0",
    ):
        assert part in texts and part not in wide, part


SHARED = (
    "def f(n, x0, o0):\n    i = cuda.grid(1)\n    v0 = x0[i]\n    s = cuda.shared.array(4, np.int64)\n    s[i] = v0\n"
    "    cuda.syncthreads()\n    v0 = s[(i + 1) % 4]\n    o0[i] = v0\n"
)


def test_threads_meet_at_barriers_in_the_reference():
    program = Program(SHARED, {"n": 4, "x0": np.arange(4)}, ["x0"], ["o0"], guarded=False, threads=4)
    start, want, ends = fuzz_check.expected(program)
    assert want["o0"].tolist() == [1, 2, 3, 0] and not any(ends)
    assert fuzz_check.check(program).kind == "same"


def test_a_program_whose_result_hangs_on_the_order_is_left_out():
    for text in (
        SHARED.replace("    cuda.syncthreads()\n", "", 1),
        SHARED.replace("s[i] = v0", "cuda.atomic.max(s, 0, v0)\n    s[0] = 2"),
    ):
        program = Program(text, {"n": 4, "x0": np.arange(4)}, ["x0"], ["o0"], guarded=False, threads=4)
        assert fuzz_check.check(program).kind == "rejected"


def test_a_program_is_made_again_from_its_seed():
    a, b = Maker("x/1/0").program(), Maker("x/1/0").program()
    assert a.text == b.text
    for name, value in a.arguments.items():
        np.testing.assert_array_equal(value, b.arguments[name])


def test_a_wrong_value_is_found_and_made_small(monkeypatch):
    """With a reference that adds one too many, programs differ; what is left of one still shows it."""
    monkeypatch.setitem(rules.OPERATORS, "^", lambda a, b: (a ^ b) + type(a)(1))
    monkeypatch.setattr("fuzz.reduce.EACH", 0.5)
    text = (
        "def f(n, x0, x1, o0, o1):\n    i = cuda.grid(1)\n    if i >= n:\n        return\n    v0 = x0[i]\n    v1 = x1[i]\n"
        "    for k1 in range(v0 & 3):\n        v1 += k1\n    if v0 > 2:\n        v1 = v1 * 3 + v0\n    v0 = (v0 ^ v1) + 5\n"
        "    o0[i] = v0\n    o1[i] = v1\n"
    )
    arguments = {"n": 9, "x0": np.arange(9, dtype=np.int32), "x1": np.arange(9, dtype=np.int32) * 3}
    program = Program(text, arguments, ["x0", "x1"], ["o0", "o1"], threads=9)
    outcome = fuzz_check.check(program)
    assert outcome.kind == "difference" and outcome.detail.startswith("o0[")
    smaller, again = reduced(program, outcome)
    assert smaller.threads == 1 and again.kind == "difference"
    assert "for" not in smaller.text and smaller.text.count("\n") <= 9 and "^" in smaller.text
    assert "o0" in script(smaller, again)


def test_what_is_made_small_may_become_endless(monkeypatch):
    """range(k, k + 3) without its first bound runs 2**62 times: that candidate is left, in time."""
    monkeypatch.setitem(rules.OPERATORS, "^", lambda a, b: (a ^ b) + type(a)(1))
    monkeypatch.setattr("fuzz.reduce.EACH", 0.2)
    text = (
        "def f(n, x0, o0):\n    i = cuda.grid(1)\n    v0 = x0[i]\n"
        "    for k1 in range(v0, v0 + 3):\n        v0 = v0 ^ 5\n    o0[i] = v0\n"
    )
    program = Program(text, {"n": 1, "x0": np.array([2**62])}, ["x0"], ["o0"], guarded=False, threads=1)
    smaller, again = reduced(program, fuzz_check.check(program))
    assert again.kind == "difference" and "^" in smaller.text


def test_a_missing_fault_is_found(monkeypatch):
    text = "def f(n, x0, o0):\n    i = cuda.grid(1)\n    v0 = x0[i]\n    v0 = 7 // v0\n    o0[i] = v0\n"
    program = Program(text, {"n": 3, "x0": np.array([0, 1, 2])}, ["x0"], ["o0"], guarded=False, threads=3)
    assert fuzz_check.check(program).kind == "faults"
    monkeypatch.setattr(
        fuzz_check, "expected", lambda p, whole=fuzz_check.expected: (*whole(p)[:2], [None] * 3)
    )
    assert fuzz_check.check(program).kind == "fault"


def test_a_thread_that_computes_with_its_number_is_not_renumbered():
    """Thread 0 faults; without it, thread 1 would be thread 0."""
    text = "def f(n, x0, o0):\n    i = cuda.grid(1)\n    if i >= n:\n        return\n    v0 = x0[i]\n    v0 += i // i\n    o0[i] = v0\n"
    program = Program(text, {"n": 3, "x0": np.array([0, 1, 2])}, ["x0"], ["o0"], threads=3)
    assert fuzz_check.check(program).kind == "faults"


def test_the_references_types():
    text = (
        "def h(x, y=2):\n    if x > y:\n        return x\n    return 0.5\n"
        "def f(a, b):\n    t = 0\n    k = 1\n    for v in a:\n        t += v * 0.5\n        k = k + v\n    s = h(b)\n    u, w = divmod(b, 3)\n"
    )
    f = Reference(text, [Array("float32", 1), rules.T("int16")]).kernel_types
    found = {name: f.current[name] for name in ("t", "k", "s", "u")}
    assert found == {
        "t": rules.T("float32"),
        "k": rules.T("float32"),
        "s": rules.FLOAT64,
        "u": rules.T("int16"),
    }


def test_a_helper_of_two_sets_of_types_in_the_reference():
    """Each has a text of its own: a second rewriting of the first one's ended the run."""
    text = (
        "def h(x, y):\n    return (y if x > 1 else x, x or y)[0]\n"
        "def f(n, x0, o0):\n    i = cuda.grid(1)\n    v0 = h(x0[i], 2)\n    v0 = h(v0, x0[i]) + h(0.5, 1.5)\n    o0[i] = v0\n"
    )
    program = Program(text, {"n": 3, "x0": np.arange(3)}, ["x0"], ["o0"], guarded=False, threads=3)
    assert fuzz_check.check(program).kind == "same"


def test_a_power_of_nothing_may_be_folded():
    text = "def f(n, x0, o0):\n    i = cuda.grid(1)\n    v0 = x0[i]\n    if v0 ** 0:\n        v0 = v0 + 1\n    o0[i] = v0\n"
    program = Program(text, {"n": 3, "x0": np.arange(3)}, ["x0"], ["o0"], guarded=False, threads=3)
    assert fuzz_check.check(program).kind == "rejected"


def test_an_error_of_the_fuzzer_is_told_as_such(monkeypatch):
    monkeypatch.setattr(fuzz_check, "check", lambda program, nvrtc: 1 // 0)
    _, outcome = run_one(SEED, 0, nvrtc=False)
    assert outcome.kind == "the fuzzer's own error" and "ZeroDivisionError" in outcome.detail


def test_a_run_goes_on_where_its_log_ends(tmp_path):
    log = tmp_path / "log.jsonl"
    command = [sys.executable, str(Path(fuzz_check.__file__).with_name("run")), "--seed", SEED]
    command += ["--programs", "3", "--processes", "1", "--nvrtc", "0", "--log", str(log)]

    def again():
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()[-1]

    assert again().startswith("3 programs run now")
    last = again()
    assert last.startswith("0 programs run now") and "programs 0 to 2" in last and "found: none" in last
    one = json.loads(log.read_text())
    assert sum(one["counts"].values()) == 3 and one["span"] == [0, 3]
    log.write_text(json.dumps({**one, "found": [1]}) + "\n")
    assert again().startswith("3 programs run now")  # a span with a finding runs anew

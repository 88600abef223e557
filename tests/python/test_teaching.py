"""The well-known teaching kernels (tests/teaching) against NumPy and Python, and compiled for GPUs not here."""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "teaching"))

import cases
from xcuda import _runtime
from xcuda.core.signatures import types_from

CASES = cases.load()
TARGETS = ("sm_80", "sm_90", "sm_120")
NVRTC = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)


@pytest.mark.parametrize("checked", [True, False], ids=["checked", "unchecked"])
@pytest.mark.parametrize("name", CASES)
def test_against_the_reference(name, checked):
    case = CASES[name]
    given = case.inputs("SMALL")
    device = cases.to_device(given)
    case.module.launch(case.made() if checked else case.made(checked=False), **device)
    case.agree(cases.to_host(device), case.reference(given))


def test_host_arrays_as_arguments():
    case = CASES["matmul_tiled"]
    given = case.inputs("SMALL")
    found = {k: cases.copied(v) for k, v in given.items()}
    case.module.launch(case.made(), **found)
    case.agree(found, case.reference(given))


class Recorder:
    """Stands in for a kernel: notes the types of its calls."""

    def __init__(self, kernel, calls):
        self.kernel, self.calls = kernel, calls

    def __getitem__(self, shape):
        block = shape[1] if isinstance(shape[1], tuple) else (shape[1],)
        block = (*block, 1, 1)[:3]
        return lambda *args: self.calls.setdefault((self.kernel, tuple(types_from(args)), block))


def calls_of(case):
    """(kernel, types of its arguments, block) of each launch, which runs nothing."""
    calls = {}
    made = {name: Recorder(kernel, calls) for name, kernel in case.kernels.items()}
    case.module.launch(type("Made", (), made), **case.inputs("SMALL"))
    return list(calls)


@pytest.mark.skipif(NVRTC is None or bool(NVRTC["problem"]), reason="there is no NVRTC here")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_compiles(name, target):
    calls = calls_of(CASES[name])
    assert {kernel for kernel, _, _ in calls} == set(CASES[name].kernels.values())
    for kernel, types, block in calls:
        made = _runtime.compile_for(kernel, types, target, block)
        assert made["target"] == target
        assert 0 < made["registers"] <= 255
        assert 0 < made["occupancy"] <= 1


def test_a_wrong_result_is_seen():
    case = CASES["vector_add"]
    right = case.reference(case.inputs("SMALL"))
    wrong = {"c": np.nextafter(right["c"], np.float32(9))}
    with pytest.raises(AssertionError):
        case.agree(wrong, right)


def test_cuda_cpp_has_the_same_kernels(root):
    """bench/gpu_teaching.py finds them by these names; every teaching kernel has its twin."""
    twins = {
        f.stem: f.read_text()
        for f in (root / "bench/cuda").glob("*.cu")
        if f.stem not in ("events", "memory")
    }
    assert set(twins) == set(CASES)
    for name, text in twins.items():
        assert f"TEACHING({name})" in text


def test_numba_has_the_same_kernels(root):
    """bench/teaching.py finds them by these names, and hands them the same arguments by name."""
    tree = ast.parse((root / "bench/_teaching_numba.py").read_text())
    forms = {f.name: [a.arg for a in f.args.args] for f in tree.body if isinstance(f, ast.FunctionDef)}
    forms["reduce_interleaved"] = forms["reduce_sequential"] = forms["block_sums"]
    for name, case in CASES.items():
        assert forms[name] == list(case.inputs("SMALL"))

"""The analyzer over every teaching kernel and every kernel of the tutorials: what it finds is in a table, reviewed.

golden/advice.txt has a line a finding: where, rule, the user's line, and a person's verdict on it. A finding that is not
there fails the test, and so does one there that is not found ("~" before it: it may be absent, where data race). To review
anew: XCUDA_UPDATE_GOLDEN=1 adds what is new with an empty verdict, which fails until somebody has written one.
"""

import ast
import contextlib
import json
import linecache
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from xcuda import profiler

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "teaching"))

import cases  # noqa: E402

TABLE = ROOT / "tests" / "python" / "golden" / "advice.txt"
CASES = cases.load()


class Analyzed:
    """Stands in for a kernel in a case's launch(): analyzes the first call, and runs them all."""

    def __init__(self, kernel, found, shape=None):
        self.kernel, self.found, self.shape = kernel, found, shape

    def __getitem__(self, shape):
        return Analyzed(self.kernel, self.found, shape)

    def __call__(self, *arguments):
        callee = self.kernel[self.shape] if self.shape else self.kernel
        if self.kernel.__name__ not in self.found:
            self.found[self.kernel.__name__] = profiler.analyze(callee, *arguments, target="sm_90")
        callee(*arguments)

    def __getattr__(self, name):
        return getattr(self.kernel, name)


def of_case(name):
    case, found = CASES[name], {}
    case.module.launch(
        SimpleNamespace(**{n: Analyzed(k, found) for n, k in case.kernels.items()}), **case.inputs("SMALL")
    )
    assert set(found) == set(case.kernels)
    return found


def picture(n=64, m=96):
    return np.random.default_rng(5).random((n, m), dtype=np.float32)


def smoothing(gain):
    return picture(64, 64), np.ones(15, np.float32), gain, np.zeros((64, 64), np.float32)


# Of each tutorial's kernel: the launch, or None where xcuda chooses it, and the arguments.
WIDE = ((2, 8), (32, 8))
TUTORIALS = {
    "01_first_kernel": {
        "matrix_multiply": (None, lambda: (picture(64, 48), picture(48, 96), picture(64, 96))),
        "differences": (None, lambda: (np.arange(1000.0), np.zeros(999))),
        "distances": (None, lambda: (np.random.default_rng(4).random((1000, 2)), np.ones(2), np.zeros(1000))),
        "row_means": (None, lambda: (picture(), np.zeros(64, np.float32))),
    },
    "02_image_filters": {
        "blur": (((6, 4), (16, 16)), lambda: (picture(), np.ones(9, np.float32), picture())),
        "sobel": (None, lambda: (picture(), picture())),
        "histogram": (
            (8, 256),
            lambda: (np.random.default_rng(2).integers(0, 256, 9000, np.uint8), np.zeros(256, np.int32)),
        ),
        "sharpen": (None, lambda: (picture(), picture(), 1.5, picture())),
        "largest_of_blocks": (
            (8, 256),
            lambda: (np.random.default_rng(2).integers(0, 256, 2048, np.uint8), np.zeros(8, np.uint8)),
        ),
    },
    "05_profiling": {
        "smooth": (((8, 2), (8, 32)), lambda: smoothing(np.float64(0.1))),
        "smooth_coalesced": (WIDE, lambda: smoothing(np.float64(0.1))),
        "smooth_summed": (WIDE, lambda: smoothing(np.float64(0.1))),
        "smooth_counted": (WIDE, lambda: smoothing(np.float32(0.1))),
        "smooth_tiled": (WIDE, lambda: smoothing(np.float32(0.1))),
        "row_lengths": (None, lambda: (np.ones((300, 40), np.float32), np.zeros(300, np.float32))),
        "turned": (
            ((5, 3), (32, 32)),
            lambda: (np.ones((96, 160), np.float32), np.zeros((160, 96), np.float32)),
        ),
    },
}


def of_tutorial(name):
    names = kernels_of(ROOT / "notebooks" / f"{name}.ipynb")
    found = {}
    for kernel, (launch, arguments) in TUTORIALS[name].items():
        callee = names[kernel][launch] if launch else names[kernel]
        found[kernel] = profiler.analyze(callee, *arguments(), target="sm_90")
    return found


def kernels_of(notebook):
    """The names of a notebook's imports, constants and kernels; its kernels are all in TUTORIALS."""
    import math

    import xcuda.core as cuda

    names = {"cuda": cuda, "np": np, "math": math}
    for number, cell in enumerate(json.loads(notebook.read_text())["cells"]):
        text = "".join(cell["source"])
        if cell["cell_type"] != "code" or "@cuda.kernel" not in text:
            continue
        if "exercise" in cell["metadata"].get("tags", []):
            continue  # unfinished; its solution follows
        file = f"<{notebook.stem} {number}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        wanted = (ast.FunctionDef, ast.Assign)
        for node in ast.parse(text).body:
            if not isinstance(node, wanted) or isinstance(node, ast.Assign) and not plain(node.value):
                continue
            with contextlib.suppress(
                NameError
            ):  # of launches: they follow from other cells, and no kernel reads them
                exec(compile(ast.Module([node], []), file, "exec"), names)
            if isinstance(node, ast.FunctionDef):
                assert node.name in TUTORIALS[notebook.stem], f"{node.name} is not in this file's table"
    return names


def plain(value):
    return not any(isinstance(n, (ast.Call, ast.Lambda)) for n in ast.walk(value))


def rows(place, found):
    """The findings as the table has them; what one line is told twice of one rule is one row."""
    out = []
    for kernel, analysis in found.items():
        assert analysis.complete
        for f in analysis:
            line = linecache.getline(f.file, f.line).strip()
            row = f"{place} {kernel} | {f.rule} | {line}"
            if row not in out:
                out.append(row)
    return out


def table():
    """{row: (may be absent, verdict)}"""
    known = {}
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        if line and not line.startswith("#"):
            row, _, verdict = line.rpartition(" => ")
            known[row.removeprefix("~ ")] = line.startswith("~ "), verdict
    return known


@pytest.mark.parametrize("place", [*CASES, *TUTORIALS])
def test_findings_are_those_of_the_table(place):
    found = rows(place, of_tutorial(place) if place in TUTORIALS else of_case(place))
    known = table()
    new = [row for row in found if row not in known]
    if new and os.environ.get("XCUDA_UPDATE_GOLDEN"):
        with TABLE.open("a") as file:
            file.writelines(f"{row} => \n" for row in new)
    assert not new, "\n".join(["findings that nobody has reviewed:", *new])
    gone = [
        row
        for row, (absent, _) in known.items()
        if row.startswith(f"{place} ") and row not in found and not absent
    ]
    assert not gone, "\n".join(["findings that are in the table and were not made:", *gone])


def test_each_finding_has_a_verdict():
    assert table()
    for row, (_, verdict) in table().items():
        assert verdict.strip(), f"no verdict on: {row}"
        assert row.partition(" ")[0] in {*CASES, *TUTORIALS}, row

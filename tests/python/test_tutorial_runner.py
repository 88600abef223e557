"""tests/gpu/tutorials.py, which executes tutorials without Jupyter: what it calls passed, and what failed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

RUNNER = Path(__file__).parents[1] / "gpu" / "tutorials.py"


def code(source, *tags):
    return {"cell_type": "code", "metadata": {"tags": list(tags)}, "source": source.splitlines(keepends=True)}


def task(solution):
    source = f"<summary>A solution</summary>\n\n```python\n{solution}\n```"
    return {"cell_type": "markdown", "metadata": {}, "source": [source]}


KERNEL = code(
    "import numpy as np\nimport cuda.core as cuda\n\n@cuda.kernel\ndef twice(x):\n    x[cuda.grid(1)] *= 2\n"
)
SOLVED = task("def answer(x):\n    return 42")
NOTEBOOKS = {
    "01_good": [
        KERNEL,
        code("import asyncio\n\nticking = asyncio.create_task(asyncio.sleep(0.01, 'ticked'))"),
        code("%%cuda_profile -o report\nx = np.ones(8)\ntwice[1, 8](x)"),
        code("assert report.kernels[0]['calls'] == 1 and await ticking == 'ticked'"),
        SOLVED,
        code("def answer(x):\n    ...", "exercise"),
        code("print('right' if answer(1) == 42 else 'wrong')", "check"),
    ],
    "02_wrong": [SOLVED, code("print('not so')", "check")],
    "03_raises": [KERNEL, code("twice[1, 9](np.ones(8))"), code("print('never')")],
    "04_dies": [code("import os\nos._exit(3)")],
}


def test_each_notebook_by_what_became_of_it(tmp_path):
    files = []
    for name, cells in NOTEBOOKS.items():
        files.append(tmp_path / f"{name}.ipynb")
        files[-1].write_text(json.dumps({"cells": cells}))
    ran = subprocess.run(
        [sys.executable, RUNNER, "--jobs", "2", "--out", tmp_path / "out", *files],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ran.returncode == 1, ran.stderr
    rows = {
        line.split(" | ")[0].strip("| "): line.split(" | ")
        for line in ran.stdout.splitlines()
        if line[0] == "|"
    }
    good = rows["01_good"]
    assert good[1] == "passed" and good[4:6] == ["1", "1"], ran.stdout
    assert rows["02_wrong"][1] == "cell 1: the check does not say that it is right"
    assert rows["03_raises"][1].startswith("cell 1: IndexError: index 8 is out of range for axis 0 of x")
    assert rows["04_dies"][1] == "the process ended with 3"
    assert (tmp_path / "out" / "summary.md").read_text().count("\n") == 2 + len(NOTEBOOKS)

"""The puzzles with their own solutions filled in: every one is right, and its picture shows what the task says."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

PUZZLES = Path(__file__).parents[2] / "notebooks/11_puzzles.ipynb"


def tagged(notebook, tag):
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]


def solved():
    """Each exercise's cell replaced by the code that is folded in the task above it."""
    notebook, solution = nbformat.read(PUZZLES, as_version=4), None
    for cell in notebook.cells:
        found = re.search(r"<summary>A solution</summary>\n\n```python\n(.*?)\n```", cell.source, re.S)
        if cell.cell_type == "markdown":
            solution = found and found[1]
        elif "exercise" in cell.metadata.get("tags", []):
            define = re.search(r"^def \w+\(.*\):", cell.source, re.M)[0]
            assert "..." in cell.source and define in solution, "the solution is of another kernel"
            cell.source = solution
    return notebook


def test_the_solutions_are_right():
    notebook = solved()
    NotebookClient(notebook, kernel_name="xcuda", timeout=120).execute(cwd=str(PUZZLES.parent))
    checks = tagged(notebook, "check")
    assert len(checks) == len(tagged(notebook, "exercise")) == 14
    for cell in checks:
        drawn, verdict = (output.data for output in cell.outputs)
        assert verdict["text/plain"] == "right", (cell.source, verdict)
        assert "writes out[" in drawn["text/plain"]
        # nothing was left out of the picture
        assert drawn["text/html"].count("<div") == 1
    assert not [o for cell in notebook.cells for o in cell.get("outputs", []) if o.get("name") == "stderr"]

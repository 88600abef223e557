"""The puzzles with their own solutions filled in: every one is right, and its picture shows what the task says."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
PUZZLES = ROOT / "notebooks/11_puzzles.ipynb"
sys.path.insert(0, str(ROOT / "scripts"))
from tutorial_cells import solved  # noqa: E402


def tagged(notebook, tag):
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]


def test_the_solutions_are_right():
    notebook = solved(nbformat.read(PUZZLES, as_version=4))
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

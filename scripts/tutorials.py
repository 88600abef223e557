"""Executes every tutorial with the xcuda kernel: `tutorials.py [--jobs N] FOLDER [OUT]`. OUT (./executed) gets the
executed notebooks, the puzzles with their solutions filled in, and summary.md: a row a tutorial, with the figures of
its reports. An exercise's check must say "right". Ends with 1 if one of them failed."""

from __future__ import annotations

import argparse
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

sys.path.append(str(Path(__file__).parent))
from tutorial_cells import MIME, SUMMARY_HEAD, solved, summary_row, tags, text


def said(cell: nbformat.NotebookNode) -> str:
    return "".join(
        output.get("text", "") + str(output.get("data", {}).get("text/plain", "")) for output in cell.outputs
    )


def not_right(notebook: nbformat.NotebookNode) -> str:
    """The first exercise's check that does not say "right", in one sentence."""
    for number, cell in enumerate(notebook.cells):
        if "check" in tags(cell) and not re.search(r"\bright\b", said(cell)):
            return (
                f"the check in cell {number}, {text(cell).splitlines()[0]!r}, does not say that it is right"
            )
    return ""


def executed(file: Path) -> tuple[nbformat.NotebookNode, float, str]:
    """The notebook with its outputs, the seconds it took, and the error that ended it, if one did."""
    notebook = solved(nbformat.read(file, as_version=4))
    begin = time.perf_counter()
    try:
        NotebookClient(notebook, kernel_name="xcuda", timeout=300).execute(cwd=str(file.parent))
        failed = not_right(notebook)
    except CellExecutionError as error:
        failed = f"{error.ename}: {error.evalue}".splitlines()[0]
    except Exception as error:  # a kernel that died or hung: a row of its own, and the others' rows stay
        failed = f"{type(error).__name__}: {error}".splitlines()[0]
    return notebook, time.perf_counter() - begin, failed


def reports(notebook) -> list[dict]:
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.data[MIME] for output in outputs if MIME in output.get("data", {})]


def main(folder: Path, out: Path, jobs: int) -> int:
    out.mkdir(parents=True, exist_ok=True)
    lines = list(SUMMARY_HEAD)
    print("\n".join(lines))
    failures = 0
    files = sorted(folder.glob("[0-9]*.ipynb"))
    with ThreadPoolExecutor(jobs) as pool:
        for file, (notebook, seconds, failed) in zip(files, pool.map(executed, files), strict=True):
            failures += bool(failed)
            nbformat.write(notebook, out / file.name)
            lines.append(summary_row(file.stem, reports(notebook), seconds, failed))
            print(lines[-1], flush=True)
    (out / "summary.md").write_text("\n".join(lines) + "\n")
    return int(failures > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path, nargs="?", default=Path("executed"))
    parser.add_argument("--jobs", type=int, default=1, help="notebooks at a time")
    given = parser.parse_args()
    sys.exit(main(given.folder.resolve(), given.out.resolve(), given.jobs))

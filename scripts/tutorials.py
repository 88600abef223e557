"""Executes every tutorial with the xcuda kernel: `tutorials.py FOLDER [OUT]`. OUT (./executed) gets the executed
notebooks and summary.md: a row a tutorial, with the figures of its reports. Ends with 1 if one of them failed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

sys.path.append(str(Path(__file__).parent))
from tutorial_cells import MIME, SUMMARY_HEAD, summary_row


def executed(file: Path) -> tuple[nbformat.NotebookNode, float, str]:
    """The notebook with its outputs, the seconds it took, and the error that ended it, if one did."""
    notebook = nbformat.read(file, as_version=4)
    begin, failed = time.perf_counter(), ""
    try:
        NotebookClient(notebook, kernel_name="xcuda", timeout=300).execute(cwd=str(file.parent))
    except CellExecutionError as error:
        failed = f"{error.ename}: {error.evalue}".splitlines()[0]
    return notebook, time.perf_counter() - begin, failed


def reports(notebook) -> list[dict]:
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.data[MIME] for output in outputs if MIME in output.get("data", {})]


def main(folder: Path, out: Path) -> int:
    out.mkdir(parents=True, exist_ok=True)
    lines = list(SUMMARY_HEAD)
    print("\n".join(lines))
    failures = 0
    for file in sorted(folder.glob("[0-9]*.ipynb")):
        notebook, seconds, failed = executed(file)
        failures += bool(failed)
        nbformat.write(notebook, out / file.name)
        lines.append(summary_row(file.stem, reports(notebook), seconds, failed))
        print(lines[-1], flush=True)
    (out / "summary.md").write_text("\n".join(lines) + "\n")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(
        main(Path(sys.argv[1]).resolve(), Path(sys.argv[2] if len(sys.argv) > 2 else "executed").resolve())
    )

"""Executes every tutorial with the xcuda kernel: `tutorials.py FOLDER [OUT]`. OUT (./executed) gets the executed
notebooks and summary.md: a row a tutorial, with the figures of its reports. Ends with 1 if one of them failed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

MIME = "application/vnd.xcuda.report.v1+json"


def executed(file: Path) -> tuple[nbformat.NotebookNode, float, str]:
    """The notebook with its outputs, the seconds it took, and the error that ended it, if one did."""
    notebook = nbformat.read(file, as_version=4)
    begin, failed = time.perf_counter(), ""
    try:
        NotebookClient(notebook, kernel_name="xcuda", timeout=300).execute(cwd=str(file.parent))
    except CellExecutionError as error:
        failed = f"{error.ename}: {error.evalue}".splitlines()[0]
    return notebook, time.perf_counter() - begin, failed


def row(name: str, notebook, seconds: float, failed: str) -> str:
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    reports = [output.data[MIME] for output in outputs if MIME in output.get("data", {})]
    kernels = [kernel for report in reports for kernel in report["kernels"]]
    launches = sum(kernel["calls"] for kernel in kernels)
    device = sum(kernel["time"]["total"].get("value", 0) for kernel in kernels)
    compiles = [one for report in reports for one in report["compiles"] if one["from"] == "compiled"]
    compiling = sum(one["time"].get("value", 0) for one in compiles)
    devices = sorted({kernel["device"] for kernel in kernels})
    return (
        f"| {name} | {failed or 'passed'} | {seconds:.1f} s | {', '.join(devices)} | {len(kernels)} | {launches} | "
        f"{1e3 * device:.1f} ms | {len(compiles)} in {1e3 * compiling:.0f} ms |"
    )


def main(folder: Path, out: Path) -> int:
    out.mkdir(parents=True, exist_ok=True)
    lines = [
        "| tutorial | | time | device | rows of kernels | launches | time of kernels | compiled |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    print("\n".join(lines))
    failures = 0
    for file in sorted(folder.glob("[0-9]*.ipynb")):
        notebook, seconds, failed = executed(file)
        failures += bool(failed)
        nbformat.write(notebook, out / file.name)
        lines.append(row(file.stem, notebook, seconds, failed))
        print(lines[-1], flush=True)
    (out / "summary.md").write_text("\n".join(lines) + "\n")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(
        main(Path(sys.argv[1]).resolve(), Path(sys.argv[2] if len(sys.argv) > 2 else "executed").resolve())
    )

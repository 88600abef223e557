"""A tutorial as plain data, for whoever executes one: its cells, the puzzles solved, what its reports sum up to."""

from __future__ import annotations

import re

MIME = "application/vnd.xcuda.report.v1+json"
SUMMARY_HEAD = (
    "| tutorial | | time | device | rows of kernels | launches | time of kernels | compiled |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
)


def text(cell: dict) -> str:
    return "".join(cell["source"])


def tags(cell: dict) -> list[str]:
    return cell["metadata"].get("tags", [])


def solved(notebook: dict) -> dict:
    """Each exercise whose solution is folded in the task above it (the puzzles' are) is replaced by that solution."""
    solution = None
    for cell in notebook["cells"]:
        found = re.search(r"<summary>A solution</summary>\n\n```python\n(.*?)\n```", text(cell), re.S)
        if cell["cell_type"] == "markdown":
            solution = found and found[1]
        elif "exercise" in tags(cell) and solution is not None:
            define = re.search(r"^def \w+\(.*\):", text(cell), re.M)[0]
            if "..." not in text(cell) or define not in solution:
                raise ValueError(f"the solution above this exercise is of another kernel:\n{text(cell)}")
            cell["source"] = solution
    return notebook


def summary_row(name: str, reports: list[dict], seconds: float, failed: str) -> str:
    """A row under SUMMARY_HEAD. failed: the error that ended the tutorial, or an empty text."""
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

"""A report's kernels as a flat table: one row a kernel and launch shape, one column a figure, its unit in its name."""

from __future__ import annotations

import csv
import io

FIGURES = (
    ("occupancy_share", ("occupancy", "share")),
    ("registers", ("registers",)),
    ("local_B", ("local_bytes",)),
    ("shared_B", ("shared_bytes",)),
    ("read_B", ("bytes_read",)),
    ("written_B", ("bytes_written",)),
    ("flop", ("flops",)),
    ("bandwidth_B_per_s", ("bandwidth",)),
    ("flop_per_s", ("flop_rate",)),
    ("roofline_share", ("roofline", "share")),
)
TIMES = tuple((f"time_{name}_s", ("time", name)) for name in ("total", "mean", "min", "max"))


def rows(document: dict) -> list[dict]:
    """Absent figures are None."""
    return [_row(kernel) for kernel in document["kernels"]]


def columns() -> list[str]:
    plain = ["kernel", "signature", "file", "line", "device", "how", "calls", "running", "failed"]
    shape = [f"{what}_{axis}" for what in ("grid", "block") for axis in "xyz"]
    bound = ["occupancy_limit", "roofline_bound"]
    return plain + shape + [name for name, _ in TIMES + FIGURES] + bound


def _row(kernel: dict) -> dict:
    row = {
        "kernel": kernel["name"],
        "file": kernel["place"]["file"],
        "line": kernel["place"]["line"] or None,
        "occupancy_limit": kernel["occupancy"].get("limit"),
        "roofline_bound": kernel["roofline"].get("bound"),
    }
    row |= {name: kernel[name] for name in ("signature", "device", "how", "calls", "running", "failed")}
    for what in ("grid", "block"):
        row |= {f"{what}_{axis}": n for axis, n in zip("xyz", kernel[what], strict=True)}
    for name, path in TIMES + FIGURES:
        figure = kernel
        for step in path:
            figure = figure[step]
        row[name] = figure.get("value")
    return {name: row[name] for name in columns()}


def as_csv(document: dict) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns(), lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: _cell(v) for k, v in row.items()} for row in rows(document))
    return text.getvalue()


def _cell(value):
    """A spreadsheet takes text that begins so for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def as_frame(document: dict):
    try:
        import pandas
    except ImportError:
        raise ImportError(
            "to_pandas needs pandas: pip install pandas; to_csv() and to_json() need nothing"
        ) from None
    return pandas.DataFrame(rows(document), columns=columns())

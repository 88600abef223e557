"""%%cuda_profile --target: what the kernels of a report would need on a GPU that is not here."""

from __future__ import annotations

import html
from typing import NamedTuple

from IPython.core.error import UsageError
from xcuda.magics.figures import in_unit

COLUMNS = ("kernel", "block", "registers", "local memory", "shared memory", "occupancy", "limited by")


class Targeted(NamedTuple):
    """A table, and its rows for a program."""

    target: str
    rows: list[tuple[str, ...]]

    def __repr__(self) -> str:
        all_rows = [COLUMNS, *self.rows]
        widths = [max(len(row[i]) for row in all_rows) for i in range(len(COLUMNS))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in all_rows]
        return "\n".join([self._head(), *lines])

    def _repr_html_(self) -> str:
        def cells(row, tag):
            style = "text-align: left; padding: 0.1em 1em 0.1em 0"
            return "".join(f'<{tag} style="{style}">{html.escape(c)}</{tag}>' for c in row)

        body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in self.rows)
        return (
            f"<div>{html.escape(self._head())}</div><table><thead><tr>{cells(COLUMNS, 'th')}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )

    def _head(self) -> str:
        return f"On {self.target}: compiled for it, not run there."


def check_target(target: str) -> None:
    """Raises UsageError for what is no architecture whose limits are known."""
    from xcuda import _runtime

    if _runtime.occupancy(target, 32, 0, 256) is None:
        raise UsageError(f"the limits of {target!r} are not known: write sm_80, sm_90, sm_120 and the like")


def targeted(report, names: dict, target: str) -> Targeted:
    """The kernels of a report, compiled for the target; `names`: the user's, where the kernels are found."""
    from xcuda import _runtime

    rows = []
    for row in report.document["kernels"]:
        kernel = names.get(row["name"])
        title = f"{row['name']}{row['signature']}"
        if not isinstance(kernel, _runtime.Kernel):
            rows.append((title, "", "", "", "", "", f"{row['name']} is no name of the notebook"))
            continue
        block = tuple(row["block"])
        try:
            made = kernel.compile(row["signature"].replace(" (weak)", "")[1:-1], block, target=target)
        except Exception as error:  # no NVRTC, too much shared memory, records: the sentence says which
            rows.append((title, "", "", "", "", "", " ".join(str(error).split())))
            continue
        rows.append(_cells(title, block, made))
    return Targeted(target, rows)


def _cells(title, block, made):
    def figure(name, unit):
        return in_unit(made[name], unit) if name in made else "not told"

    shape = " x ".join(map(str, block[: max(i + 1 for i in range(3) if i == 0 or block[i] > 1)]))
    return (
        title,
        shape,
        str(made.get("registers", "not told")),
        figure("local_bytes", "B"),
        figure("shared_bytes", "B"),
        figure("occupancy", "share"),
        made.get("occupancy_limit", ""),
    )

"""%cuda_dashboard: a panel with each device's use, its memory by variable, what is under way and the last kernels."""

from __future__ import annotations

import threading
from collections import deque
from html import escape
from uuid import uuid4

from IPython.core.displaypub import DisplayPublisher
from xcuda.magics.figures import in_unit

WIDGET = "application/vnd.jupyter.widget-view+json"
VARIABLES = 10  # the largest
KERNELS = 8  # the last

_panel: Panel | None = None  # the one that is shown


class Watched:
    """What the devices did between two looks."""

    def __init__(self):
        from xcuda import _runtime

        self.runtime = _runtime
        self.mark, self.begin = _runtime.profile_mark(), _runtime.clock()
        self.kernels: deque = deque(maxlen=KERNELS)

    def look(self) -> dict:
        """Rows of texts, by what they are of."""
        from xcuda.core import devices
        from xcuda.core.memory import human, live_arrays
        from xcuda.profiler.progress import line

        now, mark = self.runtime.clock(), self.runtime.profile_mark()
        under_way = self.runtime.under_way(self.mark)
        report = self.runtime.report_since(
            self.mark, "block", "dashboard", self.begin, False, 0.0, False, False, None, None
        )
        rows = [] if report is None else report["kernels"]
        for row in rows:
            total = row["time"]["total"]
            told = in_unit(total["value"], "s") if "value" in total else "–"
            self.kernels.append((row["name"], str(row["calls"]), told, row["device"]))
        found, arrays = [], []
        for device in devices():
            memory = device.memory()
            busy = sum(r["time"]["total"].get("value", 0) for r in rows if r["device"] == device.label)
            share = min(1.0, busy / max(now - self.begin, 1e-9))
            use = "at work" if any(what == "launch" for what, *_ in under_way) else in_unit(share, "share")
            use = f"{human(memory['used'])} of {human(memory['total'])} in use; busy: {use}"
            found.append((f"{device.label}: {device.name}", use))
            held = sorted(live_arrays(device.label), key=lambda array: -array.nbytes)
            arrays += [
                (a.name or "(no variable)", human(a.nbytes), f"{a.dtype}, {a.shape}", device.label)
                for a in held[:VARIABLES]
            ]
        self.mark, self.begin = mark, now
        told = [(line(what, name, int(seconds), share),) for what, name, seconds, share in under_way]
        return {
            "devices": found,
            "under way": told,
            "memory by variable": arrays,
            "last kernels": list(self.kernels)[::-1],
        }


def as_html(seen: dict, note: str = "") -> str:
    """Literal styles only, no colour of text or ground: both themes show it, and a sanitiser leaves it whole."""
    cell = "text-align: left; padding: 0.1em 1.2em 0.1em 0"

    def table(head: str, rows) -> str:
        if not rows:
            return ""
        body = "".join(
            "<tr>" + "".join(f'<td style="{cell}">{escape(text)}</td>' for text in row) + "</tr>"
            for row in rows
        )
        return f'<div><b>{escape(head)}</b></div><table style="border-collapse: collapse">{body}</table>'

    told = f'<div style="opacity: 0.7">{escape(note)}</div>' if note else ""
    return "".join(table(head, rows) for head, rows in seen.items()) + told


def as_text(seen: dict) -> str:
    lines = []
    for head, rows in seen.items():
        if rows:
            lines += [head, *("  " + "  ".join(row) for row in rows)]
    return "\n".join(lines)


class Panel:
    """A display that a thread renews until nobody sees it, or `stop`.

    What is shown is a display of its own, HTML and text, so that a saved or exported notebook has what was shown last.
    Beside it stands an invisible widget, for its count of views alone: when that falls to 0 the output is gone. The
    thread only sends what changed; everything that opens or closes comms is done by the main thread.
    """

    def __init__(self, publisher, every: float):
        import ipywidgets

        self.watched, self.publisher, self.every = Watched(), publisher, every
        self.name, self.shown = f"xcuda-dashboard-{uuid4().hex}", ""
        self.widget = ipywidgets.Box(layout=ipywidgets.Layout(display="none"))
        self.ended = threading.Event()
        self.widget._view_count = 0  # front ends count from now on
        self.widget.observe(self._counted, "_view_count")
        self.thread = threading.Thread(target=self._renew, name="xcuda-dashboard", daemon=True)

    def show(self) -> None:
        self._send(update=False)
        view = {"model_id": self.widget.model_id, "version_major": 2, "version_minor": 0}
        self.publisher.publish({"text/plain": "", WIDGET: view})
        self.thread.start()

    def stop(self) -> None:
        self.ended.set()

    def _send(self, update: bool = True, note: str = "", seen: dict | None = None) -> None:
        self.seen = seen or self.watched.look()
        page, text = as_html(self.seen, note), "\n".join([as_text(self.seen), *([note] if note else [])])
        if page != self.shown:
            self.publisher.publish(
                {"text/plain": text, "text/html": page}, transient={"display_id": self.name}, update=update
            )
        self.shown = page

    def _counted(self, change) -> None:
        if change["old"] and not change["new"]:
            self.stop()  # the last view is gone: its output was removed, or the page

    def _renew(self) -> None:
        while not self.ended.wait(self.every):
            try:
                self._send()
            except RuntimeError:
                continue  # a dict of the user's grew while its names were looked at: the next look tells
        self._send(note="stopped", seen=self.seen)


def snapshot(shell, why: str) -> None:
    seen = Watched().look()
    shell.display_pub.publish({"text/plain": f"{as_text(seen)}\n{why}", "text/html": as_html(seen, why)})


def show(shell, every: float) -> None:
    """Shows the panel under this cell, in place of one shown before."""
    global _panel
    stop()
    if type(shell.display_pub) is DisplayPublisher:  # IPython in a terminal prints, and can't renew
        return snapshot(shell, "a snapshot: a terminal does not renew it")
    try:
        panel = Panel(shell.display_pub, every)
    except ModuleNotFoundError as missing:
        if missing.name != "ipywidgets":
            raise
        return snapshot(shell, "a snapshot: without ipywidgets (pip install ipywidgets) it does not change")
    panel.show()
    _panel = panel


def stop() -> str:
    """Ends the panel's updates; what it showed last stays."""
    global _panel
    panel, _panel = _panel, None
    if panel is None:
        return "No dashboard is shown."
    panel.stop()
    panel.thread.join(5)
    return "The dashboard has stopped."


def is_running() -> bool:
    return _panel is not None and _panel.thread.is_alive()

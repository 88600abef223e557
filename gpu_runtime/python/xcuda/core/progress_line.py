"""`progress`: how far a loop of launches has come, in terminals and notebooks, in the words of tqdm."""

from __future__ import annotations

import sys
import time


class progress:
    """`for x in cuda.progress(iterable)`: goes through it, and tells on one line how far the device has come.

    Nothing is shown in the first second (delay). What is shown is done: before each line it waits for the current
    stream, so launches that the loop has only started do not count. As tqdm has them: iterable, desc, total, leave,
    file, mininterval (seconds between lines), disable, unit, initial, delay; update(n), set_description, set_postfix,
    close, `n`, and `with cuda.progress(total=n) as p:`.
    """

    def __init__(
        self,
        iterable=None,
        desc="",
        total=None,
        leave=True,
        file=None,
        mininterval=0.1,
        disable=False,
        unit="it",
        initial=0,
        delay=1.0,
    ):
        self.iterable, self.desc, self.leave, self.unit = iterable, desc, leave, unit
        self.total = total if total is not None else _length(iterable)
        self.file = _usual_file() if file is None else file
        self.mininterval, self.disable = mininterval, disable
        self.n = self.initial = initial
        self.postfix = ""
        self.begin = time.monotonic()
        self.next_line = self.begin + delay
        self.width = 0  # of the line that stands there; 0: none

    def __iter__(self):
        if self.iterable is None:
            raise TypeError("progress() was given nothing to go through: progress(iterable), or update(n)")
        try:
            for item in self.iterable:
                yield item
                self.update(1)
        finally:
            self.close()

    def __len__(self):
        if self.total is None:
            raise TypeError("the length is not known: progress(..., total=n)")
        return self.total

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def update(self, n=1):
        """n more are done, or started."""
        self.n += n
        if not self.disable and time.monotonic() >= self.next_line:
            self.refresh()

    def refresh(self):
        """Waits for the current stream, and writes the line anew."""
        from xcuda.core.streams import current_stream

        if self.disable:
            return
        current_stream().synchronize()
        self._write(self.line())
        self.next_line = time.monotonic() + self.mininterval

    def set_description(self, desc="", refresh=True):
        """What stands before the line."""
        self.desc = desc
        if refresh and self.width:
            self.refresh()

    def set_postfix(self, refresh=True, **figures):
        """What stands behind it: set_postfix(loss=0.25)."""
        told = (f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in figures.items())
        self.postfix = ", ".join(told)
        if refresh and self.width:
            self.refresh()

    def close(self):
        """Writes the last line, if there was one, and ends it; without `leave` takes it away."""
        if self.disable or not self.width:
            self.width = 0
            return
        if self.leave:
            self.refresh()
            self.file.write("\n")
        else:
            self._write("")
            self.file.write("\r")
        self.file.flush()
        self.width = 0

    def line(self):
        """ "desc:  40%|████      | 4/10 [00:02<00:03, 2.00it/s]"."""
        spent = time.monotonic() - self.begin
        done = self.n - self.initial
        rate = done / spent if spent > 0 else 0.0
        told = f"{rate:.2f}{self.unit}/s" if rate >= 1 or not rate else f"{1 / rate:.2f}s/{self.unit}"
        behind = f", {self.postfix}" if self.postfix else ""
        before = f"{self.desc}: " if self.desc else ""
        if not self.total:
            return f"{before}{self.n}{self.unit} [{_clock(spent)}, {told}{behind}]"
        share = min(self.n / self.total, 1.0)
        left = _clock((self.total - self.n) / rate) if rate and self.n <= self.total else "?"
        bar = "█" * int(10 * share)
        return f"{before}{100 * share:3.0f}%|{bar:<10}| {self.n}/{self.total} [{_clock(spent)}<{left}, {told}{behind}]"

    def _write(self, line):
        self.file.write("\r" + line + " " * (self.width - len(line)))
        self.file.flush()
        self.width = max(len(line), 1)


def _usual_file():
    """tqdm's, stderr; in a notebook stdout, since front ends show stderr as they do errors."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if not shell or any(cls.__module__.startswith("IPython.terminal") for cls in type(shell).__mro__):
        return sys.stderr
    return sys.stdout


def _length(iterable):
    try:
        return len(iterable)
    except TypeError:
        return None


def _clock(seconds):
    """ "01:05", "1:01:05"."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"

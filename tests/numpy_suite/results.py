"""Runs pytest on the rewritten files in a process of its own and gathers each test's outcome."""

import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time

import psutil

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 40  # of processor time without a word, after which the process is taken to hang
SILENCE = 900  # the same by the clock: it waits for what doesn't come


class Journal(dict):
    """Outcomes by test, each written to a file as it is known: a run that is ended goes on from there."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        for line in path.read_text().splitlines() if path and path.exists() else ():
            test, told = json.loads(line)
            self[test] = told

    def keep(self, test):
        """Writes a test's outcome down."""
        if self.path:
            with self.path.open("a") as file:
                file.write(json.dumps([test, self[test]]) + "\n")


def run_file(file, stage, select=None, journal=None, applicable=False):
    """{test: {"outcome", "why", ...}} of one file; a crash or a hang fails its test and the rest goes on."""
    outcomes = Journal(journal)
    for _ in range(40):
        last, finished = _one_process(file, outcomes, stage, select, applicable)
        if finished:
            break
        if last is None:
            outcomes[f"{file.name}::(collection)"] = {
                "outcome": "fail",
                "why": "the process died before its first test",
            }
            break
    if journal and journal.exists():
        journal.unlink()
    return dict(outcomes)


def _one_process(file, outcomes, stage, select, applicable):
    path = [str(HERE / "shim"), str(HERE), *([str(stage)] if stage else []), os.environ.get("PYTHONPATH", "")]
    read, write = os.pipe()
    with tempfile.NamedTemporaryFile("w", suffix=".json") as skip:
        json.dump(sorted(outcomes), skip)
        skip.flush()
        env = dict(
            os.environ,
            PYTHONPATH=os.pathsep.join(filter(None, path)),
            NUMPY_SUITE_FD=str(write),
            NUMPY_SUITE_SKIP=skip.name,
            NPY_AVAILABLE_MEM="0",
            NUMPY_SUITE_APPLICABLE=file.parent.name if applicable else "",
        )
        pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
        limits = ["-W", "ignore", "--rootdir", str(file.parent), "-c", os.devnull]
        process = subprocess.Popen(
            [*pytest, *limits, str(file), *(["-k", select] if select else [])],
            env=env, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=file.parent,
        )  # fmt: skip
        os.close(write)
        try:
            return _read(process, os.fdopen(read), outcomes)
        finally:
            process.kill()
            process.wait()


def _next_line(process, lines):
    """(what the process tells next, _), or (None, why there is nothing); time counts as far as the process had the processor."""
    begun, spent = time.monotonic(), _processor_seconds(process)
    while True:
        try:
            return lines.get(timeout=1), "the process died"
        except queue.Empty:
            if _processor_seconds(process) - spent > SECONDS:
                return None, f"no end within {SECONDS} s of processor time"
            if time.monotonic() - begun > SILENCE:
                return None, f"no end within {SILENCE} s"


def _processor_seconds(process):
    try:
        used = psutil.Process(process.pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return used.user + used.system


def _read(process, pipe, outcomes):
    """(the last test begun, whether the run came to its end)."""
    lines = queue.Queue()
    threading.Thread(target=lambda: [*map(lines.put, pipe), lines.put(None)], daemon=True).start()
    current, open_test = None, False
    while True:
        line, ended = _next_line(process, lines)
        if line is None:
            break
        told = json.loads(line)
        if told["at"] == "done":
            return None, True
        if told["at"] == "begin":
            current, open_test = told["test"], True
        elif told["at"] == "end":
            known = outcomes.setdefault(told["test"], {})
            if known.get("outcome") != "fail":
                known.update(outcome=told["outcome"], why=told["why"])
            open_test = False
        elif told["at"] == "source":
            outcomes.setdefault(told["test"], {"outcome": "skip", "why": ""}).update(
                source=told["source"], touched=told["touched"], fallbacks=told["fallbacks"]
            )
            outcomes.keep(told["test"])
        elif told["at"] == "no import":
            outcomes[told["test"]] = {"outcome": "fail", "why": told["why"]}
    if current is not None and open_test:
        outcomes[current] = {"outcome": "fail", "why": ended}
        outcomes.keep(current)
    return current, False

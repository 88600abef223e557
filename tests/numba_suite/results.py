"""Runs the workers and gathers the outcome of each test."""

import ast
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
SILENCE = 120  # seconds without a word after which a worker is taken to hang


def run_files(files, tests, given):
    """{"file.Class.test": (outcome, why)} of the files; a crash or a hang fails its test and the rest goes on."""
    outcomes, left = {}, list(files)
    while left:
        last, finished = _one_worker(left, set(outcomes), outcomes, tests, given)
        if finished:
            break
        if last is None:
            raise SystemExit("the worker ended before its first test; run with --trace")
        file = last.partition(".")[0]
        left = left[left.index(file) :]
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(outcomes, indent=1))
    return outcomes


def _one_worker(files, skip, outcomes, tests, given):
    stage = [str(pathlib.Path(given.stage).resolve())] if given.stage else []
    path = [str(HERE / "shim"), *stage, os.environ.get("PYTHONPATH", "")]
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, path)), NUMBA_SUITE_TESTS=str(tests))
    if given.device:
        env["XCUDA_DEVICE"] = given.device
    if given.trace:
        env["NUMBA_SUITE_TRACE"] = "1"
    worker = subprocess.Popen(
        [sys.executable, str(HERE / "worker.py")],
        env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None if given.trace else subprocess.DEVNULL,
        text=True, cwd=tests,
    )  # fmt: skip
    worker.stdin.write(json.dumps({"files": files, "skip": sorted(skip)}))
    worker.stdin.close()
    lines = queue.Queue()
    threading.Thread(target=lambda: [*map(lines.put, worker.stdout), lines.put(None)], daemon=True).start()
    current, running = None, False
    while True:
        try:
            line = lines.get(timeout=SILENCE)
        except queue.Empty:
            worker.kill()
            line, ended = None, f"no end within {SILENCE} s"
        else:
            ended = "the process died"
        if line is None:
            break
        told = json.loads(line)
        if told["at"] == "done":
            worker.wait()
            return None, True
        current = f"{told['file']}.{told.get('test', '(import)')}"
        running = told["at"] in ("begin", "import")
        if told["at"] == "end":
            outcomes[current] = (told["outcome"], told["why"])
        elif told["at"] == "no import":
            for test in _tests_in(tests / "cudapy" / f"{told['file']}.py"):
                outcomes[f"{told['file']}.{test}"] = ("fail", told["why"])
    worker.kill()
    if current is not None and running:
        outcomes[current] = ("fail", ended)
    return current, False


def _tests_in(path):
    """Class.test of a file that could not be imported."""
    for node in ast.parse(path.read_text()).body:
        for item in getattr(node, "body", []) if isinstance(node, ast.ClassDef) else []:
            if isinstance(item, ast.FunctionDef) and item.name.startswith("test"):
                yield f"{node.name}.{item.name}"

"""The command: programs 0 to N of a seed in processes of their own, so that a crash or a hang is one finding of many.

Program k of seed S is the same wherever and whenever it is made; `--from K` resumes, `--one K` shows a single one.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SPAN = 500  # programs a process: what it has compiled is freed with it
HANG = 120  # seconds without a program's end


def run_one(seed, k, nvrtc):
    """Program k of a seed, the first of its attempts that is one of the language, and what became of it."""
    from .check import check
    from .programs import Maker

    for attempt in range(40):
        program = Maker(f"{seed}/{k}/{attempt}").program()
        outcome = check(program, nvrtc)
        if outcome.kind != "rejected":
            break
    return program, outcome


def work(arguments):
    """A worker: tells each program it begins, and what became of it."""
    sys.setrecursionlimit(5000)
    for k in range(arguments.start, arguments.stop):
        print(json.dumps({"begin": k}), flush=True)
        nvrtc = arguments.nvrtc > 0 and k % arguments.nvrtc == 0
        program, outcome = run_one(arguments.seed, k, nvrtc)
        told = {"end": k, "kind": outcome.kind, "nvrtc": nvrtc}
        if not outcome.good:
            from .reduce import reduced, script

            told["detail"] = outcome.detail
            try:
                smaller, again = reduced(program, outcome, nvrtc=nvrtc)
                told["script"] = script(smaller, again)
            except Exception as e:
                told["script"] = f"{program.text}\n# not reduced: {type(e).__name__}: {e}"
        print(json.dumps(told), flush=True)


class Shard(threading.Thread):
    """Takes spans of programs and runs each in a process; what a dead process was at is a finding."""

    def __init__(self, spans, arguments, results):
        super().__init__(daemon=True)
        self.spans, self.arguments, self.results = spans, arguments, results

    def run(self):
        while True:
            try:
                start, stop = self.spans.get_nowait()
            except queue.Empty:
                return
            while start < stop:
                start = self.process(start, stop)

    def process(self, start, stop):
        a = self.arguments
        command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("run")), "--worker"]
        command += [
            "--seed",
            str(a.seed),
            "--start",
            str(start),
            "--stop",
            str(stop),
            "--nvrtc",
            str(a.nvrtc),
        ]
        with tempfile.TemporaryDirectory(prefix="xcuda-fuzz-") as cache, tempfile.TemporaryFile() as errors:
            environment = {**os.environ, "XCUDA_CACHE_DIR": cache, "XCUDA_WORKERS": "1"}
            if a.device:
                environment["XCUDA_DEVICE"] = a.device
            p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=environment, text=True)
            at, timer = start, None
            hung = False

            def kill():
                nonlocal hung
                hung = True
                p.kill()

            for line in p.stdout:
                if timer:
                    timer.cancel()
                timer = threading.Timer(HANG, kill)
                timer.daemon = True
                timer.start()
                told = json.loads(line)
                if "begin" in told:
                    at = told["begin"]
                else:
                    self.results.put(told)
                    at = told["end"] + 1
            if timer:
                timer.cancel()
            p.wait()
            if p.returncode == 0 and not hung:
                return stop
            errors.seek(0)
            detail = errors.read().decode(errors="replace")[-1500:]
            kind = "hang" if hung else f"crash ({p.returncode})"
            self.results.put(
                {"end": at, "kind": kind, "nvrtc": False, "detail": detail, "script": text_of(a.seed, at)}
            )
            return at + 1


def text_of(seed, k):
    from .programs import Maker

    return Maker(f"{seed}/{k}/0").program().text


def main():
    parser = argparse.ArgumentParser(prog="tests/fuzz/run", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--from", dest="first", type=int, default=0, help="resume at this program")
    parser.add_argument("--device", default="", help="cpu or cuda:0; left out, the present default")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument(
        "--nvrtc", type=int, default=10, help="compile the CUDA text of every N-th program; 0: of none"
    )
    parser.add_argument("--one", type=int, help="show and check this program alone")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--stop", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments)
    if arguments.one is not None:
        program, outcome = run_one(arguments.seed, arguments.one, True)
        print(program.text, outcome.kind, outcome.detail, sep="\n")
        return 0 if outcome.good else 1
    return all_of_them(arguments)


def all_of_them(arguments) -> int:
    begin, last = time.time(), arguments.first + arguments.programs
    spans, results = queue.Queue(), queue.Queue()
    for start in range(arguments.first, last, SPAN):
        spans.put((start, min(start + SPAN, last)))
    shards = [Shard(spans, arguments, results) for _ in range(arguments.processes)]
    for s in shards:
        s.start()
    counts, nvrtc, told = collections.Counter(), 0, time.time()
    found = 0
    while any(s.is_alive() for s in shards) or not results.empty():
        try:
            one = results.get(timeout=1)
        except queue.Empty:
            continue
        counts[one["kind"]] += 1
        nvrtc += one["nvrtc"]
        if "detail" in one:
            found += 1
            print(
                f"\n--- program {one['end']} of seed {arguments.seed}: {one['kind']}\n{one['detail']}\n{one['script']}",
                flush=True,
            )
        if time.time() - told > 30:
            told = time.time()
            print(f"{sum(counts.values())} programs, {time.time() - begin:.0f} s, {dict(counts)}", flush=True)
    seconds = time.time() - begin
    print(
        f"seed {arguments.seed}, programs {arguments.first} to {last - 1}: {dict(counts)}; {nvrtc} compiled by NVRTC; {found} found; {seconds:.0f} s"
    )
    return 1 if found else 0

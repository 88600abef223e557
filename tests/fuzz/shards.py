"""The command: programs 0 to N of a seed in processes of their own, so that a crash or a hang is one finding of many.

Program k of seed S is the same wherever and whenever it is made; `--from K` resumes, `--one K` shows a single one.
`--log FILE` keeps what became of each span; the same command again runs the spans that are missing or were not clean.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

SPAN = 500  # programs a process: what it has compiled is freed with it
HANG = 300  # seconds without a program's end


def maker(seed, kind):
    """Makes one program of a stream: "", "wide" or "rich"."""
    from .programs import Maker
    from .rich import RichMaker

    return RichMaker(seed) if kind == "rich" else Maker(seed, kind == "wide")


def run_one(seed, k, nvrtc, kind=""):
    """Program k of a seed, the first of its attempts that is one of the language, and what became of it."""
    from .check import Outcome, check
    from .rules import Missing

    for attempt in range(40):
        try:
            program = maker(f"{seed}/{k}/{attempt}", kind).program()
        except Missing:
            continue
        try:
            outcome = check(program, nvrtc)
        except Exception:
            return program, Outcome("the fuzzer's own error", traceback.format_exc(limit=-4))
        if outcome.kind != "rejected":
            break
    return program, outcome


def work(arguments):
    """A worker: tells each program it begins, and what became of it."""
    sys.setrecursionlimit(5000)
    for k in range(arguments.start, arguments.stop):
        print(json.dumps({"begin": k}), flush=True)
        nvrtc = arguments.nvrtc > 0 and k % arguments.nvrtc == 0
        program, outcome = run_one(arguments.seed, k, nvrtc, arguments.kind)
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
                span = self.spans.get_nowait()
            except queue.Empty:
                return
            begin, (start, stop) = time.time(), span
            while start < stop:
                start = self.process(span, start, stop)
            self.results.put({"span": span, "seconds": time.time() - begin})

    def process(self, span, start, stop):
        a = self.arguments
        command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("run")), "--worker"]
        command += ["--seed", str(a.seed), "--start", str(start), "--stop", str(stop)]
        command += ["--nvrtc", str(a.nvrtc), *(["--" + a.kind] if a.kind else [])]
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
                    self.results.put({**told, "of": span})
                    at = told["end"] + 1
            if timer:
                timer.cancel()
            p.wait()
            if p.returncode == 0 and not hung:
                return stop
            errors.seek(0)
            detail = errors.read().decode(errors="replace")[-1500:]
            kind = "hang" if hung else f"crash ({p.returncode})"
            told = {"end": at, "kind": kind, "nvrtc": False, "detail": detail, "script": text_of(a, at)}
            self.results.put({**told, "of": span})
            return at + 1


def text_of(arguments, k):
    from .rules import Missing

    try:
        return maker(f"{arguments.seed}/{k}/0", arguments.kind).program().text
    except Missing as e:
        return f"its first attempt needs {e}"


def main():
    parser = argparse.ArgumentParser(prog="tests/fuzz/run", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--from", dest="first", type=int, default=0, help="resume at this program")
    parser.add_argument(
        "--log", type=Path, help="keep each span's result here, and run what it has not clean"
    )
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--wide",
        dest="kind",
        action="store_const",
        const="wide",
        default="",
        help="with bfloat16, records and parts of axes",
    )
    kinds.add_argument(
        "--rich",
        dest="kind",
        action="store_const",
        const="rich",
        help="with these and match, complex numbers, inner functions, zip, whole arrays, atomics and shared memory",
    )
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
        program, outcome = run_one(arguments.seed, arguments.one, True, arguments.kind)
        print(program.text, outcome.kind, outcome.detail, sep="\n")
        return 0 if outcome.good else 1
    return all_of_them(arguments)


def commit() -> str:
    """What is tested: the checkout's commit, and whether it holds changes beyond it."""
    here = Path(__file__).parent

    def git(*command):
        return subprocess.run(["git", *command], cwd=here, capture_output=True, text=True).stdout.strip()

    known = os.environ.get("XCUDA_FUZZ_COMMIT", "")  # for a copy without its history
    return known or git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain") else "")


class Log:
    """One line a span, of seed and device: the last line of a span is what holds."""

    def __init__(self, arguments):
        self.path, self.device = arguments.log, arguments.device
        self.seed = f"{arguments.seed} {arguments.kind}".strip()
        self.commit = commit()
        self.spans: dict[tuple, dict] = {}
        if self.path and self.path.exists():
            for line in self.path.read_text().splitlines():
                one = json.loads(line)
                if (one["seed"], one["device"]) == (self.seed, self.device):
                    self.spans[tuple(one["span"])] = one

    def clean(self, span) -> bool:
        return span in self.spans and not self.spans[span]["found"]

    def add(self, span, counts, nvrtc, found, seconds):
        one = {
            "seed": self.seed, "device": self.device, "span": span, "counts": dict(counts), "nvrtc": nvrtc,
            "found": found, "seconds": round(seconds, 1), "commit": self.commit,
            "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        }  # fmt: skip
        self.spans[tuple(span)] = one
        if self.path:
            with self.path.open("a") as f:
                f.write(json.dumps(one) + "\n")

    def told(self, spans) -> str:
        """All of the spans together, wherever and whenever they ran."""
        done = [self.spans[s] for s in spans if s in self.spans]
        counts, commits = collections.Counter(), collections.Counter()
        for one in done:
            counts.update(one["counts"])
            commits[one["commit"]] += sum(one["counts"].values())
        missing = len(spans) - len(done)
        found = [k for one in done for k in one["found"]]
        return (
            f"seed {self.seed}, programs {spans[0][0]} to {spans[-1][1] - 1}: {dict(counts)}; "
            f"{sum(one['nvrtc'] for one in done)} compiled by NVRTC; found: {found or 'none'}; "
            f"{sum(one['seconds'] for one in done):.0f} s of processes; at commits {dict(commits)}"
            + (f"; {missing} spans not run" if missing else "")
        )


def all_of_them(arguments) -> int:
    begin, last = time.time(), arguments.first + arguments.programs
    log = Log(arguments)
    wanted = [(start, min(start + SPAN, last)) for start in range(arguments.first, last, SPAN)]
    spans, results = queue.Queue(), queue.Queue()
    for span in wanted:
        if not log.clean(span):
            spans.put(span)
    shards = [Shard(spans, arguments, results) for _ in range(arguments.processes)]
    for s in shards:
        s.start()
    counts, nvrtc, found = {}, collections.Counter(), collections.defaultdict(list)
    told, total = time.time(), 0
    while any(s.is_alive() for s in shards) or not results.empty():
        try:
            one = results.get(timeout=1)
        except queue.Empty:
            continue
        if "span" in one:
            span = one["span"]
            log.add(span, counts.pop(span), nvrtc[span], found[span], one["seconds"])
            continue
        span = one["of"]
        counts.setdefault(span, collections.Counter())[one["kind"]] += 1
        nvrtc[span] += one["nvrtc"]
        total += 1
        if "detail" in one:
            found[span].append(one["end"])
            print(
                f"\n--- program {one['end']} of seed {arguments.seed}: {one['kind']}\n{one['detail']}\n{one['script']}",
                flush=True,
            )
        if time.time() - told > 30:
            told = time.time()
            print(f"{total} programs, {time.time() - begin:.0f} s", flush=True)
    print(f"{total} programs run now in {time.time() - begin:.0f} s. {log.told(wanted)}")
    return 0 if all(log.clean(span) for span in wanted) else 1

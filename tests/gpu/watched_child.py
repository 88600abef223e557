"""What probes of plans share: a process that tells rows of JSON and is ended where it falls silent, and times of a call."""

import json
import os
import select
import subprocess
import time

OVER, SILENT = "over", "silent"


def tell(**row):
    """A row to the process that watches this one."""
    print(json.dumps(row), flush=True)


def rows_of(command, silence, end, grace=0.0, env=None):
    """(the rows that a process told, why it was ended or "", the last line of its errors).

    silence: seconds without a word after which it is taken to hang, `grace` more for its start. end: time.monotonic() at
    which it is ended anyhow.
    """
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(env or {})}
    )
    text, heard, why = b"", time.monotonic() + grace, ""
    while True:
        left = min(heard + silence, end) - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            why = OVER if time.monotonic() >= end else SILENT
            process.kill()
            break
        more = os.read(process.stdout.fileno(), 1 << 16)
        if not more:
            break
        text, heard = text + more, time.monotonic()
    words = process.stderr.read().decode(errors="replace").strip().splitlines()
    failed = process.wait() != 0
    lines = text.decode(errors="replace").splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
    return rows, why, (words or ["no words"])[-1] if failed and not why else ""


def seconds_of(call, wait):
    """The median of five rounds of as many calls as take some milliseconds."""
    call()
    wait()
    begin = time.perf_counter()
    call()
    wait()
    repeats = max(1, min(200, int(0.008 / max(time.perf_counter() - begin, 1e-6))))
    rounds = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(repeats):
            call()
        wait()
        rounds.append((time.perf_counter() - begin) / repeats)
    return sorted(rounds)[2]

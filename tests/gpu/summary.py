"""What a run of tests/gpu/run comes to: `summary.py FOLDER`, which has the logs, gets summary.md and tables.md.

summary.md, printed too, is what goes into bench/RESULTS.md: counts of tests, those that failed, the tutorials, of each
benchmark its results and the goals that it reached or missed (its lines "result: ..." and "goal: ..."), the seconds of each
step. tables.md has the benchmarks' tables.
"""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from pathlib import Path

COUNTS = re.compile(r"^(?:=+ )?(\d+ (?:passed|failed|skipped|errors?|deselected).*?)(?: =+)?$")
GOAL = re.compile(r"^goal: (?P<what>.*): (?P<figure>\S+) \((?P<bound>[<>]= \S+)\): (?P<reached>yes|no)$")
FAILED = re.compile(r"^(FAILED|ERROR) (\S+\.py\S*.*)")
MOST_FAILURES = 40
TESTS = {"tests": "side by side", "tests_alone": "alone", "memcheck": "`compute-sanitizer --tool memcheck`"}
BENCHES = {
    "gpu": "bench/gpu.py",
    "teaching": "bench/gpu_teaching.py",
    "report": "bench/report.py gpu",
    "truth": "tests/gpu/truth.py",
    "math": "bench/math.py",
    "tiles": "bench/tiles.py products attention rows",
    "numeric": "bench/numeric.py",
    "pipelines": "bench/gpu_pipelines.py",
    "guided": "bench/guided.py",
}


def lines_of(file: Path) -> list[str]:
    """The lines of a file; none where it is not there."""
    return file.read_text(errors="replace").splitlines() if file.exists() else []


def steps_of(file: Path) -> dict[str, tuple[int, int]]:
    """{step: (seconds, exit status)} of what tests/gpu/run wrote down."""
    rows = (line.split() for line in lines_of(file))
    return {name: (int(seconds), int(status)) for name, seconds, status in rows}


def ended(step: tuple[int, int] | None) -> str:
    """How long a step took, and how it ended where that was not well."""
    if step is None:
        return "did not come to its end"
    seconds, status = step
    why = {0: "", 77: ", nothing to compare with"}.get(
        status, ", its time was over" if status in (124, 137) else f", ended with {status}"
    )
    return f"{seconds} s{why}"


def tests_told(lines: list[str], step: tuple[int, int] | None) -> str:
    """Counts of a pytest run, or why there are none, and what a sanitizer said."""
    counted = [m[1] for line in lines if (m := COUNTS.match(line))]
    said = [line for line in lines if line.strip()]
    told = counted[-1] if counted else (said[-1][:200] if said else "not run")
    errors = [line.strip("= ") for line in lines if "ERROR SUMMARY" in line]
    return "; ".join([told, *errors[-1:], *([ended(step)] if lines else [])])


def failures(lines: list[str]) -> list[str]:
    """The tests that failed, each with pytest's reason, once."""
    return list(dict.fromkeys(f"{m[1]} {m[2]}"[:300] for line in lines if (m := FAILED.match(line))))


def bench_told(title: str, lines: list[str], step: tuple[int, int] | None) -> list[str]:
    """A benchmark's results, then its goals: the number reached, and those that were not."""
    goals = [m for line in lines if (m := GOAL.match(line))]
    missed = [
        f"  - missed: {m['what']}: {m['figure']} (goal {m['bound']})" for m in goals if m["reached"] == "no"
    ]
    results = [f"  - {line.removeprefix('result: ')}" for line in lines if line.startswith("result: ")]
    broken = [
        f"  - {line[:300]}" for line in lines if re.match(r"\w[\w -]* failed: |\w*(Error|Exit)\b.*: ", line)
    ]
    if step is None and results:
        return [f"- `{title}`:", *results]
    reached = f"{len(goals) - len(missed)} of {len(goals)} goals reached" if goals else "no goal was told"
    return [f"- `{title}`, {ended(step)}: {reached}", *results, *broken, *missed]


def tables(lines: list[str]) -> list[str]:
    """The Markdown tables among them, a blank line between two."""
    kept: list[str] = []
    for line in lines:
        if line.startswith("|"):
            kept.append(line)
        elif kept and kept[-1]:
            kept.append("")
    return kept


def device() -> str:
    """The GPU, its driver and NVRTC, the commit where git knows it (-dirty: the files are not that commit's), the day."""
    day = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC"
    asked = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    git = subprocess.run(asked, capture_output=True, text=True, check=False)
    commit = f", commit {git.stdout.strip()}" if git.returncode == 0 else ""
    try:
        from xcuda import _runtime, core

        rows = {row["name"]: row for row in _runtime.libraries()}
        driver, nvrtc = rows["NVIDIA driver"]["version"], rows["NVRTC"]["version"]
        return f"{core.Device().name}, driver for {driver}, NVRTC of {nvrtc}{commit}, {day}:"
    except Exception as error:  # the figures are worth telling all the same
        return f"(The device can't be named: {' '.join(str(error).split())}){commit}, {day}:"


def summary(folder: Path) -> str:
    """The text of summary.md."""
    steps = steps_of(folder / "steps.txt")
    out, failed = [device(), ""], []
    for name, title in TESTS.items():
        lines = lines_of(folder / f"{name}.log")
        out.append(f"- Tests, {title}: {tests_told(lines, steps.get(name))}")
        failed += failures(lines)
    if failed:
        out += ["", f"{len(failed)} failed:", "", *(f"- {each}" for each in failed[:MOST_FAILURES])]
        if len(failed) > MOST_FAILURES:
            out.append(f"- and {len(failed) - MOST_FAILURES} more")
    table = lines_of(folder / "tutorials" / "summary.md")
    told = table or lines_of(folder / "tutorials.log")[-1:] or ["not run"]
    out += ["", f"Tutorials ({ended(steps.get('tutorials'))}):", "", *told, "", "Benchmarks:", ""]
    for name, title in BENCHES.items():
        lines = lines_of(folder / f"bench_{name}.log")
        if lines or f"bench_{name}" in steps:
            out += bench_told(title, lines, steps.get(f"bench_{name}"))
    out += ["", "Seconds: " + ", ".join(f"{name} {seconds}" for name, (seconds, _) in steps.items())]
    return "\n".join(out) + "\n"


def main() -> None:
    """Writes both files and prints the first."""
    folder = Path(sys.argv[1])
    told = summary(folder)
    (folder / "summary.md").write_text(told)
    found = {title: tables(lines_of(folder / f"bench_{name}.log")) for name, title in BENCHES.items()}
    sections = [f"`{title}`:\n\n" + "\n".join(rows).rstrip() + "\n" for title, rows in found.items() if rows]
    (folder / "tables.md").write_text("\n".join(sections))
    print(told, end="")


if __name__ == "__main__":
    main()

"""Nsight Compute from a script: a process launched under it, its figures read back and set in a table."""

import csv
import io
import os
import re
import shutil
import signal
import subprocess
import sys

LIMIT = 20.0  # seconds of a kernel's process

SECTIONS = ["LaunchStats", "Occupancy", "SpeedOfLight", "SchedulerStats", "WarpStateStats"]
METRICS = [
    "gpu__time_duration.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "lts__t_bytes.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "l1tex__t_sector_hit_rate.pct",
    *(
        f"l1tex__t_bytes_pipe_lsu_mem_{space}_op_{op}.sum"
        for space in ("global", "local")
        for op in ("ld", "st")
    ),
]
SAMPLES = "group:smsp__pcsamp_warp_stall_reasons"  # by instruction

# (what the table calls it, ncu's names of which the first that is there counts, scale, digits)
ROWS = [
    ("time, us", ["gpu__time_duration.sum"], 1e-3, 1),
    ("registers", ["launch__registers_per_thread"], 1, 0),
    ("occupancy achieved, %", ["sm__warps_active.avg.pct_of_peak_sustained_active"], 1, 1),
    ("warp instructions, 10^6", ["smsp__inst_executed.sum"], 1e-6, 2),
    ("threads of an instruction", ["smsp__thread_inst_executed_per_inst_executed.ratio"], 1, 1),
    ("issue slots used, %", ["smsp__issue_active.avg.pct", "sm__inst_issued.avg.pct_of_peak_sustained_active"], 1, 1),
    ("L1, % of its peak", ["l1tex__throughput.avg.pct_of_peak_sustained_active"], 1, 1),
    ("L2, % of its peak", ["lts__throughput.avg.pct_of_peak_sustained_elapsed"], 1, 1),
    ("DRAM, % of its peak", ["dram__throughput.avg.pct_of_peak_sustained_elapsed",
                             "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"], 1, 1),
    ("global loads in L1, MB", ["l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum"], 1e-6, 2),
    ("global stores in L1, MB", ["l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum"], 1e-6, 2),
    ("local loads, MB", ["l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"], 1e-6, 2),
    ("local stores, MB", ["l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum"], 1e-6, 2),
    ("L1 hits, %", ["l1tex__t_sector_hit_rate.pct"], 1, 1),
    ("L2, MB", ["lts__t_bytes.sum"], 1e-6, 2),
    ("DRAM read, MB", ["dram__bytes_read.sum"], 1e-6, 2),
    ("DRAM written, MB", ["dram__bytes_write.sum"], 1e-6, 2),
    ("cycles between a warp's instructions", ["smsp__average_warp_latency_per_inst_issued.ratio"], 1, 2),
]  # fmt: skip
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")


def ncu_file():
    found = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin:/opt/nvidia/nsight-compute")
    if found is None:
        print("There is no ncu here (it comes with the CUDA toolkit): nothing was profiled.")
        sys.exit(77)
    return found


def profiled(ncu, name, script, folder, more=()):
    """ncu's rows of what a Python script's arguments launch, in order. A try that gives none is told, and made with less.
    more: further options of ncu."""
    report = folder / f"{name}.ncu-rep"
    child = [sys.executable, "-X", "faulthandler", *map(str, script)]
    common = [
        "--clock-control",
        "none",
        "--target-processes",
        "application-only",
        "--import-source",
        "no",
        *more,
    ]
    what = [word for section in SECTIONS for word in ("--section", section)]
    tries = [[*what, "--metrics", ",".join([*METRICS, SAMPLES])], what]
    for number, asked in enumerate(tries):
        log = folder / f"{name}.{number}.log"
        report.unlink(missing_ok=True)
        ended = ran([ncu, "-f", "-o", str(report.with_suffix("")), *common, *asked, *child], log)
        rows = read(ncu, report, folder / f"{name}.csv") if report.exists() else []
        if ended != 0 or not rows:
            print(f"{name}: ncu ended with {ended}, {len(rows)} launches.\n{tail(log)}", flush=True)
        if rows:
            return rows, report
        if number == 0:  # a fault of its own shows here
            print(f"{name}: without ncu it ends with {ran(child, folder / f'{name}.alone.log')}", flush=True)
    return [], None


def ran(command, log):
    """The exit status; None where it took too long and was ended, with its children."""
    env = os.environ | {"PYTHONFAULTHANDLER": "1", "XCUDA_DEVICE": "cuda:0"}
    with log.open("w") as to:
        process = subprocess.Popen(command, stdout=to, stderr=to, env=env, start_new_session=True)
        try:
            return process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)  # ncu writes what it has
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            return None


def tail(log):
    return "\n".join("    " + line for line in log.read_text(errors="replace").splitlines()[-30:])


def read(ncu, report, to):
    told = subprocess.run(
        [ncu, "--import", str(report), "--csv", "--page", "raw", "--print-units", "base"],
        capture_output=True, text=True,
    )  # fmt: skip
    to.write_text(told.stdout)
    lines = [line for line in told.stdout.splitlines() if line.startswith('"')]
    return [row for row in csv.DictReader(io.StringIO("\n".join(lines))) if row.get("ID")]


def duration(row):
    return number(row, ["gpu__time_duration.sum"]) or 0


def number(row, names):
    for name in names:
        try:
            return float(row[name].replace(",", ""))
        except (KeyError, ValueError, AttributeError):
            continue
    return None


def stalls(row):
    found = {}
    for name in row:
        match = STALL.fullmatch(name or "")
        if match and not match[1].endswith("_not_issued"):
            found[match[1]] = number(row, [name]) or 0
    best = sorted(found, key=found.get, reverse=True)[:3]
    return ", ".join(f"{each} {found[each]:.2f}" for each in best) or "–"


def table(name, rows):
    print(f"\n### {name}\n\n| figure | {' | '.join(rows)} |\n| --- |{' ---: |' * len(rows)}")
    for label, names, scale, digits in ROWS:
        cells = [number(row, names) for row in rows.values()]
        if any(cell is not None for cell in cells):
            print(
                f"| {label} |",
                " | ".join("–" if c is None else f"{c * scale:.{digits}f}" for c in cells),
                "|",
            )
    print("| stalls, cycles an instruction |", " | ".join(map(stalls, rows.values())), "|", flush=True)


PIPE = re.compile(r"sm__(?:inst_executed_)?(pipe_\w+?)\.avg\.pct_of_peak_sustained_active")


def pipes(rows):
    """Rows of a table: what each pipe did of what it could while the multiprocessor worked, those above 2 %."""
    names = dict.fromkeys(n for row in rows.values() for n in row if PIPE.fullmatch(n or ""))
    for name in names:
        cells = [number(row, [name]) for row in rows.values()]
        if max(c or 0 for c in cells) > 2:
            print(f"| {PIPE.fullmatch(name)[1]}, % |", " | ".join(f"{c or 0:.1f}" for c in cells), "|")
    print(flush=True)

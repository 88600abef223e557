"""Nsight Compute's figures of teaching kernels, ours beside those of bench/cuda, of the same GPU in one run.

    python tests/gpu/ncu_teaching.py [NAMES] [--out FOLDER]    needs a GPU, ncu, nvcc and NumPy

A kernel at a time: one process launches ours (checked=False, then checked) and theirs under ncu; nvcc runs before, outside
of it, as ncu does not survive it. What takes many turns is left out: some 10 passes over a kernel instead of 38. The folder
gets ncu's report of each kernel, its figures as CSV, its samples by instruction and what it said, as they come.
"""

import argparse
import csv
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "bench"), str(HERE.parent / "teaching")]
NAMES = ["spmv_csr", "levenshtein", "kmeans_assign", "n_queens"]
OURS = {"checked=False": {"checked": False}, "checked": {}}
THEIRS = "CUDA C++"
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


def launch(name, library):
    """Each version once, ours first."""
    import cases
    import gpu_teaching
    from xcuda import core as cuda

    case = cases.load()[name]
    given = cases.to_device(case.inputs("GPU"))
    for options in OURS.values():
        case.module.launch(case.made(**options), **given)
        cuda.synchronize()
    peer = gpu_teaching.Peer(library)
    peer.caller(name, given)()
    cuda.synchronize()
    if error := peer.error():
        raise SystemExit(f"{name}: {error}")


def ncu_file():
    found = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin:/opt/nvidia/nsight-compute")
    if found is None:
        print("There is no ncu here (it comes with the CUDA toolkit): nothing was profiled.")
        sys.exit(77)
    return found


def profiled(ncu, name, library, folder):
    """ncu's rows of one kernel, in the order of the launches. A try that gives none is told, and made with less."""
    report = folder / f"{name}.ncu-rep"
    child = [sys.executable, "-X", "faulthandler", str(Path(__file__).resolve())]
    child += [name, "--child", "--library", str(library)]
    common = ["--clock-control", "none", "--target-processes", "application-only", "--import-source", "no"]
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


def by_version(rows):
    """{version: its longest launch}; ours come first and are named for the Python function, theirs are all `kernel`."""
    theirs = [row for row in rows if re.match(r"(void )?kernel\b|.*::kernel\b", row["Kernel Name"])]
    mine = [row for row in rows if row not in theirs]
    half = (len(mine) + 1) // 2
    parts = {THEIRS: theirs, "checked=False": mine[:half], "checked": mine[half:]}
    return {version: max(part, key=duration) for version, part in parts.items() if part}


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"kernels; {', '.join(NAMES)} where left out")
    parser.add_argument("--out", default="build/ncu", help="the folder for ncu's own files")
    parser.add_argument("--arch", default="sm_90", help="nvcc's -arch")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--library", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.names or NAMES
    if options.child:
        return launch(names[0], options.library)

    import gpu_teaching

    ncu, folder, begin = ncu_file(), Path(options.out).resolve(), time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    library, version = gpu_teaching.built(options.arch, folder, names)
    print(f"nvcc {version}, {time.strftime('%Y-%m-%d')}", flush=True)
    whole = 0
    for name in names:
        rows, report = profiled(ncu, name, library, folder)
        versions = by_version(rows)
        whole += len(versions) == 1 + len(OURS)
        if versions:
            table(name, versions)
            told = subprocess.run(
                [ncu, "--import", str(report), "--csv", "--page", "source"], capture_output=True
            )
            report.with_suffix(".source.csv").write_bytes(told.stdout)
        print(f"\n{time.monotonic() - begin:.0f} s", flush=True)
    print(f"ncu's own files are in {folder}.")
    return whole < len(names)


if __name__ == "__main__":
    sys.exit(main())

"""Nsight Compute's figures of teaching kernels, ours beside those of bench/cuda, of the same GPU in one run.

    python tests/gpu/ncu_teaching.py [NAMES] [--out FOLDER]    needs a GPU, ncu, nvcc and NumPy

Ours (checked=False, then checked) and theirs run in processes of their own, each under ncu; nvcc runs before, outside of
it. The folder gets ncu's report of each process, its figures as CSV, its samples by instruction and what it said.
"""

import argparse
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "bench"), str(HERE.parent / "teaching")]
NAMES = ["n_queens", "levenshtein", "spmv_csr", "kmeans_assign"]
CALLS = 2  # of each kernel; the last is shown
OURS = {"checked=False": {"checked": False}, "checked": {}}
THEIRS = "CUDA C++"
MARK = "next_case"

# Beside those of `--set full`.
MORE = [
    "gpu__time_duration.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "lts__t_bytes.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    *(
        f"l1tex__t_bytes_pipe_lsu_mem_{space}_op_{op}.sum"
        for space in ("global", "local")
        for op in ("ld", "st")
    ),
]

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
    ("branches alike in a warp, %", ["smsp__sass_average_branch_targets_threads_uniform.pct"], 1, 1),
    ("cycles between a warp's instructions", ["smsp__average_warp_latency_per_inst_issued.ratio"], 1, 2),
]  # fmt: skip
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")


def launch_ours(names):
    import cases
    from xcuda import core as cuda

    @cuda.kernel
    def next_case(out):
        out[0] = 1

    flag, loaded = cuda.zeros(1, "int32"), cases.load()
    for options in OURS.values():
        for name in names:
            case = loaded[name]
            kernels, given = case.made(**options), cases.to_device(case.inputs("GPU"))
            next_case[1, 1](flag)
            for _ in range(CALLS):
                case.module.launch(kernels, **given)
                cuda.synchronize()
            del given


def launch_theirs(names, library):
    import cases
    import gpu_teaching

    peer, loaded = gpu_teaching.Peer(library), cases.load()
    for name in names:
        given = peer.to_device(loaded[name].inputs("GPU"))
        call = peer.caller(name, given)
        peer.library.mark()
        for _ in range(CALLS):
            call()
        peer.library.mark()
        if error := peer.error():
            raise SystemExit(f"{name}: {error}")


def ncu_file():
    found = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin:/opt/nvidia/nsight-compute")
    if found is None:
        print("There is no ncu here (it comes with the CUDA toolkit): nothing was profiled.")
        sys.exit(77)
    return found


def profiled(ncu, side, arguments, folder):
    """ncu's rows of one process, in the order of the launches. A try that gives none is told, and made with less."""
    report = folder / f"{side}.ncu-rep"
    child = [sys.executable, "-X", "faulthandler", str(Path(__file__).resolve()), "--child", *arguments]
    common = ["--clock-control", "none", "--target-processes", "application-only", "--import-source", "no"]
    tries = [["--set", "full", "--metrics", ",".join(MORE)], ["--set", "full"], ["--set", "detailed"]]
    env = os.environ | {"PYTHONFAULTHANDLER": "1", "XCUDA_DEVICE": "cuda:0"}
    for number, what in enumerate(tries):
        log = folder / f"{side}.{number}.log"
        report.unlink(missing_ok=True)
        with log.open("w") as to:
            ended = subprocess.run(
                [ncu, "--force-overwrite", "-o", str(report.with_suffix("")), *common, *what, *child],
                stdout=to, stderr=subprocess.STDOUT, env=env,
            ).returncode  # fmt: skip
        rows = read(ncu, report, folder / f"{side}.csv") if report.exists() else []
        if rows:
            if ended:
                print(f"{side}: ncu ended with {ended}, after {len(rows)} launches.\n{tail(log)}")
            return rows, report
        print(f"{side}: ncu {' '.join(what)} ended with {ended} and no launches.\n{tail(log)}")
        if number == 0:
            alone(side, child, env, folder)
    return [], None


def alone(side, child, env, folder):
    """The same process without ncu: a fault of its own shows here."""
    told = subprocess.run(child, capture_output=True, text=True, env=env)
    (folder / f"{side}.alone.log").write_text(told.stdout + told.stderr)
    print(f"{side}: the same without ncu ended with {told.returncode}. {told.stderr.strip()[-1500:]}")


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


def cut(rows):
    """The launches between marks."""
    parts = []
    for row in rows:
        if MARK in row["Kernel Name"]:
            parts.append([])
        elif parts:
            parts[-1].append(row)
    return [part for part in parts if part]


def number(row, names):
    for name in names:
        try:
            return float(row[name].replace(",", ""))
        except (KeyError, ValueError, AttributeError):
            continue
    return None


def longest(launches):
    """Of the last call."""
    last = launches[len(launches) - len(launches) // CALLS :] or launches
    return max(last, key=lambda row: number(row, ["gpu__time_duration.sum"]) or 0)


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
    parser.add_argument("--child", choices=["ours", "theirs"], help=argparse.SUPPRESS)
    parser.add_argument("--library", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.names or NAMES
    if options.child == "ours":
        return launch_ours(names)
    if options.child == "theirs":
        return launch_theirs(names, options.library)

    import gpu_teaching

    ncu, folder, begin = ncu_file(), Path(options.out).resolve(), time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    library, version = gpu_teaching.built(options.arch, folder, names)
    print(f"nvcc {version}, {time.strftime('%Y-%m-%d')}", flush=True)
    mine, my_report = profiled(ncu, "ours", ["ours", *names], folder)
    other, their_report = profiled(ncu, "theirs", ["theirs", *names, "--library", str(library)], folder)
    mine, other = cut(mine), cut(other)
    for i, name in enumerate(names):
        rows = {THEIRS: longest(other[i])} if i < len(other) else {}
        for j, kind in enumerate(OURS):
            if i + j * len(names) < len(mine):
                rows[kind] = longest(mine[i + j * len(names)])
        if rows:
            table(name, rows)
    for report in filter(None, (my_report, their_report)):  # by instruction: which of them waits
        told = subprocess.run(
            [ncu, "--import", str(report), "--csv", "--page", "source"], capture_output=True
        )
        report.with_suffix(".source.csv").write_bytes(told.stdout)
    print(f"\n{time.monotonic() - begin:.0f} s; ncu's own files are in {folder}.")
    return 0 if len(other) == len(names) and len(mine) == len(OURS) * len(names) else 1


if __name__ == "__main__":
    sys.exit(main())

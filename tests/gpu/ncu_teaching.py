"""Nsight Compute's figures of teaching kernels, ours beside those of bench/cuda, of the same GPU in one run.

    python tests/gpu/ncu_teaching.py [NAMES] [--out FOLDER]    needs a GPU, ncu, nvcc and NumPy

A kernel at a time: one process launches ours (checked=False, then checked) and theirs under ncu; nvcc runs before, outside
of it, as ncu does not survive it. What takes many turns is left out: some 10 passes over a kernel instead of 38. The folder
gets ncu's report of each kernel, its figures as CSV, its samples by instruction and what it said, as they come.
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

from ncu_report import duration, ncu_file, profiled, table

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "bench"), str(HERE.parent / "teaching")]
NAMES = ["spmv_csr", "levenshtein", "kmeans_assign", "n_queens"]
OURS = {"checked=False": {"checked": False}, "checked": {}}
THEIRS = "CUDA C++"


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


def by_version(rows):
    """{version: its longest launch}; ours come first and are named for the Python function, theirs are all `kernel`."""
    theirs = [row for row in rows if re.match(r"(void )?kernel\b|.*::kernel\b", row["Kernel Name"])]
    mine = [row for row in rows if row not in theirs]
    half = (len(mine) + 1) // 2
    parts = {THEIRS: theirs, "checked=False": mine[:half], "checked": mine[half:]}
    return {version: max(part, key=duration) for version, part in parts.items() if part}


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
        rows, report = profiled(
            ncu, name, [Path(__file__).resolve(), name, "--child", "--library", library], folder
        )
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

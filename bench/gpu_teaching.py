"""The teaching kernels (tests/teaching) on a GPU beside the same kernels in CUDA C++ (bench/cuda), in one run.

Same algorithm, same block shapes, arrays that already lie on the device, one stream; times are the device's, by CUDA
events around many launches; contestants take turns, medians are told. Each result is checked first.

python bench/gpu_teaching.py [NAMES] [--json FILE] [--arch native] [--seconds 75]    needs a GPU, nvcc and NumPy
python bench/gpu_teaching.py --build        only makes the libraries of this and of bench/gpu.py, in XCUDA_PEERS
"""

import argparse
import ctypes
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import _nvcc
import numpy
from _measure import goal, result
from gpu import built_peer

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "teaching"))
THEIRS, CHECKED, UNCHECKED = "CUDA C++", "xcuda, checked", "xcuda, checked=False"
ROUNDS = (5, 15)
SPAN = 8.0  # milliseconds of work between two events, at least
MOST = 200  # launches of one kernel's whole work between them, at most
STREAM = None  # the default stream, which is ours too
GOALS = {UNCHECKED: 1.0, CHECKED: 1.05}  # geometric mean of ours / theirs
WORST = 1.2


class Argument(ctypes.Structure):
    """bench/cuda/teaching.cuh's."""

    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_longlong * 3), ("value", ctypes.c_double)]


def built(arch, folder, names=None):
    """bench/cuda as a library in the folder, made by nvcc unless it lies there: (its file, nvcc's version).

    names: these kernels alone.
    """
    nvcc = _nvcc.find()
    if not nvcc:
        raise SystemExit("this benchmark needs nvcc, for the kernels in CUDA C++")
    wanted = None if names is None else {*names, "events"}
    sources = sorted(f for f in (HERE / "cuda").glob("*.cu") if wanted is None or f.stem in wanted)
    headers = sorted((HERE / "cuda").glob("*.cuh"))
    file = _nvcc.library(folder, "libteaching", sources, arch, headers=headers, options=["--threads", "0"])
    told = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    return file, told.strip().splitlines()[-1]


class Peer:
    """The kernels of bench/cuda, in one library."""

    def __init__(self, file):
        self.library = ctypes.CDLL(str(file))
        self.library.time_end.restype = ctypes.c_float
        self.library.last_error.restype = ctypes.c_char_p

    def __contains__(self, name):
        return hasattr(self.library, name)

    def caller(self, name, arguments):
        """A call that launches the kernel on device arrays, which it keeps alive."""
        made = (Argument * len(arguments))(*map(argument, arguments.values()))
        function = getattr(self.library, name)
        return lambda keep=arguments: function(made, STREAM)

    def error(self):
        """The CUDA runtime's last error as text, or None."""
        told = self.library.last_error()
        return told and told.decode()

    def milliseconds(self, call, times):
        """Device time of one call, over `times` of them."""
        self.library.time_begin(STREAM)
        for _ in range(times):
            call()
        return self.library.time_end(STREAM) / times


def argument(value):
    if not hasattr(value, "__cuda_array_interface__"):
        return Argument(None, (0, 0, 0), float(value))
    about = value.__cuda_array_interface__
    shape = (*about["shape"], 1, 1, 1)[:3]
    return Argument(about["data"][0], shape, 0.0)


def differs(case, found, right):
    """Whether results are not the same to the bit; where they are, there is no more to compare."""
    return hasattr(case.module, "agree") or not all(numpy.array_equal(found[k], right[k]) for k in right)


def measured(case, peer, cases, cuda, seconds):
    """{contestant: median milliseconds} of one kernel in about so many seconds; stops the run where results differ."""
    began = time.perf_counter()
    given = case.inputs("GPU")
    calls, arrays = {}, {}
    for name, options in ((THEIRS, None), (CHECKED, {}), (UNCHECKED, {"checked": False})):
        device = cases.to_device(given)
        arrays[name] = device
        if options is None:
            calls[name] = peer.caller(case.name, device)
        else:
            calls[name] = functools.partial(case.module.launch, case.made(**options), **device)
    results = {}
    checked = case.reference(case.inputs("SMALL"))  # for the names of what is compared
    own_rule = hasattr(case.module, "agree")  # which may look at the other arrays too
    for name, call in calls.items():
        call()
        cuda.synchronize()
        results[name] = cases.to_host({k: v for k, v in arrays[name].items() if own_rule or k in checked})
        error = peer.error()
        if error:
            raise RuntimeError(f"{name}: {error}")
    right = {k: results[THEIRS][k] for k in checked}
    for name in (CHECKED, UNCHECKED):
        if differs(case, results[name], right):
            case.agree(results[name], right)
    del results, right
    once = min(peer.milliseconds(calls[THEIRS], 1) for _ in range(3))
    times = max(1, min(MOST, round(SPAN / max(once, 1e-3))))
    taken = {name: [] for name in calls}
    for call in calls.values():
        peer.milliseconds(call, times)
    a_round = 3 * once * times / 1e3
    left = seconds - (time.perf_counter() - began)
    for _ in range(round(min(max(left / a_round, ROUNDS[0]), ROUNDS[1] if once < 50 else ROUNDS[0]))):
        for name, call in calls.items():
            taken[name].append(peer.milliseconds(call, times))
    return {name: statistics.median(t) for name, t in taken.items()}


def report(figures):
    """Prints what the figures come to: means and worst of each of ours."""
    for name in (UNCHECKED, CHECKED):
        ratios = {kernel: row[name] / row[THEIRS] for kernel, row in figures.items()}
        mean, worst = statistics.geometric_mean(ratios.values()), max(ratios, key=ratios.get)
        result(
            f"{name} / {THEIRS}, {len(ratios)} kernels: geometric mean {mean:.3f}, worst {ratios[worst]:.2f} ({worst})"
        )
        goal(f"geometric mean, {name}", mean, GOALS[name])
        for kernel in [k for k in ratios if k == worst or ratios[k] > WORST]:
            goal(f"{kernel}, {name}", ratios[kernel], WORST)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels; all where left out")
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--arch", default="native", help="nvcc's -arch")
    parser.add_argument("--seconds", type=float, default=75, help="for all; kernels without time are named")
    parser.add_argument(
        "--build", action="store_true", help="only the libraries, gpu.py's too, in XCUDA_PEERS"
    )
    options = parser.parse_args()
    begin = time.perf_counter()
    kept = os.environ.get("XCUDA_PEERS")
    if kept:
        Path(kept).mkdir(parents=True, exist_ok=True)
    if options.build:
        print(*built(options.arch, kept or parser.error("XCUDA_PEERS names the folder for it")), built_peer())
        return

    import cases
    from xcuda import core as cuda

    device = cuda.Device()
    if device.kind != "cuda":
        raise SystemExit(f"this benchmark is for a GPU; the device here is {device.name}")
    folder = tempfile.TemporaryDirectory()
    file, version = built(options.arch, kept or folder.name)
    peer = Peer(file)
    loaded = {name: case for name, case in cases.load().items() if name in peer}
    unknown = set(options.names) - set(loaded)
    if unknown:
        parser.error(f"there is no kernel '{min(unknown)}' in bench/cuda")
    print(f"{device.name}, {device.toolchain}, nvcc {version}, {time.strftime('%Y-%m-%d')}\n")
    print(f"| kernel | {THEIRS}, ms | {CHECKED}, ms | {UNCHECKED}, ms | checked / C++ | unchecked / C++ |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
    figures, no_time, failed = {}, [], []
    wanted = options.names or list(loaded)
    for number, name in enumerate(wanted):
        left = options.seconds - (time.perf_counter() - begin)
        if left <= 0:
            no_time.append(name)
            continue
        try:
            row = measured(loaded[name], peer, cases, cuda, left / (len(wanted) - number))
        except Exception as error:  # one kernel's failure leaves the others their run
            failed.append(f"{name} failed: {type(error).__name__}: {' '.join(str(error).split())[:300]}")
            print(failed[-1], file=sys.stderr, flush=True)
            continue
        figures[name] = row
        cells = [f"{row[who]:.4g}" for who in (THEIRS, CHECKED, UNCHECKED)]
        cells += [f"{row[who] / row[THEIRS]:.3f}" for who in (CHECKED, UNCHECKED)]
        print("|", " | ".join([name, *cells]), "|", flush=True)
    print()
    if figures:
        report(figures)
    for line in failed:
        result(line)
    if no_time:
        result(f"no time for {', '.join(no_time)}")
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()

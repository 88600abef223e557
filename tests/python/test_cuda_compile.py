"""Every kernel of the kernel tests, compiled by NVRTC for GPUs that need not be here, and what the cubins tell."""

import inspect
import itertools
import re
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pytest
import test_kernel_blocks
import test_kernel_shapes
from xcuda import _runtime
from xcuda import core as cuda
from xcuda.core.signatures import types_from

TARGETS = ("sm_80", "sm_90", "sm_100")

NVRTC = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
if NVRTC is None:
    pytest.skip("this build has no CUDA device, so nothing compiles for one", allow_module_level=True)
if NVRTC["problem"]:
    pytest.skip(f"{NVRTC['problem']}; {NVRTC['advice']}", allow_module_level=True)


class Recorder:
    """Stands in for a kernel while a test runs: notes what it would have been launched with."""

    def __init__(self, kernel, cases):
        self.kernel, self.cases = kernel, cases

    def __getitem__(self, shape):
        def launch(*args):
            types = tuple(types_from(args))
            options = "" if self.kernel.checked else " unchecked"
            name = f"{self.kernel.made.__name__} {_short(types)}{options}"
            self.cases.setdefault(name, (self.kernel.made, types))

        return launch


class Made:
    def __init__(self, made, checked=True):
        self.made, self.checked = made, checked


class Core:
    """xcuda.core with a `kernel` that records."""

    def __init__(self, cases):
        self.cases = cases

    def __getattr__(self, name):
        return getattr(cuda, name)

    def kernel(self, function=None, **options):
        if function is None:
            return lambda f: self.kernel(f, **options)
        return Recorder(Made(cuda.kernel(function, **options), options.get("checked", True)), self.cases)


def _short(types):
    letters = {"contiguous": "c", "inner": "i", "strided": "s", "bytes": "b"}
    return " ".join(f"{t[1]}[{t[2]}{letters[t[3]]}]" if t[0] == "array" else t[1] for t in types)


def recorded(module):
    """{name: (kernel, types)} of all launches in a module's tests, which run without a device."""
    cases = {}
    core = Core(cases)
    stand_ins = {"cuda": core}
    for name, value in vars(module).items():
        if isinstance(value, _runtime.Kernel):
            stand_ins[name] = Recorder(Made(value), cases)
    if hasattr(module, "check"):
        stand_ins["check"] = lambda f, grid, block, *args, rtol=0, **options: core.kernel(f, **options)[
            grid, block
        ](*args)
    before = {name: vars(module)[name] for name in stand_ins}
    kernels = {id(before[name]): stand_in for name, stand_in in stand_ins.items()}
    vars(module).update(stand_ins)
    try:
        for name, test in list(vars(module).items()):
            if name.startswith("test_") and "refus" not in name and callable(test):
                wanted = set(inspect.signature(test).parameters)
                for arguments in parametrisations(test):
                    if "capsys" in wanted:
                        arguments["capsys"] = MagicMock()
                    if wanted - set(arguments):
                        continue  # another fixture: not for here
                    arguments = {key: kernels.get(id(value), value) for key, value in arguments.items()}
                    try:
                        test(**arguments)
                    except (AssertionError, pytest.fail.Exception, pytest.skip.Exception):
                        pass  # nothing was computed; what it launches is noted
    finally:
        vars(module).update(before)
    return cases


def parametrisations(test):
    axes = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names = mark.args[0]
            names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
            axes.append([dict(zip(names, v if len(names) > 1 else (v,), strict=True)) for v in mark.args[1]])
    for combination in itertools.product(*axes):
        yield {key: value for part in combination for key, value in part.items()}


CASES = {**recorded(test_kernel_shapes), **recorded(test_kernel_blocks)}
USUAL = {name for name in CASES if "float32" in name and "unchecked" not in name}


def test_the_kernels_were_found():
    assert len(CASES) > 100
    assert {"tiled float32[2c] float32[2c] float32[2c]", "mandelbrot float64[2c] float64[2c]"} <= set(CASES)


@pytest.mark.parametrize(
    ("name", "target"), [(n, t) for n in CASES for t in TARGETS if t == "sm_90" or n in USUAL]
)
def test_compiles(name, target):
    kernel, types = CASES[name]
    made = _runtime.compile_for(kernel, types, target, None)
    assert made["target"] == target
    assert made["bytes"] > 1000
    assert 0 < made["registers"] <= 255
    assert made["local_bytes"] >= 0
    assert 0 < made["occupancy"] <= 1


@cuda.kernel
def transposed_sum(out, x):
    tile = cuda.shared.array((16, 17), cuda.float64)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = x[ty, tx]
    cuda.syncthreads()
    table = cuda.local.array(100, cuda.float32)
    for i in range(100):
        table[i] = tile[tx, ty] * i
    out[ty, tx] = table[int(x[ty, tx])]


SUM_TYPES = "float64[:, ::1], float64[:, ::1]"


@pytest.mark.parametrize("target", ["sm_75", *TARGETS, "sm_120"])
def test_figures(target):
    made = transposed_sum.compile(SUM_TYPES, (16, 16, 1), target=target)
    assert made["shared_bytes"] == 16 * 17 * 8
    assert made["local_bytes"] >= 400
    assert made["block"] == (16, 16, 1)


@pytest.mark.parametrize("target", ["sm_75", *TARGETS, "sm_120"])
def test_figures_are_cuobjdumps(target, tmp_path):
    tool = cuobjdump()
    made = transposed_sum.compile(SUM_TYPES, target=target)
    file = tmp_path / "kernel.cubin"
    file.write_bytes(made["cubin"])
    told = subprocess.run(
        [tool, "--dump-resource-usage", file], capture_output=True, text=True, check=True
    ).stdout
    figures = {key: int(value) for key, value in re.findall(r"(REG|STACK|SHARED):(\d+)", told)}
    reserved = 1024 if int(target[3:]) >= 90 else 0  # the system's own, which cuobjdump counts
    assert (made["registers"], made["local_bytes"], made["shared_bytes"]) == (
        figures["REG"],
        figures["STACK"],
        figures["SHARED"] - reserved,
    )


def cuobjdump():
    wheels = [Path(p) / "nvidia/cu13/bin/cuobjdump" for p in sys.path]
    found = shutil.which("cuobjdump") or next((str(p) for p in wheels if p.exists()), None)
    if not found:
        pytest.skip("there is no cuobjdump: pip install nvidia-cuda-cuobjdump")
    return found


def test_occupancy_of_a_known_kernel():
    @cuda.kernel
    def twice(y, x):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = 2 * x[i]

    made = twice.compile((np.zeros(4, np.float32), np.zeros(4, np.float32)), (1024, 1, 1), target="sm_90")
    assert (made["occupancy"], made["resident_blocks"], made["occupancy_limit"]) == (1.0, 2, "threads")


@pytest.mark.parametrize("target", ["sm_", "gfx90a", "90", ""])
def test_no_architecture(target):
    with pytest.raises(ValueError, match="is no GPU architecture; write sm_80"):
        transposed_sum.compile(SUM_TYPES, target=target)


def test_too_old_an_architecture():
    with pytest.raises(Exception, match=r"compiles for sm_\d+ and later, not for sm_52"):
        transposed_sum.compile(SUM_TYPES, target="sm_52")


def test_too_much_shared_memory():
    @cuda.kernel
    def greedy(x):
        s = cuda.shared.array(20000, cuda.float32)
        s[cuda.threadIdx.x] = x[cuda.threadIdx.x]
        cuda.syncthreads()
        x[cuda.threadIdx.x] = s[19999 - cuda.threadIdx.x]

    made = greedy.compile("float32[::1]", target="sm_90")
    assert (made["shared_bytes"], made["occupancy_limit"]) == (80000, "shared memory")
    with pytest.raises(
        ValueError,
        match="greedy: a block takes 80000 bytes of shared memory from shared.array; sm_75 has at most 65536",
    ):
        greedy.compile("float32[::1]", target="sm_75")


def test_large_shared_arrays_lie_before_the_launchs_own():
    @cuda.kernel
    def mixed(x):
        s = cuda.shared.array(20000, cuda.float32)
        t = cuda.shared.array(100, cuda.float64)
        own = cuda.shared.array(0, cuda.int32)
        i = cuda.threadIdx.x
        s[i] = x[i]
        t[i % 100] = x[i]
        own[i] = i
        cuda.syncthreads()
        x[i] = s[19999 - i] + t[99 - i % 100] + own[0]

    text = mixed.compile("float32[::1]", target="sm_90")["text"]
    assert "(f32*)(xc_dynamic_shared + 0)" in text
    assert "(f64*)(xc_dynamic_shared + 80000)" in text
    assert "(i32*)(xc_dynamic_shared + 80832)" in text
    assert "(xc_dynamic_shared_bytes() - 80832) / (i64)sizeof(i32)" in text


def test_fastmath_is_another_text_for_the_compiler():
    def root(y, x):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = np.sin(x[i]) / x[i]

    exact = cuda.kernel(root).compile("float32[::1], float32[::1]", target="sm_90")
    fast = cuda.kernel(root, fastmath=True).compile("float32[::1], float32[::1]", target="sm_90")
    assert len(fast["cubin"]) < len(exact["cubin"])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_constants_that_are_no_numbers(dtype):
    @cuda.kernel
    def edges(x):
        x[0] = np.nan
        x[1] = np.inf if x[3] > 0 else -np.inf
        x[2] = min(x[2], float("inf"))

    assert edges.compile(f"{dtype}[::1]", target="sm_90")["registers"] > 0


def test_the_arguments_of_a_call_with_records_and_structs():
    """Found by the fuzzer: arrays of records could be called with, not compiled for."""

    def moved(r, point, by):
        i = cuda.grid(1)
        if i < r.shape[0]:
            r[i]["x"] += point[0] * by + point[1]
            r[i]["n"] = i

    kernel = cuda.kernel(moved)
    r = np.zeros(5, [("x", "f4"), ("n", "i8")])
    made = kernel.compile((r, (2, 0.5), np.float32(3)), target="sm_90")
    assert made["registers"] > 0
    kernel[1, 8](r, (2, 0.5), np.float32(3))
    assert r["x"].tolist() == [6.5] * 5 and r["n"].tolist() == [0, 1, 2, 3, 4]

"""What options reach NVRTC, from a launch and from compile(target=), and that every one is part of the caches' keys."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fake_cuda import library, on_fake
from xcuda import _runtime
from xcuda import core as cuda
from xcuda.jit import compile_kernel, load

# Of a kernel, and what NVRTC must be told for it: what is in the text itself needs no word.
OPTIONS = {
    "plain": ({}, []),
    "unchecked": ({"checked": False}, []),
    "fastmath": ({"fastmath": True}, ["--use_fast_math", "-DXC_FAST_MATH"]),
    "fma": ({"fma": False}, ["--fmad=false"]),
    "opt": ({"opt": False}, ["--ptxas-options=-O0"]),
    "registers": ({"max_registers": 24}, ["--maxrregcount=24"]),
    "bounds": ({"launch_bounds": 512}, []),
    "least blocks": ({"launch_bounds": (512, 2)}, []),
    "cluster": ({"launch_bounds": (512, 2, 4)}, []),
    "two": (
        {"fastmath": True, "max_registers": 24},
        ["--use_fast_math", "-DXC_FAST_MATH", "--maxrregcount=24"],
    ),
}
TYPES = "float32[::1], float32[::1]"


def mixed(y, x):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = math.sin(x[i]) * x[i] + y[i]


@pytest.fixture(autouse=True)
def recording(tmp_path, monkeypatch):
    """The test's child has NVRTC as it is, which notes what it is told, and a cache of its own."""
    found = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
    if found is None or found["problem"]:
        pytest.skip("NVRTC is not here")
    recorder = library() and library().with_name("libnvrtc.so.13")
    if not recorder or not recorder.exists():
        pytest.skip("the recorder of NVRTC's options is not built: it is with -DXCUDA_TESTS=ON")
    monkeypatch.setenv("REAL_NVRTC", found["file"])
    monkeypatch.setenv("XCUDA_NVRTC", str(recorder))
    monkeypatch.setenv("RECORDED_NVRTC", str(tmp_path / "options"))
    monkeypatch.setenv("XCUDA_CACHE_DIR", str(tmp_path / "cache"))
    for variable in ("XCUDA_NVRTC_OPTIONS", "NVRTC_APPEND_FLAGS"):
        monkeypatch.delenv(variable, raising=False)


read = 0


def told():
    """The options of each compile since the last call."""
    global read
    file = Path(os.environ["RECORDED_NVRTC"])
    lines = file.read_text().splitlines() if file.exists() else []
    fresh, read = lines[read:], len(lines)
    return [line.split("|") for line in fresh]


def launch(kernel):
    x = cuda.to_device(np.ones(1000, np.float32))
    kernel[4, 256](cuda.zeros(1000, "float32"), x)


@on_fake()
def test_a_launch_and_a_target_give_nvrtc_the_same_options():
    target = "sm_%d%d" % cuda.Device().compute_capability
    plain = None
    for name, (options, words) in OPTIONS.items():
        kernel = cuda.kernel(mixed, **options)
        launch(kernel)
        (launched,) = told()
        kernel.compile(TYPES, target=target)
        (targeted,) = told()
        assert launched == targeted, name
        plain = plain or launched
        assert [word for word in launched if word not in plain] == words, name
        assert set(plain) <= set(launched), name


@on_fake()
def test_no_answer_comes_out_of_the_drivers_cache():
    """From CUDA 12.9 on NVRTC keeps one, by a key of its own; a compile that it answers has no log, which tells of spills."""
    cuda.kernel(mixed).compile(TYPES, target="sm_90")
    (words,) = told()
    version = next(row for row in _runtime.libraries() if row["name"] == "NVRTC")["version"]
    number = tuple(int(part) for part in version.split()[1].rstrip(",").split("."))
    assert ("--no-cache" in words) == (number >= (12, 9))
    assert "--ptxas-options=-v" in words


@on_fake()
def test_every_option_is_part_of_the_keys():
    images = {}
    for name, (options, _) in OPTIONS.items():
        launch(kernel := cuda.kernel(mixed, **options))
        assert len(told()) == 1, f"{name}: another's machine code was taken"
        images[name] = kernel.specialisations[-1]
        assert images[name]["source"] == "compiled"
        launch(again := cuda.kernel(mixed, **options))
        assert again.specialisations[-1]["source"] == "memory" and not told(), name
    # What each asks for is seen in what came of it.
    assert images["plain"]["local_bytes"] > 0 == images["fastmath"]["local_bytes"]
    assert images["two"]["local_bytes"] == 0 and images["two"]["registers"] <= 24
    assert images["registers"]["registers"] <= 24
    assert images["plain"]["registers"] < images["opt"]["registers"]
    # Another process finds each on disk, and its own.
    code = (
        "import test_cuda_compile_options as t\n"
        "for name, (options, _) in t.OPTIONS.items():\n"
        "    t.launch(k := t.cuda.kernel(t.mixed, **options))\n"
        "    s = k.specialisations[-1]\n"
        "    print(name, s['source'], s['registers'], s['local_bytes'], sep=',')\n"
    )
    there = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=120
    )
    assert there.returncode == 0, there.stderr
    want = [f"{name},disk,{s['registers']},{s['local_bytes']}" for name, s in images.items()]
    assert there.stdout.splitlines() == want
    assert not told()


@on_fake()
@pytest.mark.parametrize("variable", ["XCUDA_NVRTC_OPTIONS", "NVRTC_APPEND_FLAGS"])
def test_options_of_the_environment_are_part_of_the_keys(variable):
    launch(cuda.kernel(mixed))
    os.environ[variable] = "-DNOTHING"
    launch(cuda.kernel(mixed))
    assert len(told()) == 2
    launch(cuda.kernel(mixed))
    assert not told()


@on_fake()
@pytest.mark.parametrize("options", [{}, {"optimize": "aggressive"}, {"optimize": "none"}])
def test_what_was_saved_for_a_gpu_elsewhere_is_taken_there(tmp_path, options):
    target = "sm_%d%d" % cuda.Device().compute_capability
    path = compile_kernel(mixed, **options).save(Path(tmp_path) / "k", TYPES, target=target)
    assert told()
    kernel = load(path)
    launch(kernel)
    kernel(cuda.zeros(1000, "float32"), cuda.to_device(np.ones(1000, np.float32)))
    assert {s["source"] for s in kernel.specialisations} == {"file"}
    assert not told()

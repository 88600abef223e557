"""Tests over the fake CUDA driver of tests/fake_cuda: each runs in a process of its own, with a GPU that computes nothing.

    @on_fake("devices=2 memory=0x8000000")
    def test_something():
        driver.fail("cuMemHostAlloc", 2)
        ...

Memory, copies, streams, events, graphs, modules and launches are as on a GPU; a launched kernel is only noted. The first
argument's orders are fake::Options of tests/fake_cuda/state.hpp, keyword arguments are environment variables.
"""

import ast
import ctypes
import faulthandler
import functools
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LIBRARY = "libcuda.so.1"
HANGS = 240  # seconds: only what hangs is ended, a test of a busy machine is not


def library() -> Path | None:
    """The fake driver: $XCUDA_FAKE_CUDA, else that of the build which xcuda was installed from, else the newest one."""
    if named := os.environ.get("XCUDA_FAKE_CUDA"):
        return Path(named)
    import xcuda

    beside = [folder / "fake_cuda" / LIBRARY for folder in Path(xcuda.__file__).resolve().parents[:4]]
    built = sorted(
        (HERE.parents[1] / "build").glob(f"*/fake_cuda/{LIBRARY}"), key=lambda p: -p.stat().st_mtime
    )
    return next((path for path in [*beside, *built] if path.exists()), None)


def on_fake(orders="", device="cuda:0", **environment):
    """Runs the test in a new process whose driver is the fake one."""

    def wrap(test):
        @functools.wraps(test)
        def run(**arguments):
            result = in_child(test, arguments, orders, device, environment)
            if result.returncode == 77:
                pytest.skip(result.stdout.strip().splitlines()[-1])
            if result.returncode != 0:
                pytest.fail(
                    f"{result.stdout}\n{result.stderr}\nexit status {result.returncode}", pytrace=False
                )

        return run

    return wrap


def in_child(test, arguments, orders, device, environment):
    """The finished process that ran the test."""
    if library() is None:
        pytest.skip(
            "the fake CUDA driver is not built: it is with -DXCUDA_TESTS=ON and -DXCUDA_CUDA_DEVICE=ON"
        )
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in arguments.items()}
    env = {
        key: value for key, value in os.environ.items() if key not in ("CUDA_VISIBLE_DEVICES", "XCUDA_DRIVER")
    }
    env |= {"XCUDA_DRIVER": str(library()), "XCUDA_DEVICE": device, "FAKE_CUDA": orders}
    env["XCUDA_CUPTI"] = str(library())  # the same file
    env |= {key: str(value) for key, value in environment.items()}
    code = f"import fake_cuda; fake_cuda.child({test.__module__!r}, {test.__name__!r}, {repr(plain)!r})"
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code],
        cwd=HERE,
        env=env,
        capture_output=True,
        text=True,
        timeout=HANGS + 10,
    )


def child(module, name, arguments):
    """What the child process does; one that hangs tells where."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    try:
        importlib.import_module(module).__dict__[name].__wrapped__(**ast.literal_eval(arguments))
    except pytest.skip.Exception as skipped:
        print(skipped.msg)
        sys.exit(77)


def need_nvrtc():
    """Skips a test that compiles where there is no NVRTC."""
    from xcuda import _runtime

    row = next(row for row in _runtime.libraries() if row["name"] == "NVRTC")
    if row["problem"]:
        pytest.skip(row["problem"])


def scale_kernel():
    """What most of these tests launch: a[i] *= factor."""
    need_nvrtc()
    from xcuda import core as cuda

    @cuda.kernel
    def scale(a, factor):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = a[i] * factor

    return scale


class Driver:
    """The fake driver of this process, to give orders to."""

    @functools.cached_property
    def c(self):
        made = ctypes.CDLL(os.environ["XCUDA_DRIVER"])
        made.fake_cuda_get.restype = ctypes.c_longlong
        made.fake_cuda_launches.restype = ctypes.c_char_p
        made.fake_cuda_ranges.restype = ctypes.c_char_p
        return made

    def set(self, **options):
        """Options of fake::Options: hold=1, break_at_launch=700, ..."""
        for name, value in options.items():
            if not self.c.fake_cuda_set(name.encode(), ctypes.c_longlong(value)):
                raise ValueError(f"the fake driver has no option {name}")

    def get(self, counter):
        """A counter: "launches", "streams", "used", "calls:cuMemHostAlloc", ..."""
        value = self.c.fake_cuda_get(counter.encode())
        if value < 0:
            raise ValueError(f"the fake driver has no counter {counter}")
        return value

    def fail(self, function, result, after=0, times=1):
        """The calls of `function` after the first `after` answer `result`, `times` times."""
        self.c.fake_cuda_fail(function.encode(), result, ctypes.c_longlong(after), ctypes.c_longlong(times))

    def break_context(self, result=700, device=0):
        """Every call in the device's context answers `result` from now on."""
        self.c.fake_cuda_break(device, result)

    def launches(self):
        """[(kernel, grid, block, shared bytes, parameters)] of what has been launched and was reached."""
        rows = []
        for line in self.c.fake_cuda_launches().decode().splitlines():
            name, *numbers, parameters = line.split(" ")
            n = [int(number) for number in numbers]
            rows.append((name, tuple(n[:3]), tuple(n[3:6]), n[6], bytes.fromhex(parameters)))
        return rows

    def ranges(self):
        """NVTX's spans as begun ("+name") and ended ("-")."""
        return self.c.fake_cuda_ranges().decode().split("\n")[:-1]

    def on_launch(self, call):
        """`call(kernel, grid, block, parameters as a ctypes buffer)` for each launch, in stream order."""
        kind = ctypes.CFUNCTYPE(
            None, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint), ctypes.c_void_p, ctypes.c_ulonglong
        )

        def received(name, shape, parameters, size):
            data = (ctypes.c_char * size).from_address(parameters) if size else None
            call(name.decode(), tuple(shape[0:3]), tuple(shape[3:6]), data)

        self._on_launch = kind(received)
        self.c.fake_cuda_on_launch(self._on_launch)


driver = Driver()

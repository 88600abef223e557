"""XCUDA_POOL_GUARD: a kernel that leaves its array ends the process in the access, and others notice nothing."""

import os
import signal
import subprocess
import sys

import pytest
from xcuda import core

if not core.is_available() or core.Device().kind != "cpu":
    pytest.skip("only the CPU device's memory is guarded", allow_module_level=True)

KERNELS = """
import numpy as np
from xcuda import core as cuda

@cuda.kernel(checked=False)
def put(a, i):
    a[i] = 1

@cuda.kernel(checked=False)
def get(a, b, i):
    b[0] = a[i]

x, y = cuda.zeros(1001, "float32"), cuda.zeros(1)
"""


def run(code, side):
    done = subprocess.run(
        [sys.executable, "-c", KERNELS + code],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"XCUDA_POOL_GUARD": side},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("access", ["put[1, 1](x, 1001)", "get[1, 1](x, y, 1001)"])
def test_one_element_too_far_is_the_end(access):
    code, told, _ = run(f"print('on', flush=True)\n{access}\ncuda.synchronize()\nprint('off')", "end")
    # A sanitizer answers the fault with a report of its own, and exit code 1.
    assert code in (-signal.SIGSEGV, 1) and told == "on\n"


def test_what_nobody_wrote_is_nan_and_the_rest_is_as_ever():
    code, told, err = run(
        "put[1, 1](x, 1000)\nprint(x.copy_to_host().sum(), cuda.empty(5, 'f4').copy_to_host().tolist())\n"
        "print(cuda.zeros(0).copy_to_host(), cuda.memory_info().pooled)\n",
        "begin",
    )
    assert (code, told) == (0, "1.0 [nan, nan, nan, nan, nan]\n[] 0\n"), err


def test_another_side_is_refused():
    code, _, err = run("", "middle")
    assert code == 1 and 'XCUDA_POOL_GUARD is "middle": "end", "begin" or 0 is expected' in err

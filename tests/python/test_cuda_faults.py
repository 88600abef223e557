"""Kernels without checks that end a GPU for their process: it is told, nothing hangs, and the process goes on."""

import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from xcuda import core as cuda

if not cuda.is_available() or cuda.Device().kind != "cuda":
    pytest.skip("the current device is no GPU", allow_module_level=True)

# In a process of its own: it loses the GPU for all who use it there.
SMASH = """
import gc
import numpy as np
from xcuda import core as cuda

@cuda.kernel(checked=False)
def smash(a, far):
    a[cuda.grid(1) + far] = 1.0

@cuda.kernel
def double(out, a):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] * 2

weights = cuda.to_device(np.arange(1000.0))
mine = list(range(5))
stream = cuda.stream()
out = cuda.zeros(1000)
with stream:
    double(out, weights)
try:
    smash[4, 256](weights, 1 << 30)
    cuda.synchronize()
    raise SystemExit("the write went unseen")
except cuda.DeviceLostError as error:
    first = str(error)
    print(first)
    assert "CUDA_ERROR_ILLEGAL_ADDRESS (700" in first, first
for use in (weights.copy_to_host, stream.synchronize, lambda: smash[1, 1](weights, 0), lambda: double(out, weights)):
    try:
        use()
        raise SystemExit("a lost GPU was used")
    except cuda.DeviceLostError as error:
        assert str(error) == first
if "cpu" in [device.label for device in cuda.devices()]:
    with cuda.Device("cpu"):
        here = cuda.zeros(1000)
        double(here, cuda.to_device(np.arange(1000.0)))
        np.testing.assert_array_equal(here.copy_to_host(), np.arange(1000.0) * 2)
del weights, out, stream
gc.collect()
assert sum(mine) == 10
print("went on")
"""


def command(script):
    """Of a file: a kernel's source is read from where it stands."""
    file = Path(tempfile.mkdtemp()) / "script.py"
    file.write_text(textwrap.dedent(script))
    return [sys.executable, str(file)]


def run(script):
    return subprocess.run(command(script), capture_output=True, text=True, timeout=120)


def test_a_write_far_out_of_range_is_told_and_the_process_goes_on():
    done = run(SMASH)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", with smash (launched at line " in done.stdout  # whatever else was not known to be done
    assert "the arrays on it are gone: " in done.stdout
    assert "weights (7.8 KiB)" in done.stdout
    assert done.stdout.rstrip().endswith("went on")
    assert not done.stderr


ASYNC = """
import asyncio
from xcuda import core as cuda

@cuda.kernel(checked=False)
def smash(a, far):
    a[cuda.grid(1) + far] = 1.0

statuses = []

async def work():
    a, stream = cuda.zeros(100), cuda.stream()
    cuda.synchronize()
    launch = smash[1, 32, stream].async_call(a, 1 << 30)
    stream.add_callback(lambda s, status, arg: statuses.append(status))
    try:
        await launch
        raise SystemExit("the write went unseen")
    except cuda.DeviceLostError as error:
        print(error)
    for _ in range(200):
        if statuses:
            break
        await asyncio.sleep(0.05)

asyncio.run(asyncio.wait_for(work(), 60))
assert statuses == [700], statuses
print("answered")
"""


def test_awaits_and_callbacks_are_answered():
    done = run(ASYNC)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("answered")


CHECKED = """
import numpy as np
from xcuda import core as cuda

@cuda.kernel
def far(a, n):
    a[cuda.grid(1) + n] = 1.0

kept = cuda.to_device(np.arange(1000.0))
a = cuda.zeros(100)
for _ in range(3):
    try:
        far[1, 32](a, 1 << 30)
        cuda.synchronize()
        raise SystemExit("the index went unseen")
    except IndexError:
        pass
np.testing.assert_array_equal(kept.copy_to_host(), np.arange(1000.0))
print("intact")
"""


def test_checked_kernels_never_get_there():
    done = run(CHECKED)
    assert done.stdout.strip() == "intact", done.stdout + done.stderr


TWO = """
import numpy as np
from xcuda import core as cuda

@cuda.kernel
def add(a, n):
    i = cuda.grid(1)
    if i < a.shape[0]:
        for _ in range(n):
            a[i] += 1

a = cuda.zeros(1 << 20)
for _ in range(50):
    add[4096, 256](a, 100)
cuda.synchronize()
assert (a.copy_to_host() == 5000).all()
print("right")
"""


def test_two_processes_share_a_gpu():
    both = [
        subprocess.Popen(command(TWO), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(2)
    ]
    for process in both:
        told, _ = process.communicate(timeout=120)
        assert told.strip() == "right", told


SHARED = """
import numpy as np
from xcuda import core as cuda

@cuda.kernel
def backwards(x):
    s = cuda.shared.array(20000, cuda.float32)
    own = cuda.shared.array(0, cuda.int32)
    i = cuda.threadIdx.x
    for j in range(i, 20000, 256):
        s[j] = x[j]
    if i < 1000:
        own[i] = i
    cuda.syncthreads()
    for j in range(i, 20000, 256):
        x[j] = s[19999 - j] + own[j % 256]

x = np.arange(20000, dtype=np.float32)
a = cuda.to_device(x)
backwards[1, 256, 0, 4000](a)
np.testing.assert_array_equal(a.copy_to_host(), x[::-1] + np.arange(20000) % 256)
print("right")
"""


def test_more_shared_memory_than_a_block_may_declare():
    done = run(SHARED)
    assert done.stdout.strip() == "right", done.stdout + done.stderr

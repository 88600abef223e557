"""Where the CPU device's helpers may run: beside the thread that launches, never on its core."""

import os
import subprocess
import sys

import pytest

CODE = """
import os, numpy as np
own = set(os.sched_getaffinity(0))
if {bound}:
    os.sched_setaffinity(0, {{min(own)}})
    own = {{min(own)}}
before = set(os.listdir("/proc/self/task"))
from xcuda import core as cuda

@cuda.kernel
def add(A):
    i = cuda.grid(1)
    if i < A.shape[0]:
        A[i] += 1

A = np.zeros(1 << 20, np.float32)
for turn in range(20):
    add(A)
    cuda.synchronize()
assert (A == 20).all()
# Where this thread is now, it may have been moved since the launch: helpers keep away from one core of all.
masks = []
for task in set(os.listdir("/proc/self/task")) - before:
    try:
        masks.append(set(os.sched_getaffinity(int(task))))
    except ProcessLookupError:
        pass
print(any(own - mask and len(own - mask) == 1 and mask < own for mask in masks), all(mask <= own for mask in masks))
"""


def told(bound, workers):
    environment = {**os.environ, "XCUDA_WORKERS": str(workers), "XCUDA_DEVICE": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(bound=bound)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


needs_two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")


@needs_two
def test_helpers_keep_away_from_the_core_that_launches():
    assert told(bound=False, workers=2) == ["True", "True"]


@needs_two
def test_helpers_stay_where_the_user_bound_the_process():
    assert told(bound=True, workers=2) == ["False", "True"]


@needs_two
def test_many_helpers_are_left_alone():
    assert told(bound=False, workers=20)[0] == "False"

"""A process that ends while threads are in the runtime ends as it would without them."""

import subprocess
import sys

import pytest

# What is left in sys goes while the interpreter goes down, and gives other threads half a second to come back to Python.
SLOW = """
import sys, threading, time
import numpy as np
import xcuda.numeric as xnp
from xcuda import core

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)
sys.slow = Slow()

@core.kernel
def long(a):
    i = core.grid(1)
    if i < a.shape[0]:
        s = a[i]
        for k in range(20000):
            s = s * 0.999 + k
        a[i] = s

xnp.config.host_elements = 0
begun = threading.Barrier(THREADS + 1)

def repeat(step):
    step()
    begun.wait()
    while True:
        step()

def start(*steps):
    for step in steps:
        threading.Thread(target=repeat, args=(step,), daemon=True).start()
    begun.wait()
"""

AT_WORK = {
    "launches": """
a = core.to_device(np.ones(100000, "float32"))
def step():
    long(a)
    core.synchronize()
start(*[step] * 3)
""",
    "copies and arrays of arrays": """
a = core.to_device(np.ones(1 << 20, "float32"))
start(lambda: a.copy_to_host(), lambda: (xnp.asarray(a) * 2 + 1).sum().get(), lambda: long(np.ones(50000, "float32")))
""",
    "compiles": """
from itertools import count
fresh = count()
def step():
    source = f"def f(a):\\n    i = core.grid(1)\\n    if i < a.shape[0]:\\n        a[i] = a[i] * {next(fresh)}\\n"
    names = {"core": core}
    import linecache
    name = f"<made {next(fresh)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), names)
    core.kernel(names["f"])(np.ones(10, "float32"))
start(*[step] * 3)
""",
    "kernels compiled ahead": """
import math
start(*[lambda: time.sleep(0.001)] * 3)
for n in range(12):
    source = f"def f(a: 'float32[:]'):\\n    i = core.grid(1)\\n    if i < a.shape[0]:\\n        a[i] = math.sin(a[i] * {n})\\n"
    import linecache
    linecache.cache[f"<ahead {n}>"] = (len(source), None, source.splitlines(True), f"<ahead {n}>")
    names = {"core": core, "math": math}
    exec(compile(source, f"<ahead {n}>", "exec"), names)
    core.kernel("void(float32[:])")(names["f"])
""",
}


@pytest.mark.parametrize("what", AT_WORK)
def test_a_process_ends_while_threads_are_at_work(what):
    program = SLOW.replace("THREADS", "3") + AT_WORK[what] + "print('last line')\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "last line\n"
    assert "terminate" not in done.stderr

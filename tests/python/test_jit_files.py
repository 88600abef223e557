"""Kernels as files: a later process runs what save() wrote, without source and without compiling."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import zipfile

import numpy as np
import pytest
import xcuda.core as cuda
from xcuda.jit import compile_kernel, load

SOURCE = '''
import numpy as np
import xcuda.core as cuda
from xcuda.jit import compile_kernel

FACTOR = 3

def helper(v):
    return v * FACTOR

@compile_kernel(optimize="aggressive")
def scale(x, shift=1.0):
    """Scales."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] = helper(x[i]) + shift

x = np.arange(40, dtype=np.float32)
scale(x)
scale[2, 20](x)
scale.save("scale.xcuda")
'''

USE = """
import numpy as np
from xcuda import _runtime
from xcuda.jit import load

scale = load("scale.xcuda")
x = np.arange(40, dtype=np.float32)
scale(x, shift=1.0)
assert (x == np.arange(40) * 3 + 1).all(), x
stats = _runtime.cache_stats()
assert stats["compiled"] == 0 and stats["disk_hits"] == 0, stats
assert scale.specialisations[0]["source"] == "file"
assert scale.__doc__ == "Scales." and scale.optimize == "aggressive" and "from its file" in scale.getdoc()
scale[2, 20](x)
assert _runtime.cache_stats()["compiled"] == 0
assert (x == (np.arange(40) * 3 + 1) * 3 + 1).all(), x
try:
    scale(x, (1, 2))
except TypeError as e:
    assert "loaded from a file and takes arrays and numbers" in str(e), e
else:
    raise AssertionError
y = np.arange(4)  # types that were not saved: compiled, from the tree in the file
scale(y, 1)
assert y.tolist() == [1, 4, 7, 10], y
assert _runtime.cache_stats()["compiled"] == 1
try:
    scale.py_func()
except RuntimeError as e:
    assert "loaded from a file" in str(e)
print("used")
"""


def run(code, folder, cache):
    environment = {**os.environ, "XCUDA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, *code], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


def test_another_process_runs_it_without_source_and_compiler(tmp_path):
    (tmp_path / "made.py").write_text(SOURCE)
    made = run(["made.py"], tmp_path, tmp_path / "one")
    assert made.returncode == 0, made.stderr
    (tmp_path / "made.py").unlink()
    used = run(["-c", textwrap.dedent(USE)], tmp_path, tmp_path / "two")
    assert used.stdout == "used\n", used.stderr


@compile_kernel
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def test_types_are_compiled_before_saving(tmp_path):
    path = double.save(tmp_path / "k", "float64[::1]")
    x = np.ones(10)
    load(path)(x)
    assert (x == 2).all()


def test_for_a_gpu_that_is_not_here(tmp_path):
    try:
        path = double.save(tmp_path / "k", "float64[::1]", target="sm_100")
    except RuntimeError as error:
        pytest.skip(str(error))
    with zipfile.ZipFile(path) as whole:
        assert len(whole.namelist()) >= 2
    x = np.ones(10)
    load(path)(x)  # target="auto": compiled here
    assert (x == 2).all()


def test_what_can_t_be_saved_is_told(tmp_path):
    @compile_kernel
    def fresh(x):
        x[cuda.grid(1)] = 1

    with pytest.raises(ValueError, match="fresh has no compiled version to save: call it before"):
        fresh.save(tmp_path / "k")

    @compile_kernel
    def odd(x, w=np.ones(3)):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = w[0]

    odd(np.zeros(4))
    with pytest.raises(TypeError, match="the default of 'w' is a ndarray"):
        odd.save(tmp_path / "k")


def test_what_can_t_be_loaded_is_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="is no kernel that save"):
        load(tmp_path / "text")
    x = np.ones(10)
    double(x)
    whole = double.save(tmp_path / "k")
    for change, words in (
        ({"kernel.json": lambda b: b.replace(b'"xcuda": "', b'"xcuda": "9')}, "save the kernel anew"),
        ({"image": lambda b: b[:-7]}, "damaged"),
    ):
        broken = tmp_path / "broken"
        with zipfile.ZipFile(whole) as a, zipfile.ZipFile(broken, "w") as b:
            for name in a.namelist():
                edit = change.get(name if name == "kernel.json" else "image", lambda data: data)
                b.writestr(name, edit(a.read(name)))
        with pytest.raises(ValueError, match=words):
            load(broken)

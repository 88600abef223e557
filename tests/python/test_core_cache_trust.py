"""The compile cache's folder is its owner's alone, and what somebody else could have put there is never run."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

KERNEL = """
import numpy as np
import xcuda.core as cuda
from xcuda import _runtime

@cuda.kernel
def tripled(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] *= 3

x = np.ones(5)
tripled(x)
assert x.tolist() == [3] * 5
stats = _runtime.cache_stats()
print(stats["compiled"], stats["disk_hits"], stats["disk_problem"], sep="|")
"""


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "script.py"
    file.write_text(KERNEL)
    return file


def run(script) -> tuple[int, int, str]:
    """(kernels compiled, taken from the disk, why the disk was not used) of a process."""
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    compiled, hits, problem = done.stdout.strip().split("|")
    return int(compiled), int(hits), problem


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_is_made_for_its_owner_alone(fresh_cache, script):
    before = os.umask(0)
    try:
        assert run(script)[:2] == (1, 0)
    finally:
        os.umask(before)
    assert mode(fresh_cache) == 0o700
    assert {mode(f) for f in fresh_cache.glob("*.kernel")} == {0o600}
    assert run(script) == (0, 1, "")


def test_a_folder_open_to_others_is_closed(fresh_cache, script):
    fresh_cache.mkdir()
    fresh_cache.chmod(0o777)
    assert run(script) == (1, 0, "")
    assert mode(fresh_cache) == 0o700 and run(script) == (0, 1, "")


def test_a_file_that_others_may_write_is_not_run(fresh_cache, script):
    run(script)
    for file in fresh_cache.glob("*.kernel"):
        file.chmod(0o666)
    compiled, hits, problem = run(script)
    assert (compiled, hits) == (1, 0) and "may be written by others" in problem
    assert run(script) == (0, 1, "")  # the compile has replaced it


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_somebody_else_owns_is_not_run(fresh_cache, script, what):
    run(script)
    for path in [fresh_cache] if what == "folder" else fresh_cache.glob("*.kernel"):
        os.chown(path, 12345, 12345)
    compiled, hits, problem = run(script)
    assert (compiled, hits) == (1, 0) and "belongs to another user" in problem


def test_a_link_is_not_followed(fresh_cache, script, tmp_path):
    run(script)
    [file] = fresh_cache.glob("*.kernel")
    elsewhere = tmp_path / "elsewhere.kernel"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert run(script)[:2] == (1, 0)


def test_a_changed_byte_is_seen_before_it_is_loaded(fresh_cache, script):
    run(script)
    [file] = fresh_cache.glob("*.kernel")
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 1
    file.write_bytes(whole)
    assert run(script)[:2] == (1, 0)
    assert run(script) == (0, 1, "")

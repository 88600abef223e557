"""A kernel that dies of a fatal signal leaves a report, and the next one tells of it and finds the cache sound."""

import os
import signal
from pathlib import Path

import pytest

KERNEL = """
import numpy as np, xcuda.core as cuda
@cuda.kernel
def tripled_once(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] *= 3
x = np.ones(4)
tripled_once(x)
x.tolist()
"""


@pytest.mark.parametrize("how", ["import ctypes; ctypes.string_at(8)", "import os; os.abort()"])
def test_a_crash_is_written_down_and_told(own_kernel, fresh_cache, how):
    # The fixture's kernel was started with another cache: a restart takes this test's.
    own_kernel.manager.restart_kernel(now=True, env={**os.environ, "XCUDA_CACHE_DIR": str(fresh_cache)})
    own_kernel.client.wait_for_ready(timeout=60)
    assert own_kernel.run(KERNEL).result == "[3.0, 3.0, 3.0, 3.0]"
    process = own_kernel.process
    own_kernel.client.execute(f"mark = 'the cell that crashes'\n{how}")
    assert process.wait(timeout=60) in (-signal.SIGSEGV, -signal.SIGABRT)
    own_kernel.manager.restart_kernel(now=True, env={**os.environ, "XCUDA_CACHE_DIR": str(fresh_cache)})
    own_kernel.client.wait_for_ready(timeout=60)
    outcome = own_kernel.run(KERNEL)
    assert outcome.result == "[3.0, 3.0, 3.0, 3.0]"
    told = outcome.text("stderr")
    assert "last kernel crashed" in told
    report = Path(told.strip().rpartition(" in ")[2])
    text = report.read_text()
    assert report.stat().st_mode & 0o777 == 0o600
    for part in (
        "the cell that crashes",
        "tripled_once_kernel",
        "Fatal Python error",
        "most recent call first",
    ):
        assert part in text, text
    assert "crashed" not in own_kernel.run("1").text("stderr")  # told once


def test_a_kernel_that_ends_well_leaves_nothing(tmp_path, monkeypatch):
    from conftest import Session

    monkeypatch.setenv("XCUDA_CACHE_DIR", str(tmp_path / "cache"))
    session = Session()
    session.run("1")
    assert [f.suffix for f in (tmp_path / "cache" / "crashes").iterdir()] == [".txt"]
    assert session.close() == 0
    assert list((tmp_path / "cache" / "crashes").iterdir()) == []
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700

"""What every Python test has: a compile cache of its own, never the user's."""

import gc
import os
import sys
import tempfile
from pathlib import Path

import hypothesis
import pytest
from targets import is_wanted

# One set of examples on every machine and in every run: what may fail once in a thousand runs is looked for by commands.
hypothesis.settings.register_profile("steady", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("steady")

ROOT = Path(__file__).resolve().parents[2]

# Before anything imports xcuda: its settings are read once.
_cache = tempfile.TemporaryDirectory(prefix="xcuda-tests-")
os.environ["XCUDA_CACHE_DIR"] = _cache.name


def pytest_collection_modifyitems(config, items):
    """Leaves out what is about other GPUs than those of XCUDA_TARGETS."""
    left_out = [
        item for item in items if hasattr(item, "callspec") and not is_wanted(item.callspec.params.values())
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the source tree."""
    return ROOT


@pytest.fixture(scope="session")
def cache_dir() -> Path:
    """The compile cache that this session's kernels use."""
    return Path(_cache.name)


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch) -> Path:
    """An empty compile cache for the processes that a test starts."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("XCUDA_CACHE_DIR", str(folder))
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item):
    """A test's arguments go before its module's fixtures end: pytest keeps the last test's until after."""
    getattr(item, "funcargs", {}).clear()


@pytest.fixture(scope="module", autouse=True)
def nothing_leaks():
    """After each module the device holds as many bytes as before it, and no launch is under way."""
    before = bytes_in_use()
    yield
    after = bytes_in_use()
    assert after <= before, f"{after - before} bytes of device memory are still held after this module"


def bytes_in_use() -> int:
    """Device memory held by this process; 0 before it uses a device."""
    core = sys.modules.get("xcuda.core")
    if core is None or not core.is_available():
        return 0
    if gather := sys.modules.get("xcuda.numeric._gather"):
        gather._kept_ramps.clear()  # short ones stay on a GPU, at most 32
    gc.collect()
    core.synchronize()
    return core.Device().memory()["used"]

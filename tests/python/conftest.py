"""What every Python test has: a compile cache of its own, never the user's."""

import os
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Before anything imports xcuda: its settings are read once.
_cache = tempfile.TemporaryDirectory(prefix="xcuda-tests-")
os.environ["XCUDA_CACHE_DIR"] = _cache.name


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

"""Choices on disk, beside the compile cache: one small JSON file for a kernel, its types, size class and device."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path

from xcuda import __version__, _runtime

MOST_FILES = 1000  # the oldest go


def folder() -> Path | None:
    """Where choices are kept; None where the disk cache is off or can't be used."""
    found = _runtime.cache_stats()["folder"]
    return Path(found) / "tuned" if found else None


def key(*parts) -> str:
    """A file's name, for anything that JSON holds."""
    return hashlib.sha256(json.dumps([__version__, *parts]).encode()).hexdigest()[:32]


def load(name) -> dict | None:
    """What `save` kept under this name; None where there is none or where it is damaged."""
    where = folder()
    if where is None:
        return None
    try:
        data = json.loads((where / f"{name}.json").read_text())
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None


def save(name, data) -> str:
    """Keeps `data`; gives why it could not, "" where it could. Readers see a whole file or none."""
    where = folder()
    if where is None:
        return _runtime.cache_stats()["disk_problem"] or "the disk cache is turned off (XCUDA_CACHE_BYTES=0)"
    try:
        where.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=where, suffix=".writing", delete=False) as file:
            json.dump(data, file)
        os.replace(file.name, where / f"{name}.json")
        _keep_bound(where)
    except OSError as error:
        return str(error)
    return ""


def forget(name) -> None:
    """Removes a choice that turned out to be none."""
    where = folder()
    if where is not None:
        (where / f"{name}.json").unlink(missing_ok=True)


def _keep_bound(where):
    files = sorted(where.iterdir(), key=lambda f: f.stat().st_mtime)
    for old in files[: max(0, len(files) - MOST_FILES)]:
        old.unlink(missing_ok=True)

"""scripts/bundle.py and what executes its archive: the whole is made by `./run bundle`, which takes minutes."""

from __future__ import annotations

import importlib
import lzma
import subprocess
import sys
import tarfile
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import bundle  # noqa: E402


def file(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_lean_form_keeps_what_programs_read(tmp_path):
    kept = [
        "numpy/testing/__init__.py",  # imported by others' own programs
        "skimage/__init__.pyi",  # read when scikit-image is imported
        "skimage/data/camera.png",
        "xcuda/prelude_cpu.hpp.py",
        "share/jupyter/kernels/xcuda/kernel.json",
    ]
    gone = ["numpy/tests/test_a.py", "scipy/_lib/a.pyx", "debugpy/a.c", "share/jupyter/labextensions/a.js"]
    for name in kept + gone:
        file(tmp_path / name)
    bundle.thin(tmp_path)
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()) == sorted(kept)


def test_nothing_of_ours_is_left_out():
    """The wheel's own files are packed whole, by name as by pattern."""
    ours = [
        path
        for folder in ("gpu_runtime/python", "magics", "share")
        for path in (ROOT / folder).rglob("*.py*")
    ]
    for path in ours:
        assert not any(
            part.match(pattern) for pattern in bundle.LEFT_OUT_OF_LEAN for part in (path, *path.parents)
        )


START = """#!/bin/sh
echo "$@" "$XCUDA_DEVICE" "$CUDA_HOME" "[$OTHER]" >>"$HOME/../said"
[ "$1" = tutorials ] && mkdir "$2" && echo "| a table |" >"$2/summary.md"
[ "$1" != tutorials ] || exit STATUS
"""


@pytest.mark.parametrize("status", [0, 1])
def test_parts_are_joined_and_its_tutorials_executed(tmp_path, status):
    """By tests/gpu/bundle, over an archive whose start script tells what it was given."""
    top = tmp_path / "made/xcuda-1.0-linux"
    file(top / "xcuda", START.replace("STATUS", str(status))).chmod(0o755)
    archive = tmp_path / "made/archive.tar.xz"
    bundle.pack(top, archive, lean=True)
    parts = tmp_path / "parts"
    parts.mkdir()
    whole = archive.read_bytes()
    for name, piece in (("part.aa", whole[:100]), ("part.ab", whole[100:])):
        (parts / name).write_bytes(piece)
    env = {
        "PATH": "/usr/bin:/bin",
        "TMPDIR": str(tmp_path),
        "XCUDA_LOGS": str(tmp_path / "logs"),
        "XCUDA_PYTHON": sys.executable,
        "CUDA_HOME": "/of/this/machine",
        "OTHER": "of this user",
    }
    ran = subprocess.run(
        [ROOT / "tests/gpu/bundle", parts], env=env, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == status, ran.stderr
    doctor, tutorials = (tmp_path / "said").read_text().splitlines()
    assert doctor == "doctor cuda:0 /of/this/machine []"
    assert tutorials.endswith("/executed --jobs 8 cuda:0 /of/this/machine []")
    assert (tmp_path / "logs/bundle.md").read_text() == "| a table |\n"
    with tarfile.open(tmp_path / "logs/executed.tgz") as packed:
        assert "executed/summary.md" in packed.getnames()


def test_a_part_that_is_missing_ends_it(tmp_path):
    parts = tmp_path / "parts"
    file(parts / "part.ab").write_bytes(lzma.compress(b"half of something")[:20])
    env = {"PATH": "/usr/bin:/bin", "XCUDA_LOGS": str(tmp_path / "logs"), "XCUDA_PYTHON": sys.executable}
    ran = subprocess.run(
        [ROOT / "tests/gpu/bundle", parts], env=env, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode != 0 and "is no archive of ./run bundle lean" in ran.stderr


def test_a_check_that_is_not_right_fails_its_tutorial():
    tutorials = importlib.import_module("tutorials")

    def checked(text):
        cell = nbformat.v4.new_code_cell("assert solved\nprint('right')", metadata={"tags": ["check"]})
        cell.outputs = [nbformat.v4.new_output("stream", text=text)] if text else []
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1"), cell])

    assert tutorials.not_right(checked("right: a third\n")) == ""
    for text in ("", "not yet\n", "copyright\n"):
        assert "cell 1, 'assert solved'" in tutorials.not_right(checked(text))

"""The wheel, in a bare venv, without a compiler, a Debian package or this tree: `./run wheel` made it before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "notebooks" / "01_first_kernel.ipynb"
LARGEST = 90 * 2**20
# What a Linux of the wheel's glibc has: PEP 600's list, as far as anything here asks for it.
SYSTEM = (
    "ld-linux-x86-64",
    "libc",
    "libm",
    "libmvec",
    "libdl",
    "libpthread",
    "librt",
    "libgcc_s",
    "libstdc++",
    "libz",
)


@pytest.fixture(scope="module")
def wheel() -> Path:
    found = list((ROOT / "dist").glob("xeus_cuda-*.whl"))
    assert len(found) == 1, "./run wheel first"
    return found[0]


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    """run(words): a program of the venv, from an empty folder, with nothing but the venv on the path."""
    folder = tmp_path_factory.mktemp("bare")
    venv, empty = folder / "venv", folder / "empty"
    empty.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    pip = [sys.executable, "-m", "pip", "--python", venv / "bin/python", "install", "--quiet", "--no-compile"]
    subprocess.run([*pip, "--disable-pip-version-check", wheel, "nbconvert"], check=True, timeout=300)
    environment = {"PATH": str(venv / "bin"), "HOME": str(empty), "XCUDA_CACHE_DIR": str(folder / "cache")}
    if "LANG" in os.environ:
        environment["LANG"] = os.environ["LANG"]

    def run(*words, **settings) -> subprocess.CompletedProcess:
        command = [venv / "bin" / words[0], *words[1:]]
        return subprocess.run(
            command, cwd=empty, env=environment, capture_output=True, text=True, timeout=240, **settings
        )

    run.venv, run.empty = venv, empty
    return run


def test_its_size(wheel):
    assert wheel.stat().st_size <= LARGEST
    assert "manylinux" in wheel.name


def test_the_first_tutorial_runs(bare):
    ran = bare("jupyter-nbconvert", "--to", "notebook", "--execute", TUTORIAL, "--output-dir", bare.empty)
    assert ran.returncode == 0, ran.stderr
    notebook = nbformat.read(bare.empty / TUTORIAL.name, as_version=4)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [
        output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"
    ]
    reports = [
        output for output in outputs if "application/vnd.xcuda.report.v1+json" in output.get("data", {})
    ]
    assert len(reports) >= 4


MAPPED = """
def mapped():
    return {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}

import importlib, pathlib, sys
(own,) = [pathlib.Path(folder) for folder in sys.path if folder.endswith("lib-dynload")]
for file in own.glob("*.so"):
    try:
        importlib.import_module(file.name.partition(".")[0])  # what Python's own modules ask for is Python's
    except ImportError:
        pass
before = mapped()
from xcuda.kernel import _kernel
from xcuda.command.checks import working
assert [check.state for check in working()] == ["ok"], working()
print(*sorted(mapped() - before), sep="\\n")
"""


def test_nothing_of_the_system_is_loaded_but_glibc(bare):
    """Every library that is mapped, once a kernel has been compiled and the Jupyter kernel's module is open."""
    ran = bare("python", "-c", MAPPED)
    assert ran.returncode == 0, ran.stderr
    files = [Path(line) for line in ran.stdout.split()]
    assert any(file.name.startswith("libzmq") for file in files) and any(
        "cpu_jit" in file.name for file in files
    )
    foreign = [file for file in files if bare.venv not in file.parents]
    assert not [file for file in foreign if file.name.partition(".so")[0] not in SYSTEM]


def test_its_program(bare):
    said = bare("xcuda", "doctor", "--json")
    checks = {check["name"]: check for check in json.loads(said.stdout)}
    assert said.returncode == 0, checks
    assert checks["Jupyter kernel"]["state"] == checks["kernelspec"]["state"] == "ok"
    assert str(bare.venv) in checks["kernelspec"]["found"]
    assert bare("xcuda", "--version").stdout.startswith("xcuda ")


def test_it_brings_the_licences_of_what_it_brings(bare):
    (folder,) = bare.venv.glob("lib/python*/site-packages/xeus_cuda-*.dist-info/licenses")
    brought = {file.name for file in folder.iterdir()}
    assert "LICENSE" in brought
    if Path("/usr/share/doc/libzmq5/copyright").exists():
        assert {"libllvm19", "libzmq5", "libxeus6", "libxeus-python0", "libssl3"} <= brought

"""`./run`: what it says of a machine that lacks something. Its functions are those of scripts/common.sh."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def shell(program: str, tmp_path: Path, **settings) -> subprocess.CompletedProcess:
    """The program after scripts/common.sh, over a .venv whose Python is this one and that nothing can be installed into."""
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True, exist_ok=True)
    python = venv / "bin/python"
    python.write_text(f'#!/bin/sh\n[ "$1 $2" = "-m pip" ] && exit 1\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    env = {name: value for name, value in os.environ.items() if name != "CONDA_PREFIX"}
    return subprocess.run(
        ["bash", "-euc", f"source scripts/common.sh\n{program}"],
        cwd=ROOT,
        env=env | {"XCUDA_VENV": str(venv)} | settings,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def wanted(tmp_path):
    file = tmp_path / "wanted.txt"
    file.write_text(
        "# two that are there, one that is not\nnumpy==1.*\nPyTest   # tests\nno-such-module-of-xcuda==1.2.*\n"
    )
    return file


def test_a_missing_module_is_named_with_what_installs_it(wanted, tmp_path):
    ran = shell(f"pip_install {wanted}", tmp_path)
    assert ran.returncode == 1
    assert f"pip install -r {wanted} (missing: no-such-module-of-xcuda)" in ran.stderr
    assert "pip could not install" in ran.stderr and "are missing in" in ran.stderr
    assert ran.stderr.rstrip().endswith(f"bin/python -m pip install -r {wanted}")


def test_one_that_is_gone_is_asked_for_again_though_the_list_is_as_it_was(wanted, tmp_path):
    stamped = f'fingerprint {wanted} >"$VENV/.xcuda-wanted"; pip_install {wanted}'
    assert shell(stamped, tmp_path).returncode == 1
    wanted.write_text("numpy\npytest\n")
    ran = shell(stamped, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_in_a_conda_environment_it_is_told(tmp_path):
    (tmp_path / "include/xeus").mkdir(parents=True)
    (tmp_path / "include/xeus/xeus.hpp").touch()
    shell("", tmp_path)  # makes the Python
    (tmp_path / "bin").symlink_to(tmp_path / "venv/bin")
    told = "lacking() { echo nanobind; echo nbclient; }\nprepare_venv"
    ran = shell(told, tmp_path, CONDA_PREFIX=str(tmp_path))
    assert ran.returncode == 0
    assert f"environment {tmp_path} lacks: nanobind nbclient. " in ran.stderr
    assert "conda env update -f environment.yml" in ran.stderr


def test_a_command_that_it_does_not_know():
    ran = subprocess.run(["./run", "deomo"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert "./run knows no 'deomo'" in ran.stderr and "./run demo" in ran.stdout + ran.stderr

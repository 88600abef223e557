"""The `xcuda` program: what it says of a machine in order, of one that is not, and the kernelspec it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import xcuda
from xcuda.command import checks, kernelspec
from xcuda.command.main import main

ROOT = Path(__file__).parents[2]


@pytest.fixture
def jupyter(tmp_path, monkeypatch):
    """A Jupyter that knows no kernels but those under the folder given."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "user"))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "prefix/share/jupyter"))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    monkeypatch.setattr("jupyter_core.paths.ENV_JUPYTER_PATH", [])
    monkeypatch.setattr("jupyter_core.paths.SYSTEM_JUPYTER_PATH", [])
    return tmp_path


def by_name(done):
    return {check.name: check for check in done}


def test_version_is_the_projects(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert capsys.readouterr().out == f"xcuda {project['version']}\n"
    assert xcuda.__version__ == project["version"]


def test_without_a_command_it_lists_them(capsys):
    assert main([]) == 2
    said = capsys.readouterr().out
    assert "doctor" in said and "install-kernel" in said


def test_install_kernel_writes_a_spec_that_starts_this_python(jupyter, capsys):
    assert main(["install-kernel", "--prefix", str(jupyter / "prefix"), "--env", "XCUDA_WORKERS=1", "--display-name", "mine"]) == 0  # fmt: skip
    folder = jupyter / "prefix/share/jupyter/kernels/xcuda"
    assert str(folder) in capsys.readouterr().out
    spec = json.loads((folder / "kernel.json").read_text())
    assert spec["argv"] == [sys.executable, "-P", "-m", "xcuda.kernel", "-f", "{connection_file}"]
    assert (spec["display_name"], spec["env"]) == ("mine", {"XCUDA_WORKERS": "1"})
    shared = json.loads((ROOT / "share/kernel.json").read_text())
    assert {k: spec[k] for k in ("language", "interrupt_mode", "metadata")} == {
        k: shared[k] for k in ("language", "interrupt_mode", "metadata")
    }
    assert {f.name for f in folder.iterdir()} == {
        "kernel.json",
        "logo-32x32.png",
        "logo-64x64.png",
        "logo-svg.svg",
    }
    assert kernelspec.found() == {"xcuda": {"folder": str(folder), "python": sys.executable}}
    (registered,), (answering,) = checks.registered(), checks.answering()
    assert (registered.state, answering.state) == (checks.FINE, checks.FINE)


def test_install_kernel_for_the_user(jupyter):
    assert main(["install-kernel", "--user", "--name", "xcuda-other"]) == 0
    assert (jupyter / "user/kernels/xcuda-other/kernel.json").exists()


@pytest.mark.parametrize("pair", ["XCUDA_WORKERS", "=1"])
def test_install_kernel_refuses_what_is_no_variable(jupyter, capsys, pair):
    with pytest.raises(SystemExit) as ended:
        main(["install-kernel", f"--env={pair}"])
    assert ended.value.code == 2
    assert f"--env wants NAME=VALUE, not '{pair}'" in capsys.readouterr().err


def test_install_kernel_where_nothing_can_be_written(jupyter, capsys):
    (jupyter / "file").write_text("")
    assert main(["install-kernel", "--prefix", str(jupyter / "file")]) == 1
    assert capsys.readouterr().err.startswith("xcuda install-kernel: ")


@pytest.mark.parametrize("module", ["xcuda", "xcuda.command"])
def test_doctor_as_a_program(jupyter, tmp_path, module):
    """Without a kernelspec it ends with 1 and says what to type; what is absent is no fault."""
    command = [sys.executable, "-m", module, "doctor", "--json", "--no-start"]
    env = {**os.environ, "XCUDA_CACHE_DIR": str(tmp_path / "cache"), "JUPYTER_PLATFORM_DIRS": "0"}
    ran = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    done = {check["name"]: check for check in json.loads(ran.stdout)}
    assert done["device cpu"]["state"] == checks.FINE and "a kernel ran in" in done["device cpu"]["found"]
    assert done["compile cache"]["state"] == checks.FINE and str(tmp_path) in done["compile cache"]["found"]
    assert {"NVIDIA driver", "NVRTC", "CUPTI", "hardware counters", "nbconvert"} <= set(done)
    assert all(check["advice"] for check in done.values() if check["state"] == checks.WRONG)
    assert ran.returncode == int(any(check["state"] == checks.WRONG for check in done.values())), ran.stderr


def test_doctor_tells_of_a_missing_kernelspec(jupyter, capsys):
    assert main(["doctor", "--no-start"]) == 1
    said = capsys.readouterr().out
    assert "Jupyter knows no xcuda kernel" in said and "> xcuda install-kernel --user" in said
    assert "1 to mend" in said


def test_doctor_tells_of_a_python_that_is_gone(jupyter):
    assert main(["install-kernel", "--prefix", str(jupyter / "prefix")]) == 0
    file = jupyter / "prefix/share/jupyter/kernels/xcuda/kernel.json"
    file.write_text(file.read_text().replace(sys.executable, "/no/such/python"))
    (check,) = checks.registered()
    assert check.state == checks.WRONG and "starts /no/such/python, which is not there" in check.found


@pytest.mark.parametrize(
    "setting, user, state", [(1, 1000, checks.ABSENT), (1, 0, checks.FINE), (0, 1000, checks.FINE)]
)
def test_doctor_reads_who_may_read_counters(tmp_path, monkeypatch, setting, user, state):
    settings = tmp_path / "params"
    settings.write_text(f"RegisterForACPIEvents: 1\nRmProfilingAdminOnly: {setting}\n")
    monkeypatch.setattr(checks, "DRIVER_SETTINGS", settings)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    (check,) = checks.counters()
    assert check.state == state
    assert ("NVreg_RestrictProfilingToAdminUsers=0" in check.advice) == (state == checks.ABSENT)


def test_doctor_tells_of_a_cache_that_can_not_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    env = {**os.environ, "XCUDA_CACHE_DIR": str(tmp_path / "file" / "cache")}
    program = "from xcuda.command import checks; checks.working(); print(checks.cache()[0].__dict__)"
    ran = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60)
    assert "'state': 'WRONG'" in ran.stdout and "XCUDA_CACHE_DIR" in ran.stdout, ran.stdout + ran.stderr


def test_doctor_names_the_check_that_failed_itself(monkeypatch):
    def broken():
        raise RuntimeError("what happened")

    monkeypatch.setattr(checks, "CHECKS", (("the thing", broken),))
    assert (
        checks.told(checks.run())
        == "  WRONG   the thing  RuntimeError: what happened\n\n1 to mend: see above."
    )

"""What `xcuda doctor` looks at. Each check is tried, not looked up: a kernel runs, a Jupyter kernel answers."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from textwrap import wrap

FINE, ABSENT, WRONG = "ok", "absent", "WRONG"  # absent: something to be had, that nothing here needs


@dataclass
class Check:
    name: str
    state: str
    found: str
    advice: str = ""


def run(start: bool = True) -> list[Check]:
    """All checks, in the order in which a fault of one explains the next. A check that fails itself is a fault, too."""
    done: list[Check] = []
    for name, look in CHECKS:
        if look is answering and not start:
            continue
        try:
            done += look()
        except Exception as error:
            done.append(Check(name, WRONG, f"{type(error).__name__}: {error}"))
    return done


def told(done: list[Check]) -> str:
    width = max(len(check.name) for check in done)
    room = max(60, shutil.get_terminal_size((110, 24)).columns) - width - 12
    lines = []
    for check in done:
        first, *rest = wrap(check.found, room, break_on_hyphens=False, break_long_words=False) or [""]
        lines.append(f"  {check.state:<6}  {check.name:<{width}}  {first}")
        lines += [" " * (width + 12) + line for line in rest]
        lines += [
            " " * (width + 10) + ("> " if first_line else "  ") + line
            for first_line, line in zip(
                [True] + [False] * 99,
                wrap(check.advice, room, break_on_hyphens=False, break_long_words=False),
                strict=False,
            )
        ]
    wrong = sum(check.state == WRONG for check in done)
    lines += ["", f"{wrong} to mend: see above." if wrong else "Nothing is wrong."]
    return "\n".join(lines)


# -- Devices and libraries -------------------------------------------------------------------------


def working() -> list[Check]:
    """A kernel compiled and run on each device, against NumPy."""
    import numpy as np
    from xcuda.command.sample import halved_sum
    from xcuda.core import devices, to_device

    done = []
    for device in devices():
        name = f"device {device.label}"
        begin = time.perf_counter()
        try:
            x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
            with device:
                result = to_device(np.zeros(1000, np.float32))
                halved_sum(to_device(x), to_device(y), result)
                right = np.array_equal(result.copy_to_host(), (x + y) / 2)
        except Exception as error:
            done.append(
                Check(name, WRONG, f"{device.name}: {error}", "`xcuda doctor` in an issue of the project")
            )
            continue
        spent = 1e3 * (time.perf_counter() - begin)
        if right:
            done.append(
                Check(name, FINE, f"{device.name}; {device.toolchain}; a kernel ran in {spent:.0f} ms")
            )
        else:
            done.append(Check(name, WRONG, f"{device.name}: a kernel's result is not NumPy's"))
    return done


def libraries() -> list[Check]:
    from xcuda import _runtime

    done = []
    for row in _runtime.libraries():
        if row["problem"]:
            done.append(Check(row["name"], ABSENT, f"{row['problem']}; it {row['purpose']}", row["advice"]))
        else:
            done.append(Check(row["name"], FINE, f"{row['version']}, {row['file']} ({row['from']})"))
    return done


DRIVER_SETTINGS = Path("/proc/driver/nvidia/params")


def counters() -> list[Check]:
    """May this user read hardware counters? The driver's own setting says so."""
    name = "hardware counters"
    if not DRIVER_SETTINGS.exists():
        return [Check(name, ABSENT, "no NVIDIA driver's kernel module is loaded: reports have no counters")]
    restricted = "RmProfilingAdminOnly: 1" in DRIVER_SETTINGS.read_text()
    if not restricted:
        return [Check(name, FINE, "the driver lets every user read them")]
    if os.geteuid() == 0:
        return [Check(name, FINE, "the driver lets administrators read them, and this is root")]
    return [
        Check(
            name,
            ABSENT,
            "the driver lets only administrators read them; reports have everything else",
            "put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into /etc/modprobe.d/nvidia-counters.conf "
            "and restart (https://developer.nvidia.com/ERR_NVGPUCTRPERM)",
        )
    ]


def cache() -> list[Check]:
    from xcuda import _runtime

    stats = _runtime.cache_stats()
    name = "compile cache"
    if not stats["bound"]:
        return [Check(name, ABSENT, "off (XCUDA_CACHE_BYTES=0): each process compiles anew")]
    folder = Path(stats["folder"])
    mib = stats["bytes"] / 2**20
    if stats["disk_problem"]:
        return [Check(name, WRONG, stats["disk_problem"], "name a folder you can write in XCUDA_CACHE_DIR")]
    there = next((up for up in (folder, *folder.parents) if up.exists()), Path("/"))
    if not os.access(there, os.W_OK | os.X_OK):
        return [
            Check(name, WRONG, f"{there} can't be written", "name a folder you can write in XCUDA_CACHE_DIR")
        ]
    kernels = f"{stats['files']} kernel{'s' * (stats['files'] != 1)}"
    return [Check(name, FINE, f"{folder}, {kernels}, {mib:.1f} of {stats['bound'] / 2**20:.0f} MiB")]


# -- Jupyter ---------------------------------------------------------------------------------------


def built_kernel() -> bool:
    from importlib.util import find_spec

    return find_spec("xcuda.kernel") is not None


def registered() -> list[Check]:
    from xcuda.command import kernelspec

    name = "kernelspec"
    if not built_kernel():
        return [
            Check(
                name,
                ABSENT,
                "this xcuda was built without its Jupyter kernel",
                "use %load_ext xcuda in ipykernel",
            )
        ]
    specs = kernelspec.found()
    if not specs:
        return [Check(name, WRONG, "Jupyter knows no xcuda kernel", "xcuda install-kernel --user")]
    done = []
    for spec, entry in specs.items():
        if Path(entry["python"]).exists() or shutil.which(entry["python"]):
            done.append(Check(name, FINE, f"{spec!r} in {entry['folder']}, starts {entry['python']}"))
        else:
            done.append(
                Check(
                    name,
                    WRONG,
                    f"{spec!r} in {entry['folder']} starts {entry['python']}, which is not there",
                    f"xcuda install-kernel --user --name {spec}, or jupyter kernelspec remove {spec}",
                )
            )
    return done


def answering() -> list[Check]:
    """Starts the kernel as Jupyter does, and has it calculate."""
    from jupyter_client.manager import start_new_kernel
    from xcuda.command import kernelspec

    if not built_kernel() or "xcuda" not in kernelspec.found():
        return []
    begin = time.perf_counter()
    manager, client = start_new_kernel(kernel_name="xcuda", startup_timeout=30)
    try:
        ready = time.perf_counter() - begin
        reply = client.execute_interactive("1 + 1", timeout=30, output_hook=lambda message: None)
        status = reply["content"]["status"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    if status != "ok":
        return [Check("Jupyter kernel", WRONG, f"it starts, and answers 1 + 1 with {reply['content']}")]
    return [Check("Jupyter kernel", FINE, f"answers, {ready:.1f} s after its start")]


OPTIONAL = {
    "jupyterlab": "opens notebooks in a browser",
    "nbconvert": "executes notebooks and makes pages of them",
    "ipywidgets": "sliders and buttons",
    "debugpy": "JupyterLab's debugger",
    "matplotlib": "pictures",
}


def packages() -> list[Check]:
    done = []
    for name, purpose in OPTIONAL.items():
        try:
            done.append(Check(name, FINE, f"{version(name)}: {purpose}"))
        except PackageNotFoundError:
            done.append(Check(name, ABSENT, f"not installed: {purpose}", f"pip install {name}"))
    return done


CHECKS = (
    ("devices", working),
    ("libraries", libraries),
    ("hardware counters", counters),
    ("compile cache", cache),
    ("kernelspec", registered),
    ("Jupyter kernel", answering),
    ("packages", packages),
)

"""Kernelspecs: the one that the package brings, those that Jupyter finds, and how to write another."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path


def packaged() -> Path:
    """The folder with kernel.json and the logos, inside the package."""
    import xcuda

    return Path(xcuda.__path__[0]) / "kernel" / "spec"


def install(name: str, prefix: str | None, display_name: str | None, environment: dict[str, str]) -> Path:
    """Writes the kernelspec `name` for `prefix`, or for this user where that is None, and gives its folder.

    It names this Python by its full path, so that a Jupyter of another environment starts the right one. Raises
    OSError where the folder can't be written, ValueError for a name that Jupyter does not take.
    """
    from jupyter_client.kernelspec import KernelSpecManager

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "xcuda"
        shutil.copytree(packaged(), folder)
        spec = json.loads((folder / "kernel.json").read_text())
        spec["argv"][0] = sys.executable
        if display_name:
            spec["display_name"] = display_name
        if environment:
            spec["env"] = environment
        (folder / "kernel.json").write_text(json.dumps(spec, indent=1))
        return Path(
            KernelSpecManager().install_kernel_spec(str(folder), name, user=prefix is None, prefix=prefix)
        )


def found() -> dict[str, dict]:
    """{name: {"folder", "python"}} of the kernelspecs that start xcuda, as this environment's Jupyter sees them."""
    from jupyter_client.kernelspec import KernelSpecManager

    specs = {}
    for name, entry in KernelSpecManager().get_all_specs().items():
        argv = entry["spec"].get("argv", [])
        if "xcuda.kernel" in argv:
            # jupyter_client starts its own Python where a spec just says "python"
            python = sys.executable if argv[0] in ("python", "python3") else argv[0]
            specs[name] = {"folder": entry["resource_dir"], "python": python}
    return specs

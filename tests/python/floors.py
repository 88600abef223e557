"""Which way includes and imports run, read from the sources. Nothing is imported or compiled for it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

# The runtime's C++ folders, lowest first. A folder uses its own floor and those under it.
CPP_FLOORS = {
    "base": 0,
    "ir": 1, "frontend": 1,
    "passes": 2, "emit": 2,
    "device": 3,
    "launch": 4,
    "arrays": 5, "tiles": 5, "math": 5,
    "profile": 6,
    "python": 7,
}  # fmt: skip

# The package's parts in the same sense. Modules beside them (settings, errors) may use them and be used.
PYTHON_FLOORS = {
    "core": 0,
    "numeric": 1, "math": 1, "jit": 1, "tiles": 1,
    "profiler": 2, "check": 2,
    "magics": 3,
    "kernel": 3,
    "command": 4,
}  # fmt: skip

HOUSES = ("kernel", "magics", "command")  # over the runtime, and never beside each other
DEVICE_HOUSES = ("cpu", "cuda")  # behind device/device.hpp

CPP_SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu", ".h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
NAMED_HOUSE = re.compile(r'"xcuda\.(kernel|magics)\b')
NAMESPACE = re.compile(r"^(inline )?namespace\b([^{]*)\{")
TYPE = re.compile(
    r"^(?:struct|class|union|enum class|enum)\s+(?:XCUDA_API\s+)?(?:alignas\(\w+\)\s+)?(\w+)[^;(]*\{"
)
LONGEST = 600


@dataclass(frozen=True)
class Violation:
    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def violations(root: Path) -> list[Violation]:
    """Every include or import under `root` that runs upward, and every source over LONGEST lines."""
    return [*cpp_violations(root), *python_violations(root), *twice_defined(root), *long_files(root)]


# -- C++ -------------------------------------------------------------------------------------------


def cpp_violations(root: Path) -> list[Violation]:
    found = []
    for file in sources(root, "gpu_runtime", CPP_SUFFIXES):
        place = relative(root, file)
        folder = place.parts[1] if len(place.parts) > 2 else None
        if folder is not None and folder not in CPP_FLOORS:
            found.append(Violation(str(place), 1, f"gpu_runtime/{folder} has no floor in CPP_FLOORS"))
            continue
        for number, text in numbered(file):
            if match := INCLUDE.match(text):
                if complaint := include_complaint(place, included(root, file, match[1])):
                    found.append(Violation(str(place), number, complaint))
            elif match := NAMED_HOUSE.search(text):
                found.append(Violation(str(place), number, f"gpu_runtime names xcuda.{match[1]}"))
    return found


def included(root: Path, file: Path, name: str) -> PurePosixPath:
    """Where an include leads, from the top of the tree; a header of the system keeps its own name."""
    for start in (file.parent, root / "gpu_runtime", root):
        target = (start / name).resolve()
        if target.is_file() and target.is_relative_to(root.resolve()):
            return PurePosixPath(target.relative_to(root.resolve()).as_posix())
    return PurePosixPath(name)


def include_complaint(user: PurePosixPath, used: PurePosixPath) -> str | None:
    if used.parts[0] in HOUSES:
        return f"gpu_runtime includes {used}"
    if used.parts[0] != "gpu_runtime" or len(used.parts) < 3 or len(user.parts) < 3:
        return None
    here, there = user.parts[1], used.parts[1]
    if CPP_FLOORS[there] > CPP_FLOORS[here]:
        return f"{here} (floor {CPP_FLOORS[here]}) includes {used} (floor {CPP_FLOORS[there]})"
    if there == "device" and used.parts[2] in DEVICE_HOUSES and len(used.parts) > 3:
        if here != "device":
            return f"{here} includes {used}: a device is used through device/device.hpp"
        if user.parts[2] in DEVICE_HOUSES and user.parts[2] != used.parts[2]:
            return f"one device's house includes another's: {used}"
    return None


def twice_defined(root: Path) -> list[Violation]:
    """Types of one full name in two files: each compiles, and the linker joins their members into a crash."""
    first: dict[str, str] = {}
    found = []
    for folder in ("gpu_runtime", "kernel"):
        for file in sources(root, folder, CPP_SUFFIXES):
            if "prelude" in file.name:  # text for the kernels' own compilers
                continue
            place = str(relative(root, file))
            for number, name in type_definitions(file):
                if first.setdefault(name, place) != place:
                    found.append(Violation(place, number, f"{name} is also defined in {first[name]}"))
    return found


def type_definitions(file: Path) -> list[tuple[int, str]]:
    """(line, full name) of each type at a namespace's level; in nameless ones they are the file's own."""
    found = []
    open_spaces: list[str] = []
    for number, text in numbered(file):
        if match := NAMESPACE.match(text):
            if "}" not in text:  # else opened and closed in one line
                open_spaces.append(match[2].strip())
        elif text.startswith("}") and "namespace" in text and open_spaces:
            open_spaces.pop()
        elif (match := TYPE.match(text)) and "" not in open_spaces:
            found.append((number, "::".join([*open_spaces, match[1]])))
    return found


# -- Python ----------------------------------------------------------------------------------------


def python_violations(root: Path) -> list[Violation]:
    found = []
    for folder, package in (
        ("gpu_runtime/python/xcuda", ()),
        ("magics", ("magics",)),
        ("kernel/python", ("kernel",)),
        ("command", ("command",)),
    ):
        top = root / folder
        for file in sources(root, folder, {".py"}):
            parts = (*package, *file.relative_to(top).parts[:-1])
            unlisted = package == () and len(parts) > 0 and parts[0] not in PYTHON_FLOORS
            if unlisted and not parts[0].startswith("_"):
                what = f"xcuda.{parts[0]} has no floor in PYTHON_FLOORS"
                found.append(Violation(str(relative(root, file)), 1, what))
            module = ("xcuda", *parts) if file.name == "__init__.py" else ("xcuda", *parts, file.stem)
            for number, name in imports(file, module, is_package=file.name == "__init__.py"):
                if complaint := import_complaint(module, name):
                    found.append(Violation(str(relative(root, file)), number, complaint))
    return found


def imports(file: Path, module: tuple[str, ...], is_package: bool) -> list[tuple[int, str]]:
    """(line, absolute dotted name) of each import, wherever it stands, import_module("...") too."""
    found = []
    package = module if is_package else module[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            start = ".".join((*base, *((node.module,) if node.module else ())))
            found += [(node.lineno, f"{start}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = getattr(node.func, "attr", getattr(node.func, "id", ""))
            name = node.args[0].value
            if function in ("import_module", "__import__") and isinstance(name, str):
                found.append((node.lineno, name if not name.startswith(".") else ".".join(package) + name))
    return found


def import_complaint(user: tuple[str, ...], name: str) -> str | None:
    used = name.split(".")
    if used[0] != "xcuda" or len(used) < 2:
        return None
    here = user[1] if len(user) > 1 else None
    there = used[1]
    if there in HOUSES and here not in HOUSES:
        return f"the runtime's {'.'.join(user)} imports xcuda.{there}"
    if here in HOUSES and there in HOUSES and here != there:
        return f"{'.'.join(user)} imports {name}: kernel and magics meet only in the report"
    if here in PYTHON_FLOORS and there in PYTHON_FLOORS and PYTHON_FLOORS[there] > PYTHON_FLOORS[here]:
        return f"xcuda.{here} imports {name}, which is over it"
    return None


# -- Sizes and files -------------------------------------------------------------------------------


def long_files(root: Path) -> list[Violation]:
    found = []
    for folder in (
        "gpu_runtime",
        "kernel",
        "magics",
        "command",
        "share",
        "bench",
        "tests",
        "scripts",
        "cmake",
    ):
        for file in sources(root, folder, CPP_SUFFIXES | {".py", ".sh", ".cmake", ".txt"}):
            if (count := len(list(numbered(file)))) > LONGEST:
                what = f"{count} lines, more than {LONGEST}"
                found.append(Violation(str(relative(root, file)), LONGEST, what))
    return found


def sources(root: Path, folder: str, suffixes: set[str]) -> list[Path]:
    return sorted(f for f in (root / folder).rglob("*") if f.suffix in suffixes and f.is_file())


def numbered(file: Path):
    return enumerate(file.read_text(encoding="utf-8").splitlines(), 1)


def relative(root: Path, file: Path) -> PurePosixPath:
    return PurePosixPath(file.relative_to(root).as_posix())

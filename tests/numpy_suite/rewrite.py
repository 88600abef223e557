"""Copies of the tests in NumPy's wheel whose imports of numpy give xcuda.numeric; they lie in build/, never in git."""

import ast
import pathlib

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "numpy_suite" / f"numpy-{numpy.__version__}"
MODULES = ("_core", "lib", "linalg", "fft", "random", "polynomial")


def copies(module):
    """The folder of a module's rewritten tests."""
    source = pathlib.Path(numpy.__file__).parent / module / "tests"
    if not source.is_dir():
        raise SystemExit(
            f"this NumPy has no tests of {module}: {source} is no folder (Debian's NumPy leaves them out)"
        )
    target = FOLDER / module
    for file in source.rglob("*"):
        place = target / file.relative_to(source)
        if file.is_dir() or "__pycache__" in file.parts or "examples" in file.parts:
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        made = rewritten(file.read_text()).encode() if file.suffix == ".py" else file.read_bytes()
        if not place.exists() or place.read_bytes() != made:  # another run may be reading it
            place.write_bytes(made)
    conftest = (pathlib.Path(__file__).parent / "shim" / "collected.py").read_text()
    if not (FOLDER / "conftest.py").exists() or (FOLDER / "conftest.py").read_text() != conftest:
        (FOLDER / "conftest.py").write_text(conftest)
    return target


def rewritten(text):
    """The source with each import of numpy as calls of `substitute`; lines keep their numbers."""
    lines, tree = text.split("\n"), ast.parse(text)
    for node in _functions_of_classes(tree):  # NumPy's are no methods where a class has them
        i, code = node.lineno - 1, lines[node.lineno - 1].encode()
        if node.lineno == node.end_lineno:  # written on one line
            before, after = code[: node.col_offset], code[node.end_col_offset :]
            lines[i] = (
                before + b"staticmethod(" + code[node.col_offset : node.end_col_offset] + b")" + after
            ).decode()
    for node in ast.walk(tree):
        made = _statements(node)
        if made is None:
            continue
        first, last = node.lineno - 1, node.end_lineno - 1
        before = lines[first].encode()[: node.col_offset].decode()
        after = lines[last].encode()[node.end_col_offset :].decode()
        lines[first : last + 1] = [before + "import substitute; " + "; ".join(made) + after] + [""] * (
            last - first
        )
    return "\n".join(lines)


def _functions_of_classes(tree):
    """The `np.array` of `class Test: array = np.array`."""
    for node in ast.walk(tree):
        for item in node.body if isinstance(node, ast.ClassDef) else ():
            value = item.value if isinstance(item, ast.Assign) else None
            if (
                isinstance(value, ast.Attribute)
                and isinstance(value.value, ast.Name)
                and value.attr.islower()
            ):
                if value.value.id in ("np", "linalg", "random"):
                    yield value


def _statements(node):
    if isinstance(node, ast.Import) and any(_numpys(a.name) for a in node.names):
        return [_import(alias) for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and _numpys(node.module):
        return [f"{a.asname or a.name} = substitute.name({node.module!r}, {a.name!r})" for a in node.names]
    return None


def _import(alias):
    if not _numpys(alias.name):
        return f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
    if alias.asname is None:
        return f"import {alias.name}; numpy = substitute.module('numpy')"
    return f"{alias.asname} = substitute.module({alias.name!r})"


def _numpys(name):
    return name == "numpy" or name.startswith("numpy.")

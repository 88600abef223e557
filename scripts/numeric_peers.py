"""scripts/numeric_peers.json: which of NumPy's public names CuPy's and cuPyNumeric's wheels have.

Their published tables say where `hasattr(cupy, name)` holds; here the sources in PyPI's wheels are read for the same:
no GPU or import is needed. python scripts/numeric_peers.py (downloads 270 MB into build/peers)
"""

import ast
import json
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = Path(__file__).with_suffix(".json")
PEERS = {
    "CuPy": ("cupy", "cupy-cuda13x", "14.2.0"),
    "cuPyNumeric": ("cupynumeric", "nvidia-cupynumeric", "26.6.1"),
}


class Wheel:
    """The Python sources of a wheel, and the names that its modules define."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path)
        self.files = set(self.archive.namelist())
        self.known = {}

    def source(self, module):
        place = module.replace(".", "/")
        return next((f for f in (f"{place}/__init__.py", f"{place}.py") if f in self.files), None)

    def names(self, module):
        """Public names that importing the module gives it."""
        if module in self.known:
            return self.known[module]
        self.known[module] = found = set()
        file = self.source(module)
        if file is None:
            return found
        package = module if file.endswith("__init__.py") else module.rpartition(".")[0]
        for node in _top_level(ast.parse(self.archive.read(file)).body):
            found |= self.defined(node, package)
        return found

    def defined(self, node, package):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return {node.name}
        if isinstance(node, ast.Assign):
            return {t.id for t in node.targets if isinstance(t, ast.Name)}
        if isinstance(node, ast.Import):
            return {a.asname or a.name.partition(".")[0] for a in node.names}
        if not isinstance(node, ast.ImportFrom):
            return set()
        base = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
        source = (
            f"{base}.{node.module}" if node.level and node.module else base if node.level else node.module
        )
        if node.names[0].name == "*":
            return {n for n in self.exported(source) if not n.startswith("_")}
        return {a.asname or a.name for a in node.names}

    def exported(self, module):
        file = self.source(module)
        tree = ast.parse(self.archive.read(file)).body if file else []
        for node in tree:
            if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__all__" for t in node.targets):
                try:
                    return set(ast.literal_eval(node.value))
                except ValueError:
                    break
        return self.names(module)


def _top_level(body):
    for node in body:
        if isinstance(node, ast.Try):
            yield from _top_level(node.body)
        elif isinstance(node, ast.If):
            yield from _top_level([*node.body, *node.orelse])
        else:
            yield node


def fetch(distribution, version):
    """The wheel of a release, by pip."""
    folder = ROOT / "build" / "peers"
    stem = f"{distribution.replace('-', '_')}-{version}-"
    if not list(folder.glob(stem + "*.whl")):
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
        subprocess.run(
            [*pip, "--python-version", "3.12", "-d", str(folder), f"{distribution}=={version}"], check=True
        )
    return Wheel(next(folder.glob(stem + "*.whl")))


def main():
    """Writes the table."""
    from numeric_coverage import MODULES, public

    table = {}
    for title, (package, distribution, version) in PEERS.items():
        wheel = fetch(distribution, version)
        has = {}
        for module in MODULES:
            names = wheel.names(f"{package}.{module}" if module else package)
            if module and not names:
                names = wheel.names(f"{package}.{module}.{module}")
            has[module or "numpy"] = sorted(names & set(public(module)))
        table[title] = {"version": version, "has": has}
    FILE.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()

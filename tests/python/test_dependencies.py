"""What the package imports is what its metadata, its conda environment and its recipe ask for."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = {"IPython": "ipython", "jinja2": "jinja2", "xeus_python_shell": "xeus-python-shell"}
# Imported where a user's own arguments or front end need them, and only then.
OPTIONAL = {"pandas", "ml_dtypes", "ipywidgets"}


def names(requirements) -> set[str]:
    return {re.match(r"[\w.-]+", text)[0].lower() for text in requirements if isinstance(text, str)}


def imported() -> dict[str, set[str]]:
    """{distribution: files} of everything outside the standard library that the package imports, at any place."""
    found: dict[str, set[str]] = {}
    for folder in ("gpu_runtime/python/xcuda", "magics", "kernel/python", "command"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                modules = []
                if isinstance(node, ast.Import):
                    modules = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    modules = [node.module]
                for module in modules:
                    top = module.partition(".")[0]
                    if top not in sys.stdlib_module_names and top != "xcuda":
                        found.setdefault(PACKAGES.get(top, top), set()).add(file.name)
    return found


def test_what_is_imported_is_asked_for_and_nothing_else():
    found = imported()
    assert set(found) - OPTIONAL == names(PROJECT["dependencies"]), found


def test_the_conda_environment_has_it_too():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert names(PROJECT["dependencies"]) <= names(environment["dependencies"])


def test_the_recipe_asks_for_the_same():
    text = (ROOT / "recipe/recipe.yaml").read_text()
    recipe = yaml.safe_load(text)
    assert recipe["context"]["version"] == PROJECT["version"]
    assert names(PROJECT["dependencies"]) <= names(recipe["requirements"]["run"])
    environment = names(yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"])
    # CUDA's headers are a wheel's in the environment, and the environment is built by ./run and not by pip.
    built_with = {name for name in names(recipe["requirements"]["host"]) if not name.startswith("cuda-")}
    built_with -= {"scikit-build-core"}
    assert built_with <= environment, "environment.yml builds without what the recipe builds with"


def test_one_version_everywhere():
    version = PROJECT["version"]
    assert re.search(
        rf"project\(xeus-cuda VERSION {re.escape(version)} ", (ROOT / "CMakeLists.txt").read_text()
    )
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == version
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()

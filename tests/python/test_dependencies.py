"""What the package imports is what its metadata, its conda environment and its recipe ask for."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import bundle  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = {"IPython": "ipython", "jinja2": "jinja2", "xeus_python_shell": "xeus-python-shell"}
# Imported where a user's own arguments or front end need them, and only then.
OPTIONAL = {"pandas", "ml_dtypes", "ipywidgets"}


def names(requirements) -> set[str]:
    found = (re.match(r"[\w.-]+", text) for text in requirements if isinstance(text, str))
    return {match[0].lower() for match in found if match}


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


# What a cell imports at its left edge it needs; what it looks for first stands in an `if`.
DISTRIBUTIONS = {"skimage": "scikit-image", "sklearn": "scikit-learn", "IPython": "ipython"}
NAMES_OF_OURS = {"xcuda", "cupy", "nvmath", "cuda"}  # the article's names, served by the kernel


def imported_by_tutorials() -> dict[str, set[str]]:
    """{distribution: tutorials} of all that their cells import without asking whether it is there."""
    found: dict[str, set[str]] = {}
    for file in (ROOT / "notebooks").rglob("*.ipynb"):
        for cell in json.loads(file.read_text())["cells"]:
            if cell["cell_type"] != "code":
                continue
            for line in "".join(cell["source"]).splitlines():
                if match := re.match(r"(?:import|from) (\w+)", line):
                    top = match[1]
                    if top not in sys.stdlib_module_names and top not in NAMES_OF_OURS:
                        found.setdefault(DISTRIBUTIONS.get(top, top), set()).add(file.stem)
    return found


def test_tutorials_find_what_they_import_wherever_they_are_executed():
    """By ./run test, in the conda environment, and out of the bundle."""
    found = imported_by_tutorials()
    assert {"numpy", "matplotlib", "scikit-image", "scikit-learn"} <= set(found)
    pinned = names((ROOT / "requirements.txt").read_text().splitlines())
    conda = names(yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"])
    conda = {name.removesuffix("-base") for name in conda}  # matplotlib-base: without windows of its own
    bundled = set(bundle.TUTORIALS) | names(PROJECT["dependencies"])
    for place, there in (("requirements.txt", pinned), ("environment.yml", conda), ("the bundle", bundled)):
        assert not (missing := set(found) - there), f"{place} lacks {missing}"

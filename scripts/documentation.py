"""The documentation as a site: `documentation.py OUT` lays the sources out in OUT/source, as they lie in the tree, so
that their links hold; adds the pages made from docstrings and tables; and has Sphinx build OUT/html. A warning is an
error, and so is a link to a file or a heading that is not there."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULES = (
    "xcuda",
    "xcuda.core",
    "xcuda.core.random",
    "xcuda.numeric",
    "xcuda.tiles",
    "xcuda.jit",
    "xcuda.profiler",
    "xcuda.check",
    "xcuda.math",
)
REPOSITORY = os.environ.get(
    "XCUDA_REPOSITORY", ""
)  # where the tree can be looked at, ending in /; else no links there


def public_names(module: str) -> list[str]:
    """What a part shows: its __all__, or without one what it defines."""
    part = importlib.import_module(module)
    listed = getattr(part, "__all__", None)
    return sorted(
        listed or (n for n, v in vars(part).items() if not n.startswith("_") and not inspect.ismodule(v))
    )


def api_page(module: str) -> str:
    """A part's public names, each with its own docstring."""
    part = importlib.import_module(module)
    out = [f"# `{module}`\n", inspect.getdoc(part) or "", ""]
    values = []
    for name in public_names(module):
        value = getattr(part, name)
        if inspect.ismodule(value):
            continue
        if inspect.isclass(value):
            out += described(name, value) + members(name, value)
        elif callable(value):
            out += described(name, value)
        else:
            values.append(f"| `{name}` | `{str(value).replace('|', chr(92) + '|')[:200]}` |")
    if values:
        out += ["## Values\n", "| name | value |\n| --- | --- |", *values]
    return "\n".join(out) + "\n"


def members(name: str, value: type) -> list[str]:
    """A class's own public methods and properties that say what they are."""
    out = []
    for member, found in vars(value).items():
        if member.startswith("_") or not inspect.getdoc(found):
            continue
        if callable(found) or isinstance(found, (staticmethod, classmethod)):
            out += described(f"{name}.{member}", getattr(value, member), level=3)
        elif isinstance(found, property):
            out += [f"### `{name}.{member}`\n", *paragraphs(inspect.getdoc(found)), ""]
    return out


def described(name: str, value, level: int = 2) -> list[str]:
    """Functions of every kind alike, those of the compiled runtime and the names that kernels know among them."""
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = getattr(value, "__text_signature__", None) or "(...)"
    signature = re.sub(r"<class '([^']*)'>", r"\1", re.sub(r"<[^<>]*? at 0x[0-9a-f]+>", "...", signature))
    heading = "#" * level
    return [
        f"{heading} `{name}`\n",
        "```python",
        f"{name}{signature}",
        "```",
        "",
        *paragraphs(inspect.getdoc(value)),
        "",
    ]


def paragraphs(text: str | None) -> list[str]:
    """A docstring as Markdown: what looks like markup in plain words stays words."""
    return [
        re.sub(r"(?<!`)(<\w[^>]*>)", r"`\1`", line) for line in (text or "").replace("``", "`").splitlines()
    ]


def magics_page() -> str:
    """Each magic's own help."""
    from xcuda.magics.shell import NAMES, classes

    out = ["# Magics\n", "What `%magic?` shows. Tab completes names and options.\n"]
    for name in sorted(set(NAMES["line"]) | set(NAMES["cell"])):
        method = next(getattr(c, name) for c in classes() if hasattr(c, name))
        marks = [mark for mark, kind in (("%", "line"), ("%%", "cell")) if name in NAMES[kind]]
        text = inspect.getdoc(method).removeprefix("::").strip("\n")
        out += [
            f"## `{'`, `'.join(mark + name for mark in marks)}`\n",
            "```text",
            inspect.cleandoc(text),
            "```",
            "",
        ]
    return "\n".join(out)


def program_page() -> str:
    """`xcuda --help`, and that of each command."""
    from xcuda.command.main import arguments

    parser = arguments()
    (commands,) = [action for action in parser._actions if action.dest == "command"]
    out = ["# The `xcuda` program\n", "```text", parser.format_help(), "```", ""]
    for name, command in commands.choices.items():
        out += [
            f"## `xcuda {name}`\n",
            "```text",
            command.format_help().replace(sys.prefix, "ENVIRONMENT"),
            "```",
            "",
        ]
    return "\n".join(out)


def lay_out(source: Path) -> None:
    for folder in ("docs", "notebooks"):
        shutil.copytree(
            ROOT / folder, source / folder, ignore=shutil.ignore_patterns("site", ".ipynb_checkpoints")
        )
    (source / "bench").mkdir()
    for file in ("CHANGELOG.md", "CONTRIBUTING.md", "bench/RESULTS.md"):
        shutil.copy(ROOT / file, source / file)
    for file in ("conf.py", "index.md"):
        shutil.copy(ROOT / "docs" / "site" / file, source / file)
    (source / "static").mkdir()
    shutil.copy(ROOT / "docs" / "site" / "site.css", source / "static" / "site.css")
    shutil.copy(ROOT / "share" / "logo-svg.svg", source / "logo.svg")
    reference = source / "reference"
    reference.mkdir()
    (reference / "magics.md").write_text(magics_page())
    (reference / "program.md").write_text(program_page())
    for module in MODULES:
        (reference / f"{module.rpartition('.')[2]}.md").write_text(api_page(module))
    for notebook in (source / "notebooks").rglob("*.ipynb"):
        notebook.write_text(json.dumps(folded(json.loads(notebook.read_text()))))
    for page in source.rglob("*.md"):
        page.write_text(links_to_the_tree(page.read_text(), page.parent, source))


def folded(notebook: dict) -> dict:
    """Cells whose source JupyterLab hides, the solutions, by the tag that hides them here."""
    for cell in notebook["cells"]:
        if cell["metadata"].get("jupyter", {}).get("source_hidden"):
            cell["metadata"].setdefault("tags", []).append("hide-input")
    return notebook


def links_to_the_tree(text: str, folder: Path, source: Path) -> str:
    """Links to files of the tree that are no pages here lead to the repository, where that is known; one to nothing
    stops the build."""

    def link(match: re.Match) -> str:
        words, target = match.groups()
        path, _, anchor = target.partition("#")
        if not re.fullmatch(r"[\w./-]*\w\.\w+|[\w./-]+/", path) or (folder / path).exists():
            return match[0]  # of the web, of this page, of these pages; or a call in code
        there = (ROOT / folder.relative_to(source) / path).resolve()
        if not there.exists():
            sys.exit(f"a page of {folder.relative_to(source)} links to {path}, which is not there")
        return (
            f"[{words}]({REPOSITORY}{there.relative_to(ROOT)}{'#' + anchor if anchor else ''})"
            if REPOSITORY
            else words
        )

    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", link, text)


def main(out: Path) -> int:
    source = out / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    lay_out(source)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "-d",
        out / "doctrees",
    ]
    done = subprocess.run([*command, source, out / "html"], stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        print(out / "html" / "index.html")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))

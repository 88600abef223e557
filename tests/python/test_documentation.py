"""Every public name says what it is, since the reference is made of it; every link of a page leads somewhere."""

import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import documentation  # noqa: E402

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("bench/*.md"),
        *ROOT.glob("notebooks/**/*.ipynb"),
    ]
)


@pytest.mark.parametrize("module", documentation.MODULES)
def test_every_public_name_is_documented(module):
    part = import_module(module)
    assert inspect.getdoc(part)
    for name in documentation.public_names(module):
        value = getattr(part, name)
        if inspect.ismodule(value) or not callable(value):
            continue
        words = inspect.getdoc(value) or ""
        assert words, f"{module}.{name} has no docstring"


@pytest.mark.parametrize("module", documentation.MODULES)
def test_the_reference_has_every_public_name(module):
    page = documentation.api_page(module)
    for name in documentation.public_names(module):
        assert f"`{name}`" in page or inspect.ismodule(getattr(import_module(module), name)), name


def test_the_page_of_magics_has_every_magic():
    from xcuda.magics.shell import NAMES

    page = documentation.magics_page()
    for name in NAMES["line"]:
        assert f"`%{name}`" in page
    for name in NAMES["cell"]:
        assert f"`%%{name}`" in page


def test_every_page_of_docs_is_in_the_sites_index():
    index = (ROOT / "docs/site/index.md").read_text()
    for page in ROOT.glob("docs/*.md"):
        assert f"docs/{page.stem}\n" in index, (
            f"./run docs stops at a page that no table of contents has: {page.stem}"
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = page.read_text()
    if page.suffix == ".ipynb":
        text = "\n".join(
            "".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "markdown"
        )
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)  # code has brackets of its own
    for target in re.findall(r'\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"', text):
        path, _, anchor = "".join(target).partition("#")
        if "://" in path:
            continue
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{path} is not there"
        if anchor and there.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", there.read_text(), re.M)
            slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in slugs, f"{path} has no heading {anchor}"


@pytest.mark.parametrize("page", ["README.md", "docs/GUIDE.md"])
def test_a_pages_code_runs(page, tmp_path):
    """The Python of the page, block after block, as one program."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert blocks
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks))
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(program)], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr

"""Every public name says what it is, since the reference is made of it; every link of a page leads somewhere."""

import inspect
import json
import re
import subprocess
import sys
import urllib.parse
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
        if inspect.isclass(value) and value.__module__.startswith("xcuda"):
            silent = [member for member in own_members(value) if not inspect.getdoc(getattr(value, member))]
            assert not silent, f"{module}.{name}: {silent} have no docstring"


def own_members(kind) -> list[str]:
    """Public methods and properties that the class itself defines."""
    return [
        name
        for name, found in vars(kind).items()
        if not name.startswith("_")
        and (callable(found) or isinstance(found, (property, staticmethod, classmethod)))
    ]


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
    for target in links(page):
        path, _, anchor = target.partition("#")
        if "://" in path:
            continue
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{path} is not there"
        assert there.is_relative_to(ROOT), f"{path} is outside the tree"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", words(there), re.M)
            slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in slugs, f"{path} has no heading {anchor}"


def words(page) -> str:
    """The page's Markdown, a notebook's too, without its code."""
    text = page.read_text()
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def links(page) -> list[str]:
    text = re.sub(r"`[^`\n]*`", "", words(page))  # code has brackets of its own
    found = re.findall(r'\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"|(https?://[^\s)>"\']+)', text)
    return sorted({"".join(target) for target in found})


# Pages of others: few, and not asked for in a test. Whoever adds one looks that it is there.
ELSEWHERE = {"https://ui.perfetto.dev"}


def test_links_to_other_sites_are_known_and_well_formed():
    used = {target for page in PAGES for target in links(page) if "://" in target}
    assert used == ELSEWHERE
    for target in used:
        parts = urllib.parse.urlsplit(target)
        assert parts.scheme == "https" and re.fullmatch(r"[\w-]+(\.[\w-]+)+", parts.netloc), target


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A heading\n[a](#a-heading) [b](gone.md) `[c](code.md)`\n```\n[d](code.md)\n```\n")
    assert links(page) == ["#a-heading", "gone.md"]


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


@pytest.mark.parametrize(
    "what", ["A function of the kernel language", "A device", "A rule of advice", "A section of the report"]
)
def test_contributing_has_a_recipe_for(what):
    """And the files that the recipe sends one to are there."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (recipe,) = re.findall(rf"^\*\*{what}\.\*\* (.*?)\n\n", text, re.M | re.S)
    named = [name for name in re.findall(r"`([\w./*]+)`", recipe) if "/" in name or "." in name]
    assert named
    for name in named:
        places = [ROOT, ROOT / "gpu_runtime", ROOT / "gpu_runtime/profile", ROOT / "gpu_runtime/python"]
        assert any(list(place.glob(name)) for place in places), name


def test_the_chinese_readme_has_the_programs_of_the_readme():
    def programs(page):
        blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
        return [re.sub(r" *#.*", "", block) for block in blocks]

    assert programs("README.zh-CN.md") == programs("README.md")


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("PROFILING_TESTS.md", 70),
        ("MATH_TESTS.md", 60),
        ("TILES.md", 50),
        ("ROBUSTNESS_TESTS.md", 70),
        ("NEWCOMER_TESTS.md", 60),
    ],
)
def test_what_shows_that_a_part_works_is_there(page, least):
    """Each test and script that the page names."""
    names = re.findall(r"`([\w/]+\.(?:py|cpp))(?:::(\w+))?`", (ROOT / "docs" / page).read_text())
    assert len(names) > least
    for file, test in names:
        path = ROOT / file if "/" in file else ROOT / "tests" / "python" / file
        assert path.is_file(), file
        assert not test or re.search(rf"^def {test}\(", path.read_text(), re.MULTILINE), (
            f"{file} has no {test}"
        )

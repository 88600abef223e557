"""The generated pages are as the compiler is; every statement they list compiles, every refusal has an example."""

import sys
from pathlib import Path

import language_examples
import pytest
import refusal_examples
from frontend_source import ir

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import reference


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_page_is_not_stale(name, root):
    file = root / name
    assert file.read_text() == reference.PAGES[name](), f"{name} is stale: ./run docs"


@pytest.mark.parametrize(("title", "body"), language_examples.STATEMENTS + language_examples.EXPRESSIONS)
def test_a_listed_statement_compiles(title, body):
    assert "f(" in ir(refusal_examples.of_body(body), language_examples.ARGUMENTS)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_every_refusal_has_an_example(root):
    said = [
        refusal_examples.told(refusal_examples.of_body(b)).found
        for _, bs in refusal_examples.bodies()
        for b in bs
    ]
    said += [refusal_examples.told(*s).found for s in refusal_examples.SOURCES]
    said += [refusal_examples.told_tiles(body).found for body in refusal_examples.TILES]
    sites = refusal_examples.sites(root)
    assert len(sites) > 100
    unknown = [
        f"{file}:{line}: {words}"
        for file, line, words in sites
        if not any(words in sentence for sentence in said)
        and not any(part in words for part in refusal_examples.WITHOUT_EXAMPLE)
    ]
    assert not unknown, "add an example to tests/python/refusal_examples.py for:\n" + "\n".join(unknown)


def test_the_list_of_those_without_example_is_not_longer_than_it_must_be(root):
    words = [w for _, _, w in refusal_examples.sites(root)]
    for part in refusal_examples.WITHOUT_EXAMPLE:
        assert any(part in w for w in words), f"no refusal says '{part}' any more"

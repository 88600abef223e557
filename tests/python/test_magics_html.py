"""Everything that a magic or a result shows is valid HTML, without script, style sheets or colours, and survives
JupyterLab's sanitiser as it is."""

from __future__ import annotations

import re

import pytest
from jupyterlab_sanitizer import COLOURS, bleach, sanitized
from report_documents import advice, crowded, document, kernel
from test_magics_pictures import busy, occupancy
from test_magics_render import Structure
from xcuda.magics.render import render_benchmark, render_comparison, render_report
from xcuda.profiler import Report
from xcuda.profiler.timing import Benchmark, Spread, Timing


def timed(name="f & g", device=True) -> Benchmark:
    spread = Spread((1e-3, 2e-3, 4e-3))
    part = spread if device else None
    why = "" if device else "it launches <nothing>"
    timing = Timing(spread, spread, part, part, why)
    return Benchmark(name, "cpu", 0.02, 1, timing, timing if device else None, swept="32 MiB", copied=12)


def compared():
    after = document([kernel("<b>", block=[32, 8, 1]), kernel("new")])
    return Report(document([kernel("<b>"), kernel("gone")])).compare(Report(after))


def advised():
    from planted import PAIRS
    from xcuda.magics.advise import advise

    callee, arguments = PAIRS["shared: transpose, one bank"].call(twin=False)
    return advise(callee, "k", list(arguments))._repr_mimebundle_()


def sourced():
    from xcuda.magics.source import Weights, beside

    text = 'void k() {\n#line 3 "cell <1>"\n    a = b < c;\n}\n'
    version = {"entry": "k", "signature": "(int64)", "device": "cpu", "how": "", "text": text}
    return beside(version, Weights("sm_90", {3: 12}))._repr_mimebundle_()


def targeted():
    from xcuda.magics.targeted import Targeted

    shown = Targeted("sm_80", [("a<b>", "32 x 8", "40", "0 B", "0 B", "75 %", "registers")])
    return {"text/plain": repr(shown), "text/html": shown._repr_html_()}


PAGES = {
    "a report": lambda: render_report(document(advice=[advice("a < b")]))[0],
    "a crowded report": lambda: render_report(crowded(), pictures=("timeline", "roofline"), unfolded=True)[0],
    "a report with pictures": lambda: render_report(busy(), pictures=("timeline", "roofline"))[0],
    "a benchmark": lambda: render_benchmark(timed())[0],
    "one without a device": lambda: render_benchmark(timed(device=False))[0],
    "a comparison": lambda: render_comparison(compared())[0],
    "an occupancy table": lambda: occupancy()._repr_mimebundle_(),
    "advice with a rewrite": lambda: advised(),
    "a source with its costs": lambda: sourced(),
    "another target's figures": lambda: targeted(),
}
every_page = pytest.mark.parametrize("bundle", PAGES.values(), ids=PAGES)


@every_page
def test_it_is_valid_html(bundle):
    page = bundle()["text/html"]
    parser = bleach._vendor.html5lib.HTMLParser(strict=True)  # raises where a browser would mend
    parser.parseFragment(page)
    tags = [tag for tag, _ in Structure(page).tags]
    assert not {"script", "style", "svg", "iframe", "object", "link"}.intersection(tags)


@every_page
def test_nothing_is_a_script_or_fetched(bundle):
    """As Colab and VS Code want it: every picture is in the page, nothing runs, and nothing leads elsewhere."""
    page = bundle()["text/html"]
    for address in re.findall(r"""(?:src|href|srcset|action|poster)\s*=\s*["']([^"']*)""", page):
        assert address.startswith(("data:image/", "#")), address
    assert not re.search(r"""\son\w+\s*=|javascript:|url\(|@import""", page)


def test_the_parser_of_these_tests_is_strict():
    with pytest.raises(bleach._vendor.html5lib.html5parser.ParseError):
        bleach._vendor.html5lib.HTMLParser(strict=True).parseFragment("<table><div>no row</div></table>")


@every_page
def test_the_sanitizer_takes_nothing_away(bundle):
    whole, left = Structure(bundle()["text/html"]), Structure(sanitized(bundle()["text/html"]))
    assert whole.text == left.text

    def without_source(
        tags,
    ):  # bleach knows no data URIs, which JupyterLab's sanitiser lets through for an <img>
        return [(tag, [a for a in attributes if a[0] != "src"]) for tag, attributes in tags]

    assert without_source(whole.tags) == without_source(left.tags)


@every_page
def test_it_takes_the_page_s_colours(bundle):
    styles = re.findall(r'style="([^"]*)"', bundle()["text/html"])
    properties = {p.partition(":")[0].strip() for style in styles for p in style.split(";") if p.strip()}
    assert properties and not COLOURS.intersection(properties)
    assert not re.search(r'\son\w+="', bundle()["text/html"])


@every_page
def test_it_has_plain_text_beside_it(bundle):
    text = bundle()["text/plain"]
    assert text.strip() and "<div" not in text and len(text.splitlines()) < 60


def test_results_show_themselves_in_a_notebook():
    for result in (timed(), compared()):
        bundle, _ = result._repr_mimebundle_()
        assert set(bundle) == {"text/plain", "text/html"}


def test_results_are_text_where_nobody_draws(monkeypatch):
    from xcuda.profiler import shown

    monkeypatch.setattr(shown, "renderers", {})
    monkeypatch.delattr("xcuda._prepare", raising=False)
    assert timed()._repr_mimebundle_() == {"text/plain": repr(timed())}

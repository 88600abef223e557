"""How a report looks: the quiet line, the details, the plain text, and what a sanitiser leaves of it."""

from __future__ import annotations

import html.parser
import json
import re

import pytest
from jupyterlab_sanitizer import COLOURS, sanitized
from report_documents import absent, advice, crowded, document, kernel, measured
from xcuda.magics import render_report
from xcuda.magics.figures import cell_of, in_unit, place, shape
from xcuda.magics.render import MIME, quiet_line


class Structure(html.parser.HTMLParser):
    """Tags with attributes and styles as sets, and the text, of a piece of HTML."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        kept = {
            name: frozenset(s.strip().rstrip(";") for s in value.split(";") if s.strip())
            if name == "style"
            else value
            for name, value in attrs
        }
        self.tags.append((tag, tuple(sorted(kept.items()))))

    def handle_data(self, data):
        self.text += data


def html_of(report: dict, **options) -> str:
    return render_report(report, **options)[0]["text/html"]


@pytest.mark.parametrize(
    "report", [document(), crowded(), document([], compiles=[])], ids=["one", "all", "none"]
)
def test_the_sanitizer_takes_nothing_away(report):
    whole, left = Structure(html_of(report)), Structure(sanitized(html_of(report)))
    assert whole.tags == left.tags
    assert whole.text == left.text


def test_the_sanitizer_of_these_tests_does_take_things_away():
    assert sanitized('<svg><path d="M0"/></svg><b onclick="x()" data-a="1">t</b>') == "<b>t</b>"
    assert "var(" not in sanitized('<p style="color: var(--x)">t</p>')
    assert (
        sanitized('<meter min="0" optimum="1" value="0.5"></meter>') == '<meter min="0" value="0.5"></meter>'
    )


def test_no_colour_of_text_or_ground():
    properties = re.findall(r'[";]\s*([a-z-]+):', html_of(crowded()))
    assert properties and not COLOURS.intersection(properties)


def test_text_of_others_is_escaped():
    page = html_of(crowded())
    assert "Write a &lt; b &amp; c." in page
    assert "&lt;t&gt; may be unbound" in page


def test_the_bundle_has_three_forms_and_no_plain_json():
    bundle, metadata = render_report(document())
    assert set(bundle) == {"text/plain", "text/html", MIME}
    assert bundle[MIME] == document()
    assert json.dumps(bundle) and metadata == {}


def test_it_is_folded_with_one_line_to_see():
    page = html_of(document())
    assert page.startswith("<details style=")
    assert Structure(page).text.strip().splitlines()[0] == quiet_line(document())
    assert quiet_line(document()) == "saxpy · 710 µs on cpu · compiled in 24 ms"


def test_the_quiet_line_tells_what_mattered():
    report = document([kernel("a", calls=2), kernel("b"), kernel("c", failed=1)], [advice(), advice()])
    report["totals"] |= {"compiled": 0, "from_cache": 1, "copy_bytes": measured(3 << 20, "B"), "running": 1}
    report["devices"][0]["memory_change"] = measured(-2048, "B")
    assert quiet_line(report) == (
        "3 kernels · 4 launches · 710 µs on cpu · 1 still running · 1 stopped by an error · "
        "from the compile cache · copied 3 MiB · memory −2 KiB · 2 hints"
    )


def test_a_running_launch_shows_no_time():
    report = document([kernel(running=1)])
    report["totals"]["device_time"] = absent("still running when the report was made")
    assert quiet_line(report) == "saxpy · 1 still running · compiled in 24 ms"


def test_an_absent_figure_shows_its_reason_and_never_a_zero():
    text = Structure(html_of(document())).text
    assert re.search(r"occupancy\s*–\s*no occupancy on the CPU device", text)
    assert not re.search(r"occupancy\s*0", text)


def test_each_figure_says_where_it_is_from():
    text = Structure(html_of(document())).text
    assert re.search(r"memory rate\s*17.7 GB/s\s*modelled", text)
    assert re.search(r"time\s*710 µs\s*measured", text)
    assert re.search(r"share of the roofline\s*62 % of the copy bandwidth\s*modelled", text)


def test_advice_carries_the_users_line():
    assert (
        "Hint: Use larger blocks. (saxpy, cell 3, line 4)"
        in Structure(html_of(document(advice=[advice()]))).text
    )


def test_metrics_pick_the_figures_but_not_the_data():
    bundle, _ = render_report(document(), metrics=("memory_throughput",))
    assert "memory rate" in bundle["text/html"] and "arithmetic rate" not in bundle["text/html"]
    assert "grid, block" in bundle["text/html"]
    assert bundle[MIME]["kernels"][0]["flop_rate"]["value"] == 2.8e9


def test_plain_text_reads_in_a_terminal():
    text = render_report(crowded())[0]["text/plain"]
    lines = text.splitlines()
    assert lines[0].startswith("xcuda: 3 kernels · 5 launches")
    assert "  blur(float32[::1], float32[::1])  [cell 3, line 4]" in lines
    assert any(
        re.match(r"    time of a call, 3 calls +710 µs \(from 710 µs to 710 µs\)  \(measured\)", s)
        for s in lines
    )
    assert any(re.match(r"    occupancy +75 %, limited by registers  \(computed\)", s) for s in lines)
    assert "    warning: cell 3, line 5: <t> may be unbound" in lines
    assert "  hint: Write a < b & c. [cell 3, line 4]" in lines
    assert max(map(len, lines)) < 120 and "\t" not in text and "–" not in text


def test_many_rows_are_cut_and_counted():
    page = html_of(document([kernel(f"k{i}") for i in range(40)]))
    assert "k29" in page and "k30" not in page
    assert "and 10 more rows" in page


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00123, "s", "1.23 ms"), (12.34e-6, "s", "12.3 µs"), (0, "s", "0 s"), (0.9999, "s", "1.00 s"),
        (4.2e9, "B/s", "4.20 GB/s"), (2.5e12, "FLOP/s", "2.50 TFLOP/s"), (3 << 20, "B", "3 MiB"),
        (1000, "B", "1000 B"), (-1536, "B", "-1.50 KiB"), (0.62, "share", "62 %"),
        (0.0012, "share", "0.12 %"), (40, "1", "40"),
    ],
)  # fmt: skip
def test_units(value, unit, text):
    assert in_unit(value, unit) == text


def test_places_and_shapes():
    assert place({"file": "<ipython-input-12-ab>", "line": 3}) == "cell 12, line 3"
    assert place({"file": "/home/me/filters.py", "line": 30}) == "filters.py, line 30"
    assert place({"file": "x.py", "line": 0}) == ""
    assert cell_of("/tmp/ipykernel_7/1.py") is None  # no shell here that would know it
    assert shape([32, 8, 1]) == "32 × 8"
    assert shape([1, 1, 1]) == "1"
    assert shape([1, 4, 1]) == "1 × 4"

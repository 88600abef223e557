"""Timeline, roofline and occupancy as pictures: valid SVG without script, readable on light and dark grounds."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ElementTree

import pytest
from jupyterlab_sanitizer import COLOURS, sanitized
from report_documents import absent, computed, crowded, document, kernel, modelled, valid
from test_magics_render import Structure
from xcuda import _svg as svg
from xcuda.magics.occupancy import Occupancy, Row, drawn
from xcuda.magics.render import MIME, drawing, render_report
from xcuda.magics.roofline import roofline
from xcuda.magics.timeline import ticks, timeline

SVG = "{http://www.w3.org/2000/svg}"
LIGHT, DARK = "#ffffff", "#111111"  # JupyterLab's grounds


def events(*rows):
    made = [
        {"kind": k, "name": n, "device": "cpu", "stream": s, "begin": b, "end": e, "state": "done"}
        for k, n, s, b, e in rows
    ]
    return valid(document(timeline={"events": made, "left_out": 0}))


def busy():
    return events(
        ("compile", "<blur> & co", 0, 0.0, 0.02),
        ("launch", "<blur> & co", 0, 0.02, 0.05),
        ("launch", "scale", 1, 0.03, 0.04),
        ("to host", "to host", 0, 0.05, 0.06),
    )


def occupancy():
    rows = [
        Row(32, 32, 32, 0.5, "blocks"),
        Row(256, 8, 64, 1.0, "threads"),
        Row(1024, 0, 0, 0.0, "registers"),
    ]
    return Occupancy("<k>", "(float32[::1])", "sm_90", "", 32, 0, rows)


PICTURES = {
    "timeline": lambda: timeline(busy())[0],
    "roofline": lambda: roofline(crowded())[0],
    "occupancy": lambda: drawn(occupancy()),
}
each = pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@each
def test_they_are_xml_of_shapes_and_text_only(draw):
    root = ElementTree.fromstring(draw())
    assert root.tag == f"{SVG}svg"
    kinds = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert kinds <= {"svg", "title", "text", "line", "rect", "circle"}
    assert root[0].tag == f"{SVG}title" and root[0].text
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on") and "url(" not in value and "href" not in name


@each
def test_they_are_read_on_both_grounds(draw):
    for element in ElementTree.fromstring(draw()).iter():
        for name in ("fill", "stroke"):
            colour = element.get(name)
            if colour is None:
                continue
            least = 4 if element.tag == f"{SVG}text" else 3
            assert contrast(colour, LIGHT) >= least and contrast(colour, DARK) >= least, colour
        if element.tag == f"{SVG}text":
            assert element.get("fill"), "text without a colour is black"


@each
def test_nothing_is_drawn_outside(draw):
    root = ElementTree.fromstring(draw())
    width, height = float(root.get("width")), float(root.get("height"))
    for element in root.iter():
        for name, most in (("x", width), ("y", height), ("cx", width), ("cy", height)):
            assert 0 <= float(element.get(name, 0)) <= most
        assert float(element.get("x", 0)) + float(element.get("width", 0)) <= width + 1 or element is root


def test_a_picture_survives_the_sanitizer_as_an_img():
    bundle, _ = render_report(busy(), pictures=("timeline", "roofline"), unfolded=True)
    page = bundle["text/html"]
    whole, left = Structure(page), Structure(sanitized(page))
    sources = [dict(attributes)["src"] for tag, attributes in whole.tags if tag == "img"]
    assert len(sources) == 2
    for source in sources:
        assert source.startswith("data:image/svg+xml;base64,")
        ElementTree.fromstring(base64.b64decode(source.partition(",")[2]))
    assert [tag for tag, _ in whole.tags] == [tag for tag, _ in left.tags]
    assert page.startswith("<details open ")
    assert not COLOURS.intersection(re.findall(r'[";]\s*([a-z-]+):', page))
    assert "timeline" not in bundle[MIME]  # a notebook keeps the figures


def test_the_timeline_has_a_row_a_track_and_tells_names():
    picture, told = timeline(busy())
    root = ElementTree.fromstring(picture)
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert [w for w in words if ": " in w] == [
        "cpu: default stream",
        "cpu: stream 1",
        "host: compiles and copies",
    ]
    assert "<blur> & co" in words and "compile <blur> & co" in words
    assert told == "Timeline of In [3]: 4 events in 60 ms on 3 tracks"
    titles = [element.text for element in root.iter(f"{SVG}title")]
    assert "scale: 10 ms" in titles


def test_bars_are_as_long_as_the_time():
    root = ElementTree.fromstring(timeline(busy())[0])
    widths = {r[0].text: float(r.get("width")) for r in root.iter(f"{SVG}rect") if len(r)}
    assert widths["<blur> & co: 30 ms"] == pytest.approx(3 * widths["scale: 10 ms"], rel=0.01)


def test_ten_thousand_launches_make_a_small_picture():
    many = events(*[("launch", "k", 0, i * 1e-5, i * 1e-5 + 9e-6) for i in range(10_000)])
    picture, _ = timeline(many)
    assert len(picture) < 100_000
    total = [t.text for t in ElementTree.fromstring(picture).iter(f"{SVG}title") if t.text.startswith("k: ")]
    assert total == ["k: 90 ms in 10000 pieces"]


def test_the_roofline_puts_a_kernel_where_its_figures_are():
    made = kernel(
        flops=modelled(3e6, "FLOP"), bytes_read=modelled(2e6, "B"), bytes_written=modelled(1e6, "B"),
        flop_rate=modelled(1e9, "FLOP/s"),
    )  # fmt: skip
    picture, told = roofline(document([made]))
    (dot,) = ElementTree.fromstring(picture).iter(f"{SVG}circle")
    assert dot[0].text == "saxpy: 1 GFLOP/s at 1 FLOP/B, 62 % of its limit"
    assert told == "Roofline of In [3] on Some CPU, 2 cores, AVX-512: saxpy 1 GFLOP/s"
    texts = " ".join(t.text for t in ElementTree.fromstring(picture).iter(f"{SVG}text"))
    assert "copies 28.6 GB/s (measured)" in texts and "float32 470 GFLOP/s (measured)" in texts


def test_a_computed_peak_is_said_to_be_computed():
    report = document()
    report["devices"][0]["peak_float32"] = computed(6.69e13, "FLOP/s")
    texts = " ".join(t.text for t in ElementTree.fromstring(roofline(report)[0]).iter(f"{SVG}text"))
    assert "float32 66.9 TFLOP/s (computed)" in texts
    assert "(float32, computed)" in render_report(report)[0]["text/html"]


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (document([]), "No roofline: no kernel ran."),
        (document([kernel(flop_rate=absent("depends on data"))]), "No roofline: saxpy: depends on data."),
        (document([kernel(flop_rate=modelled(0, "FLOP/s"))]), "saxpy does no floating-point operation"),
    ],
)
def test_what_cannot_be_drawn_says_why(report, sentence):
    page = render_report(report, pictures=("roofline",))[0]["text/html"]
    assert sentence in page and "<img" not in page


def test_reasons_are_escaped_and_a_missing_timeline_is_told():
    assert "No timeline: this report has no timeline" in drawing(document(), "timeline")
    assert "&lt;b&gt;" in drawing(document([kernel("<b>", flop_rate=absent("x"))]), "roofline")
    assert drawing(document(), "timeline", missing="") == ""


def test_characters_that_xml_cannot_hold_are_replaced():
    ElementTree.fromstring(timeline(events(("launch", "a\x00\x1b\ud800", 0, 0, 1)))[0])
    assert svg.printable("a\x00b") == "a\ufffdb"


@pytest.mark.parametrize("span", [1e-9, 3.7e-6, 0.011, 1, 59, 1234.5])
def test_ticks_are_few_and_round(span):
    found = ticks(span)
    assert found[0] == 0 and 2 <= len(found) <= 8 and found[-1] <= span * 1.0001


def test_occupancy_page_survives_the_sanitizer():
    page = occupancy()._repr_mimebundle_()["text/html"]
    whole, left = Structure(page), Structure(sanitized(page))
    assert whole.text == left.text and [t for t, _ in whole.tags] == [t for t, _ in left.tags]
    assert "&lt;k&gt;" in page

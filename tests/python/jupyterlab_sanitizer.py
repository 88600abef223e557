"""What JupyterLab 4.6 leaves of an untrusted output's HTML (@jupyterlab/apputils, sanitizer.ts), of the tags,
attributes and styles that a report could want. A tag that is not listed loses its mark-up, an
attribute or a style goes."""

from __future__ import annotations

import pytest

bleach = pytest.importorskip("bleach", reason="bleach, which nbconvert brings, is not installed here")
from bleach.css_sanitizer import CSSSanitizer  # noqa: E402

TAGS = {
    "a", "abbr", "b", "br", "caption", "code", "col", "colgroup", "dd", "details", "div", "dl", "dt",
    "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "kbd", "li",
    "mark", "meter", "ol", "p", "pre", "progress", "q", "s", "samp", "small", "span", "strong", "sub",
    "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr", "u", "ul", "var",
    "wbr",
}  # fmt: skip
ANYWHERE = {
    "class",
    "dir",
    "draggable",
    "hidden",
    "inert",
    "lang",
    "spellcheck",
    "style",
    "title",
    "translate",
}
ATTRIBUTES = {
    "a": {"href", "rel", "target"},
    "col": {"align", "span", "valign", "width"},
    "details": {"open"},
    "div": {"align"},
    "img": {"align", "alt", "border", "height", "src", "width"},
    "meter": {"high", "low", "max", "min", "value"},
    "pre": {"width"},
    "progress": {"max", "min", "value"},
    "table": {"align", "border", "cellpadding", "cellspacing", "summary", "width"},
    "td": {"align", "colspan", "headers", "height", "nowrap", "rowspan", "scope", "valign", "width"},
    "th": {"align", "colspan", "headers", "height", "nowrap", "rowspan", "scope", "valign", "width"},
    "tr": {"align", "valign"},
}
STYLES = {
    "border", "border-bottom", "border-collapse", "border-left", "border-right", "border-spacing",
    "border-top", "cursor", "display", "flex", "flex-wrap", "float", "font-family", "font-size",
    "font-style", "font-weight", "gap", "grid-template-columns", "height", "justify-content",
    "line-height", "margin", "margin-bottom", "margin-left", "margin-right", "margin-top", "max-height",
    "max-width", "min-width", "opacity", "overflow", "overflow-x", "overflow-y", "padding",
    "padding-bottom", "padding-left", "padding-right", "padding-top", "text-align", "text-decoration",
    "vertical-align", "visibility", "white-space", "width",
}  # fmt: skip
# Also let through by the sanitiser, but they would fix a theme's colours: reports may not use them.
COLOURS = {"color", "background", "background-color"}


def sanitized(html: str) -> str:
    return bleach.clean(
        html,
        tags=TAGS,
        attributes=lambda tag, name, value: name in ANYWHERE or name in ATTRIBUTES.get(tag, ()),
        css_sanitizer=CSSSanitizer(allowed_css_properties=STYLES, allowed_svg_properties=()),
        strip=True,
    )

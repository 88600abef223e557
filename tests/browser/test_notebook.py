"""The same in Notebook 7, which `jupyter notebook` opens."""

from __future__ import annotations

import re

import pytest
from lab import FIRST, Notebook
from playwright.sync_api import expect

WRONG = "matrix_multiply(A, B[:100], C)"
PICTURE = "cuda.draw(matrix_multiply[(1, 1), (2, 2)], A[:2, :2], B[:2, :2], C[:2, :2])"
LONG = """@cuda.kernel
def for_ever(x):
    while x[0] >= 0:
        x[0] = (x[0] + 1) % 7


for_ever[1, 1](np.ones(1, np.int32))"""


@pytest.mark.parametrize("lab", [Notebook], indirect=True)
def test_a_first_session(lab):
    """A kernel with its report in both themes, an error with the line, a picture, an interrupt, the cell after it."""
    lab.open("session", [FIRST, WRONG, PICTURE, LONG, "20 + 3"])
    lab.run(0)
    assert lab.output(0).first.inner_text().strip() == "True"
    report = lab.output(0).locator("details").first
    assert re.match(r"matrix_multiply · .*s\b", report.locator("summary").first.inner_text())
    report.locator("summary").first.click()
    figures = report.locator("table").first
    expect(figures).to_be_visible()
    lab.is_read_in_both_themes(figures.locator("td").first)
    lab.run(1)
    assert "IndexError" in lab.said(1) and "total += A[i, k] * B[k, j]" in lab.said(1)
    lab.run(2)
    picture = lab.output(2).locator("img")
    assert picture.evaluate("e => e.complete && e.naturalWidth > 100")
    lab.interrupt(3, count=4, after=500)
    lab.run(4)
    assert lab.output(4).inner_text().strip() == "23"
    lab.page.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollTo(0, 0)")
    lab.shoot("notebook")

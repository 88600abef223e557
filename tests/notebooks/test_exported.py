"""A notebook with reports as HTML and as PDF: nbconvert keeps their figures and pictures."""

from __future__ import annotations

import re
import shutil
import subprocess

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

CELLS = (
    "import cuda.core as cuda\nimport numpy as np\n\n@cuda.kernel\ndef tripled(x):\n    i = cuda.grid(1)\n"
    "    if i < x.size:\n        x[i] = 3 * x[i]\n\ntripled(np.ones(1000))",
    "%%cuda_profile\ntripled(np.ones(1000))",
    "cuda.draw(tripled[1, 4], np.ones(4))",
)


@pytest.fixture(scope="module")
def page():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, kernel_name="xcuda", timeout=120).execute()
    return HTMLExporter().from_notebook_node(notebook)[0]


def test_html_keeps_the_reports(page):
    assert len(re.findall(r"<summary[^>]*>\s*tripled", page)) >= 2  # the cell's line, and the profile
    assert "data:image/svg+xml;base64," in page  # what the threads do
    assert "tripled[(1, 1, 1), (4, 1, 1)] on the CPU device: 8 accesses" in page
    assert "application/vnd.xcuda" not in page


def test_pdf_keeps_the_reports(page, tmp_path):
    """As `docs/INSTALL.md` says it is made: by a browser that prints the page."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None or shutil.which("pdftotext") is None:
        pytest.skip("needs Debian's chromium and poppler-utils")
    (tmp_path / "page.html").write_text(page)
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command += [profile, f"--print-to-pdf={tmp_path / 'page.pdf'}", (tmp_path / "page.html").as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    told = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True
    ).stdout
    for words in ("tripled", "chosen by xcuda", "measured", "modelled", "8 accesses"):
        assert words in told, words

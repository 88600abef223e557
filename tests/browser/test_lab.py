"""A reader's first hour in JupyterLab, in a real browser."""

from __future__ import annotations

import re

from lab import FIRST
from playwright.sync_api import expect


def test_a_cell_its_result_and_its_report(lab):
    lab.page.set_viewport_size({"width": 1180, "height": 1030})
    lab.open("report", [FIRST, "%%cuda_profile\nmatrix_multiply(A, B, C)"])
    lab.run(0)
    assert lab.output(0).first.inner_text().strip() == "True"
    report = lab.output(0).locator("details").first
    line = report.locator("summary").first
    assert re.match(r"matrix_multiply · .*s\b", line.inner_text())
    figures = report.locator("table").first
    expect(figures).not_to_be_visible()
    line.click()
    expect(figures).to_be_visible()
    for words in ("grid", "measured", "modelled", "roofline"):
        assert words in report.inner_text(), words
    lab.is_read_in_both_themes(figures.locator("td").first)
    lab.shoot("report")
    lab.run(1)
    expect(lab.output(1).locator("details").first).to_have_attribute("open", "")


def test_an_error_points_into_the_cell(lab):
    lab.open("error", [FIRST, "matrix_multiply(A, B[:100], C)"])
    lab.run(0)
    lab.run(1)
    said = lab.said(1)
    assert "IndexError" in said and "total += A[i, k] * B[k, j]" in said and "(100, 512)" in said
    lab.shoot("error")


LONG = """@cuda.kernel
def for_ever(x):
    i = cuda.grid(1)
    if i < x.size:
        while x[i] >= 0:
            x[i] = (x[i] + 1) % 7


for_ever(np.ones(1000, np.int32))"""


def test_interrupting_a_kernel(lab):
    lab.open("interrupt", ["import numpy as np\nfrom xcuda import core as cuda", LONG, "20 + 3"])
    lab.run(0)
    lab.interrupt(1, count=2, after=1000)
    lab.run(2)
    assert lab.output(2).inner_text().strip() == "23"


def test_completing_a_name(lab):
    lab.open("complete", ["from xcuda import core as cuda", "cuda.syncthrea", "%cuda_inf"])
    lab.run(0)
    for number, whole in ((1, "cuda.syncthreads"), (2, "%cuda_info")):
        lab.edit(number)
        lab.page.keyboard.press("End")
        lab.page.keyboard.press("Tab")
        text = lab.cell(number).locator(".cm-content")
        chosen = lab.page.locator(
            ".jp-Completer .jp-Completer-match", has_text=whole.lstrip("%").split(".")[-1]
        )
        expect(chosen.first.or_(text.filter(has_text=re.compile(re.escape(whole)))).first).to_be_visible()
        if chosen.count():
            lab.page.keyboard.press("Enter")
        expect(text).to_have_text(re.compile(rf"^{re.escape(whole)}(_\w+)?$"))


def test_restarting(lab):
    lab.open("restart", ["kept = 1", "kept"])
    lab.run(0)
    lab.run(1)
    lab.page.locator(".jp-Toolbar [data-jp-item-name='restart']").click()
    lab.page.locator(".jp-Dialog button.jp-mod-warn, .jp-Dialog button.jp-mod-accept").last.click()
    lab.page.locator(".jp-Dialog").wait_for(state="detached")
    lab.idle()
    lab.run(1)
    assert "NameError" in lab.said(1)
    lab.prompt(1, r"^\[1\]:$")


SLIDER = """import ipywidgets
from IPython.display import display

scale = ipywidgets.IntSlider(value=1, min=1, max=9, description="scale")
label = ipywidgets.Label()


@cuda.kernel
def scaled(x, factor, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = factor * x[i]


def launch(change=None):
    y = np.zeros(1000, np.int64)
    scaled(np.arange(1000), scale.value, y)
    label.value = f"sum {y.sum()}"


scale.observe(launch, "value")
launch()
display(scale, label)"""


def test_a_slider_that_launches_a_kernel(lab):
    lab.open("slider", ["import numpy as np\nfrom xcuda import core as cuda", SLIDER])
    lab.run(0)
    lab.run(1)
    total = sum(range(1000))
    label = lab.output(1).locator(".widget-label", has_text="sum")
    expect(label).to_have_text(f"sum {total}")
    handle = lab.output(1).locator(".noUi-handle")
    handle.focus()
    for factor in (2, 3):
        lab.page.keyboard.press("ArrowRight")
        expect(label).to_have_text(f"sum {factor * total}")
    lab.shoot("slider")


SOLVING = """import time
for step in cuda.progress(range(60), "solving"):
    time.sleep(0.1)"""


def test_a_long_loop_has_one_line_that_moves(lab):
    lab.open("progress", ["from xcuda import core as cuda", SOLVING])
    lab.run(0)
    lab.run(1, wait=False)
    line = lab.output(1).first
    expect(line).to_have_attribute("data-mime-type", re.compile("stdout"))  # stderr is shown as errors are
    counted = re.compile(r"solving: +(\d+)%\|.*\| (\d+)/60 \[")
    expect(line).to_have_text(counted)
    lab.prompt(1, r"^\[\*\]:$")  # while the cell runs
    early = int(counted.search(line.inner_text())[2])
    assert early < 60
    lab.prompt(1, r"^\[2\]:$")
    expect(line).to_have_text(re.compile(r"solving: 100%.* 60/60 "))
    assert len(lab.said(1).strip().splitlines()) == 1
    lab.shoot("progress")


WATCHED = """@cuda.kernel
def watched(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


held = cuda.zeros(1000)
watched(held)"""
STOPPED = """from xcuda.magics import dashboard
dashboard._panel.thread.join(20)
dashboard.is_running()"""


def test_the_dashboard_goes_on_until_its_cell_is_deleted(lab):
    lab.open("dashboard", ["from xcuda import core as cuda", "%cuda_dashboard --every 0.2", WATCHED, STOPPED])
    for number in (0, 1, 2):
        lab.run(number)
    panel = lab.output(1).first
    for words in ("memory by variable", "held", "last kernels", "watched"):
        expect(panel).to_contain_text(words)
    lab.shoot("dashboard")
    lab.edit(1)
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("d")
    lab.page.keyboard.press("d")
    lab.run(2)  # the last, now
    assert lab.output(2).inner_text().strip() == "False"


# What draws: each cell's pictures, and what some of them must say.
DRAWN = {
    "%%cuda_profile --timeline --roofline\nmatrix_multiply(A, B, C)": ("roofline", "measured"),
    "%cuda_occupancy matrix_multiply --target sm_90": ("occupancy", "sm_90"),
    "%cuda_source matrix_multiply": ("total += A[i, k] * B[k, j]",),
    "cuda.draw(matrix_multiply[(1, 1), (2, 2)], A[:2, :2], B[:2, :2], C[:2, :2])": (
        "on the CPU device: 20 accesses",
    ),
    "%cuda_mem": ("held",),
}


# Pairs of letters of a word between which a line of an element's text goes on.
BROKEN = """
e => {
    const found = [], walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        let before = null;
        for (let i = 0; i < node.data.length; ++i) {
            range.setStart(node, i); range.setEnd(node, i + 1);
            const box = range.getClientRects()[0];
            if (!box || !/\\w/.test(node.data[i])) { before = null; continue; }
            if (before !== null && box.top > before + 3) found.push(node.data.slice(i - 5, i + 5));
            before = box.top;
        }
    }
    return found;
}
"""


def lines_stay_whole(cell):
    """A listing's Python is a line each, no word of its C++ is broken, and its rows' ground is one."""
    table = cell.locator(".jp-OutputArea table")
    (height,) = {
        round(one.bounding_box()["height"])
        for one in table.locator("td:nth-child(3) > div").all()
        if one.inner_text()
    }
    assert height < 30
    assert table.evaluate(BROKEN) == []
    grounds = "e => [...e.querySelectorAll('td *')].map(one => getComputedStyle(one).backgroundColor)"
    assert set(table.evaluate(grounds)) == {"rgba(0, 0, 0, 0)"}


def test_pictures_of_a_profile(lab):
    """Charts, diagrams and listings, whole on one page, to be looked at on both grounds."""
    lab.page.set_viewport_size({"width": 1180, "height": 2400})  # a cell is shot as far as it is in view
    lab.open("pictures", [FIRST + "\nheld = cuda.to_device(A)", *DRAWN])
    lab.run(0)
    for number, (cell, words) in enumerate(DRAWN.items(), 1):
        lab.run(number)
        said = lab.said(number)
        for word in words:
            assert word in said, (cell, said)
    for number in (1, 2, 4):
        pictures = lab.cell(number).locator(".jp-OutputArea img")
        assert pictures.count() >= 1
        for one in pictures.all():
            assert one.evaluate("e => e.complete && e.naturalWidth > 100"), DRAWN
    lines_stay_whole(lab.cell(3))
    for number in range(1, len(DRAWN) + 1):
        lab.cell(number).scroll_into_view_if_needed()
        lab.shoot_cell(number, f"pictures-{number}")

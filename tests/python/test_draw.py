"""cuda.draw: which elements each thread reads and writes, as text and as a picture that stays small."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from cpu_device import needs_cpu
from jupyterlab_sanitizer import sanitized
from xcuda import core as cuda
from xcuda import tiles

pytestmark = needs_cpu

SVG = "{http://www.w3.org/2000/svg}"


@cuda.kernel
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.kernel
def turned(a, out):
    part = cuda.shared.array(4, np.float64)
    t = cuda.threadIdx.x
    part[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = part[3 - t]


@cuda.kernel
def product(a, b, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        out[i, j] = total


def shapes(drawing, what):
    return ElementTree.fromstring(drawing.svg).findall(f".//{SVG}{what}")


def labels(drawing):
    return [t.text for t in shapes(drawing, "text")]


def test_each_thread_s_reads_and_writes():
    a, out = np.arange(7.0), np.zeros(7)
    drawn = cuda.draw(add[2, 4], a, a.copy(), out)
    for i in range(7):
        found = drawn.of(i % 4, block=i // 4)
        assert [(x.did, x.element) for x in found] == [
            ("reads", f"a[{i}]"),
            ("reads", f"b[{i}]"),
            ("writes", f"out[{i}]"),
        ]
    assert drawn.of(3, block=1) == []  # the guard's
    assert not out.any()
    assert (drawn.grid, drawn.block_shape, drawn.complete, drawn.error) == ((2, 1, 1), (4, 1, 1), True, "")
    assert "thread (2, 0, 0) of block (1, 0, 0) reads a[6], b[6]; writes out[6]" in repr(drawn)
    # 21 cells, 8 threads; an arrow an access
    assert len(shapes(drawn, "rect")) == 21 + 8 and len(shapes(drawn, "line")) == len(drawn) == 21
    assert drawn.notes == []


def test_a_stretch_between_barriers_is_a_row_and_each_block_has_its_shared_array():
    drawn = cuda.draw(turned[2, 4], np.arange(8.0), np.zeros(8))
    assert drawn.shared == {"part"} and drawn.arrays["part"] == (4,)
    assert [(x.did, x.element, x.phase) for x in drawn.of(1, block=1)] == [
        ("reads", "a[5]", 0),
        ("writes", "part[1]", 0),
        ("reads", "part[2]", 1),
        ("writes", "out[5]", 1),
    ]
    found = labels(drawn)
    assert "before the first barrier" in found and "after barrier 1" in found
    assert found.count("part of block 0") == found.count("part of block 1") == 2  # written, then read
    assert "after barrier 1: thread (0, 0, 0) of block (0, 0, 0) reads part[3]; writes out[0]" in repr(drawn)


def test_matrices_views_and_repeated_reads():
    a = np.arange(12.0).reshape(3, 4).T[::-1]  # 4 x 3, both strides unusual
    drawn = cuda.draw(product[1, (4, 2)], a, np.ones((3, 2)), np.zeros((4, 2)))
    assert {x.element for x in drawn.of((3, 1)) if x.array == "a"} == {"a[3, 0]", "a[3, 1]", "a[3, 2]"}
    assert drawn.of((2, 0))[-1].element == "out[2, 0]"
    assert "3,1" in labels(drawn)


def test_an_atomic_is_one_arrow_with_two_tips():
    @cuda.kernel
    def count(a, bins):
        i = cuda.grid(1)
        cuda.atomic.add(bins, a[i], 1)

    drawn = cuda.draw(count[1, 3], np.array([2, 0, 2]), np.zeros(3, np.int64))
    assert [x.did for x in drawn] == ["reads", "changes"] * 3
    assert len(shapes(drawn, "line")) == 6 and len(shapes(drawn, "path")) == 9


def test_local_arrays_are_left_out_and_dynamic_shared_ones_have_the_launch_s_length():
    @cuda.kernel
    def through(a, out):
        mine = cuda.local.array(2, np.float64)
        part = cuda.shared.array(0, np.float64)
        t = cuda.threadIdx.x
        mine[0] = a[t]
        part[t] = mine[0]
        cuda.syncthreads()
        out[t] = part[t]

    drawn = cuda.draw(through[1, 4, 0, 32], np.arange(4.0), np.zeros(4))
    assert drawn.arrays == {"a": (4,), "out": (4,), "part": (4,)}


def test_the_whole_grid_meets():
    @cuda.kernel
    def neighbours(a, out):
        i = cuda.grid(1)
        a[i] = i
        cuda.cg.this_grid().sync()
        out[i] = a[(i + 1) % 4]

    drawn = cuda.draw(neighbours[2, 2], np.zeros(4), np.zeros(4))
    assert [(x.element, x.phase) for x in drawn.of(1, block=1)] == [("a[3]", 0), ("a[0]", 1), ("out[3]", 1)]


def test_what_is_too_large_is_said_and_the_picture_stays_small():
    a = np.ones((100, 150))
    drawn = cuda.draw(product, a, a.T.copy(), np.zeros((100, 100)))
    assert len(drawn.svg) < 300_000 and len(shapes(drawn, "line")) <= 600
    assert re.fullmatch(r"Of the launch's [\d,]+ threads only block \(0, 0, 0\) is drawn: .*", drawn.notes[0])
    assert any(re.search(r"shows 64 of \d+ threads", note) for note in drawn.notes)
    assert any("arrows of a stretch" in note for note in drawn.notes)
    assert len(repr(drawn).splitlines()) < 120
    many = cuda.draw(product[1, (16, 16)], np.ones((16, 50)), np.ones((50, 16)), np.zeros((16, 16)))
    assert not many.complete and "The kernel does more than the 20000 accesses" in "".join(many.notes)


def test_only_what_is_touched_of_a_long_array():
    drawn = cuda.draw(add[100, 8], *(np.ones(800) for _ in range(3)), block=50)
    assert drawn.drawn_block == (50, 0, 0) and [x.element for x in drawn.of(0, block=50)][0] == "a[400]"
    assert {"400", "407"} <= set(labels(drawn)) and "408" not in labels(drawn)
    assert drawn.notes == []


def test_a_launch_that_fails_is_drawn_up_to_there():
    @cuda.kernel
    def beyond(a, out):
        i = cuda.grid(1)
        out[i] = a[i + 1]

    drawn = cuda.draw(beyond[1, 4], np.ones(4), np.zeros(4))
    assert drawn.error.startswith("IndexError: index 4 is out of range for axis 0 of a")
    assert drawn.error in repr(drawn) and drawn.error in drawn._repr_html_()
    assert len(drawn.of(2)) == 2


def test_nothing_to_draw():
    @cuda.kernel
    def unfinished(a, out):
        i = cuda.grid(1)
        ...

    drawn = cuda.draw(unfinished[1, 4], np.ones(4), np.zeros(4))
    assert len(drawn) == 0 and len(shapes(drawn, "rect")) == 4
    assert len(cuda.draw(add[0, 4], *(np.ones(0) for _ in range(3)))) == 0


def test_names_are_escaped_and_the_report_survives_jupyterlab():
    drawn = cuda.draw(add[1, 4], *(np.ones(4) for _ in range(3)))
    hostile = type(drawn)(**{**vars(drawn), "kernel": "<b>&'\"", "error": "<script>"})
    page = hostile._repr_html_()
    assert "<script>" not in page and "&lt;b&gt;&amp;" in page
    (data,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    title = ElementTree.fromstring(base64.b64decode(data)).find(f"{SVG}title").text
    assert "<b>&'\"" in title
    kept = sanitized(page)
    assert "<img" in kept and "&lt;script&gt;" in kept


def test_colours_are_literal():
    svg = cuda.draw(turned[1, 4], np.arange(4.0), np.zeros(4)).svg
    assert "currentColor" not in svg and "var(" not in svg and "class=" not in svg
    assert set(re.findall(r"(?:fill|stroke)='([^']+)'", svg)) <= {
        "none",
        *re.findall(r"#[0-9a-f]{6}", svg),
    }


def test_labels_are_read_over_whatever_passes():
    svg = cuda.draw(product[1, (2, 2)], *(np.ones((2, 2)) for _ in range(3))).svg
    kinds = [e.tag.removeprefix(SVG) for e in ElementTree.fromstring(svg)]
    last_of_arrows = max(i for i, kind in enumerate(kinds) if kind in ("line", "path"))
    assert last_of_arrows < kinds.index("rect") < kinds.index("text")
    root = ElementTree.fromstring(svg)
    grounds = {e.get("fill") for e in root.iter(f"{SVG}rect")}
    inks = {e.get("fill") for e in root.iter(f"{SVG}text") if e.get("text-anchor") == "middle"}
    assert len(grounds) > 4
    assert all(contrast(ink, ground) > 7 for ink in inks for ground in grounds)


def contrast(one, other):
    """Of two colours, as WCAG counts it."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_tips_are_between_the_columns():
    drawn = cuda.draw(product[1, (2, 2)], *(np.ones((2, 2)) for _ in range(3)))
    chips = [(float(r.get("x")), float(r.get("x")) + float(r.get("width"))) for r in shapes(drawn, "rect")]
    for path in shapes(drawn, "path"):
        x = float(re.match(r"translate\(([\d.]+)", path.get("transform"))[1])
        assert not any(low < x - 4 < high for low, high in chips), x


def test_refusals():
    with pytest.raises(TypeError, match=r"draw takes a kernel, or kernel\[grid, block\], not int"):
        cuda.draw(3)
    with pytest.raises(IndexError, match=r"there is no block \(2, 0, 0\) in this launch: it has \(2, 1, 1\)"):
        cuda.draw(add[2, 4], *(np.ones(8) for _ in range(3)), block=2)
    with pytest.raises(TypeError, match=r"add\(a, b, out\) was called without 'b'"):
        cuda.draw(add[2, 4], np.ones(8))

    @tiles.tile_kernel(tile_size=(4, 4))
    def tiled(A, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) + 1))

    with pytest.raises(TypeError, match="tiled is a kernel of tiles: its threads are the compiler's"):
        cuda.draw(tiled, np.ones((4, 4)), np.zeros((4, 4)))
    cuda.zeros(3).copy_to_host()  # launches go on as before

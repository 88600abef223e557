"""The tutorials, executed as readers do: by nbconvert and papermill with the xcuda kernel, and in ipykernel through
%load_ext xcuda. Each must end without an error and show reports whose figures agree with its arrays."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import nbformat
import pytest

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
SCHEMA = json.loads((ROOT / "gpu_runtime/profile/report.schema.json").read_text())
MIME = "application/vnd.xcuda.report.v1+json"

every_tutorial = pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)


def by_nbconvert(tutorial: Path, folder: Path) -> nbformat.NotebookNode:
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", str(tutorial)]
    ran = subprocess.run([*command, "--output-dir", str(folder)], capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr
    return nbformat.read(folder / tutorial.name, as_version=4)


def by_papermill(tutorial: Path, folder: Path) -> nbformat.NotebookNode:
    papermill = pytest.importorskip("papermill")
    done = folder / tutorial.name
    papermill.execute_notebook(tutorial, done, progress_bar=False, cwd=tutorial.parent)
    return nbformat.read(done, as_version=4)


def in_ipykernel(tutorial: Path, folder: Path) -> nbformat.NotebookNode:
    pytest.importorskip("ipykernel")
    from nbclient import NotebookClient

    notebook = nbformat.read(tutorial, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%load_ext xcuda"))
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute(cwd=str(tutorial.parent))
    return notebook


WAYS = [by_nbconvert, by_papermill, in_ipykernel]
# These go every way; each of the others goes one of them, in turn: what differs between the ways is not the notebook's.
EVERY_WAY = {"01_first_kernel", "02_image_filters", "05_profiling", "06_tiles"}


def tried() -> list:
    found, turn = [], 0
    for tutorial in TUTORIALS:
        if tutorial.stem in EVERY_WAY:
            chosen = WAYS
        else:
            chosen, turn = [WAYS[turn % len(WAYS)]], turn + 1
        found += [pytest.param(tutorial, way, id=f"{tutorial.stem}-{way.__name__}") for way in chosen]
    return found


def outputs(notebook) -> list:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def reports(notebook) -> list[dict]:
    found = [output.data[MIME] for output in outputs(notebook) if MIME in output.get("data", {})]
    for document in found:
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return found


def rows(notebook, kernel: str) -> list[dict]:
    return [row for report in reports(notebook) for row in report["kernels"] if row["name"] == kernel]


def flops(row: dict) -> float:
    assert row["flops"]["source"] == "modelled"
    return row["flops"]["value"]


@every_tutorial
def test_committed_without_outputs(tutorial):
    notebook = nbformat.read(tutorial, as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "xcuda"
    assert not outputs(notebook)
    assert all(cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")


@every_tutorial
def test_opens_with_what_one_learns_and_ends_with_exercises(tutorial):
    notebook = nbformat.read(tutorial, as_version=4)
    first = notebook.cells[0]
    assert first.cell_type == "markdown" and first.source.startswith("# ")
    opening = " ".join(first.source.split())
    assert re.search(r"After (this notebook|this one|the last one) you (can|know)", opening)
    found = [cell for cell in notebook.cells if "exercise" in cell.metadata.get("tags", [])]
    checks = [cell for cell in notebook.cells if "check" in cell.metadata.get("tags", [])]
    assert len(found) == len(checks) >= 2


# Photographs, heights, prices, handwriting, the standard library's own words. The puzzles are small numbers to be drawn.
DATA = r"skimage import data|get_sample_data\(|load_digits\(|Path\(|inspect\.|pkgutil"


@pytest.mark.parametrize(
    "tutorial", [path for path in TUTORIALS if path.stem != "11_puzzles"], ids=lambda path: path.stem
)
def test_is_on_real_data(tutorial):
    """Each loads some."""
    cells = [cell for cell in nbformat.read(tutorial, as_version=4).cells if cell.cell_type == "code"]
    assert any(re.search(DATA, cell.source) for cell in cells)


@pytest.mark.parametrize("tutorial, execute", tried())
def test_runs_and_shows_reports(tutorial, execute, tmp_path):
    notebook = execute(tutorial, tmp_path)
    assert not [output for output in outputs(notebook) if output.output_type == "error"]
    assert not [output for output in outputs(notebook) if output.get("name") == "stderr"]
    CHECKS[tutorial.stem](notebook)


def check_first_kernel(notebook):
    said_first = re.search(r"(\d+) modules, (\d+) words; most like statistics: (.*)", said(notebook))
    modules, words = int(said_first[1]), int(said_first[2])
    assert (
        modules > 100 and words == 500 and {"fractions", "random", "_pydecimal"} & set(said_first[3].split())
    )
    products = rows(notebook, "matrix_multiply")
    assert sorted(row["calls"] for row in products) == [1, 1, 10]
    for row in products:
        assert flops(row) == 2 * modules * words * modules
        assert row["bytes_read"]["value"] == 4 * 2 * modules * words
        assert row["bytes_written"]["value"] == 4 * modules * modules
        assert row["automatic_shape"]
        assert row["time"]["total"]["value"] > 0
        assert row["place"]["line"] == 2  # of its def, under the decorator
    (profiled,) = [row for row in products if row["calls"] == 10]
    time = profiled["time"]
    assert time["total"]["value"] == pytest.approx(10 * time["mean"]["value"])
    assert profiled["flop_rate"]["value"] == pytest.approx(flops(profiled) / time["mean"]["value"])
    assert 0 < profiled["roofline"]["share"]["value"] < 2

    failed, corrected = rows(notebook, "differences")
    assert failed["failed"] == 1 and "absent" in failed["time"]["total"]
    assert corrected["failed"] == 0 and corrected["bytes_written"]["value"] == 8 * (modules - 1)

    text = "\n".join(output.data["text/plain"] for output in outputs(notebook) if "data" in output)
    assert "matrix_multiply · " in text and "cell " in text
    assert re.search(r"cpu .*workers", text), "no %cuda_info"
    assert re.search(r"target\[i\] = source\[i \+ 1\] - source\[i\] +\| ", text), "no %cuda_source"
    printed = "".join(output.text for output in outputs(notebook) if output.get("name") == "stdout")
    assert (
        f"index {modules} is out of range for axis 0 of source with shape ({modules},), at line 5" in printed
    )
    thread, block = map(int, re.search(r"thread \((\d+), 0, 0\) of block \((\d+), 0, 0\)", printed).groups())
    assert block * 256 + thread == modules - 1
    assert re.search(r"\d+\.\d GFLOP/s, \d+% of this device's peak", printed)
    exercises_are_solved(notebook, 2)


def check_image_filters(notebook):
    pixels = 512 * 512
    blurs, sobels, histograms = (rows(notebook, name) for name in ("blur", "sobel", "histogram"))
    assert [len(found) for found in (blurs, sobels, histograms)] == [2, 2, 2]
    for row in blurs:
        assert (row["grid"], row["block"]) == ([32, 32, 1], [16, 16, 1])
        assert not row["automatic_shape"]
        assert row["shared_bytes"]["value"] == 24 * 24 * 4
        assert flops(row) == 3 * 81 * pixels  # two products and a sum for each weight
        assert row["bytes_written"]["value"] == 4 * pixels
    for row in sobels:
        assert row["automatic_shape"]
        assert row["bytes_read"]["value"] == row["bytes_written"]["value"] == 4 * pixels
    for row in histograms:
        assert (row["grid"], row["block"]) == ([64, 1, 1], [256, 1, 1])
        assert row["bytes_read"]["value"] == pixels + 4 * 256
    pictures = [output for output in outputs(notebook) if "image/png" in output.get("data", {})]
    assert len(pictures) == 3
    assert [len(report["kernels"]) for report in reports(notebook) if report["scope"]["kind"] == "block"] == [
        3
    ]
    exercises_are_solved(notebook, 2)


def check_profiling(notebook):
    pixels, taps = 1024 * 1024, 15
    for name in ("smooth", "smooth_coalesced", "smooth_summed", "smooth_counted"):
        for row in rows(notebook, name):
            assert flops(row) == 3 * taps * pixels  # two products and a sum for each weight
            assert (row["block"], row["automatic_shape"]) == ([32, 8, 1], False)
    tiled = rows(notebook, "smooth_tiled")
    assert [row["calls"] for row in tiled[-2:]] == [3, 1]
    for row in tiled:
        assert flops(row) == (2 * taps + 1) * pixels
        assert row["bytes_written"]["value"] == 4 * pixels
        assert row["shared_bytes"]["value"] == 22 * 32 * 4
    printed = "".join(output.text for output in outputs(notebook) if output.get("name") == "stdout")
    gains = re.findall(r"(\d\.? ?[a-z ]+|as written) +[\d.]+ ms on \S+ +[\d.]+x   in all +[\d.]+x", printed)
    assert len(gains) == 6
    for said in (
        "each thread writes one element of result 15 times",
        "% of int64",
        "float64 arithmetic",
        "reads each",
    ):
        assert said in printed  # what each step then does
    assert len(re.findall(r"used: \d+\.\d\d%", printed)) == 2
    pages = [
        output.data["text/html"] for output in outputs(notebook) if "text/html" in output.get("data", {})
    ]
    assert any("neighbouring threads are 1024 elements apart" in page for page in pages)
    assert any(page.count("data:image/svg+xml;base64,") == 2 for page in pages)
    (compared,) = [page for page in pages if "what else changed" in page]
    assert "as written → 5. tiled" in compared and "smooth → smooth_tiled" in compared
    exercises_are_solved(notebook, 2)


def check_tiles(notebook):
    for name, calls in (("tiled_matrix_ops", 1), ("dense_layer", 1), ("softmax", 1), ("attention", 1)):
        (row,) = rows(notebook, name)
        assert (row["calls"], row["failed"]) == (calls, 0)
        assert row["time"]["total"]["value"] > 0
        assert "program" in row["how"]  # the plan
        assert "tile programs" in row["flops"]["absent"]  # and no figure that was not had
    (softmax,) = rows(notebook, "softmax")
    assert softmax["grid"] == [50, 1, 1]
    printed = "".join(output.text for output in outputs(notebook) if output.get("name") == "stdout")
    assert "inner lengths 32 and 16" in printed
    shown = [output.data for output in outputs(notebook) if "data" in output]
    (explained,) = [d for d in shown if "a tile kernel on" in d.get("text/plain", "")]
    assert "data:image/svg+xml;base64," in explained["text/html"]
    assert any("'width':" in d.get("text/plain", "") for d in shown)  # what autotune chose
    exercises_are_solved(notebook, 2)


def said(notebook) -> str:
    return "".join(output.text for output in outputs(notebook) if output.get("name") == "stdout")


def exercises_are_solved(notebook, count: int):
    """Each exercise has its solution, folded away, and a cell that checks what came of it."""
    tags = [
        tag
        for cell in notebook.cells
        for tag in cell.metadata.get("tags", [])
        if tag != "injected-parameters"
    ]
    assert tags == ["exercise", "solution", "check"] * count
    for cell in notebook.cells:
        assert cell.metadata.get("jupyter", {}).get("source_hidden", False) == (
            "solution" in cell.metadata.get("tags", [])
        )
        if "check" in cell.metadata.get("tags", []):
            assert [output for output in cell.outputs if "right" in output.get("text", "")], cell.source


def check_numpy(notebook):
    (fused,) = [report for report in reports(notebook) if report["scope"]["kind"] != "cell"]
    assert len(fused["kernels"]) == 1  # a formula of nine operations
    (row,) = rows(notebook, "median3")
    assert row["automatic_shape"]
    before, after = map(float, re.search(r"([\d.]+) with stripes, ([\d.]+) without", said(notebook)).groups())
    assert after < before / 5
    components = re.search(r"(\d+) of 64 components hold 90 %", said(notebook))
    assert 15 < int(components[1]) < 30
    assert "random.hypergeometric has no native form" in said(notebook)
    exercises_are_solved(notebook, 2)


def check_async(notebook):
    creeps = rows(notebook, "creep")
    assert sum(row["calls"] for row in creeps) == 501
    assert all(row["bytes_written"]["value"] == 8 * 344 * 403 for row in creeps)
    assert sum(row["calls"] for row in rows(notebook, "shade")) == 1 + 2 + 1 + 4 + 1 + 4
    share = {
        hour: float(part) for hour, part in re.findall(r"([\d.]+) h: ([\d.]+)% in shadow", said(notebook))
    }
    assert 90 > share["6.25"] > share["6.5"] > share["7"] > share["8"] >= 0
    assert re.search(r"between the events: \d+\.\d\d ms", said(notebook))
    exercises_are_solved(notebook, 2)


def check_porting(notebook):
    (row,) = rows(notebook, "block_sums")
    assert (row["grid"], row["block"]) == ([391, 1, 1], [256, 1, 1])
    (row,) = rows(notebook, "product")
    assert (row["grid"], row["block"], row["automatic_shape"]) == ([12, 13, 1], [16, 16, 1], False)
    (row,) = rows(notebook, "saxpy")
    assert flops(row) == 2 * 10_000
    assert sum(row["calls"] for row in rows(notebook, "scaled")) == 2
    exercises_are_solved(notebook, 2)


def check_interop(notebook):
    assert len(rows(notebook, "normalized")) == 2 and len(rows(notebook, "sums_by_group")) == 1
    text = said(notebook)
    for library in ("torch", "cupy", "pandas", "numba", "jax"):
        assert re.search(rf"^{library} +(not )?installed$", text, re.M)
    if re.search(r"^pandas +installed$", text, re.M):
        assert re.search(r"^2005 +-?\d\.", text, re.M) and "sums_by_group" in text
    exercises_are_solved(notebook, 2)


def check_debugging(notebook):
    printed = "".join(output.text for output in outputs(notebook) if output.get("name") == "stdout")
    assert "index 1000 is out of range for axis 0 of x with shape (1000,), at line 6" in printed
    assert "where i = 999, right = 1000" in printed
    for said in (
        "threads that meet at bins[values[i]] lose updates",
        "TimeLimitError",
        "out-of-range",
        "order-dependent",
        "1 finding before, 0 after",
        "power begins as 2.0",
        "ZeroDivisionError: integer division or modulo by zero, at line 5 of",
        "where i = 2, n = 0",
        "AssertionError: a part is more than the whole, at line 12 of",
        "where part = 11, whole = 10",
        "ValueError: a level has no negative voltage, at line 21 of",
        "where v = -0.5",
        "IndexError: index 64 is out of range for axis 0 of tile with shape (64,)",
        "UnboundLocalError: 'found' is read before it has a value",
    ):
        assert said in printed
    shown = "".join(str(output.get("data", {}).get("text/plain", "")) for output in outputs(notebook))
    assert "kept, an error with gradients of trained()" in shown
    assert "The largest: weights (2.0 MiB" in printed and "3.0 MiB of arrays given back" in printed
    shown = [output.data.get("text/plain", "") for output in outputs(notebook) if "data" in output]
    checks = [text for text in shown if "accesses looked at" in text]
    rules = [re.findall(r"line \d+ \(([a-z-]+)\)", text) for text in checks]
    assert rules == [["race"], [], ["race"], ["uninitialised-read", "inf"]]
    followed = [text for text in shown if "on the CPU device: " in text]
    assert [text.partition("[")[0] for text in followed] == ["polynomial", "polynomial", "roots"]
    assert "out[2] = 842.0" in followed[0] and "k = 2" in followed[1] and "v = -16.0" in followed[2]
    assert any("weights   2.0 MiB  512x1024" in text for text in shown)
    exercises_are_solved(notebook, 2)


def check_fusion(notebook):
    pipelines = [
        row for report in reports(notebook) for row in report["kernels"] if "sqrt(((sin(a)" in row["name"]
    ]
    assert [row["calls"] for row in pipelines[:2]] == [1, 1]  # the call, and explain's own
    for row in pipelines[:1]:
        assert row["bytes_read"]["value"] == 3 * 8 * 200_000 and row["bytes_written"]["value"] == 8 * 200_000
        assert row["place"]["line"] == 4
    printed = "".join(output.text for output in outputs(notebook) if output.get("name") == "stdout")
    assert "2 captures" in printed
    assert "this if is decided by the values of an array" in printed and "nvmath.where" in printed
    for rule in ("symmetric product", "diagonal added", "symmetric positive definite system"):
        assert f"line 3: {rule}" in printed
    pages = [
        output.data["text/html"] for output in outputs(notebook) if "text/html" in output.get("data", {})
    ]
    explained = [page for page in pages if "operations as written" in page and "data:image/svg+xml" in page]
    assert len(explained) == 2
    assert "1 kernel for 11 operations" in explained[0] and "1 kernel and 1 library call" in explained[1]
    assert any("Cholesky" in page and "<table>" in page for page in pages)
    exercises_are_solved(notebook, 2)


def check_puzzles(notebook):
    """As a reader gets it: each puzzle has a picture and a sentence on what is missing. tests/notebooks/test_puzzles.py
    solves them."""
    verdicts = []
    for cell in notebook.cells:
        if "check" not in cell.metadata.get("tags", []):
            continue
        drawn, verdict = (output.data for output in cell.outputs)
        assert "data:image/svg+xml;base64," in drawn["text/html"] and "0 accesses" in drawn["text/plain"]
        verdicts.append(verdict["text/plain"])
    assert len(verdicts) == 14
    for verdict in verdicts:
        assert re.match(r"out\[[01](, 0)?\] is 0 and should be \d+, since no thread writes it", verdict)


CHECKS = {
    "01_first_kernel": check_first_kernel,
    "02_image_filters": check_image_filters,
    "03_numpy_on_the_device": check_numpy,
    "04_fusion": check_fusion,
    "05_profiling": check_profiling,
    "06_tiles": check_tiles,
    "07_debugging": check_debugging,
    "08_async": check_async,
    "09_porting": check_porting,
    "10_interop": check_interop,
    "11_puzzles": check_puzzles,
}


def test_every_tutorial_has_its_check():
    assert set(CHECKS) == {tutorial.stem for tutorial in TUTORIALS}


@pytest.mark.parametrize(
    "translated", sorted((ROOT / "notebooks").glob("*/*.ipynb")), ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_a_translation_has_the_originals_code(translated):
    """Its words are another language's, its cells the same: what executes the one executes the other."""
    ours, theirs = (
        nbformat.read(path, as_version=4) for path in (translated.parents[1] / translated.name, translated)
    )
    nbformat.validate(theirs)
    assert [c.cell_type for c in ours.cells] == [c.cell_type for c in theirs.cells]
    for here, there in zip(ours.cells, theirs.cells, strict=True):
        assert here.metadata == there.metadata
        assert (here.source == there.source) == (here.cell_type == "code")
    assert not outputs(theirs)

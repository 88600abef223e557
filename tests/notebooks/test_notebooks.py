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


ways = pytest.mark.parametrize(
    "execute", [by_nbconvert, by_papermill, in_ipykernel], ids=lambda way: way.__name__
)


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


@ways
@every_tutorial
def test_runs_and_shows_reports(tutorial, execute, tmp_path):
    notebook = execute(tutorial, tmp_path)
    assert not [output for output in outputs(notebook) if output.output_type == "error"]
    assert not [output for output in outputs(notebook) if output.get("name") == "stderr"]
    CHECKS[tutorial.stem](notebook)


def check_first_kernel(notebook):
    products = rows(notebook, "matrix_multiply")
    assert sorted(row["calls"] for row in products) == [1, 1, 10]
    for row in products:
        assert flops(row) == 2 * 512 * 384 * 256
        assert row["bytes_read"]["value"] == 4 * (512 * 384 + 384 * 256)
        assert row["bytes_written"]["value"] == 4 * 512 * 256
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
    assert corrected["failed"] == 0 and flops(corrected) == 999

    text = "\n".join(output.data["text/plain"] for output in outputs(notebook) if "data" in output)
    assert "matrix_multiply · " in text and "cell " in text
    assert re.search(r"cpu .*workers", text), "no %cuda_info"
    assert re.search(r"target\[i\] = source\[i \+ 1\] - source\[i\] +\| ", text), "no %cuda_source"
    printed = "".join(output.text for output in outputs(notebook) if output.get("name") == "stdout")
    assert "index 1000 is out of range for axis 0 of source with shape (1000,), at line 5" in printed
    assert "thread (231, 0, 0) of block (3, 0, 0)" in printed
    assert re.search(r"\d+\.\d GFLOP/s, \d+% of this device's peak", printed)


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
    assert len(reports(notebook)[-1]["kernels"]) == 3


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


CHECKS = {
    "01_first_kernel": check_first_kernel,
    "02_image_filters": check_image_filters,
    "05_profiling": check_profiling,
    "06_tiles": check_tiles,
}


def test_every_tutorial_has_its_check():
    assert set(CHECKS) == {tutorial.stem for tutorial in TUTORIALS}

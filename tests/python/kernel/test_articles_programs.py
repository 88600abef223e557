"""The article's two programs as cells of a notebook, 2000 by 2000, on the CPU device, and what the reports say of them."""

import pytest

pytest.importorskip("xcuda.numeric")

SIDE = 2000
PRODUCT = f"""import cupy.numeric as np
a=np.random.rand({SIDE}, {SIDE})
b=np.random.rand({SIDE}, {SIDE})
c=np.dot(a, b)
"""
FILTER = """def scientific_computation():
    data=np.load_from_gpu_memory("large_dataset.npy")
    freq_domain=np.fft.fft2(data)
    filtered=np.where(np.abs(freq_domain) >threshold, freq_domain, 0)
    result=np.fft.ifft2(filtered).real
    return result
"""


@pytest.fixture(scope="module")
def notebook(kernel, tmp_path_factory):
    """The kernel in a folder of its own, which has the data set."""
    folder = tmp_path_factory.mktemp("article")
    made = kernel.run(
        f"import os, numpy; os.chdir({str(folder)!r}); threshold = {SIDE}\n"
        f"numpy.save('large_dataset.npy', numpy.random.default_rng(1).random(({SIDE}, {SIDE})))"
    )
    assert made.reply["status"] == "ok", made.reply
    return kernel


def reports(outcome):
    """The reports that a cell shows."""
    kind = "application/vnd.xcuda.report.v1+json"
    return [one["data"] for one in outcome.of("display_data") if kind in one["data"]]


def ran(notebook, code):
    outcome = notebook.run(code, timeout=300)
    assert outcome.reply["status"] == "ok", outcome.reply
    return outcome


def test_the_product_of_random_matrices(notebook):
    ran(notebook, PRODUCT)
    assert ran(notebook, "float(abs(c.get() - a.get() @ b.get()).max()) < 1e-9").result == "True"


def test_the_filters_report_tells_its_kernels(notebook):
    """What lies between the transforms is one kernel; the transforms take one before and one after them."""
    ran(notebook, "import cupy.numeric as np\n" + FILTER)
    outcome = ran(notebook, "result = scientific_computation()\nnp.flush()")
    [report] = reports(outcome)
    told = report["application/vnd.xcuda.report.v1+json"]
    names = [row["name"] for row in told["kernels"]]
    assert names == ["a.astype(complex128)", "where(absolute(a) > b, a, c)", "a * b"]
    assert "3 launches" in report["text/plain"]
    ran(notebook, "f = numpy.fft.fft2(numpy.load('large_dataset.npy'))")
    same = (
        "numpy.allclose(result.get(), numpy.fft.ifft2(numpy.where(abs(f) > threshold, f, 0)).real, atol=1e-9)"
    )
    assert ran(notebook, same).result == "True"

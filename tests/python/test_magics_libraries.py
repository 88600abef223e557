"""Which of NVIDIA's libraries are here, in a user's words."""

import pytest
from xcuda.magics.libraries import found, told

MATHEMATICS = {
    "cuBLAS": "it multiplies matrices on a GPU: pip install nvidia-cublas",
    "cuBLASLt": "it adds biases and activations within products of matrices on a GPU: pip install nvidia-cublas",
    "cuFFT": "it makes Fourier transforms on a GPU: pip install nvidia-cufft",
    "cuSOLVER": "it factorises matrices on a GPU: pip install nvidia-cusolver",
}


@pytest.mark.parametrize("name", MATHEMATICS)
def test_the_libraries_of_mathematics(name):
    rows = [row for row in found() if row["name"] == name]
    if not rows:
        pytest.skip("this build has no CUDA device")
    (row,) = rows
    if row["problem"]:
        assert not row["version"] and MATHEMATICS[name] in told(row) and f"XCUDA_{name.upper()}" in told(row)
        return
    title, version = row["version"].split()
    assert title == name and version.count(".") == 2
    assert row["file"] in told(row) and row["from"] in told(row)

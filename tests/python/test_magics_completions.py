"""Where the kernel language's names are offered, and which."""

from __future__ import annotations

import textwrap

import pytest
from xcuda.magics import kernel_completions
from xcuda.magics.completions import inside_kernel


def at_mark(code: str):
    """(code, position) of a text with | at the cursor."""
    code = textwrap.dedent(code).lstrip("\n")
    position = code.index("|")
    return code.replace("|", "", 1), position


INSIDE = [
    "@cuda.kernel\ndef k(x):\n    cuda.|",
    "@cuda.kernel(checked=False)\ndef k(x):\n    if x.size:\n        y = ma|",
    "@kernel\ndef k(x):\n\n    # a note\n    i = cuda.gr|\n",
    "@other\n@cuda.jit\ndef k(x):\n    |",
    "@cuda.kernel(\n    checked=False,\n)\ndef k(x):\n    cuda.|",
    "class A:\n    @cuda.kernel\n    def k(x):\n        cuda.|",
]
OUTSIDE = [
    "cuda.|",
    "def k(x):\n    cuda.|",
    "@cuda.kernel\ndef k(x):\n    pass\n\ncuda.|",
    "@cuda.kernel\ndef k(x):\n    pass\n\ndef plain(x):\n    cuda.|",
    '@cuda.kernel\ndef k(x):\n    """cuda.|',
    "@functools.cache\ndef k(x):\n    cuda.|",
]


@pytest.mark.parametrize("code", INSIDE)
def test_inside(code):
    assert inside_kernel(*at_mark(code))


@pytest.mark.parametrize("code", OUTSIDE)
def test_outside(code):
    assert not inside_kernel(*at_mark(code))
    assert kernel_completions(*at_mark(code)) is None


def test_names_of_the_language_and_where_they_go():
    code, position = at_mark("@cuda.kernel\ndef k(x):\n    i = cuda.gri|")
    names, start, end = kernel_completions(code, position)
    assert names == [
        "cuda.grid",
        "cuda.gridDim",
        "cuda.gridDim.x",
        "cuda.gridDim.y",
        "cuda.gridDim.z",
        "cuda.gridsize",
    ]
    assert code[start:end] == "cuda.gri"


def test_functions_of_the_table_in_their_spellings():
    code, position = at_mark("@cuda.kernel\ndef k(x):\n    x[0] = math.sq|")
    assert "math.sqrt" in kernel_completions(code, position)[0]
    code, position = at_mark("@cuda.kernel\ndef k(x):\n    x[0] = np.sq|")
    assert "np.sqrt" in kernel_completions(code, position)[0]
    code, position = at_mark("@cuda.kernel\ndef k(x):\n    cuda.atomic.a|")
    assert "cuda.atomic.add" in kernel_completions(code, position)[0]


def test_nothing_fits_nothing_offered():
    assert kernel_completions(*at_mark("@cuda.kernel\ndef k(x):\n    cuda.nothing_like_it|")) is None
    assert kernel_completions(*at_mark("@cuda.kernel\ndef k(x):\n    |")) is None

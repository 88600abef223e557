"""Kernels whose argument types are known at their definition: compiled in the background, once, with the same errors."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from fake_cuda import driver, need_nvrtc, on_fake
from frontend_source import make
from xcuda import _runtime, core
from xcuda.core import types
from xcuda.core.ahead import annotated
from xcuda.core.signatures import types_from


def compiles():
    stats = _runtime.cache_stats()
    return stats["compiled"] + stats["disk_hits"]


_bodies = 0


def scaled(notes, **names):
    """A function of its own each time, so that no cache has it."""
    global _bodies
    _bodies += 1
    y, x, a, n = notes
    number = f"{os.getpid()}.{_bodies}"
    return make(
        f"def f(y: {y}, x: {x}, a: {a}, n: {n}):\n"
        f"    i = cuda.grid(1)\n    if i < n:\n        y[i] = a * x[i] + {number}\n",
        types=types,
        **names,
    )


NOTES = [
    ('"float32[:]"', '"float32[::1]"', "float", "int"),
    ("types.float32[:]", "types.float32[::1]", "float", "int"),
    ("'types.float32[:]'", "'types.float32[::1]'", "'float'", "'int'"),
]


@pytest.mark.parametrize("notes", NOTES)
def test_annotations_are_types(notes):
    found = types_from(annotated(scaled(notes)))
    assert [kind[:2] for kind in found] == [
        ("array", "float32"),
        ("array", "float32"),
        ("scalar", "float64"),
        ("scalar", "int64"),
    ]
    assert [kind[2] for kind in found] == [1, 1, True, True]  # axes, and Python's numbers


@pytest.mark.parametrize(
    "text",
    [
        "def f(x, n: int):\n    x[0] = n\n",
        "def f(x: np.ndarray, n: int):\n    x[0] = n\n",
        'def f(x: "nothing[:]", n: int):\n    x[0] = n\n',
        'def f(x: "no type at all", n: int):\n    x[0] = n\n',
        "def f(x: None, n: 3):\n    x[0] = n\n",
        "def f():\n    pass\n",
    ],
)
def test_other_annotations_tell_nothing(text):
    assert annotated(make(text)) is None
    core.kernel(make(text))


def test_a_numpy_type_is_a_number_of_its_own():
    found = annotated(make("def f(x: 'float64[:]', a: np.float32, b: bool):\n    x[0] = a\n"))
    assert types_from(found)[1:] == [("scalar", "float32", False), ("scalar", "bool", True)]


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("shape", [None, (4, 256)])
@pytest.mark.parametrize("declared", [True, False])
def test_the_first_call_compiles_nothing_twice(declared, shape, waits):
    core.synchronize()  # the devices have been looked for
    before = compiles()
    function = scaled(NOTES[0])
    kernel = (
        core.kernel(function, "float32[:], float32[:], float64, int64") if declared else core.kernel(function)
    )
    if waits:
        assert len(kernel.specialisations) == declared
        made = compiles()
        assert made > before
    x, y = core.to_device(np.arange(1000, dtype="f4")), core.zeros(1000, "f4")
    (kernel[shape] if shape else kernel)(y, x, 2.0, 1000)
    core.synchronize()
    last = kernel.last_launch["signature"]
    assert last in kernel.signatures
    if waits:
        assert compiles() == made
    kernel.specialisations  # waits
    made = compiles()
    (kernel[shape] if shape else kernel)(y, x, 2.0, 1000)
    core.synchronize()
    assert compiles() == made
    want = 2 * np.arange(1000, dtype="f4") + np.float32(f"{os.getpid()}.{_bodies}")
    np.testing.assert_allclose(y.copy_to_host(), want, rtol=1e-6)


def test_annotations_bind_nobody():
    kernel = core.kernel(scaled(NOTES[0]))
    x, y = np.arange(10.0), np.zeros(10)
    kernel[1, 32](y, x, 2, 10)
    core.synchronize()
    np.testing.assert_allclose(y, 2 * x + float(f"{os.getpid()}.{_bodies}"))
    assert kernel.signatures == [kernel.last_launch["signature"]]


def test_errors_are_the_first_calls():
    text = "def f({}):\n    x[0] = nothing_of_that_name + n\n"
    plain, noted = (
        core.kernel(make(text.format("x, n"))),
        core.kernel(make(text.format('x: "float64[:]", n: int'))),
    )
    told = []
    for kernel in (plain, noted):
        assert kernel.specialisations == []
        with pytest.raises(Exception, match="nothing_of_that_name") as caught:
            kernel[1, 1](np.zeros(1), 1)
        told.append((type(caught.value), str(caught.value).split("\n")[0]))
    assert told[0][0] is told[1][0]
    assert told[0][1].replace("cell", "").split(">")[-1] == told[1][1].replace("cell", "").split(">")[-1]


def test_a_decorators_types_are_refused_at_the_decorator():
    function = make("def f(x):\n    x[0] = nothing_of_that_name\n")
    with pytest.raises(Exception, match="nothing_of_that_name"):
        core.kernel(function, "float64[:]")


def test_a_name_that_changes_after_the_definition_is_read_at_the_call():
    core.synchronize()
    function = make('def f(x: "float64[::1]"):\n    x[0] = factor\n', factor=2.0)
    kernel = core.kernel(function)
    function.__globals__["factor"] = 3.0
    x = np.zeros(1)
    kernel[1, 1](x)
    core.synchronize()
    assert x[0] == 3


def run(text, **environment):
    """What a process of its own prints; it must end well."""
    head = "import os, sys\nsys.path.insert(0, os.getcwd())\nfrom test_core_ahead import *\n"
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", head + textwrap.dedent(text)],
        cwd=os.path.dirname(__file__),
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_can_be_turned_off(tmp_path):
    told = run(
        """
        core.synchronize()
        noted = core.kernel(scaled(NOTES[0]))
        print(noted.specialisations, compiles())
        declared = core.kernel(scaled(NOTES[0]), "float32[::1], float32[::1], float64, int64")
        print(len(declared.specialisations), compiles())
        """,
        XCUDA_COMPILE_AHEAD="0",
        XCUDA_CACHE_DIR=str(tmp_path),
    )
    assert told.split() == ["[]", "0", "1", "1"]


def test_a_definition_starts_no_device(tmp_path):
    told = run(
        """
        noted = core.kernel(scaled(NOTES[0]))
        noted.specialisations
        print(compiles())
        child = os.fork()
        if child == 0:
            y = np.zeros(10, "f4")
            noted[1, 32](y, np.ones(10, "f4"), 2.0, 10)
            core.synchronize()
            os._exit(0 if y[0] > 2 else 1)
        print(os.waitpid(child, 0)[1])
        core.synchronize()
        noted.specialisations
        print(compiles() > 0)
        """,
        XCUDA_CACHE_DIR=str(tmp_path),
    )
    assert told.split() == ["0", "0", "True"]


def test_a_fork_while_kernels_compile(tmp_path):
    if core.Device().kind != "cpu":
        pytest.skip("a process that has started CUDA can't be forked")
    run(
        """
        kernels = [core.kernel(scaled(NOTES[0]), "float32[:], float32[:], float64, int64") for _ in range(6)]
        child = os.fork()
        for kernel in kernels:
            y = np.zeros(10, "f4")
            kernel[1, 32](y, np.ones(10, "f4"), 2.0, 10)
            core.synchronize()
            assert y[0] > 2
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """,
        XCUDA_CACHE_DIR=str(tmp_path),
    )


def test_a_process_ends_while_kernels_compile(tmp_path):
    run(
        """
        for _ in range(20):
            core.kernel(scaled(NOTES[0]), "float32[:], float32[:], float64, int64")
        """,
        XCUDA_CACHE_DIR=str(tmp_path),
    )


@pytest.mark.parametrize("automatic", [False, True])
@on_fake()
def test_on_a_gpu_both_kinds_of_launch_are_ready(automatic):
    need_nvrtc()
    core.synchronize()
    kernel = core.kernel(scaled(NOTES[0]))
    assert kernel.specialisations == []  # none that anyone has asked for
    before = compiles()
    assert before > 0
    x, y = core.zeros(1000, "f4"), core.zeros(1000, "f4")
    (kernel if automatic else kernel[4, 256])(y, x, 2.0, 1000)
    core.synchronize()
    assert compiles() == before and len(kernel.specialisations) == 1
    assert len(driver.launches()) == 1


@on_fake()
def test_a_call_ends_what_is_made_for_nobody():
    """The last of many is called first: its launches of the other kind are still to be made, and nobody wants them."""
    need_nvrtc()
    core.synchronize()
    before = compiles()
    kernels = [core.kernel(scaled(NOTES[0])) for _ in range(30)]
    x, y = core.zeros(1000, "f4"), core.zeros(1000, "f4")
    for kernel in reversed(kernels):
        kernel[4, 256](y, x, 2.0, 1000)
    core.synchronize()
    for kernel in kernels:
        assert len(kernel.specialisations) == 1  # waits for what is still made ahead
    assert 30 <= compiles() - before < 60

"""Plain products of tiles on the CPU device by the OpenBLAS that NumPy brought: who gets it, and what it gives."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from tile_products import by_columns, by_rows, plain, turned
from xcuda import core, tiles

RANDOM = np.random.default_rng(31)
pytestmark = pytest.mark.skipif(core.Device().kind != "cpu", reason="of the CPU device")


def by_openblas(kernel):
    return "xc_tile_blas{" in kernel.inspect_source()


def has_openblas():
    A = np.zeros((300, 300))
    kernel = tiles.tile_kernel(plain, tile_size=(16, 16))
    kernel(A, A, A.copy())
    return by_openblas(kernel)


@pytest.fixture(autouse=True)
def openblas():
    if not has_openblas():
        pytest.skip("NumPy here has no OpenBLAS, or more threads of it than the CPU device has workers")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [plain, turned, by_columns, by_rows], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "shape", [(300, 77, 257), (1, 300, 130), (257, 200, 1), (300, 0, 300), (1100, 130, 25)], ids=str
)
def test_products_in_all_transposes(function, shape, dtype):
    m, k, n = shape
    A, B = (RANDOM.integers(-4, 5, s).astype(dtype) for s in ((m, k), (k, n)))
    C = np.full((m, n), 77, dtype)
    a = A.T.copy() if function in (turned, by_rows) else A
    b = B.T.copy() if function in (turned, by_columns) else B
    made = tiles.tile_kernel(function, tile_size=(16, 16))
    made(a, b, C)
    assert np.array_equal(C, A @ B)
    assert by_openblas(made)


def test_who_gets_loops_of_our_own():
    def scaled(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B) * 2))

    def squared(A, B, C):
        a = tiles.load_shared(A)
        tiles.store(C, tiles.compute((a * a) @ tiles.load_shared(B)))

    def twice(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B) @ tiles.load_shared(B)))

    wide = np.zeros((300, 600))
    A = RANDOM.integers(-4, 5, (300, 300)).astype("d")
    wide[:, ::2] = A
    cases = (
        (scaled, (A, A), "d", {}, 2 * (A @ A)),
        (squared, (A, A), "d", {}, (A * A) @ A),
        (twice, (A, A), "d", {}, A @ A @ A),
        (plain, (wide[:, ::2], A), "d", {}, A @ A),
        (plain, (A[::-1], A), "d", {}, A[::-1] @ A),
        (plain, (A.astype("e"), A.astype("e")), "f", {}, A @ A),
        (plain, (A.astype("i"), A.astype("i")), "i", {}, A @ A),
        (plain, (A.astype("f"), A.astype("f")), "d", {}, A @ A),
        (plain, (A[:60, :60].copy(), A[:60, :60].copy()), "d", {}, A[:60, :60] @ A[:60, :60]),
        (plain, (A, A), "d", {"products": "fma"}, A @ A),
        (plain, (A, A), "d", {"unit": (64, 64)}, A @ A),
    )
    for function, args, into, plan, wanted in cases:
        C = np.zeros(wanted.shape, into)
        made = tiles.tile_kernel(function, tile_size=(16, 16), plan=plan)
        made(*args, C)
        assert np.array_equal(C, wanted) and not by_openblas(made), (function.__name__, into, plan)


def test_a_result_over_an_operand_is_as_numpy_has_it():
    A, B = (RANDOM.integers(-4, 5, (300, 300)).astype("d") for _ in range(2))
    wanted = A @ B
    made = tiles.tile_kernel(plain, tile_size=(16, 16))
    made(A, B, A)
    assert np.array_equal(A, wanted) and by_openblas(made)


def test_what_it_writes_is_told():
    """A result in another byte order is converted back, a read-only one refused; operands may be read-only."""
    A = RANDOM.integers(-4, 5, (300, 300)).astype("d")
    made = tiles.tile_kernel(plain, tile_size=(16, 16))
    fixed = A.copy()
    fixed.flags.writeable = False
    C = np.zeros((300, 300))
    made(fixed, fixed, C)
    assert np.array_equal(C, A @ A)
    foreign = np.zeros((300, 300), ">f8")
    made(A, A, foreign)
    assert np.array_equal(foreign, A @ A)
    with pytest.raises(ValueError, match="read-only"):
        made(A, A, fixed)
    with pytest.raises(ValueError, match="the first has another number of columns than the second has rows"):
        made(A, A[:200].copy(), C)
    assert np.array_equal(C, A @ A)


def test_explain_names_it():
    A = np.zeros((300, 300))
    made = tiles.tile_kernel(plain, tile_size=(16, 16))
    text = made.explain(A, A, A)
    assert "products by: OpenBLAS, float64" in str(text) and "hardware tile" not in str(text)
    assert "the result at once" in text.svg
    assert made.explain(A, A, A, target="sm_90").plan["unit"] == [64, 64], "of the CPU device alone"


def test_an_interrupt_ends_it_between_its_parts():
    code = (
        "import numpy as np, signal, sys, threading, os\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from test_tiles_blas import plain, tiles\n"
        "A, C = np.ones((6000, 6000)), np.zeros((6000, 6000))\n"
        "made = tiles.tile_kernel(plain, tile_size=(16, 16))\n"
        "small = A[:300, :300].copy()\n"
        "made(small, small, np.zeros((300, 300)))\n"
        "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    while True:\n"
        "        made(A, A, C)\n"
        "except KeyboardInterrupt:\n"
        "    D = np.zeros((300, 300))\n"
        "    made(small, small, D)\n"
        "    print('interrupted', (D == 300).all())\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, os.path.dirname(__file__)], capture_output=True, text=True, timeout=300
    )
    assert run.stdout.strip() == "interrupted True", run.stdout + run.stderr


def test_threads_call_it_at_once():
    A = RANDOM.integers(-4, 5, (300, 300)).astype("d")
    made = tiles.tile_kernel(plain, tile_size=(16, 16))
    wrong = []

    def work():
        for _ in range(20):
            C = np.zeros((300, 300))
            made(A, A, C)
            wrong.append(not np.array_equal(C, A @ A))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(wrong) == 80 and not any(wrong)


def test_fewer_workers_than_its_threads_mean_no_openblas():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import test_tiles_blas\n"
        "print(test_tiles_blas.has_openblas())\n"
    )
    found = {}
    for workers in ("1", "64"):
        run = subprocess.run(
            [sys.executable, "-c", code, os.path.dirname(__file__)],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "XCUDA_WORKERS": workers, "OPENBLAS_NUM_THREADS": "2"},
        )
        found[workers] = run.stdout.strip()
    assert found == {"1": "False", "64": "True"}

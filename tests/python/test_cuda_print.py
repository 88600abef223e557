"""print() in kernels: what Python would have written, in order, through sys.stdout when the host waits."""

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from xcuda import core as cuda


@cuda.kernel
def hello(x):
    i = cuda.grid(1)
    print("thread", i, "of", x.size)


def test_threads_of_a_block(capsys):
    hello[1, 3](np.zeros(3))
    cuda.synchronize()
    assert capsys.readouterr().out == "thread 0 of 3\nthread 1 of 3\nthread 2 of 3\n"


def test_blocks_in_their_order(capsys):
    hello[8, 2](np.zeros(3))
    cuda.synchronize()
    assert capsys.readouterr().out.splitlines() == [f"thread {i} of 3" for i in range(16)]


@cuda.kernel
def say(x):
    print(x[0])


VALUES = {
    np.int8: [-128, 0, 127],
    np.uint8: [255],
    np.int16: [-32768],
    np.uint16: [65535],
    np.int32: [-(2**31)],
    np.uint32: [2**32 - 1],
    np.int64: [-(2**63)],
    np.uint64: [2**64 - 1],
    np.bool_: [True, False],
    np.float64: [
        *(
            0.0,
            -0.0,
            1.0,
            0.1,
            1e16,
            1e15,
            123456789.125,
            1e-4,
            1e-5,
            5e-324,
            1.7976931348623157e308,
            1 / 3,
            2**53,
        ),
        *(float("nan"), float("inf"), float("-inf"), 1e22, 9007199254740993.0, -2.5e-7),
    ],
    # NumPy 2.4 puts an exponent to float32 from 1e6 and to float16 from 1e3 on, others from 1e16, as Python does.
    np.float32: [0.1, 1 / 3, 1e16, 3.4028235e38, 1e-45, 1.5, 1e-5, 0.0002, 123456.789, 999999.0],
    np.float16: [0.1, 1 / 3, 6e-8, 1.5, 204.8, 1e-5, 0.0002, -7.25, np.inf, np.nan, 999.5],
}


@pytest.mark.parametrize("dtype", VALUES, ids=lambda d: d.__name__)
def test_numbers_as_python_prints_them(dtype, capsys):
    for v in VALUES[dtype]:
        x = np.array([v]).astype(dtype)
        say[1, 1](x)
        cuda.synchronize()
        want = str(x[0])
        assert capsys.readouterr().out == want + "\n"


class Point(NamedTuple):
    x: float
    y: int


@cuda.kernel
def shapes(x):
    a = x[0]
    print((1, a), (a,), ("it's", 'a "b"', "c\n"), None, True)
    print(Point(a, 3))
    print()
    print("no newline", end="")
    print(" here", a, 2, sep="|")
    print("a\tb", sep="", end="!\n")


def test_tuples_strings_and_keywords(capsys):
    shapes[1, 1](np.array([0.5]))
    cuda.synchronize()
    print((1, 0.5), (0.5,), ("it's", 'a "b"', "c\n"), None, True)
    print(Point(0.5, 3))
    print()
    print("no newline", end="")
    print(" here", 0.5, 2, sep="|")
    print("a\tb", sep="", end="!\n")
    out = capsys.readouterr().out
    half = len(out) // 2
    assert out[:half] == out[half:]


def tell(label, v):
    """A helper that prints."""
    if v > 1:
        print(label, v)
    return v + 1


@cuda.kernel
def loops(x):
    for k in range(4):
        x[k] = tell("k", k)
    cuda.syncthreads()
    print("after", int(x[3]))


def test_in_a_helper_a_loop_and_a_branch(capsys):
    x = np.zeros(4)
    loops[1, 1](x)
    cuda.synchronize()
    assert capsys.readouterr().out == "k 2\nk 3\nafter 4\n"


@cuda.kernel
def phases(x):
    t = cuda.threadIdx.x
    print("first", t)
    cuda.syncthreads()
    print("second", t)


def test_before_and_after_a_barrier(capsys):
    phases[2, 3](np.zeros(1))
    cuda.synchronize()
    lines = capsys.readouterr().out.splitlines()
    for block in (lines[:6], lines[6:]):
        assert sorted(block[:3]) == [f"first {t}" for t in range(3)]
        assert sorted(block[3:]) == [f"second {t}" for t in range(3)]


def test_host_and_device_in_order(capsys):
    """CASES, row 37."""
    print("A")
    say[1, 1](np.array([7]))
    cuda.synchronize()
    print("B")
    assert capsys.readouterr().out == "A\n7\nB\n"


def test_on_streams_and_before_an_error(capsys):
    @cuda.kernel
    def fails(x):
        print("about to", x.size)
        x[x.size] = 1

    stream = cuda.stream()
    say[1, 1, stream](cuda.to_device(np.array([1])))
    say[1, 1, stream](cuda.to_device(np.array([2])))
    stream.synchronize()
    assert capsys.readouterr().out == "1\n2\n"
    with pytest.raises(IndexError):
        fails[1, 1](np.zeros(3))
        cuda.synchronize()
    assert capsys.readouterr().out == "about to 3\n"


@cuda.kernel
def two_axes(x):
    i, j = cuda.grid(2)
    if i < 2 and j < 2:
        print(i, j)


def test_a_launch_whose_shape_is_not_given(capsys):
    two_axes[(2, 2), (1, 1)](np.zeros(1))
    cuda.synchronize()
    assert sorted(capsys.readouterr().out.splitlines()) == ["0 0", "0 1", "1 0", "1 1"]


OVERFLOW = """
import numpy as np
from xcuda import core as cuda
@cuda.kernel
def talk(x):
    print(cuda.grid(1), x[0])
talk[100, 100](np.ones(1))
cuda.synchronize()
"""


def test_what_does_not_fit_is_told(tmp_path):
    script = tmp_path / "overflow.py"
    script.write_text(OVERFLOW)
    env = dict(os.environ, XCUDA_PRINT_BYTES="3200")
    out = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, check=True).stdout
    *lines, last = out.splitlines()
    assert len(lines) == 100 and all(line.endswith(" 1.0") for line in lines)
    assert last.startswith(
        "[9900 more print() calls did not fit into the 3200 bytes of a launch's print buffer"
    )


def test_refusals():
    @cuda.kernel
    def whole(x):
        print(x)

    @cuda.kernel
    def to_file(x):
        print(x[0], file=None)

    with pytest.raises(cuda.KernelSyntaxError, match="can't print an array.*print its elements"):
        whole[1, 1](np.zeros(2))
    with pytest.raises(cuda.KernelSyntaxError, match="takes no 'file'"):
        to_file[1, 1](np.zeros(2))

"""What a user may get wrong: each a clear sentence, and the next launch works."""

import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import xcuda.core as cuda


@cuda.kernel
def copy(a, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i]


def refused(error, message, call, *args, **kwargs):
    with pytest.raises(error, match=message):
        call(*args, **kwargs)
    out = np.zeros(3)
    copy(np.ones(3), out)
    assert (out == 1).all()


@pytest.mark.parametrize(
    "value, words",
    [
        ([1, 2, 3], "'a' is a list; numpy.asarray"),
        ({}, "'a' is a dict"),
        (object(), "'a' is an object"),
        (np.zeros(3, np.clongdouble), "'a' is an array of complex256, which kernels don't take"),
        (
            np.array(["x"]),
            "'a' is an array of strings .<U1., which kernels don't take; pass their characters as numbers",
        ),
        (np.array([None]), "'a' is an array of object, which kernels don't take"),
        (np.array(["2020-01-01"], "M8[25s]"), "'a' is an array of datetime64.25s., .* of one unit: s"),
        (np.zeros((1,) * 9), "'a' has 9 dimensions; kernels take arrays of at most 8"),
        (np.clongdouble(1), "'a' is a NumPy clongdouble"),
    ],
)
def test_arguments_that_kernels_do_not_take(value, words):
    refused(TypeError if "dimensions" not in words else ValueError, words, copy, value, np.zeros(3))


@pytest.mark.parametrize(
    "value, words",
    [
        ((1, "x"), "a tuple's index must be a constant"),
        ((1, [2]), r"'a\[1\]' is a list"),
        ("text", "a string's index must be a constant"),
        (None, "None can't be indexed"),
        (np.zeros(2, [("x", "f4")]), "expected a number, found a record"),
    ],
)
def test_constants_where_an_array_is_meant(value, words):
    """They reach the compiler, which points at their use."""
    refused((TypeError, SyntaxError), words, copy, value, np.zeros(3))


def test_integers_beyond_64_bits():
    refused(OverflowError, "'a' is an int that does not fit into 64 bits", copy, 2**64, np.zeros(3))
    refused(OverflowError, "'a' is an int that does not fit into 64 bits", copy, -(2**63) - 1, np.zeros(3))


def test_read_only_outputs():
    out = np.zeros(3)
    out.flags.writeable = False
    refused(
        ValueError,
        r"'out' is read-only, and copy writes to it at line \d+ of .*test_core_bad_input.py; pass a copy",
        copy,
        np.ones(3),
        out,
    )
    refused(ValueError, "'out' is read-only", copy, np.ones(3), np.broadcast_to(np.zeros(1), 3))
    refused(ValueError, "'out' is read-only", copy, np.ones(3), b"abc" and memoryview(b"abc"))
    read_only = np.ones(3)
    read_only.flags.writeable = False
    out = np.zeros(3)
    copy(read_only, out)
    assert (out == 1).all()


@pytest.mark.parametrize(
    "key, error, words",
    [
        (
            (1, 0),
            ValueError,
            r"copy: the block \(0, 1, 1\) has 0 threads along x; every length must be at least 1",
        ),
        ((1, -3), ValueError, r"the block \(-3, 1, 1\) has -3 threads along x"),
        ((-1, 32), ValueError, r"the grid \(-1, 1, 1\) has -1 blocks along x; a length can't be negative"),
        ((1, 1025), ValueError, r"the block \(1025, 1, 1\) has 1025 threads.* at most 1024"),
        (
            (1, (64, 64)),
            ValueError,
            r"the block \(64, 64, 1\) has 4096 threads; .* takes at most 1024 in a block",
        ),
        ((1, (1, 1, 65)), ValueError, r"65 threads along z; .* takes at most 64 there"),
        ((2**31, 1), ValueError, "2147483648 blocks along x; .* takes at most 2147483647 there"),
        (((1, 65536), 1), ValueError, "65536 blocks along y"),
        ((1.5, 32), TypeError, r"the grid must be made of ints, not 1.5; divide with //"),
        ((1, "a"), TypeError, "the block must be made of ints, not 'a'"),
        ((True, 32), TypeError, "the grid must be made of ints, not True"),
        (((1, 1, 1, 1), 32), TypeError, "the grid has 1 to 3 lengths, not 4"),
        (((), 32), TypeError, "the grid has 1 to 3 lengths, not 0"),
        (5, TypeError, r"copy\[...\] takes a grid and a block"),
        ((1, 2, 0, 0, 0), TypeError, r"copy\[...\] takes a grid and a block"),
        ((1, 2, "s"), TypeError, r"the third item of \[grid, block, stream\] must be a Stream"),
        ((1, 2, 0, -1), ValueError, "-1 bytes of dynamic shared memory; it can't be negative"),
        ((1, 2, 0, 10**9), ValueError, "a block takes 1000000000 bytes of shared memory"),
        ((2**70, 1), TypeError, "does not fit into 64 bits"),
    ],
)
def test_launch_shapes(key, error, words):
    refused(error, words, lambda: copy[key](np.ones(3), np.zeros(3)))


def test_numpy_integers_are_launch_shapes():
    out = np.zeros(3)
    copy[np.int64(1), (np.uint8(3),)](np.ones(3), out)
    assert (out == 1).all()


def test_too_much_static_shared_memory():
    @cuda.kernel
    def greedy(out):
        tile = cuda.shared.array((1024, 1024), cuda.float64)
        tile[0, 0] = 1
        out[0] = tile[0, 0]

    with pytest.raises((ValueError, SyntaxError), match="shared memory"):
        greedy[1, 1](np.zeros(1))


def test_a_kernel_that_does_not_tell_its_shape():
    @cuda.kernel
    def k(out):
        out[0] = 1

    refused(
        TypeError,
        r"k does not tell how many threads it wants.*give the shape yourself: k\[grid, block\]",
        k,
        np.zeros(1),
    ) if not k.compile("float64[::1]") else None
    out = np.zeros(1)
    k[1, 1](out)
    assert out[0] == 1


def test_unknown_names_and_host_objects_point_into_the_source():
    @cuda.kernel
    def unknown(out):
        out[0] = mth.sin(1.0)

    @cuda.kernel
    def host_object(out):
        out[0] = CONFIG["a"]

    for k, words, text in [(unknown, "mth", "mth.sin"), (host_object, "CONFIG", 'CONFIG["a"]')]:
        with pytest.raises(SyntaxError, match=words) as raised:
            k[1, 1](np.zeros(1))
        assert raised.value.filename == __file__ and text in raised.value.text
        assert raised.value.offset >= 1 and raised.value.end_offset > raised.value.offset
    refused(SyntaxError, "mth", unknown[1, 1], np.zeros(1))


def test_unsupported_statements_are_refused_at_the_decorator():
    def statement(out):
        with open("x") as f:
            out[0] = f

    with pytest.raises(
        SyntaxError, match="a with statement can't run in a kernel; put it around the launch"
    ) as raised:
        cuda.kernel(statement)
    assert raised.value.filename == __file__ and "with open" in raised.value.text

    def under_a_branch_that_is_never_taken(out):
        if False:
            with open("x") as f:
                out[0] = f
        out[0] = 1

    assert cuda.kernel(under_a_branch_that_is_never_taken).__name__ == "under_a_branch_that_is_never_taken"


CONFIG = {"a": 1}


@cuda.kernel
def calls_itself(out):
    calls_itself(out)


def test_a_recursive_kernel():
    refused(SyntaxError, "recursion can't run in a kernel", calls_itself[1, 1], np.zeros(1))


def test_what_can_not_be_a_kernel():
    with pytest.raises(TypeError, match="plain Python function, not from a type"):
        cuda.kernel(int)
    with pytest.raises(TypeError, match="lambda"):
        cuda.kernel(lambda a: None)(np.zeros(1))
    namespace = {}
    exec("def k(out):\n    out[0] = 1\n", namespace)
    with pytest.raises(OSError, match="no source text for k"):
        cuda.kernel(namespace["k"])[1, 1](np.zeros(1))


def test_faults_name_line_array_index_shape_and_thread():
    @cuda.kernel
    def k(A):
        i = cuda.grid(1)
        A[i + 10**6] = 1

    a = np.zeros(100)
    with pytest.raises(IndexError) as caught:
        k[2, 4](a)
    # All eight are at fault: which of them is told is the device's choice, but what is told is one thread's.
    told = re.match(
        r"index (\d+) is out of range for axis 0 of A with shape \(100,\), at line "
        r"\d+ of .*, thread \((\d), 0, 0\) of block \((\d), 0, 0\), where i = (\d+)$",
        str(caught.value),
    )
    assert told, caught.value
    index, thread, block, i = map(int, told.groups())
    assert (i, index) == (4 * block + thread, 10**6 + i) and block < 2 and thread < 4
    assert not a.any()

    @cuda.kernel
    def divide(a, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = 7 // a[i]

    out = np.zeros(4, int)
    refused(
        ZeroDivisionError,
        r"at line \d+ of .*, thread \(2, 0, 0\) of block \(0, 0, 0\)",
        divide[1, 4],
        np.array([1, 2, 0, 3]),
        out,
    )

    @cuda.kernel
    def check(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            assert a[i] > 0, "must be positive"

    refused(
        AssertionError,
        r"must be positive, at line \d+ of .*, thread \(1, 0, 0\)",
        check[1, 2],
        np.array([1.0, -1]),
    )


def test_negative_indices_wrap_and_beyond_is_an_error():
    @cuda.kernel
    def k(a, i):
        a[i] = 5

    a = np.zeros(3)
    k[1, 1](a, -1)
    assert a.tolist() == [0, 0, 5]
    refused(IndexError, r"index -4 is out of range for axis 0 of a with shape \(3,\)", k[1, 1], a, -4)


def script(code, **environment):
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(
            textwrap.dedent("""
            import numpy as np
            import xcuda.core as cuda
            from xcuda import _runtime

            @cuda.kernel
            def add(a, out):
                i = cuda.grid(1)
                if i < out.shape[0]:
                    out[i] = a[i] + 1

            def works():
                out = np.zeros(3)
                add(np.arange(3.0), out)
                return out.tolist() == [1, 2, 3]
            """)
            + textwrap.dedent(code)
        )
    try:
        return subprocess.Popen(
            [sys.executable, file.name],
            env={**os.environ, **environment},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    finally:
        pass


def output(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


REPORT = "print(works(), _runtime.cache_stats()['disk_hits'], _runtime.cache_stats()['compiled'])"


def test_disk_cache_hits_and_corrupt_files(fresh_cache):
    first = output(script(REPORT))
    assert first == "True 0 1"
    script_again = script(REPORT.replace("print", "print"))
    assert output(script_again).startswith("True")
    files = [p for p in fresh_cache.rglob("*") if p.is_file()]
    assert files
    for p in files:
        p.write_bytes(b"\0garbage" * 20)
    assert output(script(REPORT)).startswith("True")
    for p in fresh_cache.rglob("*"):
        if p.is_file():
            p.write_bytes(b"")
    assert output(script(REPORT)).startswith("True")


def test_an_unwritable_cache_folder_only_costs_time(tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    assert output(script(REPORT, XCUDA_CACHE_DIR=str(file / "cache"))) == "True 0 1"
    assert output(script(REPORT, XCUDA_CACHE_DIR="/proc/nowhere")) == "True 0 1"


def test_processes_that_write_the_cache_at_once(fresh_cache):
    processes = [script(REPORT) for _ in range(4)]
    assert all(output(p).startswith("True") for p in processes)


@pytest.mark.skipif(cuda.get_current_device().kind != "cpu", reason="the CPU device's compiler")
def test_a_missing_compiler_library(fresh_cache):
    said = output(
        script(
            """
        try:
            works()
        except RuntimeError as error:
            print(type(error).__name__, error)
        print(cuda.zeros(3).copy_to_host().tolist())
        """,
            XCUDA_CPU_COMPILER="/nowhere/libxcuda_cpu_jit.so",
        )
    )
    assert (
        "MachineError" in said and "/nowhere/libxcuda_cpu_jit.so" in said and said.endswith("[0.0, 0.0, 0.0]")
    )


@pytest.mark.parametrize("target", [None, "sm_90"])
@pytest.mark.parametrize(
    "given",
    [
        lambda a: (a, a),
        lambda a: (a,),
        lambda a: (a, a, a),
        lambda a: (1.0, a),
        lambda a: ("float32[:]", "int64"),
    ],
)
def test_compile_is_given_arguments_that_are_no_tuple(given, target):
    k = cuda.kernel(saxpy_like)
    with pytest.raises(
        TypeError, match=r"compile takes the arguments as one tuple, and found \d loose: write .*\(\(x, y\), "
    ):
        k.compile(*given(np.zeros(4, "f4")), target=target)


def test_compile_takes_a_block_as_launches_do():
    k, a = cuda.kernel(saxpy_like), np.zeros(4, "f4")
    for block in (64, (64,), (64, 1), (64, 1, 1), [64], np.int32(64)):
        assert k.compile((a, a), block)["block"] == k.compile((a, a), (64, 1, 1))["block"]
    with pytest.raises(TypeError, match="up to three lengths"):
        k.compile((a, a), (1, 2, 3, 4))


def saxpy_like(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += x[i]

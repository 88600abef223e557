"""The IR that sources become: golden texts, one for each thing the front end decides."""

import textwrap

import numpy as np
import pytest
from frontend_source import ir


def golden(text):
    return textwrap.dedent(text).lstrip("\n")


def body(text):
    """The statements of a printed kernel, without its head and variables."""
    lines = text.split("\n")[1:]
    kept = [line for line in lines if not line.startswith(("    var ", "    hidden "))]
    return "\n".join(kept).split("\n\n")[0].split("\nwarning:")[0].rstrip() + "\n"


MATMUL = '''
    def matrix_multiply(A, B, C):
        """GPU matrix multiplication kernel"""
        i, j = cuda.grid(2)
        if i < C.shape[0] and j < C.shape[1]:
            temp = 0.0
            for k in range(A.shape[1]):
                temp += A[i, k] * B[k, j]
            C[i, j] = temp
'''


def test_the_articles_matmul():
    assert ir(MATMUL, "float32[2], float32[2], float32[2]") == golden("""
        kernel matrix_multiply(A: float32[:, ::1], B: float32[:, ::1], C: float32[:, ::1]):
            var i: int64 (weak)
            var j: int64 (weak)
            var temp: float32
            var k: int64 (weak)
            i = global.x
            j = global.y
            if (i < C.shape[0]) and (j < C.shape[1]):
                temp = float32(0.0)
                for k in range(0, A.shape[1], 1):
                    temp = temp + (A[i!, k!] * B[k!, j!])
                C[i!, j!] = temp
    """)


def test_unchecked_accesses_are_bare():
    text = ir(MATMUL, "float32[2], float32[2], float32[2]", checked=False)
    assert "temp = temp + (A[i, k] * B[k, j])" in text
    assert "!" not in text


def test_an_accumulator_takes_the_type_it_meets():
    assert "var temp: float64\n" in ir(MATMUL, "float32[2], float64[2], float32[2]")
    assert "var temp: float64\n" in ir(MATMUL, "int32[2], int32[2], float32[2]")


def test_the_grid_written_out_is_the_grid():
    text = ir(
        """
        def f(a):
            tx = cuda.threadIdx.x
            width = cuda.blockDim.x
            i = tx + cuda.blockIdx.x * width
            j = cuda.blockDim.y * cuda.blockIdx.y + cuda.threadIdx.y
            step = cuda.blockDim.x * cuda.gridDim.x
            wrong = cuda.threadIdx.x + cuda.blockIdx.y * cuda.blockDim.y
            a[i] = j + step + wrong
        """,
        "int64[1]",
    )
    assert "i = global.x\n" in text
    assert "j = global.y\n" in text
    assert "step = grid_size.x\n" in text
    assert "wrong = thread.x + (block.y * block_dim.y)" in text


def test_an_index_that_can_be_negative_may_wrap():
    text = ir(
        """
        def f(a, n, u):
            i = cuda.grid(1)
            for k in range(8):
                a[i] = a[i - 1] + a[k] + a[-1] + a[n] + a[u] + a[n % 4] + a[i % n]
            for k in range(7, -1, -1):
                a[i] = a[k]
        """,
        "float32[1], int32, uint32",
    )
    assert "a[~i - 1!]" in text and "a[~-1!]" in text and "a[~int64(n)!]" in text
    assert "+ a[k#4!]" in text and "= a[k#5!]" in text
    assert "a[int64(u)!]" in text and "a[int64(n % int32(4))!]" in text


def test_a_variable_keeps_its_place_and_its_loops_have_their_own():
    text = ir(
        """
        def f(a):
            for k in range(3):
                a[k] = 1
            for k in range(4):
                a[k] = 2
        """,
        "float32[1]",
    )
    assert text.count("var k#") == 2
    assert "# may be unbound" not in text


def test_a_loop_variable_used_after_its_loop():
    text = ir(
        """
        def f(a, n):
            for k in range(n):
                a[k] = 1
            a[0] = k
        """,
        "float32[1], weak int64",
    )
    assert "var k: int64 (weak)  # may be unbound" in text
    assert "fault unbound k" in text
    assert "line 4: 'k' may have no value here: not every path to this line assigns it" in text


def test_a_loop_that_surely_runs_binds_its_variable():
    text = ir(
        """
        def f(a):
            for k in range(3):
                last = k
            a[0] = k + last
        """,
        "float32[1]",
    )
    assert "unbound" not in text


def test_while_true_binds_what_its_breaks_have_bound():
    text = ir(
        """
        def f(a):
            i = 0
            while True:
                x = a[i]
                if x > 3:
                    break
                i += 1
            a[0] = x
        """,
        "float32[1]",
    )
    assert "unbound" not in text


def test_only_the_branch_that_can_run_is_compiled():
    text = ir(
        """
        def helper(x, scale=None):
            if scale is not None:
                return x * scale
            return x
        def f(a):
            if DEBUG:
                a["no"] = print
            a[0] = helper(a[1]) if 3 > 2 else [1]
        """,
        "float32[1]",
        DEBUG=False,
    )
    assert "return x\n" in text


def test_an_effect_inside_an_expression_becomes_a_statement_in_order():
    text = ir(
        """
        def bump(a):
            a[0] += 1
            return a[0]
        def f(a):
            a[1] = a[0] + bump(a) * a[2]
        """,
        "float32[1]",
    )
    assert body(text).split("\n")[:3] == [
        "    t#2 = a[0!]",
        "    t#1 = bump(a)",
        "    a[1!] = t#2 + (t#1 * a[2!])",
    ]


def test_short_circuit_keeps_effects_on_their_path():
    text = ir(
        """
        def f(a, h):
            i = cuda.grid(1)
            if i < 5 and cuda.atomic.add(h, 0, 1) < 3:
                a[i] = 1
        """,
        "float32[1], int32[1]",
    )
    lines = [line.strip() for line in body(text).split("\n")]
    at = next(i for i, line in enumerate(lines) if "atomic" in line)
    assert any(line.startswith("if ") for line in lines[:at]), text


def test_bounds_tests_short_circuit_as_plain_logic():
    text = ir(
        """
        def f(a, n):
            i = cuda.grid(1)
            if 0 <= i - 1 < n and a[i] > 0 and not a[0] == 3:
                a[i] = 1
        """,
        "float32[1], weak int64",
    )
    assert (
        "if (((0 <= (i - 1)) and ((i - 1) < n)) and (a[i!] > float32(0.0))) and (not (a[0!] == float32(3.0))):"
        in text
    )


def test_a_swap_reads_before_it_assigns():
    text = ir(
        """
        def f(a):
            x = a[0]
            y = a[1]
            x, y = y, x
            a[0], a[1] = a[1], a[0]
            a[2] = x - y
        """,
        "float32[1]",
    )
    lines = [line.strip() for line in body(text).split("\n")]
    assert lines[2].endswith("= y") and lines[3].endswith("= x")
    assert lines[6].endswith("= a[1!]") and lines[7].endswith("= a[0!]")


def test_constants_of_the_kernel_serve_as_shapes():
    text = ir(
        """
        def f(a):
            WIDTH = 4
            tile = cuda.shared.array((WIDTH, N * 2), np.float32)
            mine = cuda.local.array(shape=3, dtype=a.dtype)
            both = cuda.shared.array(0, "int32")
            tile[0, 1] = mine[2] + both[0]
            cuda.syncthreads()
            a[0] = tile[0, 0] + tile.shape[1] + len(mine)
        """,
        "float64[1]",
        N=8,
    )
    assert "var tile: shared float32[4, 16]" in text
    assert "var mine: local float64[3]" in text
    assert "var both: shared int32[:]" in text
    assert "barrier" in text


def test_helpers_are_compiled_once_for_each_set_of_types():
    text = ir(
        """
        def twice(x, by=2): return x * by
        def f(a, b):
            i = cuda.grid(1)
            a[i] = twice(a[i]) + twice(a[i], by=2) + twice(x=b[i])
        """,
        "float32[1], int32[1]",
    )
    assert text.count("\nfunction twice(") == 2
    assert "twice(x: float32, by: int64 (weak)) -> float32" in text
    assert "twice(x: int32, by: int64 (weak)) -> int32" in text


def test_a_helper_may_return_a_tuple():
    text = ir(
        """
        def minmax(x, y):
            if x < y:
                return x, y
            return y, x
        def f(a):
            low, high = minmax(a[0], 2)
            a[0] = low
            a[1] = high
        """,
        "float32[1]",
    )
    assert (
        "function minmax(x: float32, y: int64 (weak), result_0: local float32[1], result_1: local float32[1]):"
        in text
    )


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        ("x ** 2", "x * x"),
        ("x ** 3", "cube(x)"),
        ("x ** -1", "float32(1.0) / x"),
        ("x ** 0.5", "sqrt(x)"),
        ("x ** n", "x ** float32(n)"),
        ("2 ** 10 + 0 * n", "1024 + (0 * n)"),
        ("n / 2", "float64 (weak)(n) / 2.0"),
        ("n // 2", "n // 2"),
        ("n // m", "n //! m"),
        ("x / n", "x / float32(n)"),
        ("round(x)", "int64 (weak)(rint(x))"),
        ("math.floor(x)", "math_floor(x)"),
        ("np.float64(x) + 1", "float64(x) + float64(1.0)"),
        ("math.pi * x", "float32(3.1415927) * x"),
        ("n in (1, 2)", "(n == 1) or (n == 2)"),
        ("x if n else 0", "x if (n != 0) else float32(0.0)"),
        ("n or m", "m if (not (n != 0)) else n"),
        ("-7 // 2 + n", "-4 + n"),
        ("abs(n) + len((1, 2, x))", "abs(n) + 3"),
        ("divmod(n, 3)[1]", "n % 3"),
    ],
)
def test_expressions(expression, printed):
    text = ir(f"def f(x, n, m):\n    t = {expression}\n", "float32, weak int64, weak int64")
    got = next(line for line in text.split("\n") if line.startswith("    t = "))
    assert got == "    t = " + printed, text


def test_fractions_of_a_literal_stay_exact():
    assert "t = 0.25" in ir("def f():\n    t = 2 ** -2\n", "")
    assert "t = 1000000000000000000" in ir("def f():\n    t = 10 ** 18\n", "")


def test_numpy_scalars_of_the_outside_are_strong():
    text = ir("def f(x):\n    t = x + STEP\n", "float32", STEP=np.float64(0.5))
    assert "var t: float64\n" in text


def test_a_weak_number_meets_an_unsigned_one():
    text = ir(
        """
        def f(word):
            val = 0
            val = ~word
        """,
        "uint64",
    )
    assert "var val: uint64\n" in text


def test_a_narrow_sum_is_warned_of():
    source = """
        def f(image, out):
            s = {start}
            for i in range(len(image)):
                s += image[i]
            out[0] = s
    """
    said = "line 4: 's' is uint8 and wraps around at 8 bits, as NumPy's uint8 does; start it as np.int64(0) to sum more"
    assert said in ir(source.format(start="0"), "uint8[1], int64[1]")
    assert "wraps" not in ir(source.format(start="np.int64(0)"), "uint8[1], int64[1]")
    assert "wraps" not in ir(source.format(start="0"), "int32[1], int64[1]")

"""What a user is told who stumbles: the text under the caret, what was found, and what to write instead.

Beside test_frontend_refusals.py, whose examples are of what the language leaves out: here are slips, of names, of how many
arguments, of kinds of values, and of two places that disagree (both are named).
"""

import math

import numpy as np
import pytest
from frontend_source import make
from xcuda import core as cuda
from xcuda.core.errors import KernelSyntaxError

HELPERS = """
def two_kinds(x):
    if x:
        return 1
    return (1, 2)
def two_lengths(x):
    if x:
        return (1, 2)
    return (1, 2, 3)
"""
LINE = HELPERS.count("\n") + 1  # the first line of a body

# (body of f(a, m, n, o): a vector, a matrix, an int, a vector; under the caret; the sentence)
STUMBLES = [
    ("x = np.sinus(a[0])", "np.sinus", "module numpy has no 'sinus'; did you mean 'sin'?"),
    ("x = math.sine(a[0])", "math.sine", "module math has no 'sine'; did you mean math.sin?"),
    ("o[0] = np.float33(a[0])", "np.float33", "module numpy has no 'float33'; did you mean 'float32'?"),
    (
        "x = np.cumsum(a)",
        "np.cumsum(a)",
        "np.cumsum() is not part of the kernel language; add up in a for loop",
    ),
    (
        "x = np.linalg.norm(a)",
        "np.linalg.norm(a)",
        "np.linalg.norm() is not part of the kernel language; write math.sqrt(np.sum(a * a))",
    ),
    (
        "x = np.linalg.inv(m)",
        "np.linalg.inv(m)",
        "np.linalg.inv() can't run in a kernel; call it outside, on whole",
    ),
    (
        "x = np.random.rand()",
        "np.random.rand()",
        "can't run in a kernel; xcuda.core.random has generators for threads: philox_uniform",
    ),
    (
        "x = np.interp(1, a, a)",
        "np.interp(1, a, a)",
        "has no meaning in a kernel; call it outside, on whole arrays",
    ),
    ("o[0] = lenght(a)", "lenght", "name 'lenght' is not defined; did you mean 'len'?"),
    ("i = threadIdx.x", "threadIdx", "name 'threadIdx' is not defined; did you mean 'cuda.threadIdx'?"),
    ("o[0] = cuda.threadIdx", "cuda.threadIdx", "'cuda.threadIdx' is three numbers; write cuda.threadIdx.x"),
    ("i = cuda.threadidx.x", "cuda.threadidx", "has no 'threadidx'; did you mean 'threadIdx'?"),
    ("cuda.syncthread()", "cuda.syncthread", "has no 'syncthread'; did you mean 'syncthreads'?"),
    ("o[0] = cuda.blockIdx.w", "cuda.blockIdx.w", "blockIdx has no 'w'; it has x, y and z"),
    ("o[0] = np.power(a[0])", "np.power(a[0])", "power() takes 2 arguments, found 1; write power(x, y)"),
    ("o[0] = math.sin(a[0], 2)", "math.sin(a[0], 2)", "sin() takes 1 argument, found 2; write sin(x)"),
    ("o[0] = math.fmod(2)", "math.fmod(2)", "fmod() takes 2 arguments, found 1; write fmod(x, y)"),
    ("o[0] = pow(1, 2, 3, 4)", "pow(1, 2, 3, 4)", "found 4; write pow(base, exp"),
    ("cuda.atomic.add(o, 1)", "cuda.atomic.add(o, 1)", "found 2; write atomic.add(array, index, value)"),
    ("i, j = cuda.grid(1)", "i, j", "2 names for a Python int; write cuda.grid(2)"),
    (
        "o[0] = cuda.grid(2)",
        "cuda.grid(2)",
        "expected a number, found a tuple of 2; give each axis a name: i, j = cuda.grid(2)",
    ),
    (
        "x = cuda.shared.array([8, 8], np.float32)",
        "[8, 8]",
        "a list can't live in a kernel; write a tuple (a, b)",
    ),
    (
        "x = cuda.local.array(n, np.float32)",
        "n",
        "must be known when the kernel is compiled, found a value of run",
    ),
    (
        "x = cuda.shared.array(cuda.blockDim.x, np.float32)",
        "cuda.blockDim.x",
        "found a value of run time; write a number or a global constant; or cuda.shared.array(0, dtype), whose",
    ),
    ("print('v %f' % a[0])", "'v %f' % a[0]", "% makes no string in a kernel; print takes texts and numbers"),
    (
        "print('a', 'v ' + a[0])",
        "'v ' + a[0]",
        "+ makes no string in a kernel; print takes texts and numbers",
    ),
    ("print('{}'.format(n))", "'{}'.format(n)", "'format' in a kernel; print takes texts and numbers"),
    ("i = n / 2\no[i] = 1", "i", "found a Python float; write int(...), or // where it was divided"),
    ("for i in range(n / 2): pass", "n / 2", "found a Python float; write int(...), or // where it was"),
    (
        "x = a.summ()",
        "a.summ()",
        "an array (float32[::1]) has no method 'summ' in a kernel; did you mean 'sum'?",
    ),
    ("a.append(3)", "a.append(3)", "has no method 'append' in a kernel; index its elements in a for loop"),
    ("x = a[0].tolist()", "a[0].tolist()", "float32 has no method 'tolist'"),
    ("x = a.shap[0]", "a.shap", "an array in a kernel has no 'shap'; did you mean 'shape'?"),
    (
        "x = m.shape.rows",
        "m.shape.rows",
        "a tuple of 2 has no 'rows' in a kernel; take an item of it: m.shape[0]",
    ),
    (
        "i = cuda.grid(2); o[0] = i < n",
        "i",
        "expected a number, found a tuple of 2; take an item of it: i[0]",
    ),
    (
        "o[0] = n < a.shape",
        "a.shape",
        "expected a number, found a tuple of 1; take an item of it: a.shape[0]",
    ),
    ("x = a.size()", "a.size()", "has no method 'size' in a kernel; write it without brackets: a.size"),
    ("x = a[1:].ndim()", "a[1:].ndim()", "no method 'ndim' in a kernel; write it without brackets: x.ndim"),
    ("x = n.shape", "n.shape", "has no 'shape' in a kernel; pass an array as n"),
    ('print(f"{n}")', 'f"{n}"', 'print takes texts and numbers side by side: print("x", x)'),
    (
        "o[0] = 'text'",
        "'text'",
        "expected a number, found a string; a string in a kernel is printed, compared",
    ),
    ("o[0] = a[0] + None", "None", "expected a number, found None; test for it before: if x is None"),
    ("o[0] = math.sin(1j)", "math.sin(1j)", "sin() does not take a Python complex; write cmath.sin()"),
    (
        "o[0] = math.floor(1j)",
        "math.floor(1j)",
        "floor() does not take a Python complex; work on z.real and z.imag",
    ),
    ("o[0] = a", "a", "a whole array where a number is needed; index it: A[i]"),
    ("o[0] = m[1, 2, 3]", "m[1, 2, 3]", "'m' has 2 dimensions, found 3 indices"),
    (
        "for x in n: pass",
        "n",
        "a for loop needs range(...), an array or a tuple, found a Python int; write for i in",
    ),
    ("if a: pass", "a", "the truth of an array is not defined; test one element: A[i]"),
    ("x = 3 if n else a", "3 if n else a", "the choice is a Python int or an array (float32[::1])"),
    (
        "x = (1, 2) if n else (1, 2, 3)",
        "(1, 2) if n else (1, 2, 3)",
        "the choice is a tuple of 2 or a tuple of 3",
    ),
    (
        "x = None if n else 3",
        "None if n else 3",
        "the choice is None or a Python int, by what only the run tells",
    ),
    # Two places that disagree.
    ("x = 3\nx = a", "x", f"'x' is a number in line {LINE} and an array here; use two names"),
    (
        "a = n + 1",
        "a",
        "and a number here; write a[i] = ... to store into it, or use two names",
    ),
    ("x = (1, 2)\nx = (1, 2, 3)", "x", f"'x' is a tuple of 2 in line {LINE} and of 3 here; use two names"),
    ("x = None\nif n:\n    x = 3", "x", f"'x' is None in line {LINE} and a number here; use two names"),
    (
        "x = np.uint64(1)\nif n:\n    x = np.int64(n)",
        "x",
        f"'x' is uint64 in line {LINE} and int64 here: no integer type holds both; convert one of them",
    ),
    (
        "x = a\nif n:\n    x = m\no[0] = x[0]",
        "x",
        f"an array (float32[::1]) in line {LINE} or an array (float64[:, ::1]) in line {LINE + 2}; use two names",
    ),
    (
        "g = math.sin\nif n:\n    g = math.cos\no[0] = g(1)",
        "g",
        f"by the path taken: 'math.sin' in line {LINE} or 'math.cos' in line {LINE + 2}; use two names",
    ),
    (
        "o[0] = two_kinds(n)",
        "return (1, 2)",
        "two_kinds() returns a number in line 3 and a tuple here; return the same",
    ),
    (
        "o[0] = two_lengths(n)",
        "return (1, 2, 3)",
        "returns a tuple of 2 in line 7 and of 3 here; return tuples of one",
    ),
    ("o[0] = a[0] & 1", "a[0] & 1", "& needs integers, found float32 and a Python int; write int(...)"),
    (
        "o[0] = (1, 2) + 3",
        "(1, 2) + 3",
        "+ between a tuple of 2 and a Python int has no meaning; name the items",
    ),
    ("o[:] = m", "o[:]", "an array of 2 dimensions does not go into one of 1; index its first axes"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("body,under,told", STUMBLES, ids=[s[0] for s in STUMBLES])
def test_a_stumble(body, under, told):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    f = make(HELPERS.lstrip("\n") + f"def f(a, m, n, o):\n{lines}", name="f", math=math)
    with pytest.raises(KernelSyntaxError) as caught:
        cuda.kernel(f)[1, 1](np.zeros(4, np.float32), np.zeros((3, 4)), 3, np.zeros(4))
    error = caught.value
    assert told in error.msg
    assert error.lineno == error.end_lineno and error.text[error.offset - 1 : error.end_offset - 1] == under

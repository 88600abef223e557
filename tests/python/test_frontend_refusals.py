"""What the kernel language does not have: for each, the words, the advice and the very columns of the caret."""

import numpy as np
import pytest
from frontend_source import lower, make
from xcuda.core.errors import KernelSyntaxError

ARGUMENTS = "float32[2], float32[1], weak int64"


def refusal(body, types=ARGUMENTS, **names):
    """The KernelSyntaxError for a body of `def f(A, b, n)`, and the text under its caret."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    function = make(f"def f(A, b, n):\n{lines}", name="f", **names)
    with pytest.raises(KernelSyntaxError) as caught:
        lower(function, types)
    error = caught.value
    assert error.filename == function.__code__.co_filename
    end = error.end_offset if error.end_lineno == error.lineno else None
    return error, error.text[error.offset - 1 : end - 1 if end else None]


STATEMENTS = [
    (
        "try:\n    n = 1\nexcept ValueError:\n    pass",
        "try/except can't run",
        "test the condition with if",
        "try:",
    ),
    ("with b: pass", "a with statement can't run", "outside the kernel", "with b: pass"),
    ("x = [1, 2]", "a list can't live in a kernel", "cuda.local.array", "[1, 2]"),
    ("x = {1: 2}", "a dict can't live", "pass arrays", "{1: 2}"),
    ("x = {1, 2}", "a set can't live", "x in (a, b)", "{1, 2}"),
    ("x = [i for i in range(n)]", "a list comprehension", "for loop", "[i for i in range(n)]"),
    ("x = f'{n}'", "an f-string", "print takes texts", "f'{n}'"),
    ("b[0] = b[1:2]", "a slice where a number is needed", "index it", "b[1:2]"),
    ("b[1:] = np.sin", "only numbers and arrays can be assigned to a slice", "write a for loop", "b[1:]"),
    ("b[:] = b[::-1]", "both sides are parts of 'b' and may overlap", "write the loop", "b[:]"),
    ("x = A[..., ...]", "a single ellipsis", "", "A[..., ...]"),
    ("x = b[:, 0]", "'b' has 1 dimension, found 2 indices", "", "b[:, 0]"),
    ("x = A[0][1, 2]", "this view of 'A' has 1 dimension, found 2 indices", "", "A[0][1, 2]"),
    ("x = b['a':]", "expected a number, found a string", "", "'a'"),
    ("if n:\n    x = A[0]\nelse:\n    x = b\nx[0] = 1", "'x' names one thing or another", "two names", "x"),
    (
        "x = A[0]\nfor i in range(n):\n    x[0] = 1\n    x = b",
        "before the loop and another",
        "two names",
        "b",
    ),
    (
        "x = cuda.local.array(2, int)\nfor i in range(n):\n    y = cuda.local.array(2, int)\n    x = y",
        "'x' names an array that is made in this loop",
        "before the loop",
        "x",
    ),
    (
        "for i in (1, 2):\n    t = cuda.local.array(2, int)\n    x = t if n > i else b.view(np.int64)\nx[0] = 1",
        "the choice is",
        "",
        "t if n > i else b.view(np.int64)",
    ),
    (
        "u = cuda.local.array(2, int)\nfor i in (1, 2):\n    t = cuda.local.array(2, int)\n    x = t if n > i else u\n    x[0] = 1",
        "this line makes an array in each item of a loop that is written out",
        "lines of their own",
        "cuda.local.array(2, int)",
    ),
    (
        "def either(x, y):\n    return x if n else y\nb[0] = either(A[0], b)[0]\nb[1] = either(b, b[1:])[0]",
        "the choice is",
        "",
        "x if n else y",
    ),
    (
        "def either(x, y):\n    return x if n else y\nu = cuda.local.array(2, int)\nt = cuda.local.array(2, int)\nb[0] = either(t, u)[0]",
        "either() returns one array or another, by the path taken",
        "let the caller choose",
        "return x if n else y",
    ),
    ("x, y, *z = (n,)", "2 names and more for a tuple of 1", "", "x, y, *z"),
    ("class G: pass", "a class can't be defined", "arguments", "class G: pass"),
    ("yield n", "yield can't run", "array argument", "yield n"),
    ("del n", "del can't run", "leave it out", "del n"),
    ("global zzz\nzzz = 1", "a kernel can't assign a global", "array argument", "global zzz"),
    ("import math", "import can't run", "import outside", "import math"),
    ("from math import sin", "import can't run", "import outside", "from math import sin"),
    ("x = (i for i in b)", "a generator expression can't be kept", "where it is used", "x"),
    ("x = range(n)", "a range can't be kept", "where it is used", "x"),
    (
        "for i in (j for j in b): pass",
        "a generator expression belongs into sum",
        "for loop",
        "(j for j in b)",
    ),
    ("for x, y in zip((1, 2.5), b): pass", "zip() of a tuple with an array", "index the array", "b"),
    ("x = len(zip(b, b))", "len() of zip(...)", "", "zip(b, b)"),
    ("x = sum(n)", "sum() needs an array, a tuple or a range", "", "n"),
    ("x = len(range(0, n, n))", "the step of this range must be known", "", "len(range(0, n, n))"),
    ("match A.shape:\n    case (x, *y): pass", "a starred pattern", "write the items out", "*y"),
    ("match n:\n    case {1: x}: pass", "a mapping pattern", "a value or a tuple", "{1: x}"),
    ("match n:\n    case int(x): pass", "a class pattern", "a tuple of the fields", "int(x)"),
    ("match n:\n    case True: pass", "True and False as patterns", "an if", "True"),
    ("match b:\n    case (x, y): pass", "an array can't be matched", "its elements", "(x, y)"),
    ("x = 10 ** 30", "does not fit 64 bits", "2.0**64", "10 ** 30"),
    ("x = 99999999999999999999", "does not fit 64 bits", "1e20", "99999999999999999999"),
    ("x = A @ n", "@ is the product of arrays, found a Python int", "write *", "A @ n"),
    ("A.x = 3", "attributes can't be assigned", "array element", "A.x"),
    ("return n", "a kernel returns nothing", "write into an array argument", "return n"),
    ("raise", "a bare raise", 'ValueError("...")', "raise"),
    ("raise ValueError(n)", "must be a plain string", '"..."', "n"),
    ("raise n", "can't be raised", "Python's own exceptions", "n"),
    ("assert n > 1, n", "must be a plain string", '"..."', "n"),
]

NAMES = [
    ("b[0] = fooo", "name 'fooo' is not defined", "did you mean 'foo'", "fooo"),
    ("b[0] = zzzz", "name 'zzzz' is not defined", "", "zzzz"),
    ("b[0] = sqrt(b[1])", "name 'sqrt' is not defined", "write math.sqrt, and import math above the", "sqrt"),
    (
        "b[0] = numpy.sqrt(b[1])",
        "name 'numpy' is not defined",
        "write import numpy above the kernel",
        "numpy",
    ),
    ("b[0] = np.sinn(b[1])", "module numpy has no 'sinn'", "did you mean numpy.sin?", "np.sinn"),
    ("b[0] = math.sqtr(b[1])", "module math has no 'sqtr'", "did you mean math.sqrt?", "math.sqtr"),
    ("b[0] = np.cumsum(b)", "np.cumsum() is not part of the kernel language", "add up", "np.cumsum(b)"),
    ("b[0] = np.median(b)", "np.median() can't run in a kernel", "sort outside", "np.median(b)"),
    (
        "b[0] = np.random.rand()",
        "np.random.rand() can't run in a kernel",
        "xcuda.core.random has generators",
        "np.random.rand()",
    ),
    ("print(b)", "print() in a kernel can't print an array", "print its elements", "b"),
    ("b[0] = things[0]", "'things' is a list of 3 items, made outside", "pass it as an argument", "things"),
    (
        "b[0] = table[0]",
        "'table' is a float64 array of shape (100000,), made outside",
        "pass it as an argument",
        "table",
    ),
    ("b[0] = np", "'np' is a module, not a number", "", "np"),
    ("b[0] = math.sin", "'math.sin' is a function, not a number", "call it", "math.sin"),
    ("b[0] = Thing()", "'Thing' is a class", "arguments", "Thing"),
    ("b[0] = A.sort()", "has no method 'sort'", "for loop", "A.sort()"),
    ("b[0] = A.flags", "an array in a kernel has no 'flags'", "shape", "A.flags"),
    ("x = n.reals", "has no 'reals'", "", "n.reals"),
    ("b[0] = isinstance(n, int)", "isinstance() is not part", "types are known", "isinstance(n, int)"),
    ("for i in enumerate(n): pass", "enumerate() needs an array", "", "n"),
    (
        "b[0] = np.linalg.norm(b)",
        "np.linalg.norm() is not part of the kernel language",
        "np.sum(a * a)",
        "np.linalg.norm(b)",
    ),
]

TYPES = [
    ("b[1.5] = 1", "index must be an integer, found a Python float", "write int(...)", "1.5"),
    ("b[n / 2] = 1", "index must be an integer, found a Python float", "write int(...)", "n / 2"),
    ("A[n, b[0]] = 1", "index must be an integer, found float32", "write int(...)", "b[0]"),
    ("b[n > 2] = 1", "index must be an integer, found a bool", "", "n > 2"),
    ("b[0, 1] = 1", "'b' has 1 dimension, found 2 indices", "", "b[0, 1]"),
    ("b[0] = A[0]", "found 1 of 2 indices", "A[i, j]", "A[0]"),
    ("b[0] = A", "a whole array where a number is needed", "A[i, j]", "A"),
    ("if b: pass", "the truth of an array", "A[i]", "b"),
    ("x = b[0] & 1", "& needs integers, found float32 and a Python int", "int(...)", "b[0] & 1"),
    ("x = (b[0] > 1) - (b[1] > 1)", "bools can't be subtracted", "a ^ b", "(b[0] > 1) - (b[1] > 1)"),
    ("x = np.uint8(300)", "300 does not fit uint8", "wider", "300"),
    ("x = np.int32(n) ** -2", "no negative powers", "float(x)", "np.int32(n) ** -2"),
    ("for i in range(2.5): pass", "range needs integers, found a Python float", "int(...)", "2.5"),
    ("for i in range(0, 9, 0): pass", "range() arg 3 must not be zero", "", "0"),
    ("for x in n: pass", "needs range(...), an array or a tuple, found a Python int", "range(n)", "n"),
    ("x, y = n", "2 names for a Python int", "only a tuple", "x, y"),
    ("x, y = cuda.grid(1)", "2 names for a Python int", "cuda.grid(2)", "x, y"),
    ("x, y, z = A.shape", "3 names for a tuple of 2", "", "x, y, z"),
    ("x = (1, 2.5)[n]", "a tuple's index must be a constant", "t[0]", "n"),
    ("x = A.shape[2]", "index 2 is out of range for a tuple of 2", "", "A.shape[2]"),
    ("x = A\nwhile n > 0:\n    x = b", "before the loop and another thing", "two names", "b"),
    ("x = 1\nx = b", "'x' is a number in line 2 and an array here", "two names", "x"),
    ("x = np.uint64(1)\nx = np.int64(n)", "'x' is uint64 in line 2 and int64 here", "np.uint64(x)", "x"),
    ("x = cuda.grid(4)", "cuda.grid() takes 1, 2 or 3", "", "4"),
    ("x = cuda.threadIdx.w", "threadIdx has no 'w'", "x, y and z", "cuda.threadIdx.w"),
    ("x = cuda.threadIdx + 1", "'cuda.threadIdx' is three numbers", "cuda.threadIdx.x", "cuda.threadIdx"),
    (
        "t = cuda.shared.array(n, np.float32)",
        "must be known when the kernel is compiled",
        "global constant",
        "n",
    ),
    ("t = cuda.shared.array(4, 4)", "expected a dtype", "np.float32", "4"),
    ("t = cuda.local.array(-1, np.float32)", "length -1", "", "-1"),
    ("cuda.atomic.add(n, 0, 1)", "works on an array's element", "cuda.atomic.add(A, i, value)", "n"),
    ("cuda.atomic.or_(b, 0, 1)", "does not work on float32", "an integer type", "cuda.atomic.or_(b, 0, 1)"),
    ("x = math.sin(1, 2)", "sin() takes 1 argument, found 2", "", "math.sin(1, 2)"),
    ("x = min(n)", "min() needs two numbers or more", "min(a, b)", "min(n)"),
    ("x = min(n, 1, key=abs)", "min() takes no keyword arguments", "", "abs"),
    ("x = len(n)", "len() of a Python int", "", "n"),
    ("x = n is 3", "'is' compares identities", "==", "n is 3"),
    ("x = 'abc'\nb[0] = x", "expected a number, found a string", "", "x"),
]

OUTSIDE = {"foo": 1, "things": [1, 2, 3], "table": np.zeros(100_000), "Thing": type("Thing", (), {})}


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize(("body", "found", "hint", "under"), STATEMENTS + NAMES + TYPES)
def test_refusal(body, found, hint, under):
    error, text = refusal(body, **OUTSIDE)
    assert found in error.found
    assert hint in error.hint
    assert text == under
    assert str(error).startswith(error.found)


@pytest.mark.parametrize(
    ("source", "found", "under"),
    [
        (
            "def h(x): return h(x - 1)\ndef f(a):\n    a[0] = h(3)\n",
            "h() calls itself: recursion",
            "h(x - 1)",
        ),
        ("def h(**x): return 1\ndef f(a):\n    a[0] = h(x=3)\n", "h() takes **kwargs", "h(x=3)"),
        ("def h(x): return x\ndef f(a):\n    a[0] = h()\n", "h() needs its argument 'x'", "h()"),
        ("def h(x): return x\ndef f(a):\n    a[0] = h(1, 2)\n", "h() takes 1 argument, found 2", "h(1, 2)"),
        ("def h(x): return x\ndef f(a):\n    a[0] = h(y=2)\n", "h() has no argument 'y'", "2"),
        (
            "def h(x):\n    if x: return 1\ndef f(a):\n    a[0] = h(a[1])\n",
            "h() returns a value on some paths",
            "def h(x):",
        ),
        (
            "def h(x):\n    if x: return 1\n    return\ndef f(a):\n    a[0] = h(a[1])\n",
            "returns a value in line 2",
            "return",
        ),
        ("def h(x): pass\ndef f(a):\n    a[0] = h(a[1])\n", "expected a number, found None", "h(a[1])"),
        (
            "def h(x): return x\ndef f(a):\n    a[0] = h(a)\n",
            "a whole array where a number is needed",
            "h(a)",
        ),
        (
            "def h(x):\n    if x[0] > 1:\n        return\n    cuda.syncthreads()\ndef f(a):\n    h(a)\n",
            "h() has a barrier or a shared array and returns before its end",
            "cuda.syncthreads()",
        ),
        ("def h(x): return x + [1]\ndef f(a):\n    a[0] = h(1)\n", "a list can't live", "[1]"),
        ("def f(*a): pass\n", "a kernel can't take *args", "def f(*a): pass"),
    ],
)
def test_refusals_around_helpers(source, found, under):
    function = make(source, name="f")
    with pytest.raises(KernelSyntaxError) as caught:
        lower(function, "float32[1]")
    error = caught.value
    assert found in error.found
    end = error.end_offset if error.end_lineno == error.lineno else None
    assert error.text[error.offset - 1 : end - 1 if end else None] == under


def test_a_lambda_without_source_is_no_helper():
    with pytest.raises(
        KernelSyntaxError, match=r"<lambda>\(\) can't be compiled: .*(no source text|can't be told)"
    ):
        lower(make("def f(a):\n    a[0] = g(1)\n", g=eval("lambda x: x")), "float32[1]")


def test_the_caret_counts_wide_characters():
    error, _ = refusal("名前 = '中文'; b[0] = fooo")
    # Four spaces, two wide names, the quotes: 4 + 4 + 3 + 1 + 4 + 1 + 2 + 7 cells before.
    assert error.text == "    名前 = '中文'; b[0] = fooo"
    assert error.offset == 4 + 4 + 3 + 6 + 2 + 7 + 1


def test_the_caret_of_an_indented_definition():
    source = """
    def outer():
        def f(a):
            a[0] = nothing_here
        return f
    f = outer()
    """
    with pytest.raises(KernelSyntaxError) as caught:
        lower(make(source, name="f"), "float32[1]")
    assert caught.value.lineno == 3
    assert caught.value.text[caught.value.offset - 1 :] == "nothing_here"


def test_a_read_before_any_assignment():
    with pytest.raises(KernelSyntaxError, match="'x' is read but nothing gives it a value before"):
        lower(make("def f(a):\n    x = x + 1\n    a[0] = x\n"), "float32[1]")


def test_uint64_constants_that_int64_lacks():
    with pytest.raises(KernelSyntaxError, match="18446744073709551615 does not fit int64"):
        lower(make("def f(n):\n    x = n & 0xFFFFFFFFFFFFFFFF\n"), "weak int64")
    assert "18446744073709551615" in lower(make("def f(n):\n    x = n & 0xFFFFFFFFFFFFFFFF\n"), "uint64")

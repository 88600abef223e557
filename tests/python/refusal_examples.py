"""An example of each refusal: test_frontend_refusals.py's, and here those that need more than a line of a kernel.

docs/REFUSALS.md is generated from them (./run docs), so that what it says is what a user is told.
"""

import dataclasses
import enum
import linecache
import re
from collections import namedtuple
from pathlib import Path

import numpy as np
import test_frontend_refusals as tests
from frontend_source import lower, lower_tiles, make
from xcuda import core
from xcuda.core.errors import KernelSyntaxError

Pair = namedtuple("Pair", "x y")


@dataclasses.dataclass
class Body:
    mass: float
    speed: float

    def twice(self):
        return self.mass * 2


class FFI:
    """Stands for cffi's."""

    def from_buffer(self, cdata):
        """In kernels the address of an array."""


FFI.__module__ = "cffi.api"
POINT = np.dtype([("x", "f4"), ("y", "f4")])


class Color(enum.Enum):
    red = 1
    green = 2


NAMES = {
    **tests.OUTSIDE,
    "Pair": Pair,
    "Body": Body,
    "Color": Color,
    "point": POINT,
    "words": np.dtype([("word", "S3")]),
    "mixed": np.dtype([("word", "S3"), ("x", "f4")]),
    "first_table": np.arange(6000.0),
    "second_table": np.arange(6000.0),
    "day": np.datetime64("2020-01-01", "D"),
    "span": np.timedelta64(5, "h"),
    "month": np.timedelta64(1, "M"),
    "twice": core.declare_device("twice", "int32(int32)", link=core.CUSource("")),
    "first": core.declare_device("first", core.void(core.types.CPointer(core.int64)), link=core.CUSource("")),
    "ffi": FFI(),
    "unlinked": core.declare_device("unlinked", "int32(int32)"),
}
ARGUMENTS = tests.ARGUMENTS  # of def f(A, b, n)

# Bodies of `def f(A, b, n)`.
MORE = [
    "b[0] = math.sin(**n)",
    "b[0] = n(1)",
    "p = Pair(1)",
    "b[0] = round(b[0], 1.5)",
    "b[0] = round(n, -1)",
    "b[0] = pow(n, 2, 5)",
    "b[0] = len(A=b)",
    "t = cuda.shared.array(4, shape=4, dtype=np.float32)",
    "t = cuda.shared.array(dtype=np.float32, sort=1)",
    "t = cuda.shared.array(dtype=np.float32)",
    "b[0] = math.gcd(n, 1.5)",
    "def g(*x): return 1\nb[0] = g(1)",
    "def g(x): return g(x)\nb[0] = g(1)",
    "def g(x): return x\nb[0] = g()",
    "x = b'ab'",
    "x = 'mean %f' % n",
    "x = 'mean ' + n",
    "x = '{}'.format(n)",
    "x = (1, 2).most",
    "x = (1, 2)[n:]",
    "body = Body(1.0, 2.0)\nx = body[0]",
    "mass, speed = Body(1.0, 2.0)",
    "b[0] = n[0]",
    "n[0] = 1",
    "t = (1, 2)\nt[0] = 3",
    "x = x + 1",
    "x = cuda.const.array_like(b)",
    "i = cuda.threadIdx()",
    "t = cuda.local.array((1, 1, 1, 1, 1, 1, 1, 1, 1), np.float32)",
    "x = 1.5 in n",
    "for i in (" + ", ".join(map(str, range(70))) + "): pass",
    "match A.shape:\n    case (x, 1) | (1, x): pass",
    "x = ~b[0]",
    "x = 1j < 2",
    "x = 1j // n",
    "x = 1j % n",
    "x = round(n * 1j)",
    "b[0] = 1j",
    "x = int(n * 1j)",
    "x = complex(1j, n)",
    "x = (n * 1j).conjugate",
    "t = cuda.shared.array(1, complex)\ncuda.atomic.max(t, 0, 1j)",
    "A @= b",
    "x = A[0] + A[1]",
    "x = cuda.local.array((300, 300), np.float32)\ny = x + 1",
    "x = (A + 1)[0]",
    "t = cuda.local.array(3, np.float32)\nx = t[:0] + 1",
    "b[0] = (A + 1).strides",
    "x = np.sum(A * 2 + (A[0].fill(1) is None))",
    "b[0] = 0 < b < 1",
    "b[0] = 1 < n < b",
    "np.sin(b, n)",
    "np.sin(b, dtype=np.float32)",
    "np.sin(b, where=b > 0)",
    "np.add(b)",
    "np.add(b, b, b, out=b)",
    "np.divmod(b, 2, b)",
    "c = cuda.local.array(3, np.int32)\nnp.sin(c, c)",
    "np.divmod(b[1:], 2, b[:-1], A[0])",
    "np.divmod(A[0], A, b, b)",
    "np.divmod(b, 2, b, A)",
    "np.round(b, 1, n)",
    "b[0] = np.sum(np.float32)",
    "b[0] = np.sum(())",
    "b[0] = np.sum(A, axis=n)",
    "b[0] = np.sum(A, axis=2)",
    "b[0] = np.sum(A, keepdims=n)",
    "b[0] = np.sum(A, dtype=n)",
    "np.sum(A, out=n)",
    "np.sum(A, axis=0, out=A)",
    "np.mean(A, out=cuda.local.array(1, np.int32)[0, ...])",
    "c = cuda.local.array((2, 2, 2), np.float32)\nx = c @ c",
    "x = b.astype(n)",
    "x = Color['pink']",
    "x = Color[n]",
    "raise ValueError('a', 'b')",
    "x = (1, 2)\nx = (1, 2, 3)",
    "x = cuda.ballot_sync(1.5, True)",
    "x = cuda.shfl_sync(1.5, n, 0)",
    "b[0] = Body",
    "b[0] = ValueError",
    "b[0] = cuda.popc(b[0])",
    "p = Pair(1, 2)\nb[0] = p.z",
    "b[0] = Body(1.0, 2.0).energy()",
    "n[0] += 1",
    "x = cuda.vote_sync_intrinsic(-1, n, True)",
    "t = cuda.shared.array(4, order=1, shape=3)",
    "x = point(1, 2)",
    "c = cuda.local.array(3, np.int32)\nc[:] += 1.5",
    "A[0:2, 0:2] = (1, 2)",
    "b[0:2] = A",
    "t = cuda.shared.array(0, point)",
    "x = b.reshape(order=1)",
    "x = A[:, 1:].reshape(4)",
    "x = (A * 1).reshape(4)",
    "x = 'ab'[n]",
    "x = 'ab'[5]",
    "x = 'ab'.startswith(n)",
    "x = 'ab'.zfill(3)",
    "x = ord('ab')",
    "x = Color(n)",
    "x = b[0].view(np.int64)",
    "x = (1.5).view(np.int64)",
    "x = b.view(complex)",
    "x = b.view(n)",
    "x = np.iinfo(np.float32).max",
    "x = np.finfo(np.int32).max",
    "x = n.astype(n)",
    "v = b.view(np.int8)\nv[0] = 1",
    "v = b.view(np.int32)\nv[0:2] = 1",
    "for i in np.ndenumerate(n):\n    b[0] = 1",
    "b[0] = Body(1.0, 2.0).twice",
    "body = Body(1.0, 2.0) + Body(1.0, 2.0)",
    "x = cuda.local.array(2, complex).view(np.int64)",
    "x = b[0, ...].view(np.float64)",
    "b[0] = math.comb(n, 1.5)",
    "b[0] = math.dist((1, 2), (3, 4))",
    "x = b.reshape()",
    "print(n, file=1)",
    "print(n, sep=n)",
    "r = cuda.local.array(3, words)",
    "r = cuda.local.array(3, mixed)\nx = r[0].word",
    "r = cuda.local.array(3, point)\nx = r[0].z",
    "r = cuda.local.array(3, point)\np = r[0]\nx = p[5]",
    "r = cuda.local.array(3, point)\nr[0] = (1, 2, 3)",
    "r = cuda.local.array(3, point)\nr[:] = (1, 2)",
    "r = cuda.local.array(3, point)\nr[0] = 'a'",
    "r = cuda.local.array(3, point)\nr[0] += 1",
    "b[0] = first_table[n] + second_table[n]",
    "x = cuda.cg.this_grid().length",
    "x = tiles.bid(0)",
    "x = day + day",
    "x = day + month",
    "x = day < span",
    "b[0] = span",
    "x = np.sqrt(span)",
    "x = np.timedelta64(n, 'fortnight')",
    "x = np.datetime64('2020-01-01')",
    "x = np.timedelta64(1.5, 'D')",
    "x = -day",
    "x = int(span)",
    "x = np.isnat(n)",
    "x = cuda.ldcs(b, 1.0)",
    "x = cuda.ldcs(A, 1)",
    "x = cuda.ldcg(n, 1)",
    "t = cuda.shared.array(4, np.float32)\nx = cuda.ldca(t, 0)",
    "t = cuda.local.array(4, complex)\nx = cuda.ldcs(t, 0)",
    "x = ffi.from_buffer(n)",
    "x = first_table.ctypes.data",
    "x = twice(a=n)",
    "x = twice()",
    "first(b)",
    "first(1.5)",
    "x = unlinked(n)",
    "t = cuda.local.array(4, np.float32, alignment=1.5)",
    "t = cuda.local.array(4, point, alignment=16)",
    "t = cuda.shared.array(0, np.float32, alignment=64)",
]

# Bodies of a tile kernel `def f(A, b, n)` with tile_size=(16, 16).
TILES = [
    "i = cuda.grid(1)",
    "if tiles.arange(8) > 3: pass",
    "x = tiles.ones((4, 8)) + tiles.ones((8, 4))",
    "for i in range(tiles.arange(8)): pass",
    "A[0, 0] = tiles.ones(8)",
    "t = tiles.zeros((n, 16))",
    "t = tiles.zeros((10, 16))",
    "t = tiles.zeros((2048, 2048))",
    "t = tiles.zeros(16, 'text')",
    "t = tiles.sum(tiles.ones((4, 8)), axis=n)",
    "t = tiles.sum(tiles.ones((4, 8)), axis=2)",
    "t = tiles.ones(8).most",
    "t = tiles.ones(8).item()",
    "t = tiles.load(n, (0,), (16,))",
    "i = tiles.bid(3)",
    "i = tiles.num_tiles(A, 0, 16)",
    "t = tiles.load(A, 0, (16, 16))",
    "t = tiles.load(A, (0, 0), (16, 16), padding='most')",
    "t = tiles.load(A, (0, 0), 16)",
    "k = tiles.gather(A, (tiles.arange(8), tiles.arange(8)))\ntiles.store(b, (0,), k.reshape((2, 4)))",
    "tiles.store(b, (-1,), tiles.ones(8))",
    "c = tiles.load(b, (0,), (8,), padding=tiles.ones(8))",
    "t = tiles.eye((4, 4, 4))",
    "t = tiles.arange((4, 4))",
    "t = tiles.broadcast_to(tiles.ones(8), (8, 4))",
    "t = tiles.ones((4, 8)).reshape((8, 8))",
    "t = tiles.transpose(tiles.ones((4, 8, 2)))",
    "t = tiles.permute(tiles.ones((4, 8)), (0, 0))",
    "t = tiles.ones(8)[3]",
    "t = tiles.cat(tiles.ones(8), 0)",
    "t = tiles.cat((tiles.ones((4, 8)), tiles.ones((8, 4))), 0)",
    "t = tiles.cat((tiles.ones(8), tiles.ones(4)), 0)",
    "t = tiles.extract(tiles.ones((8, 8)), (0, 0), 4)",
    "t = tiles.extract(tiles.ones((8, 8)), (0, 0), (16, 8))",
    "t = tiles.extract(tiles.ones((8, 8)), (2, 0), (4, 8))",
    "t = tiles.ones(8) @ tiles.ones((8, 8))",
    "t = tiles.ones((8, 4)) @ tiles.ones((8, 8))",
    "t = tiles.mma(tiles.ones((8, 8)), tiles.ones((8, 8)), tiles.zeros((8, 4)))",
    "t = tiles.mma(tiles.ones((8, 8)), tiles.ones((8, 8)), tiles.zeros((8, 8), np.int32))",
    "t = tiles.max(tiles.full((8, 8), 1j, np.complex64))",
    "t = tiles.cumsum(n)",
    "t = tiles.scan(tiles.ones(8), None, lambda x, y: x + y, 0)",
    "t = tiles.reduce(tiles.ones(8), 0, lambda x: x, 0)",
    "def two(x, y):\n    z = x + y\n    return z\nt = tiles.reduce(tiles.ones(8), 0, two, 0)",
    "def early(x):\n    for i in range(3):\n        return x\nt = early(tiles.ones(8))",
    "t = tiles.sum(tiles.load_shared(A))",
    "t = tiles.mean(tiles.load_shared(A), axis=1)",
    "t = tiles.argmax(tiles.load_shared(A), axis=1)",
    "t = tiles.sum(tiles.load_shared(b), axis=0)",
    "t = tiles.load_shared(A) @ tiles.load_shared(b)",
    "t = tiles.load_shared(A) @ tiles.ones((16, 16))",
    "t = tiles.compute(tiles.load_shared(A) + 1)\ntiles.store(A, tiles.compute(t @ tiles.load_shared(A)))",
    "tiles.store(b, tiles.load_shared(A))",
    "tiles.store(A, tiles.ones((8, 16)))",
    "tiles.store(A, (0, 0), tiles.ones(8))",
    "t = tiles.zeros((8, 8))\nfor i in range(3): t = tiles.zeros((8, 4))",
    "t = tiles.sin_of(3)",
    "if n > 0:\n    t = tiles.ones(8)\nelse:\n    t = tiles.ones(4)\nx = tiles.sum(t)",
    "t = (tiles.ones(8), 1)\nt = (tiles.ones(4), 1)",
]

# Whole sources; the last function is the kernel, its arguments are of these types.
SOURCES = [
    ("def f(*a):\n    pass\n", ""),
    ("def h(x):\n    return h(x - 1)\n\ndef f(a):\n    a[0] = h(3)\n", "float32[1]"),
    ("def h(**x):\n    return 1\n\ndef f(a):\n    a[0] = h(x=3)\n", "float32[1]"),
    ("def h(x, y):\n    return x\n\ndef f(a):\n    a[0] = h(*a)\n", "float32[1]"),
    ("def f(a):\n    a[0] = cuda.float32x4(1, 2, 3).x\n", "float32[1]"),
    ("def f(a):\n    a[0] = cuda.float32x2(x=1, y=2).x\n", "float32[1]"),
    ("def h(x):\n    return x\n\ndef f(a):\n    a[0] = h()\n", "float32[1]"),
    ("def h(x):\n    return x\n\ndef f(a):\n    a[0] = h(y=2)\n", "float32[1]"),
    ("def h(x, *, y=1):\n    return x + y\n\ndef f(a):\n    a[0] = h(1, 2)\n", "float32[1]"),
    ("def h(x, /):\n    return x\n\ndef f(a):\n    a[0] = h(x=1)\n", "float32[1]"),
    ("def h(x):\n    if x:\n        return 1\n\ndef f(a):\n    a[0] = h(a[1])\n", "float32[1]"),
    ("def h(x):\n    if x:\n        return 1\n    return\n\ndef f(a):\n    a[0] = h(a[1])\n", "float32[1]"),
    ("def h(x):\n    return x\n\ndef f(a):\n    a[0] = h(a)\n", "float32[1]"),
    (
        "def h(x):\n    if x:\n        return 1, 2\n    return 1, 2, 3\n\ndef f(a):\n    a[0] = h(a[1])[0]\n",
        "float32[1]",
    ),
    (
        "def h(x):\n    if x:\n        return 1\n    return 1, 2\n\ndef f(a):\n    a[0] = h(a[1])\n",
        "float32[1]",
    ),
    ("def f(a):\n    x = 3 if a[0] else a\n", "float32[1]"),
    ("def f(a):\n    x = [k for k in (1, 2) if a[k] > 0]\n", "float32[1]"),
    ("def f(a):\n    a[0] = np.linalg.inv(a)[0]\n", "float32[1]"),
    ("def f(a):\n    a[0] = np.random.rand()\n", "float32[1]"),
    ("def h(x):\n    return (x, 'a')\n\ndef f(a):\n    a[0] = h(1)[0]\n", "float32[1]"),
    (
        "def h(x):\n    if x[0] > 1:\n        return\n    cuda.syncthreads()\n\ndef f(a):\n    h(a)\n",
        "float32[1]",
    ),
    (
        "def h():\n    t = cuda.local.array(3, np.float32)\n    return t\n\ndef f(a):\n    a[0] = h()[0]\n",
        "float32[1]",
    ),
    (
        "def h(x, y):\n    if x[0] > 1:\n        return x\n    return y\n\ndef f(a, b):\n    a[0] = h(a, b)[0]\n",
        "float32[1], float32[1]",
    ),
    ("def f(flags):\n    flags[0] = -flags[1]\n", "bool[1]"),
    ("def f(a, total):\n    a[0] = len(total)\n", "float32[1], float32[0]"),
    ("def f(a, total):\n    for x in total:\n        a[0] = x\n", "float32[1], float32[0]"),
]

# refused() in gpu_runtime/frontend that no example reaches: a word of its sentence, and why.
WITHOUT_EXAMPLE = {
    "can't be compiled: ": "a helper whose source can't be read has no line to show",
    "outside a loop": "Python itself refuses it first",
    "is read-only": "depends on the array, not on the text: test_kernel_arguments.py",
    "() needs '": "only where optional arguments come before required ones",
    "where() does not take ": "every number type has an overload: for types to come",
    "a helper returns a number or a tuple of numbers": "the item itself is refused first, where it is returned",
    " needs aligned elements": "depends on the argument's records: test_kernel_records.py",
    "without a tile_size, a tile's place and shape are given": "depends on the decorator: test_tiles_refusals.py",
    " axes seen through a tile": "depends on the array: test_tiles_refusals.py",
    " would lose its fractions": "depends on the array: test_tiles_refusals.py",
    "tiles has no function '": "only where the package has a name that the compiler lacks",
    "this tuple": "only a struct of a class without a name",
}


def told(source, types=ARGUMENTS):
    """The KernelSyntaxError for a source whose function `f` is the kernel; AssertionError if it is taken."""
    try:
        lower(make(source, name="f", **NAMES), types)
    except KernelSyntaxError as error:
        return error
    finally:
        linecache.clearcache()
    raise AssertionError(f"not refused:\n{source}")


def told_tiles(body):
    """The KernelSyntaxError for the body of a tile kernel; AssertionError if it is taken."""
    try:
        lower_tiles(make(of_body(body), name="f", **NAMES), ARGUMENTS)
    except KernelSyntaxError as error:
        return error
    finally:
        linecache.clearcache()
    raise AssertionError(f"not refused:\n{body}")


def of_body(body):
    """The source of a kernel with this body."""
    return "def f(A, b, n):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


def bodies():
    """[(heading, [body])] of all examples that are bodies of a kernel."""
    lists = (
        ("Statements and syntax", tests.STATEMENTS),
        ("Names", tests.NAMES),
        ("Types and values", tests.TYPES),
    )
    groups = [(heading, [row[0] for row in rows]) for heading, rows in lists]
    return [*groups, ("More of all kinds", MORE)]


def sites(root: Path):
    """[(file, line, longest fixed part of the sentence)] of each refused() in the front end's sources."""
    found = []
    for file in sorted((root / "gpu_runtime/frontend").glob("*.cpp")):
        text = file.read_text()
        for call in re.finditer(r"\brefused\(", text):
            sentence = second_argument(text, call.end())
            literals = re.findall(r'"((?:[^"\\]|\\.)*)"', sentence)
            parts = [p for s in literals for p in re.split(r"\{[^}]*\}", s.replace('\\"', '"'))]
            longest = max(parts, key=len, default="")
            if len(longest.strip()) > 3:
                found.append((file.name, text.count("\n", 0, call.start()) + 1, longest))
    return found


def second_argument(text, start):
    """The C++ text of the second argument of a call whose arguments begin at `start`."""
    depth, at, commas, quoted, begin = 0, start, 0, False, start
    while at < len(text):
        c = text[at]
        if quoted:
            at += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                break
            depth -= 1
        elif c == "," and depth == 0:
            commas += 1
            if commas == 1:
                begin = at + 1
            else:
                break
        at += 1
    return text[begin:at] if commas else ""

"""The statements and expressions of the kernel language, each with an example that the tests compile.

docs/LANGUAGE.md lists them (./run docs). Bodies of `def f(A, b, n)`: A a float32 matrix, b a float32 array, n an int.
"""

ARGUMENTS = "float32[2], float32[1], weak int64"

STATEMENTS = [
    ("Assignment, to several names at once too", "x = y = n + 1\nx, y = y, x\nb[0] = x + y"),
    ("Augmented assignment, of elements too", "x = 1.5\nx *= n\nb[0] += x\nb[1] //= 2.0"),
    ("Annotated names", "x: int = n\nb[0] = x"),
    ("Unpacking, nested and starred", "(x, y), *rest = (1, 2), 3, 4\nb[0] = x + y + rest[0]"),
    ("Starred arguments and tuples", "t = (n, 2)\nb[0] = max(*t) + max(0, *t, 3)\nu = (1, *t)\nb[1] = u[-1]"),
    (
        "`if`, `elif`, `else`; decided at compile time where types decide",
        "if n > 1:\n    b[0] = 1\nelif n:\n    b[0] = 2\nelse:\n    b[0] = 3",
    ),
    ("`for` over `range`, with any step", "for i in range(n, 0, -2):\n    b[i] = i"),
    (
        "`for` over an array, its rows, a tuple",
        "for row in A:\n    for x in row:\n        b[0] += x\nfor x in (1, 2.5):\n    b[1] += x",
    ),
    (
        "`enumerate`, `zip`, `reversed`",
        "for i, (x, y) in enumerate(zip(b, A[0])):\n    b[i] = x + y\nfor i in reversed(range(n)):\n    b[i] = i",
    ),
    (
        "Names of arrays of one dtype and rank that change: two buffers that swap, a choice",
        "now, then = A[0], A[1]\nfor i in range(n):\n    then[0] = now[0] + 1\n    now, then = then, now\n"
        "x = now if n > 2 else A[1]\nb[0] = x[0]",
    ),
    ("`while`", "x = n\nwhile x > 1:\n    x //= 2\nb[0] = x"),
    (
        "`break`, `continue`, and `else` of a loop",
        "for i in range(n):\n    if b[i] < 0:\n        break\nelse:\n    b[0] = 1",
    ),
    (
        "`match` on values and tuples",
        "match n, n % 2:\n    case 0, _:\n        b[0] = 1\n    case x, 1:\n        b[0] = x\n    case _:\n        pass",
    ),
    ("`return` before the end", "if n < 0:\n    return\nb[0] = n"),
    ("`assert`: AssertionError with line and thread", 'assert n > 0, "n must be positive"\nb[0] = n'),
    (
        "`raise` of Python's exceptions and your own, with line and thread",
        'if n < 0:\n    raise ValueError("n is negative")\nb[0] = n',
    ),
    (
        "Functions in a kernel: closures, defaults, keywords",
        "def scaled(x, by=2):\n    return x * by + n\nb[0] = scaled(b[1], by=3)",
    ),
    ("`pass`, and strings as comments", '"""Does nothing."""\npass'),
]

EXPRESSIONS = [
    (
        "Arithmetic with NumPy's types and Python's meaning",
        "b[0] = (n + 1) * 2.0 - n / 3 + n // 2 + n % 5 + b[1] ** 2",
    ),
    ("Bits", "b[0] = (n & 7 | 8) ^ ~n ^ n << 2 ^ n >> 1"),
    (
        "CUDA's vector types, `float32x4` or `float4` and their like",
        "v = cuda.float32x4(n, cuda.float32x2(1, 2), b[0])\nb[0] = v.x + v.w",
    ),
    ("Complex numbers", "z = complex(n, 2) * 1j\nb[0] = abs(z**2 / (1 - z)) + z.imag + z.conjugate().real"),
    (
        "datetime64 and timedelta64, of any unit; NaT as in NumPy",
        "t = np.datetime64(n, 'D') + 1.5 * np.timedelta64(5, 'h')\nif not np.isnat(t):\n"
        "    b[0] = (t - np.datetime64(0, 's')) / np.timedelta64(1, 'D')",
    ),
    ("Comparisons, chained", "b[0] = 0 <= n < 10"),
    (
        "`and`, `or`, `not`, short-circuit, giving an operand: as it is where the compiler knows which, else of one type for all",
        "b[0] = n and b[1] or not n",
    ),
    ("Conditional expression", "b[0] = 1 if n > 2 else b[1]"),
    ("`in` a tuple or a range", "b[0] = n in (1, 2, 3) or n in range(10, 20)"),
    ("Walrus", "if (x := b[1]) > 0:\n    b[0] = x"),
    ("Indices, negative ones from the end", "b[0] = A[-1, n]"),
    (
        "Slices as views, `...` and `None` too",
        "row = A[n, ::-1]\nrow[1] = A[..., 0][2]\nb[0] = row[None, 1:][0, 0]",
    ),
    ("`shape`, `ndim`, `size`, `len`", "b[0] = A.shape[0] + A.ndim + A.size + len(A)"),
    ("Tuples", "t = (1, 2.5, n)\nb[0] = t[0] + t[-1] + len(t)"),
    (
        "`sum`, `min`, `max`, `any`, `all` of tuples, arrays and generators",
        "b[0] = sum(b) + max(1, n) + sum(x * x for x in A[0]) + any(x > 1 for x in b)",
    ),
    (
        "Whole arrays, element by element by the thread that executes it",
        "A[1] = np.sin(A[0]) * 2 + n\nnp.add(b, 1, out=b)\nb[:] = np.where(b > 0, b, -b)\nt = cuda.local.array(4, np.float32)\n"
        "t.fill(1)\nu = t * 2",
    ),
    (
        "Reductions of arrays, along an axis too",
        "b[0] = np.sum(A * A) + A[0].mean() + np.argmax(b) + np.any(b > 1) + A[0] @ A[1]\nb[:] = A.max(axis=0)",
    ),
    ("Conversions", "b[0] = int(b[1]) + float(n) + bool(n) + np.int8(n) + np.float64(1)"),
    (
        "What a dtype's numbers are",
        "b[0] = np.finfo(A.dtype).max if b.dtype.kind == 'f' else np.iinfo(np.int16).min\nb[1] = b.dtype.type(n)",
    ),
    ("`abs`, `round`, `divmod`, `pow`", "q, r = divmod(n, 3)\nb[0] = abs(q) + round(b[1]) + pow(r, 2)"),
    (
        "`math.frexp`, `math.modf` and their like, which give two numbers",
        "m, e = math.frexp(b[0])\nb[0], b[1] = math.modf(b[2] + m * e)",
    ),
    (
        "Comprehensions over what is known while compiling: tuples",
        "t = [k * n for k in range(4) if k != 2]\nu = tuple(x + 1 for x in t)\nb[0] = t[2] + u[0]",
    ),
    ("Lambdas", "square = lambda x: x * x\nb[0] = square(b[1])"),
]

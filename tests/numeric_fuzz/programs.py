"""Random programs over arrays. Each statement is tried in NumPy as it is chosen, so that most of them run."""

import random

import numpy

DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool", "complex128", "float16", "int8", "uint16")
COMMON = ("float64", "float32", "int64", "int32")
_SHAPES = ((6,), (4, 6), (2, 3, 4), (6, 1), (1, 6), (3, 3), (1,), (), (0, 3), (5, 4), (12,))
_BINARY = ("+", "-", "*")
_JUMPS = ("//", "%", "<", "<=", "==", "!=", ">", ">=", "&", "|", "^")
_UNARY = ("abs", "negative", "square", "positive", "conj")
_UNARY_JUMPS = (
    "floor",
    "ceil",
    "rint",
    "sign",
    "isnan",
    "logical_not",
    "invert",
    "isfinite",
    "trunc",
    "signbit",
)
_INEXACT = ("sqrt", "exp", "sin", "cos", "tanh", "arctan", "log1p", "cbrt", "exp2")
_FOLDS = ("sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "argmax", "argmin", "cumsum")


class Program:
    """Statements, and what they leave behind in NumPy."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.env = [], environment(numpy)
        self.rough = {}  # by id: owners of memory, which are kept so that no other gets the id
        self.made = 0
        for _ in range(self.random.randint(1, 3)):
            self.add(self.creation())
        target = self.random.randint(5, 30)
        for _ in range(target * 4):
            if len(self.lines) >= target:
                break
            self.add(self.random.choices(*zip(*self.kinds, strict=True))[0](self))

    def add(self, line):
        """Keeps a statement whose effect is defined; one that raises is kept now and then."""
        if line is None:
            return
        line, careful = line if isinstance(line, tuple) else (line, False)
        before = {name: a.copy() for name, a in self.arrays().items()}
        aliases = dict(self.env)
        told = execute(line, self.env)
        if told and (self.random.random() < 0.85 or "Memory" in told):
            self.restore(aliases, before)
            return
        if not all(sound(a) for a in self.arrays().values()):
            self.restore(aliases, before)
            return
        self.lines.append(line)
        for name, a in self.arrays().items():
            same = before.get(name)
            if (
                same is not None
                and aliases.get(name) is a
                and numpy.array_equal(same, a, equal_nan=a.dtype.kind in "fc")
            ):
                continue
            if careful or not exact(a):
                self.rough[id(root(a))] = root(a)

    def restore(self, aliases, before):
        self.env.clear()
        self.env.update(aliases)
        for name, saved in before.items():
            a = self.env[name]
            if not numpy.array_equal(a, saved, equal_nan=a.dtype.kind in "fc") and a.flags.writeable:
                a[...] = saved

    # -- choices ---------------------------------------------------------------------------------

    def arrays(self):
        return {n: a for n, a in self.env.items() if n[0] == "v" and isinstance(a, numpy.ndarray)}

    def is_rough(self, name):
        return id(root(self.env[name])) in self.rough

    def var(self, smooth=False):
        """A variable; `smooth`: one whose values both sides have bit for bit. None where there is none."""
        names = [n for n in self.arrays() if not (smooth and self.is_rough(n))]
        return self.random.choice(names[-6:] + names[:2]) if names else None

    def new(self):
        if self.made > 3 and self.random.random() < 0.3:
            return self.random.choice(list(self.arrays()))
        self.made += 1
        return f"v{self.made}"

    def operand(self, smooth=False):
        if self.random.random() < 0.25:
            return self.random.choice(
                ("2", "0", "-1", "0.5", "3", "True", "1.0", "np.float32(0.25)", "np.int8(3)")
            )
        return self.var(smooth)

    def index(self, name):
        """A basic index of the variable as text."""
        a, parts = self.env[name], []
        for n in a.shape[: self.random.randint(0, a.ndim)]:
            parts.append(self.slice(n))
        if self.random.random() < 0.15:
            parts.insert(self.random.randint(0, len(parts)), "None")
        if self.random.random() < 0.2:
            parts.append("...")
        return ", ".join(parts) or "..."

    def slice(self, n):
        kind = self.random.random()
        if kind < 0.25 and n:
            return str(self.random.randint(-n, n - 1))
        step = self.random.choice(("", "", "1", "2", "-1", "-2", "3"))
        ends = ["" if self.random.random() < 0.4 else str(self.random.randint(-n - 1, n + 1)) for _ in "ab"]
        return f"{ends[0]}:{ends[1]}" + (f":{step}" if step else "")

    # -- statements ------------------------------------------------------------------------------

    def creation(self):
        shape = self.random.choice(_SHAPES)
        dtype = self.random.choice(DTYPES if self.random.random() < 0.4 else COMMON)
        kind = self.random.random()
        if kind < 0.65:
            return f"{self.new()} = D({self.random.randint(0, 99)}, {shape}, '{dtype}')"
        if kind < 0.8:
            return f"{self.new()} = np.full({shape}, {self.random.choice((0, 1, 2, 3))}, '{dtype}')"
        if kind < 0.9:
            return f"{self.new()} = np.arange({self.random.randint(0, 12)}, dtype='{self.random.choice(COMMON)}')"
        return f"{self.new()} = np.zeros({shape}, '{dtype}', order='{self.random.choice('CF')}')"

    def binary(self):
        if self.random.random() < 0.35:
            x, y = self.var(True), self.operand(True)
            return x and y and f"{self.new()} = Z({x} {self.random.choice(_JUMPS)} {y})"
        x, y = self.operand(), self.var()
        return f"{self.new()} = Z({x} {self.random.choice(_BINARY)} {y})"

    def quotient(self):
        x, y = self.operand(), self.var(True)
        return y and (f"{self.new()} = Z({x} / {y})", True)

    def unary(self):
        if self.random.random() < 0.4:
            x = self.var(True)
            return x and f"{self.new()} = Z(np.{self.random.choice(_UNARY_JUMPS)}({x}))"
        return f"{self.new()} = Z(np.{self.random.choice(_UNARY)}({self.var()}))"

    def inexact(self):
        return f"{self.new()} = Z(np.{self.random.choice(_INEXACT)}({self.var()}))", True

    def chain(self):
        x, y, z = self.var(), self.operand(), self.var()
        a, b = self.random.choice(_BINARY), self.random.choice(_BINARY)
        return f"{self.new()} = Z(({x} {a} {y}) {b} {z})"

    def view(self):
        name = self.var()
        a = self.env[name]
        axes = list(range(a.ndim))
        self.random.shuffle(axes)
        choices = [f"{name}[{self.index(name)}]"] * 3 + [
            f"{name}.T",
            f"{name}[...]",
            f"{name}.ravel()",
            f"np.flip({name})",
        ]
        choices += [
            f"{name}.transpose({axes})",
            f"np.atleast_2d({name})",
            f"{name}.squeeze()",
            f"{name}.reshape(-1)",
        ]
        choices += [f"np.expand_dims({name}, 0)", f"{name}.real", f"{name}.imag"]
        if a.size % 2 == 0 and a.size:
            choices += [f"{name}.reshape(2, -1)", f"{name}.reshape(-1, 2, order='F')"]
        if a.ndim > 1:
            choices += [
                f"{name}.swapaxes(0, 1)",
                f"np.diagonal({name})",
                f"np.rot90({name})",
                f"np.moveaxis({name}, 0, -1)",
            ]
        if a.ndim < 3:
            choices += [f"np.broadcast_to({name}, (2, *{name}.shape))"]
        return f"{self.new()} = Z({self.random.choice(choices)})"

    def inplace(self):
        x, y = self.var(), self.operand()
        if self.random.random() < 0.2:
            x, y = self.var(True), self.operand(True)
            return x and y and f"{x} {self.random.choice(('//', '%', '&', '|', '^', '<<'))}= {y}"
        return f"{x} {self.random.choice(_BINARY)}= {y}"

    def write(self):
        x, y = self.var(), self.operand()
        value = self.random.choice((y, y, f"{y} + 1", f"{self.var()} * {y}", f"{x}[::-1]"))
        if self.random.random() < 0.3:
            return f"{x}[{self.index(x)}] {self.random.choice(_BINARY)}= {value}"
        return f"{x}[{self.index(x)}] = {value}"

    def masked(self):
        x, m = self.var(), self.var(True)
        if m is None:
            return None
        test = self.random.choice((f"{m} > 1", f"{m} == 0", f"{m} != 2"))
        kind = self.random.random()
        if kind < 0.4:
            return f"{x}[{test}] = {self.random.choice(('0', '7', '2.5'))}"
        if kind < 0.7:
            return f"{self.new()} = Z(np.where({test}, {self.operand()}, {x}))"
        if kind < 0.85:
            return f"{self.new()} = {x}[{test}]"
        return f"np.add({x}, {self.operand()}, out={x}, where={test})"

    def gather(self):
        x = self.var()
        n = self.env[x].shape[0] if self.env[x].ndim else 0
        if not n:
            return None
        picks = [self.random.randint(-n, n - 1) for _ in range(self.random.randint(1, 4))]
        kind = self.random.random()
        if kind < 0.6:
            return f"{self.new()} = {x}[{self.random.choice(('', 'np.array'))}({picks})]".replace(
                "[([", "[["
            ).replace("])]", "]]")
        if kind < 0.8:
            return f"{x}[{sorted(set(p % n for p in picks))}] = {self.random.choice(('1', '4'))}"
        return f"{self.new()} = np.take({x}, {picks}, axis=0)"

    def fold(self):
        x = self.var(True)
        if x is None:
            return None
        name, a = self.random.choice(_FOLDS), self.env[x]
        axis = self.random.choice(("None", *(str(i) for i in range(-a.ndim, a.ndim))))
        keep = ", keepdims=True" if self.random.random() < 0.2 and name not in ("cumsum",) else ""
        rough = name in ("mean", "var", "std", "prod") or a.dtype.name == "float16"
        return f"{self.new()} = Z({x}.{name}(axis={axis}{keep}))", rough and not name.startswith("a")

    def cast(self):
        x = self.var(True)
        dtype = self.random.choice(DTYPES)
        if x is None:
            return None
        a = self.env[x]
        if a.dtype.kind == "f" and a.size and dtype not in ("bool", "complex128"):
            inside = numpy.isfinite(a).all() and abs(a).max() < 100
            if not inside or dtype in ("uint8", "uint16") and a.min() < 0:
                return None
        return f"{self.new()} = {x}.astype('{dtype}')"

    def ordered(self):
        x, y = self.var(), self.operand()
        return self.random.choice((
            f"{self.new()} = Z(np.maximum({x}, {y}))", f"{self.new()} = Z(np.minimum({x}, {y}))",
            f"{self.new()} = Z(np.clip({x}, 0, 3))", f"{self.new()} = np.sort({x})",
            f"{x}.sort()",
        ))  # fmt: skip

    def product(self):
        return f"{self.new()} = Z({self.var(True)} @ {self.var(True)})", True

    def out(self):
        x, y, z = self.var(), self.operand(), self.var()
        f = self.random.choice(("add", "subtract", "multiply"))
        return f"np.{f}({x}, {y}, out={z})"

    def alias(self):
        x, kind = self.var(), self.random.random()
        if kind < 0.5:
            return f"{self.new()} = {x}"
        if kind < 0.8:
            return f"{self.new()} = {x}.copy()"
        return f"del {x}" if len(self.arrays()) > 3 else None

    def look(self):
        return self.random.choice(("F()", f"L({self.var()})"))

    kinds = (
        (creation, 2), (binary, 8), (unary, 3), (inexact, 2), (quotient, 1), (chain, 4), (view, 8), (inplace, 6), (write, 7),
        (masked, 4), (gather, 2), (fold, 5), (cast, 3), (ordered, 2), (product, 1), (out, 3), (alias, 3), (look, 2),
    )  # fmt: skip


def environment(module):
    """The names that programs use, for `numpy` or numeric. Z makes arrays of scalars."""
    ours = hasattr(module, "flush")

    def data(seed, shape, dtype):
        made = numpy.random.default_rng(seed).integers(-12, 13, shape)
        if numpy.dtype(dtype).kind in "ub":
            made = abs(made)
        made = made / 4 if numpy.dtype(dtype).kind in "fc" else made
        made = numpy.asarray(made)
        return module.array((made * (1 - 1j) if dtype == "complex128" else made).astype(dtype))

    def look(x):
        numpy.asarray(x).sum()

    return {
        "np": module,
        "D": data,
        "Z": lambda x: (
            x if isinstance(x, module.ndarray) and not getattr(x, "_scalar", False) else module.array(x)
        ),
        "F": module.flush if ours else lambda: None,
        "L": look,
    }


def execute(line, env):
    """Runs a statement; the name of the error that it raises, or ""."""
    try:
        with numpy.errstate(all="ignore"):
            exec(line, env)
    except Exception as error:
        return type(error).__name__
    return ""


def root(a):
    """What owns an array's memory."""
    while isinstance(a.base, numpy.ndarray):
        a = a.base
    return a


def exact(a):
    """True where float values are so short that sums and products of them are exact in any order."""
    if a.dtype.kind not in "fc":
        return True
    bound = {"float16": 64, "float32": 1 << 9}.get(a.dtype.name, 1 << 22)
    parts = numpy.stack([a.real, a.imag]) if a.dtype.kind == "c" else a
    parts = parts[numpy.isfinite(parts)].astype("float64")
    return bool(
        parts.size == 0 or (abs(parts).max() < bound and (parts * 16 == numpy.rint(parts * 16)).all())
    )


def sound(a):
    """True where the values are such that later results are defined on every machine."""
    if a.size > 400 or a.ndim > 5:
        return False
    if a.dtype.kind not in "fc" or not a.size:
        return True
    return bool(numpy.isfinite(a).all() and abs(a).max() < (200 if a.dtype == "float16" else 1e6))

"""Random tile programs and the same in NumPy: expressions, reductions, scans, products, shapes, helpers and loops."""

import linecache

import numpy as np
from xcuda import tiles

SHAPES = [(2, 2), (4, 16), (16, 4), (8, 32), (32, 8), (16, 16), (1, 64), (64, 2)]
DTYPES = ("int64", "float64", "float32")
# A program's values stay within reach: floats by tanh, integers by a remainder.
BOUNDED = {"i": ("({0}) % 97 - 48", "({0}) % 97 - 48"), "f": ("tiles.tanh({0})", "np.tanh({0})")}

# (of tiles, of NumPy), over operands {0} and {1} of shape (M, N).
BINARY = [
    ("{0} + {1}", "{0} + {1}"),
    ("{0} - {1}", "{0} - {1}"),
    ("{0} * {1}", "{0} * {1}"),
    ("tiles.maximum({0}, {1})", "np.maximum({0}, {1})"),
    ("tiles.minimum({0}, {1})", "np.minimum({0}, {1})"),
    ("tiles.where({0} > {1}, {0}, -({1}))", "np.where({0} > {1}, {0}, -({1}))"),
    (
        "tiles.where(tiles.arange(N)[None, :] % 2 == 0, {0}, {1})",
        "np.where(np.arange(N)[None, :] % 2 == 0, {0}, {1})",
    ),
    ("tiles.mma(({0}), tiles.eye((N, N), x.dtype), ({1}))", "({0}) + ({1})"),
    ("(({0}) @ tiles.permute({1}, (1, 0))) @ ({1})", "(({0}) @ ({1}).T) @ ({1})"),
    (
        "tiles.cat((({0}).extract((0, 0), (M, N // 2)), ({1}).extract((0, 1), (M, N // 2))), 1)",
        "np.concatenate((({0})[:, : N // 2], ({1})[:, N // 2 :]), 1)",
    ),
]
UNARY = [
    ("-({0})", "-({0})"),
    ("abs({0})", "abs({0})"),
    ("({0}).T.reshape((M, N))", "({0}).T.reshape(M, N)"),
    ("({0}).reshape((N, M)).T", "({0}).reshape(N, M).T"),
    ("({0}) - tiles.max({0}, axis=1, keepdims=True)", "({0}) - ({0}).max(1, keepdims=True)"),
    ("({0}) + tiles.min({0}, axis=0)", "({0}) + ({0}).min(0)"),
    ("({0}) + tiles.sum({0}, axis=1, keepdims=True)", "({0}) + ({0}).sum(1, keepdims=True)"),
    ("({0}) - tiles.sum({0})", "({0}) - ({0}).sum()"),
    ("tiles.cumsum({0}, axis=1)", "({0}).cumsum(1)"),
    ("tiles.cumsum({0}, axis=0, reverse=True)", "({0})[::-1].cumsum(0)[::-1]"),
    ("tiles.scan({0}, 1, lambda a, b: tiles.maximum(a, b), LOW)", "np.maximum.accumulate({0}, 1)"),
    ("({0}) + tiles.reduce({0}, 0, lambda a, b: tiles.minimum(a, b), -LOW)", "({0}) + ({0}).min(0)"),
    ("({0}) + tiles.argmax(Y0, axis=1, keepdims=True)", "({0}) + Y0.argmax(1)[:, None]"),
    ("({0}) - tiles.arange(M)[:, None]", "({0}) - np.arange(M)[:, None]"),
    ("helped({0}, 1)", "helped({0}, 1)"),
    ("helped({0}, 2)", "helped({0}, 2)"),
]
HELPERS = """
def helped(t, n):
    if n == 1:
        return t - {max}
    s = {sum}
    return t + s
"""
CONTROL = ["for", "while", "if", "plain", "plain", "plain"]


class Program:
    """One program by a source of chance: anything with choice() and randint() of random.Random."""

    def __init__(self, chance):
        self.chance = chance
        self.dtype = chance.choice(DTYPES)
        self.shape = chance.choice(SHAPES)
        self.turns = chance.randint(0, 3)
        self.body = [self._statement(0) for _ in range(chance.randint(1, 4))]

    def _statement(self, depth):
        kind = self.chance.choice(CONTROL) if depth < 2 else "plain"
        if kind == "plain":
            return (self.chance.choice("xy"), self._expression(0))
        return (kind, [self._statement(depth + 1) for _ in range(self.chance.randint(1, 2))])

    def _expression(self, depth):
        """A pair of texts."""
        if depth > 1 or self.chance.randint(0, 3) == 0:
            name = self.chance.choice(("x", "y", "Y0"))
            return (name, name)
        if self.chance.randint(0, 1):
            pair, parts = (
                self.chance.choice(BINARY),
                [self._expression(depth + 1), self._expression(depth + 1)],
            )
        else:
            pair, parts = self.chance.choice(UNARY), [self._expression(depth + 1)]
        return tuple(pair[side].format(*(f"({p[side]})" for p in parts)) for side in (0, 1))

    def _lines(self, side, body, indent, number):
        bounded = BOUNDED["i" if self.dtype == "int64" else "f"][side]
        for first, rest in body:
            if first in ("x", "y"):
                yield f"{indent}{first} = {bounded.format(rest[side])}"
                continue
            number[0] += 1
            n = number[0]
            if first == "for":
                yield f"{indent}for i{n} in range(turns):"
            elif first == "while":
                yield f"{indent}n{n} = 0"
                size = "tiles.sum(abs(x))" if side == 0 else "abs(x).sum()"
                yield f"{indent}while n{n} < turns and {size} > 5.37:"
                yield f"{indent}    n{n} += 1"
            else:
                # Not of equal sums, which rounding would decide.
                sums = ("tiles.sum(y)", "tiles.sum(x)") if side == 0 else ("y.sum()", "x.sum()")
                yield f"{indent}if {sums[0]} > {sums[1]} + 0.37:"
            yield from self._lines(side, rest, indent + "    ", number)

    def text(self, side):
        """The program as a kernel (0) or in NumPy (1)."""
        low = "-(2**40)" if self.dtype == "int64" else "-1e30"
        low = f"LOW = {low}\n"
        if side == 0:
            helper = HELPERS.format(max="tiles.max(t, axis=1, keepdims=True)", sum="tiles.sum(t, axis=0)")
            head = "def program(X, Y, out, turns, M: tiles.Constant[int], N: tiles.Constant[int]):"
            load = "    x = tiles.load(X, (0, 0), (M, N))\n    y = tiles.load(Y, (0, 0), (M, N))\n    Y0 = y"
            end = "    tiles.store(out, (0, 0), x)\n    tiles.store(out, (1, 0), y)"
        else:
            helper = HELPERS.format(max="t.max(1, keepdims=True)", sum="t.sum(0)")
            head, load, end = (
                "def program(x, y, turns, M, N):",
                "    Y0 = y",
                "    return np.concatenate((x, y))",
            )
        return "\n".join([low + helper, head, load, *self._lines(side, self.body, "    ", [0]), end]) + "\n"

    def function(self, side):
        """The function, its source readable by inspect."""
        text = self.text(side)
        file = f"<tile program {abs(hash(text))} {side}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        space = {"np": np, "tiles": tiles}
        exec(compile(text, file, "exec"), space)
        return space["program"]

    def arguments(self, seed=0):
        """X and Y, ragged: what is outside is the padding 0; and the same padded, for NumPy."""
        random = np.random.default_rng(seed)
        m, n = (int(random.integers(1, length + 1)) for length in self.shape)
        made, padded = [], []
        for _ in range(2):
            # No two alike, whole numbers: float programs are compared by their largest number, argmax by place.
            part = random.permutation(m * n).reshape(m, n).astype(self.dtype) - m * n // 3
            part = part * (1 if self.dtype == "int64" else 1 / 64)
            whole = np.zeros(self.shape, self.dtype)
            whole[:m, :n] = part
            made.append(np.ascontiguousarray(part.astype(self.dtype)))
            padded.append(whole)
        return made, padded

    def problem(self, decorate):
        """What is wrong with the kernel that `decorate` makes of it; an empty string where nothing is."""
        made, padded = self.arguments()
        with np.errstate(all="ignore"):
            wanted = self.function(1)(*padded, self.turns, *self.shape)
        out = np.full((2 * self.shape[0], self.shape[1]), 55, self.dtype)
        decorate(self.function(0))[1, 1](*made, out, self.turns, *self.shape)
        off = np.abs(out.astype("d") - wanted)
        tolerance = {"int64": 0, "float64": 1e-7, "float32": 5e-2}[self.dtype]
        if off.max() <= tolerance * max(1.0, np.abs(wanted).max()):
            return ""
        at = np.unravel_index(off.argmax(), off.shape)
        return f"gives {out[at]} at {tuple(map(int, at))} instead of {wanted[at]}"

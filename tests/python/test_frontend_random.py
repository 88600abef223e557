"""Random programs of integers, branches, loops and helpers: the kernel leaves what Python itself leaves."""

import random
import warnings

import numpy as np
import pytest
from frontend_source import make, run

HELPERS = """
def h1(x, y):
    if x < y: return x - y
    return y % 11 + x // 3
def h2(x, y=2):
    t = 0
    for m in range(3):
        t += x % 5 * m
        if t > y % 9: return t
    return t
"""


class Program:
    """Source text from a seed. Numbers stay small, divisors odd, indices in range: only the meaning can differ."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0

    def text(self):
        body = "\n".join(self.block(1, 3, ["p", "q", "r"], False))
        return (
            f"{HELPERS}def f(a, o, p, q):\n    r = 0\n{body}\n    o[0] += p\n    o[1] += q\n    o[2] += r\n"
        )

    def number(self, depth, names):
        pick = self.random
        if depth <= 0 or pick.random() < 0.2:
            return pick.choice(
                [
                    str(pick.randint(-9, 9)),
                    pick.choice(names),
                    f"a[{pick.randint(-6, 5)}]",
                    f"a[{pick.choice(names)} % 6]",
                    "len(a)",
                ]
            )

        def one():
            return self.number(depth - 1, names)

        forms = [
            lambda: f"({one()} {pick.choice('+-*')} {one()})",
            lambda: f"({one()} {pick.choice('+-*')} {one()})",
            lambda: f"({one()} // (abs({one()}) + 1))",
            lambda: f"({one()} % ({one()} % 7 * 2 + 1))",
            lambda: f"({one()} {pick.choice('&|^')} {one()})",
            lambda: f"({one()} if {self.test(depth - 1, names)} else {one()})",
            lambda: f"{pick.choice(['min', 'max'])}({one()}, {one()}, {one()})",
            lambda: f"abs({one()})",
            lambda: f"h{pick.randint(1, 2)}({one()}, {one()})",
            lambda: f"(-{one()})",
            lambda: f"({one()} % 1000 ** {pick.randint(1, 2)})",
        ]
        return pick.choice(forms)()

    def test(self, depth, names):
        pick = self.random
        order = pick.choice(["<", "<=", "==", "!=", ">", ">="])
        if depth <= 0:
            return f"{self.number(0, names)} {order} {self.number(0, names)}"

        def one():
            return self.number(depth - 1, names)

        def inner():
            return self.test(depth - 1, names)

        forms = [
            lambda: f"({inner()} {pick.choice(['and', 'or'])} {inner()})",
            lambda: f"(not {inner()})",
            lambda: f"({one()} < {one()} <= {one()})",
            lambda: f"({one()} in (1, 2, {one()}))",
            lambda: f"({one()} {order} {one()})",
        ]
        return pick.choice(forms)()

    def block(self, indent, depth, names, in_loop):
        pick, pad, lines = self.random, "    " * indent, []

        def inner(more=(), loop=in_loop):
            return self.block(indent + 1, depth - 1, names + list(more), loop)

        def otherwise(chance):
            return [f"{pad}else:", *inner()] if pick.random() < chance else []

        for _ in range(pick.randint(1, 4)):
            kind = pick.randrange(12)
            target = pick.choice("pqr")
            element = f"o[({self.number(1, names)}) % 6]"
            if kind < 3:
                lines.append(f"{pad}{target} = ({self.number(2, names)}) % 10007")
            elif kind == 3:
                lines.append(
                    f"{pad}{target} {pick.choice(['+', '-', '^'])}= ({self.number(1, names)}) % 1009"
                )
            elif kind == 4:
                lines.append(f"{pad}p, q = q, p")
            elif kind == 5:
                lines.append(f"{pad}{element} = ({self.number(2, names)}) % 10007")
            elif kind == 6:
                lines.append(f"{pad}{element} {pick.choice(['+', '-'])}= ({self.number(1, names)}) % 1009")
            elif kind == 7 and depth > 0:
                lines += [f"{pad}if {self.test(2, names)}:", *inner(), *otherwise(0.6)]
            elif kind == 8 and depth > 0:
                lines += self.for_loop(pad, names, inner, otherwise)
            elif kind == 9 and depth > 0:
                self.loops += 1
                counter = f"w{self.loops}"
                test = f"{counter} < {pick.randint(1, 5)} and {self.test(1, names)}"
                lines += [f"{pad}{counter} = 0", f"{pad}while {test}:", f"{pad}    {counter} += 1"]
                lines += [*inner(loop=True), *otherwise(0.3)]
            elif kind == 10 and in_loop and pick.random() < 0.5:
                lines.append(f"{pad}if {self.test(1, names)}: {pick.choice(['break', 'continue'])}")
            elif kind == 11 and pick.random() < 0.15:
                lines.append(f"{pad}if {self.test(1, names)}: return")
        return lines or [pad + "pass"]

    def for_loop(self, pad, names, inner, otherwise):
        pick = self.random
        self.loops += 1
        name = pick.choice(["i", "j", f"k{self.loops}"])
        bounds = pick.choice(
            [
                f"{pick.randint(0, 5)}",
                f"{pick.randint(-2, 3)}, {pick.randint(-2, 6)}, {pick.choice([1, 2, -1, -2])}",
                f"({self.number(1, names)}) % 5",
                f"({self.number(0, names)}) % 5, 3, (p % 3) - 5",
            ]
        )
        seen = [name] if name.startswith("k") else []
        return [f"{pad}for {name} in range({bounds}):", *inner(seen, True), *otherwise(0.3)]


@pytest.mark.parametrize("seed", range(60))
def test_a_random_program(seed):
    text = Program(seed).text()
    function = make(text, name="f")
    a = np.random.default_rng(seed).integers(-50, 50, 6)
    want, got = np.zeros(6, np.int64), np.zeros(6, np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(a, want, 3, -4)
    run(function, a, got, 3, -4)
    np.testing.assert_array_equal(got, want, err_msg=text)

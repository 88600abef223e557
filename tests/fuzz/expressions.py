"""Random expressions of a kind of number, typed by NumPy as they are made."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from . import rules
from .rules import FLOAT64, INT64, WEAK_BOOL, WEAK_FLOAT, WEAK_INT, T

INT_OPS = ["+", "-", "*", "&", "|", "^", "<<", ">>"]


@dataclass
class E:
    """An expression: its text, its type, and its value if it is a literal."""

    text: str
    t: T
    literal: object = None


class Expressions:
    """Makes expressions over what is in scope: `variables` and which of them are `bound`, `scalars`, `arrays`, `helpers`."""

    pick: random.Random
    in_helper = wide = False
    floats = rules.FLOATS
    spans = ()  # axes by name, type and whether they may be written
    counter = 0

    def chance(self, p):
        return self.pick.random() < p

    def helper_arguments(self, want, default):
        cast = INT64 if want == "int" else FLOAT64
        x = self.as_type(self.expr(1, want), cast) if self.chance(0.7) else self.expr(1, want)
        if default and self.chance(0.5):
            return x.text
        y = self.as_type(self.expr(1, want), cast).text
        return self.pick.choice([f"{x.text}, {y}", f"{x.text}, y={y}", f"y={y}, x={x.text}"])

    def literal_fits(self, e: E, t: T):
        if rules.kind(t) in "ui" and isinstance(e.literal, int) and not isinstance(e.literal, bool):
            limits = np.iinfo(t.dtype)
            return limits.min <= e.literal <= limits.max
        return True

    def as_type(self, e: E, t: T) -> E:
        if e.t == t and e.literal is None:
            return e
        if e.literal is not None and not self.literal_fits(e, t):
            e = E("1", WEAK_INT, 1)
        if not t.weak:
            return E(f"{rules.cast_name(t)}({e.text})", t)
        if t == WEAK_INT and e.t == T("uint64"):
            e = E(f"np.int64({e.text})", INT64)
        return E(f"{ {'int64': 'int', 'float64': 'float', 'bool': 'bool'}[t.dtype] }({e.text})", t)

    def nonzero(self, e: E) -> E:
        """A divisor: mostly never zero, now and then as it is."""
        if e.literal is not None or rules.kind(e.t) not in "ui":
            return E("3", WEAK_INT, 3) if not e.literal else e
        if self.chance(0.1):
            return e
        return E(f"({e.text} | 1)", e.t)

    def index(self, length):
        """An index: in range, from the end, or now and then out of range."""
        pick = self.pick
        e = self.expr(1, "int")
        if e.literal is not None or rules.kind(e.t) == "b":
            return str(pick.randint(-length, length - 1))
        if self.chance(0.04):
            return e.text if self.chance(0.4) else f"{e.text} % {length + 1}"
        forms = [f"{e.text} % {length}", str(pick.randint(-length, length - 1))]
        if length & (length - 1) == 0:
            forms.append(f"{e.text} & {length - 1}")
        if rules.kind(e.t) == "i":
            forms.append(f"{e.text} % {length} - {length}")
        return pick.choice(forms)

    def leaf(self, want) -> E:
        pick = self.pick
        known = [E(v, self.variables[v]) for v in sorted(self.bound) if v in self.variables]
        known += self.scalars
        known += [E(k, WEAK_INT) for k in getattr(self, "loops", [])]
        kinds = {"int": "ui", "float": "f", "bool": "b", "any": "buif"}[want]
        known = [e for e in known if rules.kind(e.t) in kinds]
        if known and self.chance(0.75):
            return pick.choice(known)
        arrays = [a for a in self.arrays if rules.kind(a[1]) in kinds]
        if arrays and self.chance(0.5):
            text, t, length, _ = pick.choice(arrays)
            return E(text.format(pick.randint(-length, length - 1)), t)
        if want == "bool":
            return (
                E(f"({self.leaf('int').text} > {pick.randint(-2, 5)})", T("bool"))
                if known or self.bound
                else E("True", WEAK_BOOL, True)
            )
        if want == "float":
            text, value = pick.choice(
                [("0.5", 0.5), ("2.0", 2.0), ("-1.5", -1.5), ("0.0", 0.0), ("1e-3", 1e-3), ("3.0", 3.0),
                 ("1e30", 1e30), ("0.1", 0.1), ("-0.0", -0.0), ("np.inf", np.inf), ("np.nan", np.nan)]
            )  # fmt: skip
            return E(text if text[0] != "-" else f"({text})", WEAK_FLOAT, value)
        value = pick.choice(
            [0, 1, 2, 3, 5, 7, 8, -1, -2, -7, 63, 100, 127, 255, 1000, 65535, 2**31 - 1, 2**31, 2**63 - 1]
        )
        return E(str(value) if value >= 0 else f"({value})", WEAK_INT, value)

    def moving(self, depth, want) -> E:
        """An expression that is no literal."""
        e = self.expr(depth, want)
        for _ in range(4):
            if e.literal is None:
                return e
            e = self.expr(depth, want)
        names = [v for v in sorted(self.bound) if v in self.variables]
        if names:
            v = self.pick.choice(names)
            t = {"int": INT64, "float": FLOAT64, "bool": T("bool"), "any": INT64}[want]
            return self.as_type(E(v, self.variables[v]), t)
        return E("np.int64(i)" if not self.in_helper else "np.int64(x)", INT64)

    def expr(self, depth, want) -> E:
        """An expression of a kind of number: "int", "float", "bool" or "any"."""
        if want == "any":
            want = self.pick.choice(["int", "int", "float", "float", "bool"])
        if depth <= 0 or self.chance(0.2):
            return self.leaf(want)
        for _ in range(6):
            made = {"int": self.integer, "float": self.floating, "bool": self.boolean}[want](depth)
            if made is not None:
                return made
        return self.leaf(want)

    def pair(self, op, depth, want) -> E | None:
        a, b = self.moving(depth - 1, want), self.expr(depth - 1, want)
        if self.chance(0.25):
            a, b = b, a
        for e, other in ((a, b), (b, a)):
            if e.literal is not None and not self.literal_fits(e, other.t):
                return None
        if op in ("//", "%") and want == "int":
            b = self.nonzero(b)
            if b.literal is not None and not self.literal_fits(b, a.t):
                return None
        try:
            t = rules.binary_type(op, a.t, b.t)
        except TypeError:
            return None
        return E(f"({a.text} {op} {b.text})", t)

    def choice_of(self, depth, want) -> E | None:
        a, b = self.expr(depth - 1, want), self.expr(depth - 1, want)
        return self.joined(f"({a.text} if {self.test(depth - 1)} else {b.text})", a, b)

    def joined(self, text, *parts) -> E | None:
        try:
            t = rules.joined([e.t for e in parts])
        except TypeError:
            return None
        for e in parts:
            if e.literal is not None and not self.literal_fits(e, t):
                return None
        return E(text, t)

    def function(self, name, *parts) -> E | None:
        if all(e.literal is not None for e in parts):
            return None
        try:
            t = rules.FUNCTIONS[name][0](*[e.t for e in parts])
        except TypeError:
            return None
        everything = rules.joined([e.t for e in parts])
        if any(e.literal is not None and not self.literal_fits(e, everything) for e in parts):
            return None
        return E(f"{name}({', '.join(e.text for e in parts)})", t)

    def helper_call(self, want) -> E | None:
        known = [h for h, (w, _, pair) in self.helpers.items() if w == want and not pair]
        if not known:
            return None
        h = self.pick.choice(known)
        call = f"{h}({self.helper_arguments(want, self.helpers[h][1])})"
        return E(
            f"np.int64({call})" if want == "int" else f"np.float64({call})",
            INT64 if want == "int" else FLOAT64,
        )

    def integer(self, depth) -> E | None:
        pick = self.pick
        sub = lambda: self.expr(depth - 1, "int")  # noqa: E731
        form = pick.randrange(22)
        if form < 8:
            return self.pair(pick.choice(INT_OPS), depth, "int")
        if form < 11:
            return self.pair(pick.choice(["//", "%"]), depth, "int")
        if form == 11:
            return self.choice_of(depth, "int")
        if form == 12:
            return self.function(pick.choice(["min", "max", "np.minimum", "np.maximum"]), sub(), sub())
        if form == 13:
            return self.function(pick.choice(["abs", "np.sign", "np.square", "np.floor"]), sub())
        if form == 14:
            e = self.moving(depth - 1, "int")
            op = pick.choice("-~")
            return E(f"({op}{e.text})", e.t) if rules.kind(e.t) in "ui" else None
        if form == 15:
            return self.as_type(self.moving(depth - 1, "any"), T(pick.choice(rules.SIGNED + rules.UNSIGNED)))
        if form == 16:
            e = self.moving(depth - 1, "any" if self.wide else "float")
            return self.function(pick.choice(["int", "round", "math.floor", "math.ceil", "math.trunc"]), e)
        if form == 17:
            a, b = self.moving(depth - 1, "int"), sub()
            return self.joined(f"({a.text} {pick.choice(['and', 'or'])} {b.text})", a, b)
        if form == 18:
            if self.arrays:
                usable = [a for a in self.arrays if rules.kind(a[1]) in "ui"]
                if usable:
                    text, t, length, _ = pick.choice(usable)
                    return E(text.format(self.index(length)), t)
            return None
        if form == 19:
            return self.over_items(depth, "int")
        if form == 20:
            e = self.moving(depth - 1, "int")
            if self.chance(0.5):
                return E(f"({e.text} ** {pick.randint(0, 6)})", e.t) if rules.kind(e.t) in "ui" else None
            b = self.moving(0, "int")
            if b.t.weak != e.t.weak and rules.join(b.t, e.t) != e.t:
                return None
            try:
                t = rules.binary_type("**", e.t, e.t)
            except TypeError:
                return None
            power = f"{b.text} & 3" if self.chance(0.93) or "w" in b.text else b.text
            return (
                E(f"({e.text} ** {self.as_type(E(f'({power})', b.t), e.t).text})", t)
                if rules.kind(e.t) in "ui"
                else None
            )
        return self.helper_call("int")

    def floating(self, depth) -> E | None:
        pick = self.pick
        sub = lambda: self.expr(depth - 1, "float")  # noqa: E731
        form = pick.randrange(20)
        if form < 7:
            return self.pair(pick.choice(["+", "-", "*", "/", "+", "-", "*"]), depth, "float")
        if form == 7:
            return self.pair(pick.choice(["//", "%"]), depth, "float")
        if form == 8:
            return self.pair("/", depth, "int")
        if form == 9:
            a, b = self.moving(depth - 1, "float"), self.expr(depth - 1, "int")
            if b.literal is not None and not self.literal_fits(b, a.t):
                return None
            op = pick.choice(["+", "-", "*"])
            a, b = (a, b) if self.chance(0.5) else (b, a)
            return E(f"({a.text} {op} {b.text})", rules.binary_type(op, a.t, b.t))
        if form == 10:
            return self.choice_of(depth, "float")
        if form == 11:
            name = pick.choice(["min", "max", "np.minimum", "np.maximum", "np.fmin", "np.fmax", "math.fmod"])
            if self.wide and self.chance(0.2):
                name = pick.choice(["np.copysign", "math.copysign"])
            return self.function(name, self.moving(depth - 1, "float"), sub())
        if form == 12:
            name = pick.choice(["abs", "np.sign", "np.square", "np.floor", "np.ceil", "np.trunc", "np.rint"])
            return self.function(name, self.moving(depth - 1, "float"))
        if form == 13:
            return self.function(
                pick.choice(["np.sqrt", "math.sqrt", "np.fabs"]), self.moving(depth - 1, "float")
            )
        if form == 14:
            e = self.moving(depth - 1, "float")
            return E(f"(-{e.text})", e.t)
        if form == 15:
            return self.as_type(self.moving(depth - 1, "any"), T(pick.choice(self.floats)))
        if form == 16:
            return self.function("float", self.moving(depth - 1, "any"))
        if form == 17:
            a, b = self.moving(depth - 1, "float"), sub()
            return self.joined(f"({a.text} {pick.choice(['and', 'or'])} {b.text})", a, b)
        if form == 18:
            return self.over_items(depth, "float")
        return self.helper_call("float")

    def over_items(self, depth, want) -> E | None:
        """sum, min and max over a tuple or a small range; a tuple's item."""
        pick = self.pick
        kinds = {"int": "ui", "float": "f"}[want]
        spans = [(name, t) for name, t, _ in self.spans if rules.kind(t) in kinds]
        if spans and self.chance(0.6):
            name, t = pick.choice(spans)
            form = pick.randrange(4)
            if form < 2:
                total = rules.join(WEAK_INT, rules.binary_type("+", WEAK_INT, t))
                return E(f"sum({name})", total)
            if form == 2 and want == "int":
                return E(f"len({name})", WEAK_INT)
            whole = (name + "[{}]", t) in [(a[0], a[1]) for a in self.arrays]
            return E(f"{pick.choice(['min', 'max'])}({name})", t) if whole or self.chance(0.3) else None
        a, b = self.moving(depth - 1, want), self.moving(depth - 1, want)
        form = pick.randrange(4)
        if form == 0:
            t = rules.binary_type("+", rules.binary_type("+", WEAK_INT, a.t), b.t)
            return E(f"sum(({a.text}, {b.text}))", t)
        if form == 1:
            return self.function(pick.choice(["min", "max"]), a, b, self.expr(0, want))
        self.counter += 1
        k = f"g{self.counter}"
        if form == 2:
            e = a.text
            step = f"{e} * {k}" if want == "float" or not a.t.weak else f"({e} ^ {k})"
            try:
                t = rules.binary_type("*", a.t, WEAK_INT)
                t = rules.join(WEAK_INT, rules.binary_type("+", WEAK_INT, t))
            except TypeError:
                return None
            test = f" if {k} != 1" if self.chance(0.4) else ""
            return E(f"sum({step} for {k} in range({pick.randint(0, 4)}){test})", t)
        at = pick.choice([str(pick.randint(-2, 1)), f"{self.moving(0, 'int').text} & 1"])
        if a.t != b.t and not at.lstrip("-").isdigit():
            return None
        t = a.t if at.lstrip("-").isdigit() and int(at) % 2 == 0 else b.t
        return E(f"({a.text}, {b.text})[{at}]", t)

    def boolean(self, depth) -> E | None:
        pick = self.pick
        form = pick.randrange(12)
        if form < 5:
            want = pick.choice(["int", "float", "float"])
            a, b = self.moving(depth - 1, want), self.expr(depth - 1, want)
            if self.chance(0.15):
                b = self.expr(depth - 1, "int")
            op = pick.choice(rules.ORDERS)
            return E(f"({a.text} {op} {b.text})", T("bool", a.t.weak and b.t.weak))
        if form == 5:
            a, b = self.expr(depth - 1, "bool"), self.expr(depth - 1, "bool")
            op = pick.choice("&|^")
            if a.literal is not None:
                return None
            if not a.t.weak and self.chance(0.3):
                return E(f"(~{a.text})", a.t)
            return E(f"({a.text} {op} {b.text})", rules.binary_type(op, a.t, b.t))
        if form == 6:
            return E(f"(not {self.test(depth - 1)})", WEAK_BOOL)
        if form == 7:
            a, b, c = (self.expr(depth - 1, "int") for _ in range(3))
            b = self.moving(depth - 1, "int")
            ops = pick.choice(["<", "<=", ">", "==", "!="]), pick.choice(["<", "<=", ">="])
            weak = rules.join(T("bool", a.t.weak and b.t.weak), T("bool", b.t.weak and c.t.weak))
            return E(f"({a.text} {ops[0]} {b.text} {ops[1]} {c.text})", weak)
        if form == 8:
            a = self.moving(depth - 1, "int")
            items = [self.expr(0, "int") for _ in range(2)]
            no = pick.choice(["", "not "])
            weak = bool(no) or (a.t.weak and all(e.t.weak for e in items))
            return E(f"({a.text} {no}in ({items[0].text}, {items[1].text}, 3))", T("bool", weak))
        if form == 9:
            module = pick.choice(["np", "math"]) if self.wide else "np"
            name = f"{module}.{pick.choice(['isnan', 'isinf', 'isfinite'])}"
            return self.function(name, self.moving(depth - 1, "float"))
        if form == 10:
            a, b = self.moving(depth - 1, "bool"), self.moving(depth - 1, "bool")
            return self.joined(f"({a.text} {pick.choice(['and', 'or'])} {b.text})", a, b)
        self.counter += 1
        k = f"g{self.counter}"
        a = self.moving(depth - 1, "int")
        if a.t.weak or not rules.is_integral(a.t):
            return None
        return E(
            f"{pick.choice(['any', 'all'])}({a.text} > {k} for {k} in range({pick.randint(0, 3)}))", WEAK_BOOL
        )

    def test(self, depth) -> str:
        """A condition that hangs on the thread."""
        e = self.moving(max(depth, 1), self.pick.choice(["bool", "bool", "bool", "any"]))
        return e.text

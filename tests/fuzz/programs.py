"""Random programs of the kernel language from a seed: a kernel `f`, its helpers and its arguments."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

from . import rules
from .arguments import laid_out, records, values
from .expressions import INT_OPS, E, Expressions
from .rules import FLOAT64, INT64, WEAK_BOOL, WEAK_FLOAT, WEAK_INT, T


@dataclass
class Program:
    """A kernel's text and what it is launched with; the arrays' first axis is the thread where `rows` names them."""

    text: str
    arguments: dict
    rows: list[str]
    outputs: list[str]  # "o0" takes v0, "oc0" c0, and so on; made when v0's type is known
    inexact: list[str] = field(default_factory=list)
    guarded: bool = True  # more threads than rows may run
    threads: int = 0


def variable_of(output: str) -> str:
    """The variable that an output takes."""
    return output[1:] if output[1] == "c" else "v" + output[1:]


class Maker(Expressions):
    """Makes one program. Variables are v0, v1, ...; k1, k2, ... count loops; p and q are scalar arguments.

    wide: with bfloat16, records and parts of axes; without, a seed's programs are what they were before there were these.
    """

    def __init__(self, seed, wide=False):
        self.pick = random.Random(f"xcuda {seed}")
        self.numpy = np.random.default_rng(self.pick.getrandbits(60))
        self.counter = 0
        self.helpers: dict[str, tuple] = {}
        self.helper_text = ""
        self.budget = 0
        self.in_helper = False
        self.wide = wide
        self.floats = rules.WIDE_FLOATS if wide else rules.FLOATS
        self.dtypes = (*rules.DTYPES, "bfloat16") if wide else rules.DTYPES

    # What `rich` programs add.

    shared: list[tuple] = []

    def more_arguments(self, arguments, rows, threads):
        """Gives the kernel more arguments."""

    def more_declarations(self, style, threads):
        return []

    def more_statements(self, depth, in_loop):
        return []

    def outputs_beyond(self):
        return []

    # The program.

    def program(self) -> Program:
        pick = self.pick
        style = pick.choice(["return", "if", "exact", "exact", "return"])
        self.budget = pick.choice([2, 4, 6, 9, 12])
        threads = pick.choice([5, 17, 24, 33, 40])
        arguments, rows = {"n": threads}, []
        inputs: list[tuple[str, T]] = []
        for k in range(pick.randint(2, 4)):
            dtype = pick.choice(self.dtypes)
            arguments[f"x{k}"] = laid_out(pick, values(self.numpy, dtype, threads))
            inputs.append((f"x{k}", T(dtype)))
            rows.append(f"x{k}")
        self.scalars = []
        for name in ("p", "q"):
            if self.chance(0.5):
                dtype = pick.choice(["int64", "float64", "bool", *self.dtypes])
                value = values(self.numpy, dtype, 1)[0]
                if self.chance(0.6) and dtype in ("int64", "float64", "bool"):
                    value = value.item()
                arguments[name] = value
                self.scalars.append(E(name, rules.type_of(value)))
        self.arrays = []
        self.columns = pick.choice([2, 3, 4, 8])
        if self.chance(0.6):
            dtype = pick.choice(self.dtypes)
            arguments["w"] = laid_out(pick, values(self.numpy, dtype, (threads, self.columns)))
            rows.append("w")
            self.arrays.append(("w[i, {}]", T(dtype), self.columns, True))
        if self.chance(0.5):
            dtype, length = pick.choice(self.dtypes), pick.choice([1, 4, 7, 16])
            arguments["t"] = values(self.numpy, dtype, length)
            self.arrays.append(("t[{}]", T(dtype), length, False))
        self.places = []
        if self.wide and self.chance(0.3):
            arguments["r"] = records(pick, self.numpy, rules.DTYPES, threads)
            rows.append("r")
            of_one = pick.choice(["r[i]", "r[i]", "rec"])
            for name in arguments["r"].dtype.names:
                d = arguments["r"].dtype[name]
                text = f"r['{name}'][i]" if self.chance(0.3) else f"{of_one}['{name}']"
                if d.shape:
                    self.arrays.append((text + "[{}]", T(d.base.name), d.shape[0], True))
                else:
                    self.scalars.append(E(text, T(d.name)))
                    self.places.append((text, T(d.name)))
        self.more_arguments(arguments, rows, threads)
        kernels = self.scalars, self.arrays, self.places
        self.scalars, self.arrays, self.places = [], [], []
        for k in range(pick.choice([0, 0, 1, 2])):
            self.helper(f"h{k}")
        self.scalars, self.arrays, self.places = kernels

        self.variables: dict[str, T] = {}
        self.bound: set[str] = set()
        self.loose: set[str] = set()
        self.views = []
        lines = ["i = cuda.grid(1)"]
        if style == "return":
            lines += ["if i >= n:", "    return"]
        body = ["rec = r[i]"] if "r" in arguments and of_one == "rec" else []
        for k, (name, t) in enumerate(inputs):
            if self.chance(0.85):
                body.append(f"v{k} = {name}[i]")
                self.variables[f"v{k}"] = t
                self.bound.add(f"v{k}")
        if "w" in arguments and self.chance(0.3):
            body.append("row = w[i]")
            self.views.append("row")
            self.arrays.append(("row[{}]", T(arguments["w"].dtype.name), self.columns, True))
        if self.chance(0.2):
            dtype, length = pick.choice(self.dtypes[1:]), pick.choice([2, 4, 5])
            made = f"a = cuda.local.array({length}, {rules.cast_name(T(dtype))})"
            body += [made, f"for k in range({length}):"]
            body.append(f"    a[k] = {self.as_type(self.expr(1, 'any'), T(dtype)).text}")
            self.views.append("a")
            self.arrays.append(("a[{}]", T(dtype), length, True))
        self.spans = []
        for k in range(pick.choice([0, 0, 0, 1, 2]) if self.wide else 0):
            body += self.view(f"s{k}")
        for _ in range(pick.randint(1, 3)):
            body += self.declare()
        self.barriers = False
        body += self.more_declarations(style, threads)
        self.barriers = style == "exact" and self.chance(0.25)
        self.barriers = self.barriers or bool(self.shared)
        body += self.block(3, top=True)
        if self.shared:
            self.budget = 6
            body += self.between_barriers(2)
        outputs = []
        for v in sorted(self.variables):
            if v in self.bound:
                outputs.append("o" + v[1:])
                body.append(f"o{v[1:]}[i] = {v}")
        for v, o in self.outputs_beyond():
            outputs.append(o)
            body.append(f"{o}[i] = {v}")
        inexact = []
        if self.chance(0.25):
            e = self.expr(1, "float")
            if e.literal is None and not e.t.weak:
                body.append(f"z[i] = np.{pick.choice(rules.INEXACT)}({e.text})")
                inexact.append("z")
                arguments["z"] = np.zeros(threads, e.t.dtype)
                rows.append("z")
        if style == "if":
            lines.append("if i < n:")
            body = ["    " + line for line in body]
        lines += body
        names = [*arguments, *outputs]
        text = self.helper_text + f"def f({', '.join(names)}):\n" + "".join(f"    {line}\n" for line in lines)
        return Program(text, arguments, rows, outputs, inexact, style != "exact", threads)

    def helper(self, name):
        """A function of two numbers, for kernels to call with numbers of any type."""
        pick, saved = self.pick, (self.budget, self.helpers)
        self.budget, self.in_helper = pick.choice([1, 2, 3]), True
        self.helpers = {}
        self.barriers, self.views, self.loose, self.spans = False, [], set(), []
        integral = self.chance(0.6)
        t = INT64 if integral else FLOAT64
        self.variables = {"x": t, "y": t}
        self.bound = {"x", "y"}
        lines = []
        for _ in range(pick.randint(0, 1)):
            lines += self.declare()
        lines += self.block(2)
        want = "int" if integral else "float"
        pair = self.chance(0.25)

        def result():
            e = self.expr(1, want)
            return f"return {e.text}, {self.expr(1, want).text}" if pair else f"return {e.text}"

        if self.chance(0.5):
            lines += [f"if {self.test(1)}:", "    " + result()]
        lines.append(result())
        default = self.chance(0.4)
        value = pick.choice(["2", "-1", "7"]) if integral else pick.choice(["0.5", "2.0", "-3.0"])
        head = f"def {name}(x, y{'=' + value if default else ''}):\n"
        self.helper_text += head + "".join(f"    {line}\n" for line in lines)
        self.in_helper = False
        self.budget, self.helpers = saved
        self.helpers[name] = (want, default, pair)

    # Statements.

    def view(self, name):
        """A part of an axis: of a length known here, or of one that hangs on the thread."""
        pick = self.pick
        whole = [a for a in self.arrays if a[2] > 1]
        if not whole:
            return []
        text, t, length, writable = pick.choice(whole)
        ends = ["" if self.chance(0.4) else str(pick.randint(-length - 1, length + 1)) for _ in range(2)]
        step = pick.choice(["", "", "2", "-1", "-2", "1"])
        if self.chance(0.35):
            e = self.moving(1, "int")
            if rules.kind(e.t) in "ui":
                ends[pick.randrange(2)] = pick.choice([f"{e.text} % {length}", f"{e.text} & 3", e.text])
                place = text.format(":".join([*ends, step] if step else ends))
                self.spans.append((name, t, writable))
                return [f"{name} = {place}"]
        part = slice(*(int(p) if p else None for p in (*ends, step)))
        left = len(range(length)[part])
        place = text.format(":".join([*ends, step] if step else ends))
        self.spans.append((name, t, writable))
        if left:
            self.arrays.append((name + "[{}]", t, left, writable))
        return [f"{name} = {place}"]

    def fill(self, depth, in_loop):
        """An axis, or a part of it, assigned or augmented as a whole."""
        places = [name for name, _, writable in self.spans if writable]
        places += [a[0][:-4] for a in self.arrays if a[3] and a[0][-4:] == "[{}]"]
        if not places:
            return self.assign(depth, in_loop)
        types = {name: t for name, t, _ in self.spans} | {a[0][:-4]: a[1] for a in self.arrays}
        name = self.pick.choice(sorted(set(places)))
        t = types[name]
        kind = {"b": "bool", "f": "float"}.get(rules.kind(t), "int")
        e = self.as_type(self.expr(2, kind), t)
        if self.chance(0.4) and kind != "bool":
            return [f"{name}{self.pick.choice(['', '[:]', '[1:]'])} {self.pick.choice('+-*')}= {e.text}"]
        return [f"{name}[{self.pick.choice([':', '1:', ':2', '::2', '::-1'])}] = {e.text}"]

    def declare(self):
        """A new variable of a type drawn at random; some start as a literal and become it later."""
        pick = self.pick
        name = f"v{5 + self.counter}" if not self.in_helper else f"u{self.counter}"
        self.counter += 1
        t = pick.choice([*map(T, self.dtypes), WEAK_INT, WEAK_FLOAT, WEAK_INT, WEAK_FLOAT, WEAK_BOOL])
        k = rules.kind(t)
        start = self.as_type(self.expr(2, {"b": "bool", "f": "float"}.get(k, "int")), t)
        line = f"{name} = {start.text}"
        if self.chance(0.3) and k != "b":
            literal = pick.choice(
                ["0", "1", "-1" if k != "u" else "3", *(["0.0", "-0.0"] if k == "f" else [])]
            )
            line = f"{name} = {literal}"
            self.variables[name] = t
            self.bound.add(name)
            return [line, f"{name} {pick.choice('+*')}= {start.text}"] if self.chance(0.6) else [line]
        self.variables[name] = t
        self.bound.add(name)
        return [line]

    def block(self, depth, in_loop=False, top=False, least=1):
        """Statements; what they bind for sure stays bound after it."""
        lines = []
        for _ in range(self.pick.randint(least, 5 if top else 3)):
            if self.budget <= 0 and lines:
                break
            self.budget -= 1
            lines += self.statement(depth, in_loop)
            if top and self.barriers and self.chance(0.4):
                lines.append("cuda.syncthreads()")
        return lines

    def inner(self, depth, in_loop):
        """A block that may not run: what it binds is not bound after it."""
        before = set(self.bound)
        lines = ["    " + line for line in self.block(depth, in_loop)]
        self.loose |= self.bound - before
        self.bound = before
        return lines

    def statement(self, depth, in_loop):
        pick = self.pick
        table = [
            (22, self.assign),
            (14, self.augment),
            (4, self.swap),
            (3, self.chain),
            (3, self.unpack),
            (10, self.store),
            (3 * bool(self.spans), self.fill),
            (12 * (depth > 0), self.branch),
            (10 * (depth > 0), self.loop),
            (5 * (depth > 0), self.while_loop),
            (3 * (depth > 0), self.tuple_loop),
            (3 * (depth > 0), self.row_loop),
            (8 * in_loop, self.leave),
            (0.6, self.fault),
            (0.8 * (not self.barriers), self.early),
            (2, self.call_statement),
            (2, self.rebind),
            *self.more_statements(depth, in_loop),
        ]
        what = pick.choices([s for _, s in table], [w for w, _ in table])[0]
        return what(depth, in_loop)

    def target(self):
        return self.pick.choice(sorted(self.variables))

    def compatible(self, name, e: E) -> E:
        """The expression, cast where the variable would change its type."""
        t = self.variables[name]
        try:
            fits = rules.join(t, e.t) == t
        except TypeError:
            fits = False
        if e.literal is not None and not self.literal_fits(e, t):
            fits = False
        return e if fits else self.as_type(e, t)

    def kind_of(self, name):
        return {"b": "bool", "f": "float"}.get(rules.kind(self.variables[name]), "int")

    def assign(self, depth, in_loop):
        v = self.target()
        kind = self.kind_of(v) if self.chance(0.85) else "any"
        e = self.compatible(v, self.expr(3, kind))
        self.bound.add(v)
        return [f"{v} = {e.text}"]

    def augment(self, depth, in_loop):
        v = self.target()
        if v not in self.bound:
            return self.assign(depth, in_loop)
        t = self.variables[v]
        kind = self.kind_of(v)
        if kind == "bool":
            return [f"{v} {self.pick.choice('&|^')}= {self.as_type(self.expr(2, 'bool'), t).text}"]
        ops = ["+", "-", "*", "//", "%"] if kind == "float" else [*INT_OPS, "//", "%"]
        op = self.pick.choice(ops)
        right = self.compatible(v, self.expr(2, kind))
        if kind == "float" and op in ("//", "%", "*") and self.chance(0.3):
            op = "/"
        if op in ("//", "%") and kind == "int":
            right = self.nonzero(right)
        if t == WEAK_BOOL:
            return self.assign(depth, in_loop)
        return [f"{v} {op}= {right.text}"]

    def swap(self, depth, in_loop):
        groups: dict = {}
        for v in sorted(self.bound & set(self.variables)):
            groups.setdefault(self.variables[v], []).append(v)
        groups = {t: names for t, names in groups.items() if len(names) > 1}
        if not groups:
            return self.assign(depth, in_loop)
        t = self.pick.choice(sorted(groups))
        a, b = self.pick.sample(groups[t], 2)
        if self.chance(0.5):
            return [f"{a}, {b} = {b}, {self.compatible(a, self.expr(1, self.kind_of(a))).text}"]
        return [f"{a}, {b} = {b}, {a}"]

    def chain(self, depth, in_loop):
        a, b = self.target(), self.target()
        if self.kind_of(a) != self.kind_of(b):
            return self.assign(depth, in_loop)
        e = self.compatible(b, self.compatible(a, self.expr(2, self.kind_of(a))))
        self.bound |= {a, b}
        return [f"{a} = {b} = {e.text}"]

    def unpack(self, depth, in_loop):
        ints = [v for v in sorted(self.variables) if self.kind_of(v) != "bool"]
        if len(ints) < 2:
            return self.assign(depth, in_loop)
        a, b = self.pick.sample(ints, 2)
        if self.kind_of(a) != self.kind_of(b):
            return self.assign(depth, in_loop)
        kind = self.kind_of(a)
        x, y = self.compatible(b, self.compatible(a, self.expr(1, kind))), self.expr(1, kind)
        y = self.compatible(b, self.compatible(a, y))
        self.bound |= {a, b}
        if x.literal is None and self.chance(0.5):
            return [f"{a}, {b} = divmod({x.text}, {self.nonzero(y).text})"]
        return [f"({a}, {b}) = ({x.text}, {y.text})"]

    def store(self, depth, in_loop):
        writable = [a for a in self.arrays if a[3]]
        if not writable and not self.places:
            return self.assign(depth, in_loop)
        if self.places and (not writable or self.chance(0.5)):
            place, t = self.pick.choice(self.places)
        else:
            text, t, length, _ = self.pick.choice(writable)
            place = text.format(self.index(length))
        kind = {"b": "bool", "f": "float"}.get(rules.kind(t), "int")
        if self.chance(0.3) and kind != "bool":
            op = self.pick.choice(["+", "-", "*"])
            e = self.expr(2, kind)
            if e.literal is not None and not self.literal_fits(e, t):
                e = self.as_type(e, t)
            return [f"{place} {op}= {e.text}"]
        e = self.expr(2, kind if self.chance(0.8) else "any")
        if e.literal is not None and not self.literal_fits(e, t):
            e = self.as_type(e, t)
        return [f"{place} = {e.text}"]

    def branch(self, depth, in_loop):
        if self.chance(0.12):
            v = self.target()
            if self.kind_of(v) != "bool":
                e = self.compatible(v, self.expr(2, self.kind_of(v)))
                self.bound.add(v)
                lines = [f"if ({v} := {e.text}) > 1:"]
                return lines + self.inner(depth - 1, in_loop)
        lines = [f"if {self.test(2)}:", *self.inner(depth - 1, in_loop)]
        if self.chance(0.25):
            lines += [f"elif {self.test(1)}:", *self.inner(depth - 1, in_loop)]
        if self.chance(0.5):
            lines += ["else:", *self.inner(depth - 1, in_loop)]
        return lines

    def otherwise(self, depth, in_loop):
        return ["else:", *self.inner(depth - 1, in_loop)] if self.chance(0.25) else []

    def loop(self, depth, in_loop):
        pick = self.pick
        self.counter += 1
        name = f"k{self.counter}"
        small = self.as_type(self.expr(1, "int"), INT64).text
        bounds = pick.choice(
            [
                f"{pick.randint(0, 4)}",
                f"{pick.randint(-2, 3)}, {pick.randint(-2, 6)}, {pick.choice([1, 2, -1, -2, 3])}",
                f"{small} & 3",
                f"-({small} & 3), {pick.randint(0, 2)}",
                f"{pick.randint(3, 5)}, {small} & 1, -{pick.randint(1, 3)}",
                f"{small}, {small} + 3",
                f"{small} % 4, 6, ({small} & 2) + 1",
                f"4, {small} & 3, ({small} | -4) + {0 if self.chance(0.2) else -1}",
            ]
        )
        if pick.random() < 0.12:
            # A variable of the function, used after the loop and perhaps changed in it.
            wide = [v for v in self.variables if self.variables[v] in (INT64, WEAK_INT)]
            if wide:
                name = pick.choice(sorted(wide))
                lines = self.inner(depth - 1, True)
                return [f"for {name} in range({bounds}):", *lines, *self.otherwise(depth, in_loop)]
        self.loops = [*getattr(self, "loops", []), name]
        lines = self.inner(depth - 1, True)
        self.loops = self.loops[:-1]
        return [f"for {name} in range({bounds}):", *lines, *self.otherwise(depth, in_loop)]

    def while_loop(self, depth, in_loop):
        self.counter += 1
        name = f"c{self.counter}"
        stop = self.pick.randint(1, 4)
        test = f"{name} < {stop}" + (f" and {self.test(1)}" if self.chance(0.5) else "")
        lines = [f"{name} = 0", f"while {test}:", f"    {name} += 1"]
        if self.chance(0.2):
            lines[1:3] = [
                "while True:",
                f"    {name} += 1",
                f"    if {name} > {stop} or {self.test(1)}:",
                "        break",
            ]
            return lines + self.inner(depth - 1, True)
        return lines + self.inner(depth - 1, True) + self.otherwise(depth, in_loop)

    def tuple_loop(self, depth, in_loop):
        self.counter += 1
        name = f"k{self.counter}"
        kind = self.pick.choice(["int", "float"])
        items = [
            self.as_type(self.expr(1, kind), INT64 if kind == "int" else FLOAT64)
            for _ in range(self.pick.randint(1, 3))
        ]
        if self.chance(0.4):
            items = [E(str(self.pick.randint(-3, 5)), WEAK_INT) for _ in items]
        text = ", ".join(e.text for e in items) + ("," if len(items) == 1 else "")
        saved = self.scalars
        self.scalars = [*saved, E(name, items[0].t)]
        lines = self.inner(depth - 1, True)
        self.scalars = saved
        return [f"for {name} in ({text}):", *lines, *self.otherwise(depth, in_loop)]

    def row_loop(self, depth, in_loop):
        usable = [a for a in self.arrays if a[0] in ("row[{}]", "t[{}]", "a[{}]") and a[2] <= 8]
        usable += [(name + "[{}]", t, 0, writable) for name, t, writable in self.spans]
        if not usable:
            return self.loop(depth, in_loop)
        text, t, _, _ = self.pick.choice(usable)
        self.counter += 1
        name = f"k{self.counter}"
        saved = self.scalars
        self.scalars = [*saved, E(name, t)]
        head = f"for {name} in {text[:-4]}:"
        if self.chance(0.3):
            head = f"for j{self.counter}, {name} in enumerate({text[:-4]}):"
            self.scalars.append(E(f"j{self.counter}", WEAK_INT))
        lines = self.inner(depth - 1, True)
        self.scalars = saved
        return [head, *lines, *self.otherwise(depth, in_loop)]

    def leave(self, depth, in_loop):
        return [f"if {self.test(1)}:", "    " + self.pick.choice(["break", "continue"])]

    def early(self, depth, in_loop):
        if self.in_helper:
            return self.assign(depth, in_loop)
        return [f"if {self.test(1)} and {self.test(1)}:", "    return"]

    def fault(self, depth, in_loop):
        test = f"{self.test(1)} and {self.test(1)}"
        if self.chance(0.5):
            return [f'assert not ({test}), "no"']
        kind = self.pick.choice(["ValueError", "KeyError", "RuntimeError", "ZeroDivisionError"])
        return [f"if {test}:", f'    raise {kind}("so")']

    def rebind(self, depth, in_loop):
        """Reads a variable that not every path has assigned."""
        if self.loose - self.bound and self.chance(0.15):
            v = self.pick.choice(sorted(self.loose - self.bound))
            if v in self.variables:
                target = self.target()
                e = self.compatible(target, E(v, self.variables[v]))
                self.bound.add(target)
                return [f"{target} = {e.text}"]
        return self.assign(depth, in_loop)

    def call_statement(self, depth, in_loop):
        pairs = [h for h, (_, _, pair) in self.helpers.items() if pair]
        if not pairs:
            return self.assign(depth, in_loop)
        h = self.pick.choice(pairs)
        want, default, _ = self.helpers[h]
        names = [v for v in sorted(self.variables) if self.kind_of(v) == want]
        wide = [v for v in names if self.variables[v] in (INT64, FLOAT64)]
        if len(wide) < 2:
            return self.assign(depth, in_loop)
        a, b = self.pick.sample(wide, 2)
        call = f"{h}({self.helper_arguments(want, default)})"
        self.bound |= {a, b}
        return [f"{a}, {b} = {call}"]

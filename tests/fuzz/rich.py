"""Programs with what the others lack: match, complex numbers, lambdas and inner functions, zip and reversed, whole arrays,
atomics, shared memory between barriers, arrays that swap their names.

Between two barriers a thread writes its own element of a shared array, or all read any; atomics give no value to use: every
order of the threads has one result. `check.expected` runs the reference in two orders, and leaves out a program where they
differ.
"""

from __future__ import annotations

from . import rules
from .arguments import laid_out, values
from .expressions import E
from .programs import Maker
from .rules import FLOAT64, INT64, WEAK_INT, T

INTEGERS = rules.SIGNED + rules.UNSIGNED
ATOMICS = {
    "add": INTEGERS,
    "sub": INTEGERS,
    "max": INTEGERS,
    "min": INTEGERS,
    "and_": INTEGERS,
    "or_": INTEGERS,
    "xor": INTEGERS,
}


class RichMaker(Maker):
    """As Maker with `wide`, and more."""

    def __init__(self, seed):
        super().__init__(seed, wide=True)
        self.complexes: dict[str, T] = {}
        self.inner_functions: dict[str, tuple] = {}
        self.atomic_arrays: list[tuple] = []
        self.shared: list[tuple] = []
        self.pairs: list[tuple] = []
        self.wholes: list[tuple] = []

    # What the program is made of.

    def more_arguments(self, arguments, rows, threads):
        pick = self.pick
        for k in range(pick.choice([0, 0, 1, 2])):
            dtype = pick.choice(["complex64", "complex128"])
            part = "float32" if dtype == "complex64" else "float64"
            made = values(self.numpy, part, threads) + 1j * values(self.numpy, part, threads)
            arguments[f"y{k}"] = laid_out(pick, made.astype(dtype))
            rows.append(f"y{k}")
            self.complexes[f"c{k}"] = T(dtype)
        if self.chance(0.35):
            dtype, length = pick.choice(["int32", "int64", "uint32", "uint64"]), pick.choice([1, 3, 8])
            arguments["m"] = values(self.numpy, dtype, length)
            self.atomic_arrays.append(("m", T(dtype), length))
        if self.chance(0.4):  # two arrays of one form, that swap their names
            dtype = pick.choice([d for d in self.dtypes if d != "bfloat16"])
            for name in ("e0", "e1"):
                arguments[name] = laid_out(pick, values(self.numpy, dtype, threads))
                rows.append(name)
            self.pairs = [T(dtype)]

    def more_declarations(self, style, threads):
        pick, body = self.pick, []
        for k, (name, _) in enumerate(sorted(self.complexes.items())):
            body.append(f"{name} = y{k}[i]")
        if self.pairs:
            body.append("d0, d1 = e0, e1")
            self.places += [("d0[i]", self.pairs[0]), ("d1[i]", self.pairs[0])]
            self.scalars += [E("d0[i]", self.pairs[0]), E("d1[i]", self.pairs[0])]
        for k in range(pick.choice([0, 1, 1])):
            dtype = pick.choice([d for d in rules.DTYPES if d != "bool"])
            body += [f"q{k} = cuda.local.array({self.columns}, {rules.cast_name(T(dtype))})"]
            body += [f"q{k}[:] = {self.as_type(self.expr(1, 'any'), T(dtype)).text}"]
            self.arrays.append((f"q{k}[{{}}]", T(dtype), self.columns, True))
            self.wholes.append((f"q{k}", T(dtype), True))
        if any(text.startswith("w[i") for text, *_ in self.arrays):
            t = next(a[1] for a in self.arrays if a[0].startswith("w[i"))
            if t.dtype != "bfloat16":
                self.wholes.append(("w[i]", t, True))
        for _ in range(pick.choice([0, 1, 1, 2])):
            body += self.inner_function()
        self.threads = threads
        if style == "exact" and self.chance(0.6):
            for k in range(pick.choice([1, 1, 2])):
                dtype = pick.choice([d for d in rules.DTYPES if d != "bool"])
                body.append(f"s{k}s = cuda.shared.array({threads}, {rules.cast_name(T(dtype))})")
                body.append(f"s{k}s[i] = {self.as_type(self.expr(1, 'any'), T(dtype)).text}")
                self.shared.append((f"s{k}s", T(dtype)))
            if self.chance(0.3):
                self.atomic_arrays = [*self.atomic_arrays]
        return body

    def between_barriers(self, depth):
        """Stretches of a kernel with shared memory: a thread writes its own elements, or reads anybody's."""
        pick, lines = self.pick, ["cuda.syncthreads()"]
        kept = self.scalars, self.arrays, self.places
        for _ in range(pick.randint(1, 4)):
            form = pick.randrange(4)
            if form == 0:
                self.places = [*kept[2], *((f"{s}[i]", t) for s, t in self.shared)]
                self.scalars = [*kept[0], *(E(f"{s}[i]", t) for s, t in self.shared)]
                lines += self.statements_here(depth)
            elif form == 1:
                lines += self.tree_of_sums()
            elif form == 2 and depth > 1:
                self.counter += 1
                rounds = self.between_barriers(1)
                lines += [
                    f"for b{self.counter} in range({pick.randint(1, 3)}):",
                    *("    " + one for one in rounds),
                ]
            else:
                self.arrays = [*kept[1], *((f"{s}[{{}}]", t, self.threads, False) for s, t in self.shared)]
                lines += self.statements_here(depth)
            self.scalars, self.arrays, self.places = kept
            lines.append("cuda.syncthreads()")
        return lines

    def statements_here(self, depth):
        lines = []
        for _ in range(self.pick.randint(1, 3)):
            lines += self.statement(depth, False)
        return lines

    def tree_of_sums(self):
        """Half of the threads add the other half's element to theirs, and half of these."""
        s, t = self.pick.choice(self.shared)
        half = 1
        while half * 2 <= self.threads // 2:
            half *= 2
        op = self.pick.choice("+*") if rules.kind(t) in "ui" else "+"
        self.counter += 1
        k = f"h{self.counter}w"
        lines = [f"{k} = {half}", f"while {k} > 0:", f"    if i < {k}:", f"        {s}[i] {op}= {s}[i + {k}]"]
        return [*lines, "    cuda.syncthreads()", f"    {k} //= 2"]

    def more_statements(self, depth, in_loop):
        return [
            (5 * (depth > 0), self.match),
            (6 * bool(self.complexes), self.complex_assign),
            (4 * (depth > 0), self.zipped),
            (5 * bool(self.wholes), self.whole_arrays),
            (5 * bool(self.atomic_arrays) * (not self.in_helper), self.atomic),
            (4 * bool(self.inner_functions), self.call_inner),
            (4 * bool(self.pairs) * (not self.in_helper), self.swap_arrays),
        ]

    def outputs_beyond(self):
        return [(name, f"o{name}") for name in sorted(self.complexes)]

    # Statements.

    def match(self, depth, in_loop):
        pick = self.pick
        if self.in_helper:
            return self.assign(depth, in_loop)
        if self.chance(0.35):
            a, b = self.moving(1, "int"), self.moving(1, "int")
            lines = [f"match {a.text} % 3, {b.text} & 3:"]
            cases = [
                f"case {pick.randint(0, 2)}, {pick.randint(0, 3)}:",
                f"case (_, {pick.choice(['1 | 2', '3'])}):",
            ]
        else:
            e = self.moving(1, "int")
            lines = [f"match {e.text} % 5:"]
            cases = [f"case {pick.randint(0, 4)}:", f"case {pick.choice(['1 | 4', '2 | 3 | 0'])}:"]
        for case in cases[: pick.randint(1, 2)]:
            guard = f" if {self.test(1)}:" if self.chance(0.3) else ":"
            lines += ["    " + case[:-1] + guard]
            lines += ["    " + line for line in self.inner(depth - 1, in_loop)]
        if self.chance(0.6):
            lines += ["    case _:", *("    " + line for line in self.inner(depth - 1, in_loop))]
        return lines

    def complex_of(self, depth) -> E:
        pick = self.pick
        name = pick.choice(sorted(self.complexes))
        if depth <= 0 or self.chance(0.2):
            return E(name, self.complexes[name])
        form = pick.randrange(8)
        a = self.complex_of(depth - 1)
        if form < 3:
            b = self.complex_of(depth - 1)
            return self.complex_pair(pick.choice("+-*/"), a, b)
        if form == 3:
            b = self.moving(0, "float")
            return self.complex_pair(pick.choice("+-*"), a, self.as_type(b, T("float64")) if b.t.weak else b)
        if form == 4:
            return E(f"(-{a.text})", a.t)
        if form == 5:
            return E(f"{a.text}.conjugate()" if a.text in self.complexes else f"({a.text}).conjugate()", a.t)
        if form == 6:
            return self.complex_pair(
                pick.choice("+*"), a, E(pick.choice(["1j", "(-2j)", "0.5j"]), T("complex128", True))
            )
        b = self.complex_of(depth - 1)
        return E(f"({a.text} if {self.test(1)} else {b.text})", rules.join(a.t, b.t))

    def complex_pair(self, op, a, b):
        return E(f"({a.text} {op} {b.text})", rules.binary_type(op, a.t, b.t))

    def complex_assign(self, depth, in_loop):
        if self.in_helper:
            return self.assign(depth, in_loop)
        name = self.pick.choice(sorted(self.complexes))
        t = self.complexes[name]
        e = self.complex_of(2)
        if self.chance(0.3):  # a part of one, or a comparison
            v = self.target()
            part = self.as_type(
                E(
                    f"{name}.{self.pick.choice(['real', 'imag'])}",
                    T("float32" if t.dtype == "complex64" else "float64"),
                ),
                self.variables[v],
            )
            if self.kind_of(v) == "bool":
                part = E(f"({e.text} {self.pick.choice(['==', '!='])} {name})", T("bool"))
                part = self.as_type(part, self.variables[v])
            self.bound.add(v)
            return [f"{v} = {part.text}"]
        text = e.text if rules.join(t, e.t) == t else f"np.{t.dtype}({e.text})"
        return [f"{name} = {text}"]

    def zipped(self, depth, in_loop):
        pick = self.pick
        usable = [a for a in self.arrays if a[0] in ("row[{}]", "t[{}]", "a[{}]", "q0[{}]") and a[2] <= 8]
        if not usable:
            return self.loop(depth, in_loop)
        self.counter += 1
        names, parts, saved = [], [], self.scalars
        self.scalars = [*saved]
        for k in range(pick.choice([2, 2, 3])):
            text, t, _, _ = pick.choice(usable)
            name = f"k{self.counter}z{k}"
            part = text[:-4]
            if self.chance(0.2):
                part, t = f"range({pick.randint(0, 5)})", WEAK_INT
            elif self.chance(0.2):
                part = f"reversed({part})"
            self.scalars.append(E(name, t))
            names.append(name)
            parts.append(part)
        if all(p.startswith("range") for p in parts):
            parts[0] = usable[0][0][:-4]
            self.scalars[len(saved)] = E(names[0], usable[0][1])
        lines = self.inner(depth - 1, True)
        self.scalars = saved
        return [
            f"for {', '.join(names)} in zip({', '.join(parts)}):",
            *lines,
            *self.otherwise(depth, in_loop),
        ]

    def whole(self, depth) -> tuple[str, T]:
        """An array expression of the wholes' length: text, and its elements' type."""
        pick = self.pick
        name, t, _ = pick.choice(self.wholes)
        if depth <= 0:
            return name, t
        form = pick.randrange(6)
        a, ta = self.whole(depth - 1)
        kind = {"b": "bool", "f": "float"}.get(rules.kind(ta), "int")
        if form < 3 and kind != "bool":
            op = pick.choice("+-*" if kind == "float" else "+-*&|^")
            if self.chance(0.5):
                b, tb = self.whole(depth - 1)
            else:
                e = self.as_type(self.moving(0, kind), ta)
                b, tb = e.text, e.t
            if rules.kind(tb) == "f" and op in "&|^" or rules.kind(tb) == "b":
                return a, ta
            try:
                return f"({a} {op} {b})", rules.binary_type(op, ta, tb)
            except TypeError:
                return a, ta
        if form == 3 and kind != "bool":
            return (f"np.{pick.choice(['abs', 'square', 'sign'])}({a})", ta)
        if form == 4 and kind != "bool":
            b, tb = self.whole(depth - 1)
            if rules.kind(tb) == "b":
                return a, ta
            both = rules.join(ta, tb)
            return f"np.where({a} > {b}, {b}, {a})", both
        if form == 5 and kind != "bool":
            return f"(-{a})", ta
        return a, ta

    def whole_arrays(self, depth, in_loop):
        pick = self.pick
        if self.in_helper:
            return self.assign(depth, in_loop)
        a, t = self.whole(2)
        if self.chance(0.5):
            name, own, _ = pick.choice(self.wholes)
            if self.chance(0.3) and rules.kind(own) == rules.kind(t) and rules.kind(own) in "uif":
                try:
                    fits = rules.binary_type("+", own, t) == own
                except TypeError:
                    fits = False
                if fits:
                    return [f"{name}[:] {pick.choice('+-*')}= {a}"]
            return [f"{name}[:] = {a}"]
        kind = rules.kind(t)
        v = self.target()
        if kind == "f":
            result = E(f"np.{pick.choice(['argmax', 'argmin'])}({a})", INT64)
        elif kind == "b":
            result = E(f"np.{pick.choice(['any', 'all'])}({a})", T("bool"))
        else:
            name = pick.choice(["sum", "max", "min", "prod", "argmax", "any", "all"])
            of = {"max": t, "min": t, "argmax": INT64, "any": T("bool"), "all": T("bool")}
            result = E(f"np.{name}({a})", of.get(name, T("uint64") if kind == "u" else INT64))
        self.bound.add(v)
        return [f"{v} = {self.as_type(result, self.variables[v]).text}"]

    def atomic(self, depth, in_loop):
        name, t, length = self.pick.choice(self.atomic_arrays)
        kinds = "ui" if rules.kind(t) in "ui" else "f"
        op = (
            self.pick.choice([o for o, takes in ATOMICS.items() if t.dtype in takes])
            if kinds == "ui"
            else "max"
        )
        same = getattr(self, "atomic_op", None) or op
        if same not in ("add", "sub"):
            op = same
        elif op not in ("add", "sub"):
            op = "add"  # sums and maxima of one array hang on the order
        self.atomic_op = same
        e = self.as_type(self.moving(1, "int"), t)
        return [f"cuda.atomic.{op}({name}, {self.index(length)}, {e.text})"]

    def inner_function(self):
        """A lambda, or a function in the kernel: of two numbers, and of what the kernel knows when it is called."""
        pick = self.pick
        name = f"g{len(self.inner_functions)}"
        integral = self.chance(0.6)
        t, want = (INT64, "int") if integral else (FLOAT64, "float")
        a, b = f"{name}a", f"{name}b"
        saved = self.variables, self.bound, self.in_helper, self.scalars, self.inner_functions
        seen = [E(v, self.variables[v]) for v in sorted(self.bound) if v in self.variables]
        self.scalars = [*saved[3], *[e for e in seen if self.chance(0.5)]]
        self.variables, self.bound, self.inner_functions = {a: t, b: t}, {a, b}, {}
        cast = "np.int64" if integral else "np.float64"
        lines = []
        if self.chance(0.5):
            default = f"={pick.choice(['2', '-1'])}" if integral and self.chance(0.3) else ""
            lines = [f"{name} = lambda {a}, {b}{default}: {cast}({self.moving(2, want).text})"]
        else:
            default = ""
            lines = [f"def {name}({a}, {b}):"]
            if self.chance(0.6):
                lines += [f"    {name}u = {a}", f"    for {name}k in range({pick.randint(0, 3)}):"]
                lines += [f"        {name}u = {cast}({self.moving(2, want).text})"]
                self.variables[f"{name}u"] = t
                self.bound.add(f"{name}u")
            lines += [f"    if {self.test(1)}:", f"        return {cast}({self.moving(1, want).text})"]
            lines += [f"    return {cast}({self.moving(2, want).text})"]
        self.variables, self.bound, self.in_helper, self.scalars, self.inner_functions = saved
        self.inner_functions[name] = (want, t, bool(default))
        return lines

    def call_inner(self, depth, in_loop):
        if self.in_helper:
            return self.assign(depth, in_loop)
        name = self.pick.choice(sorted(self.inner_functions))
        want, t, default = self.inner_functions[name]
        a, b = (self.as_type(self.moving(1, want), t).text for _ in range(2))
        call = f"{name}({a})" if default and self.chance(0.5) else f"{name}({a}, {b})"
        v = self.target()
        self.bound.add(v)
        return [f"{v} = {self.as_type(E(call, t), self.variables[v]).text}"]

    def swap_arrays(self, depth, in_loop):
        if self.chance(0.3):
            return [f"d0 = e0 if {self.test(1)} else e1"]
        if self.chance(0.2):
            return ["d1 = e0", f"d1[i] = {self.as_type(self.expr(1, 'any'), self.pairs[0]).text}"]
        return ["d0, d1 = d1, d0"]

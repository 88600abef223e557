"""Plain Python run by the kernel language's rules: a program's types by fixpoint, then its text with those rules in it.

`Reference(text)` gives for a program's functions an ordinary Python function each that CPython runs: control flow,
order of evaluation, exceptions and scopes are CPython's own; each operation on numbers goes through `rules`.
"""

from __future__ import annotations

import ast
import copy

from . import rules
from .rules import BOOL, WEAK_BOOL, WEAK_FLOAT, WEAK_INT, T
from .syntax import (
    BINARY,
    FILE,
    SLICE,
    UNARY,
    Array,
    Records,
    Rejected,
    constant_names,
    converter_name,
    dotted,
    is_type,
    loop_only,
    may_be_constant,
    written_out,
)  # fmt: skip
from .writer import SPACE, Cuda, Writer, on_its_line

REDUCTIONS = ("np.sum", "np.prod", "np.max", "np.min", "np.argmax", "np.argmin", "np.any", "np.all")


def as_function(node):
    """A function definition, also of a lambda that is given a name; None of all else."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
        body = [ast.copy_location(ast.Return(node.value.body), node)]
        made = ast.FunctionDef(node.targets[0].id, node.value.args, body, [])
        return ast.copy_location(made, node)
    return node if isinstance(node, ast.FunctionDef) else None


class Specialised:
    """One function for given argument types: the types of its variables and of what it returns, and its new text."""

    def __init__(self, owner: Reference, tree: ast.FunctionDef, arguments: list, name: str, outer=None):
        tree = copy.deepcopy(tree)  # the new text is written in place, and each specialisation has its own
        self.owner, self.tree, self.name = owner, tree, name
        self.arguments = dict(zip([a.arg for a in tree.args.args], arguments, strict=True))
        self.is_kernel = name == "f"
        self.loop_only = loop_only(tree)
        self.assigned = {
            n.id
            for n in ast.walk(tree)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id not in self.loop_only
        }
        self.outer = outer  # the function around this one
        self.functions = {
            n.name: n for n in map(as_function, ast.walk(tree)) if n is not None and n is not tree
        }
        self.current: dict = {}
        self.inexact = None  # the type of what is stored into z
        for _ in range(40):
            self.next: dict = {}
            self.scopes: list[dict] = []
            self.notes: dict = {}
            self.inner: dict = {}  # functions inside this one, by name and argument types
            self.choices: list = []  # what decides, and the types of which one is taken
            for a, t in self.arguments.items():
                if a in self.assigned:
                    self.assign(a, t)
            self.statements(tree.body)
            if self.next == self.current:
                break
            self.current = self.next
        else:
            raise Rejected("types do not settle")
        self.result = self.current.get("return")
        self.maybe_constant = constant_names(tree, self.assigned)
        self.check_constants()

    # Types.

    def assign(self, name, t):
        if t is None:
            return
        known = self.next.get(name)
        if known is None:
            self.next[name] = t
        elif isinstance(t, tuple) and not is_type(t):
            if is_type(known) or not isinstance(known, tuple) or len(known) != len(t):
                raise Rejected(f"{name} changes its form")
            self.next[name] = tuple(self.join(a, b) for a, b in zip(known, t, strict=True))
        elif is_type(t):
            self.next[name] = self.join(known, t)
        elif known != t:
            raise Rejected(f"{name} changes its form")

    def join(self, a, b):
        if a is None or b is None:
            return a or b
        if not is_type(a) or not is_type(b):
            raise Rejected("a number and another thing")
        both = rules.join(a, b)
        if rules.kind(both) == "f" and rules.kind(a) in "iu" and rules.kind(b) in "iu":
            raise Rejected("no integer type holds both")
        return both

    def read(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name in self.assigned:
            return self.current.get(name) or self.next.get(name)
        if name in self.arguments:
            return self.arguments[name]
        if self.outer:
            return self.outer.read(name)
        raise Rejected(f"{name} is not known")

    def specialise_inner(self, name, types):
        key = name, tuple(types)
        if key not in self.inner:
            made = Specialised(
                self.owner, self.functions[name], list(types), f"{name}__{len(self.inner)}", self
            )
            self.inner[key] = made
        return self.inner[key]

    def statements(self, nodes):
        for node in nodes:
            self.statement(node)
            if isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Raise):
                return

    def statement(self, node):
        match node:
            case ast.FunctionDef() | ast.Assign(value=ast.Lambda()):
                pass  # typed where it is called
            case ast.Match():
                self.expr(node.subject)
                for case in node.cases:
                    if case.guard:
                        self.expr(case.guard)
                    self.statements(case.body)
            case ast.Assign():
                t = self.expr(node.value)
                for target in node.targets:
                    self.bind(target, t)
                    if dotted(getattr(target, "value", None)) == "z":
                        self.inexact = t
            case ast.AugAssign(target=ast.Name()):
                known, t = self.read(node.target.id), self.expr(node.value)
                if isinstance(known, Array):  # row += x
                    self.elementwise(BINARY[type(node.op)], known, t)
                    return
                self.assign(node.target.id, self.binary(BINARY[type(node.op)], known, t))
            case ast.AugAssign():
                known, t = self.subscript(node.target), self.expr(node.value)
                if isinstance(known, Array):
                    self.elementwise(BINARY[type(node.op)], known, t)
                else:
                    self.binary(BINARY[type(node.op)], known, t)
            case ast.If() | ast.While():
                self.expr(node.test)
                self.statements(node.body)
                self.statements(node.orelse)
            case ast.For():
                self.for_loop(node)
            case ast.Expr() | ast.Assert():
                self.expr(node.value if isinstance(node, ast.Expr) else node.test)
            case ast.Return(value=ast.expr()):
                self.assign("return", self.expr(node.value))
            case ast.Pass() | ast.Break() | ast.Continue() | ast.Return() | ast.Raise():
                pass
            case _:
                raise Rejected(ast.dump(node))

    def elementwise(self, op, array, t):
        """`array op= t`, of a number or of an array's elements."""
        t = T(t.dtype) if isinstance(t, Array) else t
        self.binary(op, T(array.dtype), t)

    def bind(self, target, t):
        match target:
            case ast.Name():
                self.assign(target.id, t)
            case ast.Tuple():
                if t is None:
                    return
                if is_type(t) or not isinstance(t, tuple) or len(t) != len(target.elts):
                    raise Rejected("unpacked")
                for e, item in zip(target.elts, t, strict=True):
                    self.bind(e, item)
            case ast.Subscript():
                self.subscript(target)

    def for_loop(self, node):
        items = self.items(node.iter)
        own = isinstance(node.target, ast.Name) and node.target.id in self.loop_only
        for t in items:
            if own:
                self.scopes.append({node.target.id: t})
                self.statements(node.body)
                self.scopes.pop()
            else:
                self.bind(node.target, t)
                self.statements(node.body)
        self.statements(node.orelse)

    def items(self, node) -> list:
        """The types of what a loop runs over: one an item for a tuple, one for all else."""
        if isinstance(node, ast.Call) and dotted(node.func) == "range":
            for a in node.args:
                t = self.expr(a)
                if t is not None and not rules.is_integral(t):
                    raise Rejected("range of no integer")
            return [WEAK_INT]
        if isinstance(node, ast.Call) and dotted(node.func) == "zip":
            return [tuple(self.items(a)[0] for a in node.args)]
        if isinstance(node, ast.Call) and dotted(node.func) == "reversed":
            return self.items(node.args[0])
        if isinstance(node, ast.Call) and dotted(node.func) == "enumerate":
            return [(WEAK_INT, t) for t in self.items(node.args[0])]
        t = self.expr(node)
        if isinstance(t, Array):
            return [T(t.dtype) if t.ndim == 1 else Array(t.dtype, t.ndim - 1)]
        if isinstance(t, tuple) and not is_type(t):
            return list(t)
        if t is None:
            return []
        raise Rejected("not iterable")

    def note(self, node, t):
        """Remembers a type that the new text needs; two of one node can't both be in it."""
        if t is not None and self.notes.setdefault(node, t) != t:
            raise Rejected("one text, two types")
        return t

    def binary(self, op, a, b):
        if a is None or b is None:
            return None
        if isinstance(a, Array) or isinstance(b, Array):
            parts = [T(x.dtype) if isinstance(x, Array) else x for x in (a, b)]
            return Array(self.binary(op, *parts).dtype, 1)
        if not is_type(a) or not is_type(b):
            raise Rejected("numbers are wanted")
        try:
            return rules.binary_type(op, a, b)
        except TypeError as e:
            raise Rejected(str(e)) from None

    def expr(self, node):
        match node:
            case ast.Constant():
                return rules.type_of(node.value)
            case ast.Name():
                return self.read(node.id)
            case ast.Attribute(attr="real" | "imag"):
                t = self.expr(node.value)
                return t and T({"complex64": "float32", "complex128": "float64"}[t.dtype])
            case ast.Attribute() if dotted(node) in ("np.inf", "np.nan", "math.pi", "math.inf", "math.nan"):
                return WEAK_FLOAT
            case ast.Tuple():
                return tuple(self.expr(e) for e in node.elts)
            case ast.Slice():
                for part in (node.lower, node.upper, node.step):
                    t = part and self.expr(part)
                    if t is not None and not (is_type(t) and rules.is_integral(t)):
                        raise Rejected("a slice is of integers")
                return SLICE
            case ast.NamedExpr():
                self.assign(node.target.id, self.expr(node.value))
                return self.read(node.target.id)
            case ast.BinOp():
                return self.binary(BINARY[type(node.op)], self.expr(node.left), self.expr(node.right))
            case ast.UnaryOp():
                t = self.expr(node.operand)
                if isinstance(t, Array):
                    return t
                try:
                    return t and rules.unary_type(UNARY[type(node.op)], t)
                except TypeError as e:
                    raise Rejected(str(e)) from None
            case ast.BoolOp():
                types = [self.expr(v) for v in node.values]
                if None in types:
                    return None
                self.choices.append((node.values[0], types))
                return self.note(node, rules.joined(types))
            case ast.Compare():
                return self.compare_type(node)
            case ast.IfExp():
                self.expr(node.test)
                a, b = self.expr(node.body), self.expr(node.orelse)
                if a is None or b is None:
                    return None
                self.choices.append((node.test, (a, b)))
                if not is_type(a) and isinstance(a, tuple):
                    if is_type(b) or len(a) != len(b) or None in a or None in b:
                        raise Rejected("arms differ")
                    return self.note(node, tuple(rules.join(x, y) for x, y in zip(a, b, strict=True)))
                return self.note(node, rules.join(a, b))
            case ast.Subscript():
                return self.subscript(node)
            case ast.Call():
                return self.call(node)
        raise Rejected(ast.dump(node))

    def compare_type(self, node):
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            x, items = self.expr(node.left), self.expr(node.comparators[0])
            if x is None or None in items:
                return None
            weak = x.weak and all(i.weak for i in items)
            return self.note(node, WEAK_BOOL if weak or isinstance(node.ops[0], ast.NotIn) else BOOL)
        types = [self.expr(v) for v in (node.left, *node.comparators)]
        if None in types:
            return None
        if any(isinstance(t, Array) for t in types):
            return Array("bool", 1)
        pairs = [T("bool", a.weak and b.weak) for a, b in zip(types, types[1:], strict=False)]
        return self.note(node, rules.joined(pairs))

    def subscript(self, node):
        base = self.expr(node.value)
        if isinstance(base, Records):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                return base.field(node.slice.value)
            at = self.expr(node.slice)
            if at is not None and not (is_type(at) and rules.kind(at) in "iu") or not base.ndim:
                raise Rejected("an index is an integer")
            return Records(base.fields, base.ndim - 1)
        at = self.expr(node.slice)
        if isinstance(base, Array):
            indices = at if isinstance(at, tuple) and not is_type(at) else (at,)
            for t in indices:
                if t is not None and t != SLICE and not (is_type(t) and rules.kind(t) in "iu"):
                    raise Rejected("an index is an integer")
            rest = base.ndim - len(indices) + indices.count(SLICE)
            return T(base.dtype) if rest == 0 else Array(base.dtype, rest)
        if base is None:
            return None
        if isinstance(node.slice, ast.Constant):
            return base[node.slice.value]
        if None in base or at is None:
            return None
        if len(set(base)) != 1 or rules.kind(at) not in "iu":
            raise Rejected("items of several types")
        return base[0]

    def call(self, node):
        name = dotted(node.func)
        if name in ("cuda.grid", "len"):
            return WEAK_INT
        if isinstance(node.func, ast.Attribute) and node.func.attr == "conjugate":
            return self.expr(node.func.value)
        if name.startswith("cuda.atomic."):
            _, at, value = (self.expr(a) for a in node.args)
            if (
                at is not None
                and rules.kind(at) not in "iu"
                or value is not None
                and rules.kind(value) not in "bui"
            ):
                raise Rejected("an index is an integer, and what an atomic takes")
            return None
        if name in self.functions:
            types = [self.expr(a) for a in node.args]
            if None in types:
                return None
            types = self.note(node, tuple(self.bound(node, types)))
            return self.specialise_inner(name, types).result
        if name in ("cuda.local.array", "cuda.shared.array"):
            return Array(dotted(node.args[1]).removeprefix("np."), 1)
        if name == "cuda.syncthreads":
            return None
        if node.args and isinstance(node.args[0], ast.GeneratorExp):
            return self.note(node, self.over_generator(name, node.args[0]))
        types = [self.expr(a) for a in node.args]
        if None in types or any(not is_type(t) and isinstance(t, tuple) and None in t for t in types):
            return None
        if name in self.owner.functions:
            types = self.note(node, tuple(self.bound(node, types)))
            return None if None in types else self.owner.specialise(name, types).result
        if name in ("sum", "any", "all", "min", "max") and isinstance(types[0], Array) and len(types) == 1:
            t = T(types[0].dtype)
            if name in ("min", "max") and rules.kind(t) == "b":
                raise Rejected("bools are left out")
            t = {"sum": None, "any": WEAK_BOOL, "all": WEAK_BOOL}.get(name, t) or self.total(t)
            return self.note(node, t)
        if name.startswith("np.") and any(isinstance(t, Array) for t in types):
            return self.of_whole(name, types)
        if name in ("sum", "any", "all"):
            if name != "sum":
                return WEAK_BOOL
            t = WEAK_INT
            for item in types[0]:
                t = self.binary("+", t, item)
            return t
        if name == "divmod":
            return self.binary("//", *types), self.binary("%", *types)
        if name == "np.where":
            return self.note(node, rules.join(types[1], types[2]))
        if name not in rules.FUNCTIONS:
            raise Rejected(name)
        try:
            return rules.FUNCTIONS[name][0](*types)
        except TypeError as e:
            raise Rejected(str(e)) from None

    def of_whole(self, name, types):
        """Functions of whole arrays: element by element, or one number of all."""
        parts = [T(t.dtype) if isinstance(t, Array) else t for t in types]
        if name in REDUCTIONS:
            kind = rules.kind(parts[0])
            total = T("uint64" if kind == "u" else "int64")
            if kind == "f" and name not in ("np.argmax", "np.argmin", "np.any", "np.all"):
                raise Rejected("sums of floats have an order, and least zeros a sign")
            return {"np.sum": total, "np.prod": total, "np.max": parts[0], "np.min": parts[0]}.get(
                name, BOOL if name in ("np.any", "np.all") else rules.INT64
            )
        if name == "np.where":
            return Array(rules.join(parts[1], parts[2]).dtype, 1)
        try:
            return Array(rules.FUNCTIONS[name][0](*parts).dtype, 1)
        except (KeyError, TypeError) as e:
            raise Rejected(str(e)) from None

    def bound(self, node, types):
        """The argument types of a helper's call, with its defaults' and keywords'."""
        name = dotted(node.func)
        arguments = (self.functions if name in self.functions else self.owner.functions)[name].args
        names = [a.arg for a in arguments.args]
        given = dict(zip(names, types, strict=False))
        for k in node.keywords:
            given[k.arg] = self.expr(k.value)
        for a, d in zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True):
            given.setdefault(a, rules.type_of(ast.literal_eval(d)))
        return [given[n] for n in names]

    def over_generator(self, name, node):
        [generator] = node.generators
        [item] = self.items(generator.iter)
        self.scopes.append({generator.target.id: item})
        for test in generator.ifs:
            self.expr(test)
        t = self.expr(node.elt)
        self.scopes.pop()
        if t is None or name in ("min", "max"):
            return t
        if name in ("any", "all"):
            return WEAK_BOOL
        return self.total(t)

    def total(self, t):
        """The type of a sum of many numbers of a type."""
        total = WEAK_INT
        for _ in range(8):
            step = rules.join(total, self.binary("+", total, t))
            if step == total:
                return total
            total = step
        raise Rejected("sum")

    def check_constants(self):
        """Where the compiler may fold a test and drop a branch, the types of what is left are its own matter."""
        fixed = self.maybe_constant | (self.outer.known_outside() if self.outer else set())
        known = fixed | written_out(self.tree, fixed)
        for test, types in self.choices:
            if len(set(types)) > 1 and may_be_constant(test, known):
                raise Rejected("a constant choice of two types")
        for node in ast.walk(self.tree):
            tests = []
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
                written = isinstance(getattr(node.right, "operand", node.right), ast.Constant)
                if not written and may_be_constant(node.right, known):
                    raise Rejected("a power's sign, and so its type, is the compiler's to know")
            if isinstance(node, ast.Match):
                tests = [node.subject, *(c.guard for c in node.cases if c.guard)]
            if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
                tests = [node.test]
            elif isinstance(node, ast.BoolOp):
                tests = node.values
            elif isinstance(node, ast.Compare) and len(node.ops) > 1:
                tests = [node.left, node.comparators[0]]
                if not may_be_constant(node.left, fixed) or not may_be_constant(node.comparators[0], fixed):
                    tests = []
            for test in tests:
                literal = isinstance(node, ast.While) and isinstance(test, ast.Constant)
                if not literal and may_be_constant(test, fixed):
                    raise Rejected("a constant test")

    def known_outside(self):
        return constant_names(self.tree, self.assigned)

    # The new text.

    def written(self) -> ast.FunctionDef:
        body = Writer(self).body(self.tree.body)
        start = []
        for a in self.arguments:
            if a in self.assigned and is_type(self.current[a]):
                start += ast.parse(f"{a} = {converter_name(self.current[a])}({a})").body
        args = ast.arguments([], [ast.arg(a) for a in self.arguments], None, [], [], None, [])
        made = ast.FunctionDef(self.name, args, start + body or [ast.Pass()], [], lineno=self.tree.lineno)
        return on_its_line(made, self.tree.lineno)


class Reference:
    """The functions of a program's text; `kernel` is `f` for the given argument types, as CPython runs it."""

    def __init__(self, text: str, arguments: list):
        self.tree = ast.parse(text)
        self.functions = {
            n.name: n for n in self.tree.body if isinstance(n, ast.FunctionDef) and n.name != "f"
        }
        self.made: dict = {}
        self.active: list = []
        f = next(n for n in self.tree.body if isinstance(n, ast.FunctionDef) and n.name == "f")
        self.kernel_types = Specialised(self, f, arguments, "f")
        self.cuda = Cuda()
        self.space = {**SPACE, "cuda": self.cuda}
        kernel = self.kernel_types.written()
        functions = [*(s.written() for s in list(self.made.values())), kernel]
        module = ast.fix_missing_locations(ast.Module(functions, []))
        exec(compile(module, FILE, "exec"), self.space)
        self.kernel = self.space["f"]

    def specialise(self, name, types) -> Specialised:
        key = (name, tuple(types))
        if key not in self.made:
            if name in self.active:
                raise Rejected("recursion")
            self.active.append(name)
            made = Specialised(self, self.functions[name], list(types), f"{name}__{len(self.made)}")
            self.active.pop()
            self.made[key] = made
        return self.made[key]

    def run(self, thread: int, arguments: list):
        """Runs one thread; None, or the kind and the line of the exception it ended with."""
        self.cuda.begin(thread)
        try:
            steps = self.kernel(*arguments)
            if steps is not None:  # it has barriers, and nothing that others see
                for _ in steps:
                    pass
        except Exception as e:
            return told(e)
        return None

    def run_block(self, threads: list[int], arguments: list):
        """Runs the threads of one block from barrier to barrier, in this order; how each ended, where the first stretch
        with a fault is the last."""
        self.cuda.shared_arrays.clear()
        ends = dict.fromkeys(threads)
        steps = {}
        going = list(threads)
        while going and not any(ends.values()):
            still = []
            for i in going:
                try:
                    if i not in steps:
                        self.cuda.begin(i)
                        steps[i] = self.kernel(*arguments)
                    self.cuda.thread = i
                    next(steps[i])
                    still.append(i)
                except StopIteration:
                    pass
                except Exception as e:
                    ends[i] = told(e)
            going = still
        return [ends[i] for i in sorted(threads)]


def told(e: Exception):
    line, trace = 0, e.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return type(e).__name__, line

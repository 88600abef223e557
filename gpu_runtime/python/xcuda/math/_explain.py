"""`f.explain(...)`: the graph as written and as run, the kernels it became and the bytes they move."""

from __future__ import annotations

from dataclasses import dataclass

from xcuda import _runtime

from . import _functions
from ._graph import Node, Spec, leaves, ordered
from ._jit import Call
from ._text import words

_NOTHING_MOVED = frozenset(("input", "constant", "dim", "size", "part"))
_VIEWS = frozenset(("getitem", "reshape", "transpose", "swapaxes", "squeeze", "ravel", "moveaxis", "rollaxis",
                    "broadcast_to", "diagonal", "expand_dims", "matrix_transpose", "atleast_2d"))  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """One launch of a fused kernel ("kernel") or one call of a library ("library"), with the bytes it moves."""

    kind: str
    text: str
    bytes_read: int
    bytes_written: int
    operations: int = 1

    @property
    def bytes(self):
        """Read and written."""
        return self.bytes_read + self.bytes_written


class Explanation:
    """What a call becomes. `kernels` has its launches and library calls; bytes are modelled: counted in the graph."""

    def __init__(self, name, captured, kernels, calls):
        self.name = name
        self.names, self.labels = captured.names, captured.labels
        self.written, self.outputs = captured.written, captured.program.outputs
        self.program = captured.program.text
        self.findings = captured.findings
        self.kernels = _in_order(kernels, calls)
        self.fused = list(kernels)
        self.library = [call for _, call in calls]

    @property
    def bytes(self):
        """That the call moves."""
        return sum(k.bytes for k in self.kernels)

    @property
    def unfused_kernels(self):
        """Operations as written, each of which would be a kernel or a library call of its own."""
        return len(self._operations())

    @property
    def unfused_bytes(self):
        """What the operations as written would move, each reading its operands and writing its result."""
        total = 0
        for node in self._operations():
            total += sum(_bytes(each) for each in leaves((node.args, node.kwargs))) + _bytes(node)
        return total

    def _operations(self):
        return [n for n in ordered(self.written) if _is_operation(n)]

    # -- as text -------------------------------------------------------------------------------------

    def __str__(self):
        lines = [f"{self.name}: {self._headline()}"]
        if self.findings:
            lines.append("found:")
            lines += [f"  line {f.line}: {f.rule}: {f.written} -> {f.instead}" for f in self.findings]
        lines.append("as written:")
        lines += [f"  {line}" for line in self.listing(self.written)]
        if self.findings:
            lines.append("as run:")
            lines += [f"  {line}" for line in self.listing(self.outputs)]
        lines.append("becomes:")
        for kernel in self.kernels:
            moved = f"reads {shown_bytes(kernel.bytes_read)}, writes {shown_bytes(kernel.bytes_written)}"
            lines.append(f"  {kernel.kind}: {kernel.text} ({moved})")
        return "\n".join(lines)

    __repr__ = __str__

    def _headline(self):
        n, m = len(self.fused), len(self.library)
        parts = [f"{n} kernel{'s' * (n != 1)}"] if n or not m else []
        parts += [f"{m} library call{'s' * (m != 1)}"] if m else []
        before = f"{self.unfused_kernels} operations as written"
        return (
            f"{' and '.join(parts)} for {before}, {shown_bytes(self.bytes)} moved in place of "
            f"{shown_bytes(self.unfused_bytes)} (modelled)"
        )

    def listing(self, outputs):
        """A graph a line a node: t1 = sin(x), with dtype and shape."""
        names = dict(self.names)
        lines = []
        for node in ordered(outputs):
            if node in self.names or node.op in ("dim", "size"):
                continue
            text = words(node, names)
            label = self.labels.get(node, "")
            names[node] = label if label and label not in names.values() else f"t{len(lines) + 1}"
            what = f"{node.spec.dtype} {node.spec.shape}" if node.is_array else type(node.value).__name__
            lines.append(
                f"{names[node]} = {text}  : {what if not isinstance(node.spec, tuple) or node.is_array else 'several'}"
            )
        given = ", ".join(names.get(n, "?") for n in leaves(outputs))
        return [*lines, f"return {given}"]

    # -- in a notebook -------------------------------------------------------------------------------

    def svg(self):
        """The picture as an SVG document."""
        from ._picture import drawn

        return drawn(self)

    def _repr_html_(self):
        from html import escape

        from xcuda import _svg

        picture = _svg.image(self.svg(), f"{self.name}: {self._headline()}")
        found = "".join(
            f"<li>line {f.line}: <b>{escape(f.rule)}</b>: <code>{escape(f.written)}</code> → {escape(f.instead)}</li>"
            for f in self.findings
        )
        text = escape(str(self))
        return (
            f"<div><div><b>{escape(self.name)}</b>: {escape(self._headline())}</div>{picture}"
            f"{f'<ul>{found}</ul>' if found else ''}"
            f"<details><summary>as text</summary><pre>{text}</pre></details></div>"
        )


def _in_order(kernels, calls):
    """Kernels and library calls as they run; a call stands before the kernels launched from it on."""
    found, done = [], 0
    for at, call in calls:
        found += [*kernels[done:at], call]
        done = at
    return [*found, *kernels[done:]]


def _bytes(node):
    return node.spec.nbytes if isinstance(node, Node) and isinstance(node.spec, Spec) else 0


def _is_operation(node):
    if node.op in _NOTHING_MOVED or node.op in _VIEWS or node.op.startswith(("operator.", "math.")):
        return False
    return node.spec is not None


def shown_bytes(n):
    """ "1.5 MB"."""
    for unit in ("bytes", "kB", "MB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "bytes" else f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} GB"


def explained(jit, args, kwargs):
    """Runs the call once and tells what it launched."""
    call = Call(jit, args, kwargs)
    captured = call.program()

    def run():
        return call.placed(call.ran(captured), captured)

    first = _runtime.numeric_counts()[0]
    _functions.calls_at = []
    try:
        _, launches = _runtime.numeric_watched(run)
        calls_at = [(at - first, way) for at, way in _functions.calls_at]
    finally:
        _functions.calls_at = None
    kernels = [
        Kernel("kernel", launch["text"], launch["bytes_read"], launch["bytes_written"], launch["operations"])
        for launch in launches
    ]
    called = [n for n in captured.program.nodes if _is_call(n)]
    calls = [
        (at, _library_call(n, captured, way))
        for n, (at, way) in zip(called, calls_at, strict=True)
        if n.op not in _OF_KERNELS
    ]
    return Explanation(jit.__name__, captured, kernels, calls)


def _is_call(node):
    """True for what works at once: a function of a library, or one that launches kernels of its own."""
    within = ("input", "constant", "dim", "size", "part", "getitem", "astype", "copy")
    return (
        node.op not in within
        and not node.op.startswith(("operator.", "math."))
        and not _functions.is_lazy(node.op)
    )


def _library_call(node, captured, way=None):
    if way == "apart":  # the product alone: the kernel after it does the rest
        _, a, b, *_ = node.args
        text = f"{words(a, captured.labels, 3, True)} @ {words(b, captured.labels, 3, True)}"
        return Kernel("library", text, sum(_bytes(each) for each in {a, b}), _bytes(node))
    read = sum(_bytes(each) for each in set(leaves((node.args, node.kwargs))))
    results = (node.spec,) if node.is_array else node.spec
    return Kernel("library", _library_text(node, captured), read, sum(s.nbytes for s in results))


# Made of kernels, which the launches tell.
_OF_KERNELS = frozenset(
    (
        *(
            "astype",
            "copy",
            "setitem",
            "xm.add_diagonal",
            "linalg.norm",
            "linalg.vector_norm",
            "linalg.matrix_norm",
        ),
        *("outer", "kron", "vecdot", "linalg.vecdot", "cross", "linalg.cross", "stack", "concatenate"),
    )
)
_LIBRARY_WORDS = {
    "xm.gram": "symmetric product (syrk) of {0}",
    "xm.chain": "product of {n} matrices in the best order",
    "xm.solve_triangular": "triangular solution",
    "xm.solve_diagonal": "diagonal solution",
}


def _library_text(node, captured):
    known = _LIBRARY_WORDS.get(node.op)
    if node.op == "xm.solve":
        return "solution by Cholesky, LU where that fails" if node.args[2] else "solution by LU"
    if known is None:
        return words(node, {k: v for k, v in captured.labels.items() if k is not node}, 3)
    return known.format(words(node.args[0], captured.labels, 2), n=len(node.args))

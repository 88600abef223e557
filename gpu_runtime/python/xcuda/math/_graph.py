"""What a captured function computes: nodes, each the call of one public function on other nodes and on constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Spec:
    """Shape (as met at the capture) and dtype of an array."""

    shape: tuple
    dtype: Any

    @property
    def size(self):
        """How many elements."""
        n = 1
        for length in self.shape:
            n *= length
        return n

    @property
    def nbytes(self):
        """Their bytes."""
        return self.size * self.dtype.itemsize


class Node:
    """One call. `spec`: of an array; None for a number, whose value at the capture is `value`; a list for several."""

    __slots__ = ("args", "kwargs", "line", "op", "spec", "value")

    def __init__(self, op, args=(), kwargs=None, spec=None, value=None, line=None):
        self.op, self.args, self.kwargs = op, args, kwargs or {}
        self.spec, self.value, self.line = spec, value, line

    @property
    def is_array(self):
        """True for an array."""
        return isinstance(self.spec, Spec)

    @property
    def ndim(self):
        """Of an array."""
        return len(self.spec.shape)

    def with_args(self, args, kwargs):
        """The same call on others."""
        return Node(self.op, args, kwargs, self.spec, self.value, self.line)

    def __repr__(self):
        return f"<{self.op} {self.spec}>"


def leaves(tree):
    """The nodes in a tree of tuples, lists, dicts and slices."""
    if isinstance(tree, Node):
        yield tree
    elif isinstance(tree, (tuple, list)):
        for each in tree:
            yield from leaves(each)
    elif isinstance(tree, dict):
        for each in tree.values():
            yield from leaves(each)
    elif isinstance(tree, slice):
        yield from leaves((tree.start, tree.stop, tree.step))


def mapped(tree, change):
    """The tree with `change(leaf)` for everything that is no tuple, list, dict or slice."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(mapped(each, change) for each in tree))
    if isinstance(tree, (tuple, list)):
        return type(tree)(mapped(each, change) for each in tree)
    if isinstance(tree, dict):
        return {k: mapped(v, change) for k, v in tree.items()}
    if isinstance(tree, slice):
        return slice(*(mapped(each, change) for each in (tree.start, tree.stop, tree.step)))
    return change(tree)


def under(node):
    """The nodes that a node is computed from, once each."""
    return list(dict.fromkeys(leaves((node.args, node.kwargs))))


def ordered(outputs):
    """Every node that the outputs need, producers before their users."""
    found: dict[Node, None] = {}
    open_ = [(node, False) for node in reversed(list(leaves(outputs)))]
    while open_:
        node, seen = open_.pop()
        if node in found:
            continue
        if seen:
            found[node] = None
            continue
        open_.append((node, True))
        open_.extend((each, False) for each in reversed(under(node)) if each not in found)
    return list(found)


def users_of(nodes, outputs=()):
    """How often each node is read, by nodes and as an output."""
    counts: dict[Node, int] = dict.fromkeys(nodes, 0)
    for node in nodes:
        for each in leaves((node.args, node.kwargs)):
            counts[each] = counts.get(each, 0) + 1
    for each in leaves(outputs):
        counts[each] = counts.get(each, 0) + 1
    return counts

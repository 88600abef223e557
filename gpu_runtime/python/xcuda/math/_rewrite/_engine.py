"""Walks a graph from its inputs and lets every rule see every node, until none has anything to change."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _epilogues
from .._graph import Node, leaves, mapped, ordered, users_of


@dataclass(frozen=True)
class Finding:
    """One rewrite: the rule, what was written, what is done instead, and why that is less work."""

    rule: str
    written: str
    instead: str
    line: int | None


def rewritten(outputs, names):
    """(the outputs' tree over the rewritten graph, [Finding])."""
    from . import _rules, _spellings

    findings: list[Finding] = []
    outputs, _ = _pass(outputs, names, findings, _spellings.RULES)
    for _ in range(8):
        outputs, changed = _pass(outputs, names, findings, _rules.RULES)
        if not changed:
            break
    outputs, _ = _pass(outputs, names, findings, _rules.LAST)
    outputs, _ = _pass(
        outputs, names, findings, _epilogues.RULES
    )  # last: other rules look for the products themselves
    return outputs, findings


class Scope:
    """What a rule may ask: how often a node is read, and where to tell what it found."""

    def __init__(self, nodes, outputs, names, findings):
        self.counts = users_of(nodes, outputs)
        self.outputs = set(leaves(outputs))
        self.names, self.findings = names, findings
        self.origin: dict[Node, Node] = {}

    def reads(self, node):
        """How often a node of the new graph is read."""
        return self.counts.get(self.origin.get(node, node), 1)

    def tell(self, rule, node, instead):
        """Keeps what was found."""
        from .._text import words

        others = {k: v for k, v in self.names.items() if k is not node}
        self.findings.append(Finding(rule, words(node, others), instead, node.line))


def _pass(outputs, names, findings, rules):
    nodes = ordered(outputs)
    scope = Scope(nodes, outputs, names, findings)
    made: dict[Node, Node] = {}
    changed = 0
    for node in nodes:
        args, kwargs = mapped(
            (node.args, node.kwargs), lambda leaf: made.get(leaf, leaf) if isinstance(leaf, Node) else leaf
        )
        same = all(
            a is b for a, b in zip(leaves((args, kwargs)), leaves((node.args, node.kwargs)), strict=True)
        )
        new = node if same else node.with_args(args, kwargs)
        if new is not node and node in names:
            names[new] = names[node]
        for rule in rules.get(node.op, ()):
            other = rule(new, scope)
            if other is not None:
                if new in names and other not in names:
                    names[other] = names[new]
                new = other
                changed += 1
                break
        made[node] = new
        scope.origin.setdefault(new, node)
    outputs = mapped(outputs, lambda leaf: made.get(leaf, leaf) if isinstance(leaf, Node) else leaf)
    return outputs, changed

"""How results show themselves in a notebook: known to whoever draws reports, by the kind of result."""

from __future__ import annotations

from collections.abc import Callable

import xcuda

# "benchmark", "comparison": a function of the result that gives (MIME bundle, metadata).
renderers: dict[str, Callable] = {}


def bundle(kind: str, result):
    """What `_repr_mimebundle_` gives: plain text where nobody draws."""
    if kind not in renderers and hasattr(xcuda, "_prepare"):
        xcuda._prepare()
    if kind not in renderers:
        return {"text/plain": repr(result)}
    return renderers[kind](result)

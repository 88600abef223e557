"""Linear algebra that is found in a captured graph, and what is put in its place."""

from ._engine import Finding, rewritten

__all__ = ["Finding", "rewritten"]

"""Kernels with one planted fault each, and clean twins of them: what the analyzer is held to."""

from planted import accesses, arithmetic, flow, launches, shared

PAIRS = {
    f"{part.__name__.rpartition('.')[2]}: {name}": pair
    for part in (accesses, shared, flow, arithmetic, launches)
    for name, pair in part.PAIRS.items()
}

"""Where factorisations run: a GPU's small matrices go to LAPACK on the host, which is sooner, all copies counted."""

import contextlib
import threading

# The order of a square matrix up to which the host was sooner on an H200's machine of 16 cores, of those that
# tests/gpu/placement_probe.py tries.
ORDERS = {
    "solve": 96,
    "inv": 96,
    "slogdet": 128,
    "det": 128,
    "cholesky": 96,
    "solve_positive": 64,
    "qr": 96,
    "svd": 256,
    "eigh": 96,
    "eig": 192,
}
PLACES = ("device", "host")

_forced = threading.local()


@contextlib.contextmanager
def everywhere(place):
    """While inside, and on this thread, all factorisations of a GPU's matrices run there: "device" or "host"."""
    if place not in PLACES:
        raise ValueError(f"a factorisation runs on one of {', '.join(map(repr, PLACES))}, not {place!r}")
    before = getattr(_forced, "place", None)
    _forced.place = place
    try:
        yield
    finally:
        _forced.place = before


def by_lapack(name, stack):
    """Whether LAPACK on the host factors each matrix of the stack: those in its memory, and small ones of a GPU."""
    if stack._host_accessible:
        return True
    if (place := getattr(_forced, "place", None)) is not None:
        return place == "host"
    return stack.shape[1] * stack.shape[2] <= ORDERS[name] ** 2

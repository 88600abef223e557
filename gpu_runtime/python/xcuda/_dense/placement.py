"""Where factorisations run: a GPU's small matrices go to LAPACK on the host, which is sooner, all copies counted."""

import contextlib
import threading

# The order of a square matrix up to which the host was sooner on an H200's machine: tests/gpu/placement_probe.py.
ORDERS = {
    "solve": 0,
    "inv": 0,
    "slogdet": 0,
    "det": 0,
    "cholesky": 0,
    "solve_positive": 0,
    "qr": 0,
    "svd": 0,
    "eigh": 0,
    "eig": 0,
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

"""numeric beside CuPy on a GPU: each row is printed as soon as it is known, all of it within seconds that are given.

NumPy says what is right, at a small size; at the full size the two peers must agree with each other.
"""

import math
import time
import types

import numpy
import xcuda.numeric as ours
from _measure import goal, result
from _numeric_programs import PROGRAMS
from xcuda import core

SMALL = 2500  # elements where NumPy gives the reference
ROUND_SECONDS = 0.3  # for the rounds of one row, both sides together
ROUNDS = (3, 15)
MANY = 200  # small operations one after another, before the GPU is waited for


class Peer:
    """A module in NumPy's place: arrays from the host, arrays to it, and how its work is waited for."""

    def __init__(self, module, given, taken, finish, wait):
        self.module, self.given, self.taken, self.finish, self.wait = module, given, taken, finish, wait

    def arrays(self, hosts):
        """The host arrays as this peer's; numbers as they are."""
        return [self.given(a) if isinstance(a, numpy.ndarray) else a for a in hosts]

    def run(self, function, arrays, times=1):
        """The results, computed."""
        made = ()
        for _ in range(times):
            made = function(self.module, *arrays)
            made = made if isinstance(made, tuple) else (made,)
            self.finish(made)
        self.wait()
        return made


def _compute(made):
    for one in made:
        one._compute()


def cupys():
    """CuPy, with the names of NumPy's bit generators; None where it isn't installed."""
    try:
        import cupy
    except ImportError:
        return None
    random = types.SimpleNamespace(Generator=cupy.random.Generator, Philox=cupy.random.Philox4x3210)
    module = type("cupy", (), {"__getattr__": lambda self, name: getattr(cupy, name), "random": random})()
    return Peer(module, cupy.asarray, cupy.asnumpy, lambda made: None, cupy.cuda.Device().synchronize)


OURS = Peer(ours, ours.array, lambda a: a.get(), _compute, core.synchronize)


def contests(of_operations, size):
    """(title, function, host arrays at the small size, at the full size, calls a turn, whether values compare)."""
    for (title, function, small), (*_, full) in zip(of_operations(SMALL), of_operations(size), strict=True):
        yield title, function, [small], lambda full=full: [full], MANY if "10 elements" in title else 1, True
    for title, program in PROGRAMS.items():
        rng = numpy.random.default_rng(0)
        # CuPy draws other numbers than NumPy: the option's price is alike to its error only.
        alike = title != "Monte Carlo option"
        yield (
            title,
            program.run,
            program.data(program.small, rng),
            lambda p=program, r=rng: p.data(p.full, r),
            1,
            alike,
        )


def agree(title, who, made, expected, tolerance):
    """Ends the program where results differ."""
    for one, other in zip(made, expected, strict=True):
        one, other = numpy.asarray(one), numpy.asarray(other)
        size = max(1.0, float(numpy.abs(other).max()))
        try:
            numpy.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * size)
        except AssertionError as wrong:
            raise SystemExit(f"{title}: {who} computes something else: {wrong}") from wrong


def turn(peer, function, arrays, times):
    """Milliseconds of one call."""
    begin = time.perf_counter()
    peer.run(function, arrays, times)
    return (time.perf_counter() - begin) / times * 1e3


def contest(theirs, title, function, small, full, times, alike):
    """Milliseconds of CuPy and of ours: medians of turns that alternate."""
    peers = [theirs, OURS]
    tolerance = 2e-4
    expected = function(numpy, *[a.copy() if isinstance(a, numpy.ndarray) else a for a in small])
    expected = expected if isinstance(expected, tuple) else (expected,)
    for peer in peers if alike else [OURS]:
        made = [peer.taken(x) for x in peer.run(function, peer.arrays(small))]
        agree(f"{title}, small", "xcuda" if peer is OURS else "CuPy", made, expected, tolerance)
    hosts = full()
    given = [peer.arrays(hosts) for peer in peers]
    results = [[p.taken(x) for x in p.run(function, g)] for p, g in zip(peers, given, strict=True)]
    if alike:
        agree(title, "xcuda or CuPy", results[1], results[0], tolerance)
    del results
    once = sum(turn(p, function, g, times) for p, g in zip(peers, given, strict=True)) * times / 1e3
    rounds = min(max(int(ROUND_SECONDS / max(once, 1e-6)), ROUNDS[0]), ROUNDS[1])
    taken = [[turn(p, function, g, times) for p, g in zip(peers, given, strict=True)] for _ in range(rounds)]
    return [sorted(column)[len(column) // 2] for column in zip(*taken, strict=True)]


def tell(of_operations, size, seconds):
    """Prints the table; what there was no time for is named."""
    theirs = cupys()
    if theirs is None:
        raise SystemExit("there is no CuPy here to compare with: pip install cupy-cuda13x")
    print(
        f"{core.Device().name}; {size:,} elements; medians; small operations: {MANY} before the GPU is waited for"
    )
    print(f"| {'what':36} | {'CuPy ms':>9} | {'xcuda ms':>9} | {'ratio':>6} |")
    print(f"| {'-' * 36} | {'-' * 8}: | {'-' * 8}: | {'-' * 5}: |", flush=True)
    begun, longest, ratios, left = time.monotonic(), 0.0, {}, []
    for title, *how in contests(of_operations, size):
        started = time.monotonic()
        if started - begun + longest > seconds:
            left.append(title)
            continue
        peer, own = contest(theirs, title, *how)
        longest = max(longest, time.monotonic() - started)
        ratios[title] = peer / own
        print(f"| {title:36} | {peer:9.4f} | {own:9.4f} | {peer / own:6.2f} |", flush=True)
    print()
    programs = [r for title, r in ratios.items() if title in PROGRAMS]
    if programs:
        mean = math.exp(sum(map(math.log, programs)) / len(programs))
        result(f"{len(programs)} programs, geometric mean: {mean:.2f}x CuPy, the least {min(programs):.2f}x")
        goal("programs, geometric mean, CuPy's time over ours", mean, 2, least=True)
    for title, ratio in ratios.items():
        goal(f"{title}, CuPy's time over ours", ratio, 0.95 if title in PROGRAMS else 1, least=True)
    if left:
        result(f"no time for {', '.join(left)}")

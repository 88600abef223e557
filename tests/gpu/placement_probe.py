"""From which order on a GPU's factorisations are sooner than LAPACK's on the host, copies both ways counted. 20 s.

    PYTHONPATH=build/gpu/site python tests/gpu/placement_probe.py

What it printed is behind `xcuda._dense.placement`.
"""

import time

import numpy
from xcuda import core
from xcuda._dense import placement, solvers

ORDERS = (4, 16, 32, 64, 96, 128, 192, 256, 384, 512, 1024)
SECONDS = 0.06  # a figure
MATRICES = {
    "solve": (lambda a, b: solvers.solve(a, b)),
    "inv": (lambda a, b: solvers.inv(a)),
    "slogdet": (lambda a, b: solvers.slogdet(a)),
    "cholesky": (lambda a, b: solvers.cholesky(a)),
    "qr": (lambda a, b: solvers.qr(a)),
    "svd": (lambda a, b: solvers.svd(a, False)),
    "svdvals": (lambda a, b: solvers.svd(a, False, False)),
    "eigh": (lambda a, b: solvers.eigh(a)),
    "eigvalsh": (lambda a, b: solvers.eigh(a, vectors=False)),
    "eig": (lambda a, b: solvers.eig(a)),
}


def milliseconds(function):
    """The median of as many calls as SECONDS allow."""
    function()
    times, begun = [], time.perf_counter()
    while len(times) < 3 or (len(times) < 25 and time.perf_counter() - begun < SECONDS):
        core.synchronize()
        begin = time.perf_counter()
        function()
        core.synchronize()
        times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 2] * 1e3


def main():
    """A table: GPU / host."""
    print(core.Device().name)
    print("GPU ms / host ms, and the host's share of the GPU's time in parentheses, one matrix of float64")
    rng = numpy.random.default_rng(0)
    slow = set()
    for n in ORDERS:
        square = rng.standard_normal((1, n, n))
        positive = square @ square.transpose(0, 2, 1) + n * numpy.eye(n)
        a, b = core.to_device(positive), core.to_device(rng.standard_normal((1, n, 1)))
        for name, function in MATRICES.items():
            if name in slow:
                continue
            with placement.everywhere("device"):
                device = milliseconds(lambda function=function: function(a, b))
            with placement.everywhere("host"):
                host = milliseconds(lambda function=function: function(a, b))
            if device < 0.8 * host and n >= 256:
                slow.add(name)
            print(f"{name:9} {n:5} {device:9.3f} {host:9.3f} ({host / device:.2f})", flush=True)


if __name__ == "__main__":
    main()

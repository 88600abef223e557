"""numeric's kernels over the fake driver: that those of all kinds start, and how many a program takes."""

import numpy
from fake_cuda import need_nvrtc, on_fake
from xcuda import core, profiler
from xcuda import numeric as np

# Of an array: a kernel of rows that gives its own shape, folds by blocks and in one thread, chains, views.
PROGRAMS = {
    "a fold with what follows it": lambda x: 0.5 * x.sum(),
    "a fold that its elements need": lambda x: x / x.sum(),
    "the same along rows": lambda x: x.reshape(-1, 10) / x.reshape(-1, 10).sum(axis=1, keepdims=True),
    "a standard deviation": lambda x: x.std(),
    "a fold over columns": lambda x: x.reshape(-1, 10).sum(axis=0),
    "a chain": lambda x: np.sqrt(x * 2 + 1),
    "a view": lambda x: x[::2] + x[1::2],
}


@on_fake()
def test_kernels_of_each_kind_start():
    need_nvrtc()
    for name, program in PROGRAMS.items():
        for n in (40, 100_000):
            x = np.array(numpy.arange(1.0, n + 1))
            with profiler.profile() as p:
                program(x)._compute()
                core.synchronize()
            assert p.report.kernels, name

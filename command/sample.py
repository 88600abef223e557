"""The kernel that `xcuda doctor` has each device compile and run."""

from xcuda import core as cuda


@cuda.kernel
def halved_sum(x, y, result):
    i = cuda.grid(1)
    if i < result.size:
        result[i] = (x[i] + y[i]) / 2

"""numba's reference counting in kernels: xcuda's kernels allocate nothing, so there is nothing to count."""

from types import SimpleNamespace


class _NoAllocations:
    def memsys_enable_stats(self):
        pass

    def memsys_disable_stats(self):
        pass

    def get_allocation_stats(self):
        return SimpleNamespace(alloc=0, free=0, mi_alloc=0, mi_free=0)


rtsys = _NoAllocations()

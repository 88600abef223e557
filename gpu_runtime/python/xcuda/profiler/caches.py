"""Cold caches for measuring: one kernel that walks through more memory than the caches hold."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import NamedTuple

# Of a GPU: more than twice the largest L2 cache there is. Of the CPU device: at least, at most, and where the system
# does not tell the size of its caches.
GPU_BYTES = 320 << 20
LEAST, MOST, UNKNOWN = 32 << 20, 256 << 20, 128 << 20


class Sweep(NamedTuple):
    """A buffer, the kernel that walks through it, and how well that empties the caches."""

    buffer: object
    kernel: object
    bytes: int
    cache_bytes: int | None  # of the last-level cache; None: not known

    def __call__(self) -> None:
        from xcuda import core

        self.kernel(self.buffer)
        core.synchronize()

    @property
    def whole(self) -> bool:
        """Whether nothing older can be left in the caches."""
        return self.cache_bytes is not None and self.bytes >= 2 * self.cache_bytes

    @property
    def told(self) -> str:
        size = f"{self.bytes >> 20} MiB swept through the caches before each call"
        if self.whole:
            return size
        if self.cache_bytes is None:
            return f"{size}; how large those are is not known"
        return f"{size}; the last-level cache holds {self.cache_bytes >> 20} MiB, so data may be left in it"


def sweep() -> Sweep:
    """For the current device; its buffer goes with it. MemoryError where the device has no room."""
    import numpy as np

    from xcuda import core

    device = core.Device()
    if device.kind == "cpu":
        cache = last_level_cache()
        wanted = min(max(LEAST, 2 * cache), MOST) if cache else UNKNOWN
    else:
        cache, wanted = GPU_BYTES // 2, GPU_BYTES
    buffer = core.zeros(wanted // 4, np.float32)
    return Sweep(buffer, _kernel(), wanted, cache)


@functools.cache
def _kernel():
    from xcuda import core as cuda

    @cuda.kernel
    def empty_caches(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] + 1.0

    return empty_caches


def last_level_cache(folder: str = "/sys/devices/system/cpu/cpu0/cache") -> int | None:
    """Bytes of the host's largest cache, None where the system does not tell."""
    sizes = []
    for file in Path(folder).glob("index*/size"):
        number, unit = re.fullmatch(r"(\d+)([KMG]?)", file.read_text().strip()).groups()
        sizes.append(int(number) << {"": 0, "K": 10, "M": 20, "G": 30}[unit])
    return max(sizes, default=0) or None

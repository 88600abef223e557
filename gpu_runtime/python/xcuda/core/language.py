"""The names that have a meaning inside a kernel only: thread coordinates, shared memory, atomics, barriers.

The compiler recognises these objects themselves, so `from xcuda.core import grid as g` works. Used outside a kernel
each says so. Axis 0 of a grid is x.
"""

from __future__ import annotations

import functools
import sys

__all__ = [
    "Intrinsic",
    "Namespace",
    "atomic",
    "blockDim",
    "blockIdx",
    "cg",
    "const",
    "grid",
    "gridDim",
    "gridsize",
    "local",
    "shared",
    "shfl_sync_intrinsic",
    "syncthreads",
    "threadIdx",
    "vote_sync_intrinsic",
    "warpsize",
]


def _outside(name: str) -> RuntimeError:
    return RuntimeError(
        f"cuda.{name} has a meaning inside a kernel only: use it in a function under @cuda.kernel"
    )


class Intrinsic:
    """One function of the kernel language; calling it outside a kernel raises RuntimeError."""

    def __init__(self, name: str, signature: str, doc: str):
        self.name = name
        self.__name__ = name.rpartition(".")[2]
        self.__qualname__ = name
        self.__text_signature__ = signature
        self.__doc__ = doc

    def __call__(self, *args, **kwargs):
        raise _outside(f"{self.name}()")

    def __repr__(self) -> str:
        return f"<kernel function cuda.{self.name}>"

    def __reduce__(self):
        return (_find, (self.name,))


class Coordinate(Intrinsic):
    """A triple of thread coordinates, `.x`, `.y` and `.z`; reading one outside a kernel raises RuntimeError."""

    def __init__(self, name: str, doc: str):
        super().__init__(name, "", doc)

    def __repr__(self) -> str:
        return f"<kernel coordinates cuda.{self.name}>"

    @property
    def x(self) -> int:
        """Along the fastest axis."""
        raise _outside(f"{self.name}.x")

    @property
    def y(self) -> int:
        """Along the second axis."""
        raise _outside(f"{self.name}.y")

    @property
    def z(self) -> int:
        """Along the third axis."""
        raise _outside(f"{self.name}.z")


class Namespace:
    """A group of kernel functions: `shared`, `local`, `atomic`, `const`."""

    def __init__(self, name: str, doc: str, **members: Intrinsic):
        self.name = name
        self.__doc__ = doc
        self.__dict__.update(members)

    def __repr__(self) -> str:
        return f"<kernel functions cuda.{self.name}>"

    def __reduce__(self):
        return (_find, (self.name,))


def _find(dotted: str):
    value = getattr(sys.modules[__name__], dotted.partition(".")[0])
    for part in dotted.split(".")[1:]:
        value = getattr(value, part)
    return value


threadIdx = Coordinate("threadIdx", "This thread's place in its block.")
blockIdx = Coordinate("blockIdx", "This block's place in the grid.")
blockDim = Coordinate("blockDim", "Threads of a block along each axis.")
gridDim = Coordinate("gridDim", "Blocks of the grid along each axis.")

grid = Intrinsic(
    "grid",
    "(ndim)",
    "This thread's place in the whole grid: an int for grid(1), a tuple of ndim ints for grid(2) and grid(3).",
)
gridsize = Intrinsic(
    "gridsize",
    "(ndim)",
    "Threads of the whole grid: an int for gridsize(1), a tuple for 2 and 3. The stride of a grid-stride loop.",
)
syncthreads = Intrinsic(
    "syncthreads",
    "()",
    "Waits until every thread of the block is here; writes to shared memory are seen after it.",
)

shfl_sync_intrinsic = Intrinsic(
    "shfl_sync_intrinsic",
    "(mask, mode, value, mode_offset, clamp)",
    "PTX' shfl.sync: (value, whether its lane lay within the segment). Mode 0 is idx, 1 up, 2 down, 3 xor.",
)
vote_sync_intrinsic = Intrinsic(
    "vote_sync_intrinsic",
    "(mask, mode, predicate)",
    "PTX' vote.sync: (ballot, vote). Mode 0 is all, 1 any, 2 eq, 3 ballot.",
)
warpsize = 32

shared = Namespace(
    "shared",
    "Memory that the threads of a block share.",
    array=Intrinsic(
        "shared.array",
        "(shape, dtype, alignment=None)",
        "An array shared by the block's threads. `shape`: an int or a tuple of ints known when the kernel is "
        "compiled; 0 gives the launch's dynamic shared memory. `alignment`: it begins at a multiple of so many bytes, "
        "a power of two. Not initialised.",
    ),
)
local = Namespace(
    "local",
    "Memory of one thread.",
    array=Intrinsic(
        "local.array",
        "(shape, dtype, alignment=None)",
        "An array of this thread's own, of a shape known when the kernel is compiled. `alignment`: it begins at a "
        "multiple of so many bytes, a power of two. Not initialised.",
    ),
)
const = Namespace(
    "const",
    "Constant memory.",
    array_like=Intrinsic(
        "const.array_like",
        "(ndarray)",
        "A global NumPy array as the kernel was compiled with it: at most 64 KiB, in constant memory on CUDA; a change "
        "of its elements compiles anew. Naming a global array does the same.",
    ),
)

cg = Namespace(
    "cg",
    "Cooperative groups.",
    this_grid=Intrinsic(
        "cg.this_grid",
        "()",
        "The grid: its sync() waits until every thread of every block is there. The launch is a cooperative one then, "
        "whose blocks must all be resident at once.",
    ),
)

_ATOMIC = "`index` is an int, or a tuple with one int an axis. Gives the old value, of the array's dtype."
atomic = Namespace(
    "atomic",
    "Read-modify-write that no other thread can come between.",
    add=Intrinsic("atomic.add", "(array, index, value)", f"array[index] += value. {_ATOMIC}"),
    sub=Intrinsic("atomic.sub", "(array, index, value)", f"array[index] -= value. {_ATOMIC}"),
    max=Intrinsic(
        "atomic.max",
        "(array, index, value)",
        f"array[index] = max(array[index], value); a NaN in the array stays, a NaN value is ignored. {_ATOMIC}",
    ),
    min=Intrinsic(
        "atomic.min",
        "(array, index, value)",
        f"array[index] = min(array[index], value); a NaN in the array stays, a NaN value is ignored. {_ATOMIC}",
    ),
    nanmax=Intrinsic(
        "atomic.nanmax",
        "(array, index, value)",
        f"array[index] = numpy.fmax(array[index], value): a number takes a NaN's place. {_ATOMIC}",
    ),
    nanmin=Intrinsic(
        "atomic.nanmin",
        "(array, index, value)",
        f"array[index] = numpy.fmin(array[index], value): a number takes a NaN's place. {_ATOMIC}",
    ),
    inc=Intrinsic(
        "atomic.inc",
        "(array, index, value)",
        f"array[index] = 0 if array[index] >= value else array[index] + 1; unsigned. {_ATOMIC}",
    ),
    dec=Intrinsic(
        "atomic.dec",
        "(array, index, value)",
        "array[index] = value if array[index] == 0 or array[index] > value else array[index] - 1; unsigned. "
        f"{_ATOMIC}",
    ),
    exch=Intrinsic("atomic.exch", "(array, index, value)", f"array[index] = value. {_ATOMIC}"),
    cas=Intrinsic(
        "atomic.cas", "(array, index, old, value)", f"array[index] = value where it holds old. {_ATOMIC}"
    ),
    compare_and_swap=Intrinsic(
        "atomic.compare_and_swap", "(array, old, value)", f"atomic.cas(array, 0, old, value). {_ATOMIC}"
    ),
    and_=Intrinsic("atomic.and_", "(array, index, value)", f"array[index] &= value. {_ATOMIC}"),
    or_=Intrinsic("atomic.or_", "(array, index, value)", f"array[index] |= value. {_ATOMIC}"),
    xor=Intrinsic("atomic.xor", "(array, index, value)", f"array[index] ^= value. {_ATOMIC}"),
)


_CACHES = {
    "ca": "kept in every level of cache",
    "cg": "kept in L2 only",
    "cs": "likely to be used once",
    "lu": "not used again",
    "cv": "fetched anew",
    "wb": "written back when its line leaves the cache",
    "wt": "written through to memory",
}


def _cache_operator(name: str) -> Intrinsic:
    stores, what = name.startswith("st"), _CACHES[name[2:]]
    return Intrinsic(
        name,
        "(array, index, value)" if stores else "(array, index)",
        f"{'array[index] = value' if stores else 'array[index]'} in global memory, {what} (PTX' cache operator). "
        "`index` is an int, or a tuple with one int an axis. On the CPU device a plain access.",
    )


_OPERATORS = {
    name: _cache_operator(name)
    for name in ("ldca", "ldcg", "ldcs", "ldlu", "ldcv", "stcg", "stcs", "stwb", "stwt")
}


@functools.cache
def _table() -> dict[str, Intrinsic]:
    """The functions of the compiler's table that are spelled cuda.something, by that."""
    from xcuda import _runtime

    return _OPERATORS | {
        spelling[5:]: Intrinsic(spelling[5:], "(...)", doc)
        for _, spellings, _, doc in _runtime.kernel_functions()
        for spelling in spellings
        if spelling.startswith("cuda.")
    }


def __getattr__(name: str):
    table = _table()
    if name in table:
        return table[name]
    members = {key[len(name) + 1 :]: value for key, value in table.items() if key.startswith(f"{name}.")}
    if members:
        group = globals()[name] = Namespace(name, f"The kernel functions cuda.{name}.*", **members)
        return group
    raise AttributeError(f"module 'xcuda.core.language' has no attribute '{name}'")


def table_names() -> list[str]:
    """The names that __getattr__ gives."""
    return sorted({key.partition(".")[0] for key in _table()})

"""Kernels written in blocks of an array: `tile_kernel`, and the functions of tiles for use inside.

    @tiles.tile_kernel(tile_size=(16, 16))
    def matmul(A, B, result):
        a = tiles.load_shared(A)
        b = tiles.load_shared(B)
        tiles.store(result, tiles.compute(a @ b))

The program runs once for each tile of the result. `tile_size` states the unit of the result; which tiles the machine
works in, and the loop over the inner dimension, are the compiler's. The explicit level (`bid`, `load(A, index, shape)`,
`mma`, ...) has the names of NVIDIA's cuTile.
"""

import enum

import numpy as _np

from xcuda.tiles.autotune import autotune
from xcuda.tiles.functions import FUNCTIONS, TileFunction, table_names
from xcuda.tiles.kernels import Constant, ConstantAnnotation, launch, tile_kernel

kernel = tile_kernel


class PaddingMode(enum.Enum):
    """What `load` and `gather` give outside the array."""

    ZERO = "zero"
    NEG_ZERO = "neg_zero"
    NAN = "nan"
    POS_INF = "pos_inf"
    NEG_INF = "neg_inf"
    UNDETERMINED = "undetermined"


bool_ = _np.bool_
int8, int16, int32, int64 = _np.int8, _np.int16, _np.int32, _np.int64
uint8, uint16, uint32, uint64 = _np.uint8, _np.uint16, _np.uint32, _np.uint64
float16, float32, float64 = _np.float16, _np.float32, _np.float64

__all__ = ["Constant", "ConstantAnnotation", "PaddingMode", "autotune", "kernel", "launch", "tile_kernel"]


def __getattr__(name):
    if name == "bfloat16":
        from xcuda.core import bfloat16

        return bfloat16
    if name in FUNCTIONS or name in table_names():
        made = globals()[name] = TileFunction(f"tiles.{name}", *FUNCTIONS.get(name, ("(x, ...)", "")))
        return made
    raise AttributeError(f"module 'xcuda.tiles' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *FUNCTIONS, *table_names()})

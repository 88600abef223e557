"""`reduce`: a function of two numbers, folded over an array on the current device."""

from __future__ import annotations

import functools
import re
import types

import numpy as np

from xcuda.core.generated import kernel_from

__all__ = ["Reduce", "reduce"]

_BLOCK, _MOST_BLOCKS = 256, 256

_TEXT = """def {name}(out, x, n):
    part = cuda.shared.array({block}, DTYPE)
    t = cuda.threadIdx.x
    first = cuda.grid(1)
    if first < n:
        value = x[first]
        for i in range(first + cuda.gridsize(1), n, cuda.gridsize(1)):
            value = DTYPE(function(value, x[i]))
        part[t] = value
    cuda.syncthreads()
    here = min({block}, n - cuda.blockIdx.x * {block})
    step = {block} // 2
    while step > 0:
        if t < step and t + step < here:
            part[t] = function(part[t], part[t + step])
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]
"""


class Reduce:
    """What @reduce gives: call it with an array.

    The function must be associative and commutative: in which order elements meet is not told, but it is the same for
    the same length.
    """

    def __init__(self, function):
        if not isinstance(function, types.FunctionType):
            raise TypeError(
                f"a plain Python function of two numbers is needed, not a {type(function).__name__}"
            )
        self.py_func = function
        self._kernels = {}
        functools.update_wrapper(self, function)

    def __call__(self, arr, size=None, res=None, init=0, stream=None):
        """Folds the first `size` elements (all where it is None) of a 1-d array, and `init` with them.

        res: a device array whose first element takes the result; then nothing is given back. An empty array gives init.
        """
        if arr.ndim != 1:
            raise TypeError(f"reduce() folds a 1-d array, found {arr.ndim} dimensions; write arr.reshape(-1)")
        n = arr.shape[0] if size is None else size
        if not 0 <= n <= arr.shape[0]:
            raise ValueError(f"size is {n}, the array's length {arr.shape[0]}")
        total = np.dtype(arr.dtype).type(init) if n == 0 else self._with(init, self.fold(arr, n, stream))
        if res is None:
            return total
        res[0:1].copy_to_device(np.array([total], res.dtype))
        return None

    def fold(self, arr, n=None, stream=None):
        """The first `n` elements, one at least, folded with nothing else."""
        from xcuda.core import arrays

        dtype = np.dtype(arr.dtype)
        n = arr.shape[0] if n is None else n
        blocks = min(-(-n // _BLOCK), _MOST_BLOCKS)
        kernel = self.kernel(dtype)
        more = (stream,) if stream else ()
        parts = arrays.device_array(blocks, dtype)
        kernel[(blocks, _BLOCK, *more)](parts, arr, n)
        if blocks > 1:
            one = arrays.device_array(1, dtype)
            kernel[(1, _BLOCK, *more)](one, parts, blocks)
            parts = one
        if stream:
            stream.synchronize()
        return parts.copy_to_host()[0]

    def _with(self, init, total):
        with np.errstate(all="ignore"):
            return total.dtype.type(self.py_func(total.dtype.type(init), total))

    def kernel(self, dtype):
        """The kernel that folds arrays of this dtype: `r.kernel("float32").compile(types, target="sm_90")`."""
        dtype = np.dtype(dtype)
        if dtype not in self._kernels:
            from xcuda import core

            name = re.sub(r"\W", "_", self.__name__) + "_kernel"
            text = _TEXT.format(name=name, block=_BLOCK)
            names = {"cuda": core, "function": self.py_func, "DTYPE": dtype.type}
            self._kernels[dtype] = kernel_from(text, name, names, "reduce")
        return self._kernels[dtype]


reduce = Reduce

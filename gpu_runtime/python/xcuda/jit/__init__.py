"""Kernels compiled for a named target, at a named level, and kernels as files.

    from xcuda.jit import compile_kernel, load

    @compile_kernel(target="gpu", optimize="aggressive")
    def scale(x, factor):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= factor

    scale(x, 2.0)
    scale.save("scale.xcuda")  # another process: load("scale.xcuda")(x, 2.0), without compiler and source

What `compile_kernel` gives is a kernel as `cuda.kernel` gives it: `k[grid, block](...)`, `k.compile(...)`,
`k.inspect_source()`, `await k.async_call(...)`, `k.bind(...)`.
"""

from xcuda.jit.compile import OPTIMIZE, TARGETS, compile_kernel
from xcuda.jit.files import load

__all__ = ["OPTIMIZE", "TARGETS", "compile_kernel", "load"]

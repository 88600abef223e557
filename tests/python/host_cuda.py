"""CUDA text run on the host: the emitted text of a kernel, compiled by the host's C++ compiler, thread after thread.

For kernels whose threads do not meet. What is run is the text that NVRTC gets, with the checks hoisted, the loops polled
and the integers narrowed that a GPU would see; the GPU's own words are put in by a few lines of C++.
"""

import ctypes
import functools
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

COMPILER = shutil.which("g++") or shutil.which("c++")
SHIM = """
#include <math.h>
#include <setjmp.h>
#define __device__
#define __global__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static
#define __align__(n) alignas(n)
struct host_dim { unsigned x, y, z; };
static host_dim threadIdx, blockIdx, blockDim, gridDim;
static jmp_buf host_exit;
template <class T> static T atomicCAS(T* p, T expected, T value) { T old = *p; if (old == expected) *p = value; return old; }
template <class T> static T atomicAdd(T* p, T value) { T old = *p; *p = old + value; return old; }
static float __int_as_float(int x) { float y; __builtin_memcpy(&y, &x, 4); return y; }
static double __longlong_as_double(long long x) { double y; __builtin_memcpy(&y, &x, 8); return y; }
static int __float_as_int(float x) { int y; __builtin_memcpy(&y, &x, 4); return y; }
static long long __double_as_longlong(double x) { long long y; __builtin_memcpy(&y, &x, 8); return y; }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned __int128)a * b >> 64; }
"""
HALF = """struct f16 {
    _Float16 v;
    f16() = default;
    explicit f16(float x) : v((_Float16)x) {}
    explicit f16(double x) : v((_Float16)x) {}
    explicit operator float() const { return v; }
};"""
RUN = """
extern "C" int host_run(const void* arguments, void* fault, const unsigned* grid, const unsigned* block) {
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    for (unsigned b = 0; b < grid[0] * grid[1] * grid[2]; ++b)
        for (unsigned t = 0; t < block[0] * block[1] * block[2]; ++t) {
            blockIdx = {b % grid[0], b / grid[0] % grid[1], b / grid[0] / grid[1]};
            threadIdx = {t % block[0], t / block[0] % block[1], t / block[0] / block[1]};
            if (!setjmp(host_exit)) ENTRY(*(const ENTRY_arguments*)arguments, (xc_fault*)fault);
        }
    return ((xc_fault*)fault)->kind & 0xff;
}
"""


def need_compiler():
    """Skips a test where there is no C++ compiler."""
    if COMPILER is None:
        pytest.skip("no C++ compiler on this machine")


def host_text(full_text, entry, shim=SHIM, run=RUN):
    """The text that the host's compiler takes; shim, run: what stands before and behind it."""
    text = re.sub(r"struct f16 \{.*?\n\};", lambda _: HALF, full_text, count=1, flags=re.DOTALL)
    text = text.replace('asm volatile("exit;");', "longjmp(host_exit, 1);")
    text = re.sub(r'asm volatile\(\s*"\{.*?\);', "", text, flags=re.DOTALL)  # the poll's load
    text = re.sub(r"^#line.*$", "", text, flags=re.MULTILINE)
    return shim + text + run.replace("ENTRY", entry)


@functools.lru_cache(maxsize=256)
def library(full_text, entry):
    """The kernel's text as a library of the host."""
    return compiled(host_text(full_text, entry))


def compiled(text, optimised="-O2"):
    """The library that the host's compiler makes of a text."""
    folder = Path(tempfile.mkdtemp(prefix="xcuda-host-"))
    source, made = folder / "kernel.cpp", folder / "kernel.so"
    source.write_text(text)
    options = ["-std=c++17", optimised, "-w", "-fpermissive", "-ffp-contract=off", "-shared", "-fPIC"]
    result = subprocess.run(
        [COMPILER, *options, "-o", str(made), str(source)], capture_output=True, text=True, timeout=600
    )
    if result.returncode:
        raise RuntimeError("the CUDA text does not compile on the host:\n" + result.stderr[:3000])
    loaded = ctypes.CDLL(str(made))
    shutil.rmtree(folder)
    return loaded


def packed(arguments):
    """The kernel's argument struct: address, lengths and strides of an array, 8 bytes of a number."""
    words = []
    for value in arguments:
        if isinstance(value, np.ndarray):
            words.append(value.ctypes.data)
            words += value.shape
            words += [s // value.itemsize for s in value.strides]
            continue
        if not isinstance(value, np.generic):
            value = np.asarray(value)[()]
        words.append(int.from_bytes(value.tobytes().ljust(8, bytes(1)), "little"))
    return (ctypes.c_uint64 * max(1, len(words)))(*(w & (2**64 - 1) for w in words))


def launch(kernel, grid, block, *arguments, target="sm_90", library=library):
    """Runs the kernel's CUDA text on the host over NumPy arrays; gives the kind of the first fault, 0 for none.

    library: host_gpu's has a thread of the system for each of a block's, which can meet at a barrier.
    """
    need_compiler()
    version = kernel.compile(tuple(arguments), target=target)
    run = library(version["full_text"], version["entry"]).host_run
    shape = [(ctypes.c_uint * 3)(*(*np.atleast_1d(n), 1, 1)[:3]) for n in (grid, block)]
    fault = (ctypes.c_char * 256)()
    return run(packed(arguments), fault, *shape)

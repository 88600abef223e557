"""Whether NVRTC's own cache, in the driver from CUDA 12.9 on, tells options apart: one text, exact and by fast math, compiled with
the cache and without.

    python tests/gpu/nvrtc_cache.py

Prints a row a compile, in the order in which they were made: options, bytes and hash of the machine code, what the trace says.
Ends with 1 where fast math's machine code is the exact one's though --no-cache was given; xcuda gives it."""

import ctypes
import hashlib
import sys

from xcuda import _runtime
from xcuda import core as cuda

TEXT = """extern "C" __global__ void k(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sinf(x[i]) / y[i] + %d;
}"""


def compiled(library, text, options):
    """(machine code, log)."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    check(library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"k.cu", 0, None, None))
    given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    check(library.nvrtcCompileProgram(program, len(options), given))
    check(library.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
    log = ctypes.create_string_buffer(size.value)
    check(library.nvrtcGetProgramLog(program, log))
    check(library.nvrtcGetCUBINSize(program, ctypes.byref(size)))
    code = ctypes.create_string_buffer(size.value)
    check(library.nvrtcGetCUBIN(program, code))
    return code.raw, log.value.decode()


def check(result):
    if result:
        sys.exit(f"NVRTC answered {result}")


def main():
    cuda.zeros(1)  # a context
    row = next(row for row in _runtime.libraries() if row["name"] == "NVRTC")
    print(row["version"], row["file"])
    library = ctypes.CDLL(row["file"])
    base = ["--gpu-architecture=sm_%d%d" % cuda.Device().compute_capability, "--std=c++17", "--minimal"]
    base += ["--ptxas-options=-v", "--enable-cache-trace"]
    same = {}
    for number, more in enumerate(([], ["--no-cache"])):
        codes = []
        for options in ([], ["--use_fast_math"], ["--fmad=false"], ["--maxrregcount=16"], []):
            code, log = compiled(library, TEXT % number, [*base, *options, *more])
            codes.append(code)
            told = "; ".join(line for line in log.splitlines() if "cache" in line.lower())
            spills = "with ptxas' words" if "registers" in log else "without ptxas' words"
            digest = hashlib.sha256(code).hexdigest()[:12]
            print(" ".join([*options, *more]) or "(none)", len(code), digest, spills, told, sep=" | ")
        same[bool(more)] = codes[0] == codes[1]
    print(f"fast math is the exact code: with the cache {same[False]}, without {same[True]}")
    sys.exit(same[True])


if __name__ == "__main__":
    main()

"""Products by bulk tensor copies on this GPU: which plans end and are right, how long each step takes, where one hangs.

    python tests/gpu/bulk_probe.py [--seconds 58] [--patience 8] [--only "float16 128x256"] [--compare]

Each plan runs in a process of its own that tells each step (compiled, launched, ended) with the time, and is ended after
`patience` seconds without a word. A shape that hung, or was wrong, runs again with the same text compiled apart: gates wait
at most a second, then tell their state, with tensor maps encoded here; then with no copies at all, which tells gates
from copies. Needs NumPy alone. Ends with 1 where a plan hung or was wrong.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import select
import subprocess
import sys
import time

import numpy as np

BEGUN = time.perf_counter()
EXACT = [(128, 64, 256), (128, 256, 256), (256, 1024, 512), (1024, 1024, 1024), (4096, 4096, 4096)]
TALL = [(16384, 1024, 1024), (1024, 16384, 1024)]
RAGGED = [(1000, 776, 1304), (130, 64, 72), (16, 8, 2048), (257, 1040, 16)]
BULK = {"products": "wgmma", "copies": "bulk"}
# name: (type, sum, which of the kernels, what is asked of the plan, shapes)
PLANS = {
    "float16 128x256 s4": (
        "f2",
        "f2",
        "plain",
        {"unit": [128, 256], "threads": 256, "stages": 4},
        EXACT + RAGGED,
    ),
    "float16 wgmma 128x128 s3": (
        "f2",
        "f2",
        "plain",
        {"unit": [128, 128], "threads": 256, "stages": 3, "copies": "threads"},
        EXACT[-2:] + RAGGED,
    ),
    "float16 128x128 s6": (
        "f2",
        "f2",
        "plain",
        {"unit": [128, 128], "threads": 256, "stages": 6},
        EXACT[-2:] + RAGGED,
    ),
    "float16 256x128 s4": (
        "f2",
        "f2",
        "plain",
        {"unit": [256, 128], "threads": 512, "stages": 4},
        EXACT[-2:] + RAGGED[:1],
    ),
    "float16 by columns 64x256 s5": (
        "f2",
        "f4",
        "turned",
        {"unit": [64, 256], "threads": 128, "stages": 5},
        EXACT[-2:] + RAGGED[:2],
    ),
    "int8 128x128 s6": (
        "i1",
        "i4",
        "turned",
        {"unit": [128, 128], "depth": 128, "threads": 256, "stages": 6},
        [*EXACT[-2:], (1000, 784, 1304)],
    ),
    "float16 64x64 s2": (
        "f2",
        "f2",
        "plain",
        {"unit": [64, 64], "threads": 128, "stages": 2},
        EXACT[:3] + RAGGED[:2],
    ),
    "float16 128x256 s4, pairs": (
        "f2",
        "f2",
        "plain",
        {"unit": [128, 256], "threads": 256, "stages": 4},
        TALL + RAGGED[:2],
    ),
    "float16 128x256 s4, lines": (
        "f2",
        "f2",
        "plain",
        {"unit": [128, 256], "threads": 256, "stages": 4, "stores": "lines"},
        TALL + EXACT[2:] + RAGGED,
    ),
    "float16 layer 128x256 s4, lines": (
        "f2",
        "f2",
        "layer",
        {"unit": [128, 256], "threads": 256, "stages": 4, "stores": "lines"},
        [*EXACT[-2:], (1000, 776, 1304)],
    ),
    "float16 layer 128x256 s4": (
        "f2",
        "f2",
        "layer",
        {"unit": [128, 256], "threads": 256, "stages": 4},
        [*EXACT[-2:], (1000, 776, 1304)],
    ),
}


def arrays_and_kernel(name, shape):
    from xcuda import core, tiles

    dtype, into, which, asked, _ = PLANS[name]
    m, k, n = shape
    chance = np.random.default_rng(7)

    def plain(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))

    def turned(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B).T))

    def layer(A, B, bias, C):
        whole = tiles.load_shared(A) @ tiles.load_shared(B) + tiles.load_shared(bias)
        tiles.store(C, tiles.compute(tiles.maximum(whole, 0)))

    function = {"plain": plain, "turned": turned, "layer": layer}[which]
    kernel = tiles.tile_kernel(function, tile_size=(16, 16), plan={"depth": 64, **BULK, **asked})
    A = chance.integers(-4, 5, (m, k)).astype(dtype)
    B = chance.integers(-4, 5, (n, k) if which == "turned" else (k, n)).astype(dtype)
    right = A.astype("f4") @ (
        B.astype("f4").T if which == "turned" else B.astype("f4")
    )  # whole numbers: exact
    C = core.full((m, n), 77, into)
    given = [core.to_device(A), core.to_device(B)]
    if which == "layer":
        bias = chance.integers(-9, 10, n).astype("f4")
        right = np.maximum(right + bias, 0)
        given.append(core.to_device(bias))
    return kernel, (*given, C), right.astype(into)


def tell(**row):
    print(json.dumps({"at": round(time.perf_counter() - BEGUN, 2), **row}), flush=True)


def verdict(found, right):
    wrong = np.argwhere(found != right)
    if not len(wrong):
        return "right"
    lines = sorted({int(r) for r, _ in wrong[:100000]})
    return (
        f"wrong in {len(wrong)} of {right.size}: first at {wrong[0].tolist()}, {found[tuple(wrong[0])]} for "
        f"{right[tuple(wrong[0])]}; last at {wrong[-1].tolist()}; rows {lines[:4]}..{lines[-1]}"
    )


def run(name):
    """A plan through the runtime."""
    from xcuda import core

    tell(step="imported, GPU " + core.Device().name)
    for shape in PLANS[name][-1]:
        kernel, args, right = arrays_and_kernel(name, shape)
        tell(step="arrays", shape=shape)
        kernel(*args)
        bulk = "xc_tile_flow_take" in kernel.inspect_source()
        tell(step="compiled and launched", shape=shape, bulk=bulk)
        core.synchronize()
        tell(step="ended", shape=shape)
        row = {"step": "checked", "shape": shape, "is": verdict(args[-1].copy_to_host(), right)}
        if min(shape) >= 1024:
            best = 1e9
            for _ in range(5):
                begin = time.perf_counter()
                for _ in range(10):
                    kernel(*args)
                core.synchronize()
                best = min(best, (time.perf_counter() - begin) / 10)
            row["tflops"] = round(2 * shape[0] * shape[1] * shape[2] / best / 1e12, 1)
        tell(**row)


# --- the same text with gates that lose patience -------------------------------------------------------------------

GUARDED = """
__device__ unsigned int xc_told[1 + 6 * 128];
XC_DEVICE void xc_tile_pass(const u64* gate, u32 parity) {
    const u32 at = xc_tile_gate(gate);
    const long long begin = clock64();
    for (;;) {
        u32 open;
        asm volatile("{\\n.reg .pred p;\\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\\n"
                     "selp.u32 %0, 1, 0, p;\\n}\\n" : "=r"(open) : "r"(at), "r"(parity) : "memory");
        if (open) return;
        if (clock64() - begin > 1500000000ll) {
            if ((threadIdx.x & 31) == 0) {
                const u32 slot = atomicAdd(&xc_told[0], 1u);
                if (slot < 128) {
                    const u64 state = *(volatile const u64*)gate;
                    u32* row = (u32*)xc_told + 1 + 6 * slot;
                    row[0] = threadIdx.x; row[1] = blockIdx.x + gridDim.x * blockIdx.y; row[2] = at;
                    row[3] = parity; row[4] = (u32)state; row[5] = (u32)(state >> 32);
                }
            }
            asm volatile("exit;");
        }
    }
}
"""
PASS = re.compile(r"XC_DEVICE void xc_tile_pass\(.*?#endif\n\}\n", re.DOTALL)
BOXES = re.compile(
    r"xc_tile_flow_give<\d+, 2, (\d+), \d+, -?\d+, -?\d+, 2, (\d+), [^>]*>"
    r"\{xc_args\.map(\d), xc_args\.map(\d)\}"
)


def variants(text):
    """(name, text): as it is but for the patience; then without copies: their gates open at once."""
    guarded, n = PASS.subn(lambda _: GUARDED, text)
    assert n == 1, "the prelude's xc_tile_pass is written in another way"
    none = re.sub(r"\(u32\)\(\(RA \* CA \+ RB \* CB\) \* sizeof\(T\)\)", "0u", guarded)
    none = re.sub(r"xc_tile_box<AXES_[AB]>\(", "if (false) xc_tile_box<2>(", none)
    assert none != guarded
    return [("gates with patience", guarded), ("no copies", none)]


class Called:
    """Functions of a library, whose results other than 0 raise."""

    def __init__(self, path):
        self.of = ctypes.CDLL(path)

    def __call__(self, name, *args):
        result = getattr(self.of, name)(*args)
        if result:
            raise RuntimeError(f"{name} gave {result}")


def compiled(text, entry):
    from xcuda import _runtime

    nvrtc = Called(next(row["file"] for row in _runtime.libraries() if row["name"] == "NVRTC"))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc("nvrtcCreateProgram", ctypes.byref(program), text.encode(), b"probe.cu", 0, None, None)
    options = [b"--gpu-architecture=sm_90a", b"--std=c++17", b"-default-device", b"-w"]
    try:
        nvrtc("nvrtcCompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*options))
    except RuntimeError:
        nvrtc("nvrtcGetProgramLogSize", program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc("nvrtcGetProgramLog", program, log)
        raise RuntimeError(log.value.decode()[:2000]) from None
    nvrtc("nvrtcGetCUBINSize", program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc("nvrtcGetCUBIN", program, cubin)
    return cubin


def encoded(cuda, array, rows):
    """Boxes of rows x 128 bytes, swizzled; the memory begins at a multiple of 64."""
    size = array.dtype.itemsize
    memory = ctypes.create_string_buffer(256)
    at = (ctypes.addressof(memory) + 63) // 64 * 64
    kind = {"f2": 6, "i1": 0, "f4": 7}[array.dtype.str[1:]]
    lengths, steps = (ctypes.c_uint64 * 2)(*array.shape[::-1]), (ctypes.c_uint64 * 1)(array.shape[1] * size)
    box, each = (ctypes.c_uint32 * 2)(128 // size, rows), (ctypes.c_uint32 * 2)(1, 1)
    address = ctypes.c_void_p(array.__cuda_array_interface__["data"][0])
    cuda(
        "cuTensorMapEncodeTiled", ctypes.c_void_p(at), kind, 2, address, lengths, steps, box, each, 0, 3, 3, 0
    )
    return ctypes.string_at(at, 128)


def told_by(state):
    """A gate's word, by what mbarrier.init and expect_tx write there on sm_90: negative counts."""
    return {
        "word": f"{state:#018x}",
        "phase": state >> 63,
        "arrivals missing": -((state >> 43 & 0xFFFFF) - (1 << 20)) % (1 << 20),
        "bytes": state >> 21 & 0x3FFFFF,
    }


def guarded(name, shape):
    kernel, args, right = arrays_and_kernel(name, shape)
    made = kernel.compile(args, target="sm_90")
    tell(step="compiled by the runtime", compile_s=round(made["seconds"], 2))
    cuda = Called(os.environ.get("XCUDA_DRIVER", "libcuda.so.1"))
    context = ctypes.c_void_p()
    cuda("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    cuda("cuCtxSetCurrent", context)
    asked = PLANS[name][3]
    boxes = BOXES.search(made["text"])
    rows, which = [int(boxes[1]), int(boxes[2])], [int(boxes[3]), int(boxes[4])]
    words = b""
    for a in args:
        steps = [int(np.prod(a.shape[d + 1 :])) for d in range(a.ndim)]
        words += np.array([a.__cuda_array_interface__["data"][0], *a.shape, *steps], np.int64).tobytes()
    words += bytes(-len(words) % 64)
    maps = [b"", b""]
    for array, box, place in zip(args, rows, which, strict=False):
        maps[place] = encoded(cuda, array, box)
    packed = ctypes.create_string_buffer(512)
    start = (ctypes.addressof(packed) + 63) // 64 * 64
    words += maps[0] + maps[1]
    ctypes.memmove(start, words, len(words))
    record = ctypes.c_void_p()
    cuda("cuMemAlloc_v2", ctypes.byref(record), ctypes.c_size_t(4096))
    cuda("cuMemsetD8Async", record, 0, ctypes.c_size_t(4096), None)
    down = -(-shape[0] // asked["unit"][0])
    grid = (min(132, -(-shape[2] // asked["unit"][1]) * down), 1)
    for variant, text in variants(made["full_text"]):
        begin = time.perf_counter()
        cubin = compiled(text, made["entry"])
        tell(step="compiled", variant=variant, compile_s=round(time.perf_counter() - begin, 2))
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        cuda("cuModuleLoadData", ctypes.byref(module), cubin)
        cuda("cuModuleGetFunction", ctypes.byref(function), module, made["entry"].encode())
        shared = made["shared_bytes"] + 1024
        cuda("cuFuncSetAttribute", function, 8, shared)
        pointers = (ctypes.c_void_p * 2)(start, ctypes.addressof(record))
        block = made["block"][0]
        cuda("cuLaunchKernel", function, *grid, 1, block, 1, 1, shared, None, pointers, None)
        tell(step="launched", variant=variant)
        cuda("cuCtxSynchronize")
        place, size = ctypes.c_void_p(), ctypes.c_size_t()
        cuda("cuModuleGetGlobal_v2", ctypes.byref(place), ctypes.byref(size), module, b"xc_told")
        told = np.zeros(1 + 6 * 128, np.uint32)
        cuda(
            "cuMemcpyDtoHAsync_v2",
            ctypes.c_void_p(told.ctypes.data),
            place,
            ctypes.c_size_t(told.nbytes),
            None,
        )
        cuda("cuCtxSynchronize")
        tell(step="ended", variant=variant, gave_up=int(told[0]), shape=shape)
        for row in told[1:].reshape(-1, 6)[: min(int(told[0]), 12)]:
            thread, block_id, gate, parity, low, high = map(int, row)
            tell(thread=thread, block=block_id, gate=hex(gate), parity=parity, **told_by(low | high << 32))
        if variant != "no copies":
            tell(
                step="checked",
                variant=variant,
                shape=shape,
                **{"is": verdict(args[-1].copy_to_host(), right)},
            )


# --- the parent ----------------------------------------------------------------------------------------------------


def rows_of(arguments, patience, end):
    process = subprocess.Popen(
        [sys.executable, __file__, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ,
    )
    text, ended, heard = "", "", time.monotonic()
    while True:
        left = min(heard + patience, end) - time.monotonic()
        ready = left > 0 and select.select([process.stdout], [], [], left)[0]
        if not ready:
            ended = "the time is over" if time.monotonic() >= end else f"no word for {patience} s"
            process.kill()
            break
        more = os.read(process.stdout.fileno(), 1 << 16).decode(errors="replace")
        if not more:
            ended = "" if process.wait() == 0 else f"exit status {process.returncode}"
            break
        text, heard = text + more, time.monotonic()
    process.wait()
    rows = [json.loads(line) for line in text.splitlines() if line.startswith('{"at"')]
    rest = [line for line in text.splitlines() if not line.startswith('{"at"')]
    return rows, ended, rest


def show(rows, ended, rest):
    for row in rows:
        print("   ", ", ".join(f"{k} {v}" for k, v in row.items()), flush=True)
    for line in rest[-6:]:
        print("    |", line)
    if ended:
        print("    ENDED:", ended, flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=58)
    parser.add_argument("--patience", type=float, default=8)
    parser.add_argument("--only", action="append", choices=sorted(PLANS))
    parser.add_argument("--compare", action="store_true", help="sums stored in pairs against lines, alone")
    parser.add_argument("--run")
    parser.add_argument("--guarded", nargs=2)
    asked = parser.parse_args()
    if asked.run:
        return run(asked.run)
    if asked.guarded:
        return guarded(asked.guarded[0], json.loads(asked.guarded[1]))
    end, bad = time.monotonic() + asked.seconds, []
    compared = [n for n in PLANS if n.endswith(("pairs", "lines"))] if asked.compare else None
    for name in asked.only or compared or PLANS:
        if end - time.monotonic() < 4:
            print(f"{name}: not tried, the time is over")
            continue
        rows, ended, rest = rows_of(["--run", name], asked.patience, end)
        print(f"\n{name}")
        show(rows, ended, rest)
        failed = next((r["shape"] for r in rows if r.get("is", "right") != "right"), None)
        if ended and failed is None:
            failed = next((r["shape"] for r in reversed(rows) if "shape" in r), PLANS[name][-1][0])
        if failed is None:
            continue
        bad.append(name)
        if PLANS[name][3].get("copies") != "threads" and end - time.monotonic() > 4 and len(bad) < 3:
            print(f"{name}, {failed}: again, with gates that lose patience")
            show(*rows_of(["--guarded", name, json.dumps(failed)], asked.patience, end))
    print("\nhung or wrong: " + (", ".join(bad) or "none"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

"""The CUDA device beside CUDA C++, CuPy, cuda.core and numba-cuda, in one run: times, ratios, the goals of the design.

Needs a GPU, and in the same Python: numpy, cupy, cuda-core and cuda-bindings; numba-cuda where it is there; nvcc for
the rows of CUDA C++. Prints Markdown tables; every contestant's result is checked first.
"""

import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import _nvcc
import numpy as np
from _measure import goal

OURS = "xcuda"
SMALL = 1024
SIDE = 2048
LONG = 1 << 27


def say(*words):
    print(*words, flush=True)


def rows(title, unit, figures, ours=OURS):
    """A table: contestant, figure, contestant / ours (more than 1: we are faster)."""
    say(f"\n| {title} | {unit} | / {ours} |\n| --- | ---: | ---: |")
    for name, value in figures.items():
        ratio = "" if name == ours or ours not in figures else f"{value / figures[ours]:.2f}"
        say(f"| {name} | {value:.3g} | {ratio} |")


# -- first kernel ----------------------------------------------------------------------------------

FIRST = {
    OURS: """
from xcuda import core as cuda
x = cuda.zeros(1024, "float32"); cuda.synchronize()
made = time.perf_counter()
@cuda.kernel
def k(y, a):
    i = cuda.grid(1)
    if i < y.shape[0]:
        y[i] = y[i] * a + 1.5
k[4, 256](x, 2.0); cuda.synchronize()
done = time.perf_counter()
assert x.copy_to_host()[5] == 1.5
""",
    "CuPy RawKernel": """
import cupy
x = cupy.zeros(1024, "float32"); cupy.cuda.Device().synchronize()
made = time.perf_counter()
k = cupy.RawKernel(r'''extern "C" __global__ void k(float* y, float a, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = y[i] * a + 1.5f; }''', "k")
k((4,), (256,), (x, np.float32(2), np.int64(1024))); cupy.cuda.Device().synchronize()
done = time.perf_counter()
assert float(x[5]) == 1.5
""",
    "numba-cuda": """
from numba import cuda
x = cuda.to_device(np.zeros(1024, "float32")); cuda.synchronize()
made = time.perf_counter()
@cuda.jit
def k(y, a):
    i = cuda.grid(1)
    if i < y.shape[0]:
        y[i] = y[i] * a + 1.5
k[4, 256](x, 2.0); cuda.synchronize()
done = time.perf_counter()
assert x.copy_to_host()[5] == 1.5
""",
}


def first_kernel():
    """Milliseconds of the first kernel of a process once the context is made: from its source to its result."""
    figures = {}
    for name, text in FIRST.items():
        for kind in ("", ", from the disk cache"):
            if kind and name == "numba-cuda":
                continue
            times = []
            with tempfile.TemporaryDirectory() as cache:
                env = {**os.environ, "XCUDA_CACHE_DIR": cache, "CUPY_CACHE_DIR": cache}
                script = Path(cache) / "first.py"
                script.write_text("import time, numpy as np\n" + text + "print((done - made) * 1e3)\n")
                for turn in range(4):
                    if turn and not kind:
                        for file in Path(cache).glob("*"):
                            if file != script:
                                shutil.rmtree(file) if file.is_dir() else file.unlink()
                    run = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True)
                    if run.returncode:
                        say(f"{name}: {run.stderr.strip().splitlines()[-1]}")
                        break
                    if turn:
                        times.append(float(run.stdout.split()[-1]))
            if times:
                figures[name + kind] = statistics.median(times)
    rows("first kernel after the context", "ms", figures)
    for name, most in ((OURS, 120), (OURS + ", from the disk cache", 30)):
        if name in figures:
            goal(f"first kernel, ms: {name}", figures[name], most)


# -- a later kernel --------------------------------------------------------------------------------


def bare_nvrtc(text):
    """Milliseconds NVRTC alone takes for a text, with the options that we give it."""
    from cuda.bindings import nvrtc

    options = [
        b"--gpu-architecture=sm_90",
        b"--std=c++17",
        b"-default-device",
        b"-lineinfo",
        b"-w",
        b"--ptxas-options=-v",
        b"--minimal",
    ]
    _, *version = nvrtc.nvrtcVersion()
    if tuple(version) >= (12, 9):
        options.append(b"--no-cache")  # else it answers out of the driver's cache what we have just compiled
    begin = time.perf_counter()
    _, program = nvrtc.nvrtcCreateProgram(text.encode(), b"k.cu", 0, [], [])
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    cubin = b" " * size
    nvrtc.nvrtcGetCUBIN(program, cubin)
    spent = time.perf_counter() - begin
    assert int(result) == 0
    return spent * 1e3


def later_kernel(cuda):
    space = {"cuda": cuda}
    ours, bare = [], []
    x = cuda.zeros(SMALL, "float32")
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(12):
            text = (
                "def k(y, a):\n    i = cuda.grid(1)\n    if i < y.shape[0]:\n        t = 0.0\n"
                f"        for j in range({turn + 3}):\n            t += y[i] * a + {turn}.25\n        y[i] = t\n"
            )
            file = Path(folder) / f"k{turn}.py"
            file.write_text(text)
            exec(compile(text, str(file), "exec"), space)
            begin = time.perf_counter()
            kernel = cuda.kernel(space["k"])
            kernel[4, 256](x, 2.0)
            cuda.synchronize()
            ours.append((time.perf_counter() - begin) * 1e3)
            bare.append(bare_nvrtc(kernel.specialisations[-1]["full_text"] + f"\n// {turn}"))
    figures = {"NVRTC alone": statistics.median(bare[2:]), OURS: statistics.median(ours[2:])}
    rows("a later kernel, not cached", "ms", figures)
    goal("a later kernel, of NVRTC alone", figures[OURS] / figures["NVRTC alone"], 1.15)


# -- launches --------------------------------------------------------------------------------------

CPP = r"""
#include <cuda_runtime.h>
#include <chrono>
struct A { float* p; long long n, s; };
__global__ void add(A c, A a, A b) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < c.n) c.p[i] = a.p[i] + b.p[i];
}
extern "C" double launches(float* c, float* a, float* b, int n, int times) {
    A x{c, n, 1}, y{a, n, 1}, z{b, n, 1};
    cudaDeviceSynchronize();
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) add<<<4, 256>>>(x, y, z);
    cudaDeviceSynchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / times * 1e6;
}
__global__ void naive(float* c, const float* a, const float* b, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && column < n) {
        float t = 0;
        for (int k = 0; k < n; ++k) t += a[row * n + k] * b[k * n + column];
        c[row * n + column] = t;
    }
}
extern "C" void matmul(float* c, float* a, float* b, int n, int x, int y) {
    naive<<<dim3((n + x - 1) / x, (n + y - 1) / y), dim3(x, y)>>>(c, a, b, n);
}
__global__ void axpy(float* y, const float* b, const float* c, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * b[i] + c[i];
}
__global__ void axpy4(float4* y, const float4* b, const float4* c, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 u = b[i], v = c[i];
        y[i] = make_float4(2 * u.x + v.x, 2 * u.y + v.y, 2 * u.z + v.z, 2 * u.w + v.w);
    }
}
extern "C" void scalar(float* y, float* b, float* c, long long n) { axpy<<<(n + 255) / 256, 256>>>(y, b, c, n); }
extern "C" void vector(float* y, float* b, float* c, long long n) {
    axpy4<<<(n / 4 + 255) / 256, 256>>>((float4*)y, (float4*)b, (float4*)c, n / 4);
}
extern "C" void copy(float* y, float* b, float*, long long n) {
    cudaMemcpyAsync(y, b, n * 4, cudaMemcpyDeviceToDevice);
}
"""


def built_peer(arch="native"):
    """The file of CUDA C++ compiled by nvcc, or None: in the folder XCUDA_PEERS, where it may lie from another run."""
    if not _nvcc.find():
        say("no nvcc: the rows of CUDA C++ are absent")
        return None
    folder = Path(os.environ.get("XCUDA_PEERS") or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "peer.cu"
    if not source.exists() or source.read_text() != CPP:
        source.write_text(CPP)
    return _nvcc.library(folder, "peer", [source], arch)


def cuda_cpp():
    """CUDA C++ compiled by nvcc, as a library; None without nvcc."""
    library = built_peer()
    if library is None:
        return None
    loaded = ctypes.CDLL(str(library))
    loaded.launches.restype = ctypes.c_double
    return loaded


def pointer(array):
    return ctypes.c_void_p(array.__cuda_array_interface__["data"][0])


def per_launch(contestants):
    """Microseconds a launch of each (call, finish, times), the best of several rounds in which they take turns."""
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(7):
        for name, (call, finish, times) in contestants.items():
            finish()
            begin = time.perf_counter()
            for _ in range(times):
                call()
            finish()
            best[name] = min(best[name], (time.perf_counter() - begin) / times * 1e6)
    return best


def launches(cuda, peer):
    import cupy

    x, y, z = (cupy.arange(SMALL, dtype="float32") for _ in range(3))
    contestants = {}
    text = r"""extern "C" __global__ void add(float* c, const float* a, const float* b, long long n) {
        long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }"""
    raw = cupy.RawKernel(text, "add")
    finish = cupy.cuda.Device().synchronize
    size = np.int64(SMALL)
    contestants["CuPy RawKernel"] = lambda: raw((4,), (256,), (z, x, y, size)), finish, 5000
    try:
        from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

        device = Device()
        device.set_current()
        stream = device.create_stream()
        options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
        kernel = Program(text, code_type="c++", options=options).compile("cubin").get_kernel("add")
        config = LaunchConfig(grid=4, block=256)
        a, b, c = (t.data.ptr for t in (x, y, z))
        contestants["cuda.core"] = lambda: launch(stream, config, kernel, c, a, b, SMALL), stream.sync, 5000
    except Exception as error:  # its interface moves
        say(f"cuda.core: {error!r}")
    try:
        from numba import cuda as numba_cuda

        @numba_cuda.jit
        def numba_add(c, a, b):
            i = numba_cuda.grid(1)
            if i < c.shape[0]:
                c[i] = a[i] + b[i]

        nx, ny, nz = (numba_cuda.to_device(np.arange(SMALL, dtype="float32")) for _ in range(3))
        configured = numba_add[4, 256]
        configured(nz, nx, ny)
        contestants["numba-cuda"] = lambda: configured(nz, nx, ny), numba_cuda.synchronize, 1000
    except Exception as error:
        say(f"numba-cuda: {error!r}")

    @cuda.kernel
    def add(c, a, b):
        i = cuda.grid(1)
        if i < c.shape[0]:
            c[i] = a[i] + b[i]

    dx, dy, dz = (cuda.to_device(np.arange(SMALL, dtype="float32")) for _ in range(3))
    ours = add[4, 256]
    contestants["xcuda, automatic shape"] = lambda: add(dz, dx, dy), cuda.synchronize, 5000
    contestants[OURS] = lambda: ours(dz, dx, dy), cuda.synchronize, 5000
    contestants["xcuda, bound"] = add.bind(4, 256, dz, dx, dy), cuda.synchronize, 5000
    contestants["xcuda, CuPy's arrays"] = lambda: ours(z, x, y), cuda.synchronize, 2000
    try:
        import torch

        tensors = [torch.arange(SMALL, dtype=torch.float32, device="cuda") for _ in range(3)]
        contestants["xcuda, torch's tensors"] = lambda: ours(*tensors), cuda.synchronize, 2000
    except Exception as error:
        say(f"torch: {error!r}")
    with cuda.graph() as thousand:
        for _ in range(1000):
            ours(dz, dx, dy)
    in_graph = "xcuda, in a graph of 1,000"
    contestants[in_graph] = thousand, cuda.synchronize, 20
    if peer:
        contestants = {
            "CUDA C++ <<<>>>": (
                lambda: peer.launches(pointer(z), pointer(x), pointer(y), SMALL, 5000),
                finish,
                1,
            ),
            **contestants,
        }
    figures = per_launch(contestants)
    figures[in_graph] /= 1000
    if peer:
        figures["CUDA C++ <<<>>>"] /= 5000
    np.testing.assert_allclose(dz.copy_to_host(), 2 * np.arange(SMALL))
    rows("launch, 3 device arrays", "us", figures)
    if peer:
        for name in (OURS, "xcuda, bound"):
            goal(f"a launch, of CUDA C++: {name}", figures[name] / figures["CUDA C++ <<<>>>"], 1.2)


# -- work ------------------------------------------------------------------------------------------


def milliseconds(call, finish, times=20):
    """The best of several rounds of launches in a row, the last one waited for."""
    call()
    finish()
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(times):
            call()
        finish()
        best = min(best, (time.perf_counter() - begin) / times * 1e3)
    return best


def matmul(cuda, peer):
    import cupy

    rng = np.random.default_rng(3)
    a, b = (rng.random((SIDE, SIDE), dtype=np.float32) for _ in range(2))
    ca, cb = cupy.asarray(a), cupy.asarray(b)
    want = cupy.asnumpy(ca @ cb)
    finish = cupy.cuda.Device().synchronize
    figures = {}
    for block in ((16, 16), (32, 8)):
        if peer:
            cc = cupy.zeros((SIDE, SIDE), "float32")

            def naive(block=block, cc=cc):
                peer.matmul(pointer(cc), pointer(ca), pointer(cb), SIDE, *block)

            figures[f"CUDA C++ naive {block[0]}x{block[1]}"] = milliseconds(naive, finish)
            np.testing.assert_allclose(cupy.asnumpy(cc), want, rtol=1e-3)

    def body(A, B, C):
        i, j = cuda.grid(2)
        if i < C.shape[0] and j < C.shape[1]:
            t = 0.0
            for k in range(A.shape[1]):
                t += A[i, k] * B[k, j]
            C[i, j] = t

    da, db = cuda.to_device(a), cuda.to_device(b)
    for name, options in ((OURS, {}), ("xcuda, checked=False", {"checked": False})):
        kernel = cuda.kernel(body, **options)
        dc = cuda.zeros((SIDE, SIDE), "float32")
        figures[name] = milliseconds(partial(kernel, da, db, dc), cuda.synchronize)
        np.testing.assert_allclose(dc.copy_to_host(), want, rtol=1e-3)
    kernel = cuda.kernel(body)[(SIDE // 16, SIDE // 16), (16, 16)]
    figures["xcuda, [grid, block] 16x16"] = milliseconds(partial(kernel, da, db, dc), cuda.synchronize)
    rows(f"the article's matmul, {SIDE}^2 float32", "ms", figures)
    if peer:
        goal("matmul as written, of CUDA C++ 16x16", figures[OURS] / figures["CUDA C++ naive 16x16"], 0.8)


def stream_through(cuda, peer):
    import cupy

    cb, cc = cupy.random.random(LONG, dtype="float32"), cupy.random.random(LONG, dtype="float32")
    cy = cupy.zeros(LONG, "float32")
    finish = cupy.cuda.Device().synchronize
    bytes_moved = {"copy": 2 * 4 * LONG}
    times = {}
    if peer:
        for name, function in (
            ("CUDA C++ scalar", "scalar"),
            ("CUDA C++ float4", "vector"),
            ("copy", "copy"),
        ):
            arguments = pointer(cy), pointer(cb), pointer(cc), ctypes.c_longlong(LONG)
            times[name] = milliseconds(partial(getattr(peer, function), *arguments), finish)

    def body(a, b, c):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = 2.0 * b[i] + c[i]

    db, dc = cuda.to_device(cupy.asnumpy(cb)), cuda.to_device(cupy.asnumpy(cc))
    dy = cuda.zeros(LONG, "float32")
    for name, options in (("xcuda, checked=False", {"checked": False}), (OURS, {})):
        kernel = cuda.kernel(body, **options)
        times[name] = milliseconds(partial(kernel, dy, db, dc), cuda.synchronize)
    np.testing.assert_allclose(dy.copy_to_host(), cupy.asnumpy(2 * cb + cc), rtol=1e-6)
    figures = {name: bytes_moved.get(name, 3 * 4 * LONG) / t / 1e9 for name, t in times.items()}
    say(f"\n| a = 2b + c, {LONG} float32 | TB/s | xcuda / |\n| --- | ---: | ---: |")
    for name, value in figures.items():
        say(f"| {name} | {value:.3g} | {'' if name == OURS else format(figures[OURS] / value, '.2f')} |")
    goal("a = 2b + c, checked, TB/s", figures[OURS], 4.1, least=True)


def copies(cuda):
    import cupy

    host = np.random.default_rng(1).random(1 << 26, dtype=np.float32)
    figures = {}
    on_cupy = cupy.empty(host.shape, "float32")
    finish = cupy.cuda.Device().synchronize
    size = host.nbytes / 1e6
    figures["CuPy, to the GPU"] = size / milliseconds(lambda: on_cupy.set(host), finish, 2)
    figures["CuPy, to the host"] = size / milliseconds(lambda: on_cupy.get(out=host), finish, 2)
    ours = cuda.to_device(host)
    figures["xcuda, to the GPU"] = size / milliseconds(lambda: ours.copy_to_device(host), cuda.synchronize, 2)
    figures["xcuda, to the host"] = size / milliseconds(lambda: ours.copy_to_host(host), cuda.synchronize, 2)
    say("\n| ordinary host memory, 256 MiB | GB/s |\n| --- | ---: |")
    for name, value in figures.items():
        say(f"| {name} | {value:.3g} |")
    for way in ("to the GPU", "to the host"):
        goal(
            f"ordinary memory {way}, of CuPy",
            figures[f"xcuda, {way}"] / figures[f"CuPy, {way}"],
            1,
            least=True,
        )


def on_a_gpu():
    """xcuda.core where the current device is a GPU, named in a line; else the end of the program."""
    from xcuda import core as cuda

    device = cuda.Device()
    if device.kind != "cuda":
        raise SystemExit(f"this benchmark is for a GPU; the device here is {device.name}")
    say(f"{device.name}, {device.toolchain}, Python {sys.version.split()[0]}, {time.strftime('%Y-%m-%d')}")
    return cuda


def run_parts(parts):
    """Those that the command line names, all where it names none; one part's failure leaves the others their run."""
    for name, part in parts.items():
        if len(sys.argv) < 2 or name in sys.argv[1:]:
            try:
                part()
            except Exception as error:
                say(f"{name} failed: {type(error).__name__}: {error}")


def main():
    cuda = on_a_gpu()
    peer = cuda_cpp()
    parts = {
        "first": first_kernel,
        "later": lambda: later_kernel(cuda),
        "launch": lambda: launches(cuda, peer),
        "matmul": lambda: matmul(cuda, peer),
        "stream": lambda: stream_through(cuda, peer),
        "copies": lambda: copies(cuda),
    }
    run_parts(parts)


if __name__ == "__main__":
    main()

"""Many launches in a row on a GPU: pipelines with and without graphs, launches from eight threads, pinned copies.

    python bench/gpu_pipelines.py [pipeline] [threads] [pinned]

Each part runs its peers in turns with ours, in one process, and prints ratios.
"""

import statistics
import threading
import time

import numpy as np
from _measure import goal
from gpu import OURS, cuda_cpp, on_a_gpu, pointer, rows, run_parts, say

ELEMENTS = 1 << 16
STEPS = 1000
THREADS = 8
EACH = 2000


def in_turns(contestants, rounds=9):
    """Median seconds of each (call, finish), which take turns."""
    times = {name: [] for name in contestants}
    for turn in range(rounds):
        for name, (call, finish) in contestants.items():
            finish()
            begin = time.perf_counter()
            call()
            finish()
            if turn:
                times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(t) for name, t in times.items()}


def pipeline(cuda):
    """A thousand kernels, each of which needs the one before."""
    import cupy

    @cuda.kernel
    def step(y, x):
        i = cuda.grid(1)
        if i < y.shape[0]:
            y[i] = x[i] * 1.0001 + 0.5

    x, y = (cuda.zeros(ELEMENTS, "float32") for _ in range(2))
    configured = step[ELEMENTS // 256, 256]
    forth, back = configured.bind(y, x), configured.bind(x, y)

    def loop():
        for _ in range(STEPS // 2):
            configured(y, x)
            configured(x, y)

    def bound():
        for _ in range(STEPS // 2):
            forth()
            back()

    loop()
    cuda.synchronize()
    with cuda.graph() as graph:
        loop()

    source = r"""extern "C" __global__ void step(float* y, const float* x, long long n) {
        long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * 1.0001f + 0.5f; }"""
    raw = cupy.RawKernel(source, "step")
    cx, cy = (cupy.zeros(ELEMENTS, "float32") for _ in range(2))
    size = np.int64(ELEMENTS)

    def cupy_loop():
        for _ in range(STEPS // 2):
            raw((ELEMENTS // 256,), (256,), (cy, cx, size))
            raw((ELEMENTS // 256,), (256,), (cx, cy, size))

    cupy_loop()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        cupy_loop()
        cupy_graph = stream.end_capture()
    wait = cupy.cuda.Device().synchronize
    figures = in_turns(
        {
            "CuPy RawKernel": (cupy_loop, wait),
            "CuPy, captured graph": (lambda: cupy_graph.launch(stream), wait),
            "xcuda, bound": (bound, cuda.synchronize),
            "xcuda, graph": (graph, cuda.synchronize),
            OURS: (loop, cuda.synchronize),
        }
    )
    rows(f"{STEPS} dependent kernels", "ms", {name: t * 1e3 for name, t in figures.items()})
    for name, peer in ((OURS, "CuPy RawKernel"), ("xcuda, graph", "CuPy, captured graph")):
        goal(f"{STEPS} dependent kernels, of {peer}: {name}", figures[name] / figures[peer], 1)


def threads(cuda, peer):
    """Launches from eight Python threads, each on a stream of its own."""
    import cupy

    @cuda.kernel
    def add(c, a, b):
        i = cuda.grid(1)
        if i < c.shape[0]:
            c[i] = a[i] + b[i]

    arrays = [[cuda.zeros(1024, "float32") for _ in range(3)] for _ in range(THREADS)]
    streams = [cuda.stream() for _ in range(THREADS)]
    calls = [add[4, 256, stream] for stream in streams]
    calls[0](*arrays[0])
    cuda.synchronize()

    def work(n):
        call, (c, a, b) = calls[n], arrays[n]
        for _ in range(EACH):
            call(c, a, b)

    source = r"""extern "C" __global__ void add(float* c, const float* a, const float* b, long long n) {
        long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }"""
    raw = cupy.RawKernel(source, "add")
    theirs = [[cupy.zeros(1024, "float32") for _ in range(3)] for _ in range(THREADS)]
    their_streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(THREADS)]
    size = np.int64(1024)

    def cupy_work(n):
        c, a, b = theirs[n]
        with their_streams[n]:
            for _ in range(EACH):
                raw((4,), (256,), (c, a, b, size))

    def together(each):
        def run():
            all_of_them = [threading.Thread(target=each, args=(n,)) for n in range(THREADS)]
            for t in all_of_them:
                t.start()
            for t in all_of_them:
                t.join()

        return run

    wait = cupy.cuda.Device().synchronize
    contestants = {
        "CuPy RawKernel": (together(cupy_work), wait),
        OURS: (together(work), lambda: cuda.Device().synchronize()),
    }
    if peer:

        def cpp(n):  # the GIL is away during the loop
            c, a, b = theirs[n]
            peer.launches(pointer(c), pointer(a), pointer(b), 1024, EACH)

        contestants = {"CUDA C++ <<<>>>, one stream": (together(cpp), wait), **contestants}
    figures = in_turns(contestants, rounds=5)
    rows(
        f"launch from {THREADS} threads at once",
        "us",
        {name: t / (THREADS * EACH) * 1e6 for name, t in figures.items()},
    )
    goal(f"launches from {THREADS} threads, of CuPy", figures[OURS] / figures["CuPy RawKernel"], 1)
    if peer:
        goal(
            f"launches from {THREADS} threads, of CUDA C++",
            figures[OURS] / figures["CUDA C++ <<<>>>, one stream"],
            1.2,
        )


def pinned(cuda):
    """Copies of 256 MiB of page-locked host memory."""
    import cupy
    import cupyx

    n = 1 << 26
    theirs = cupyx.empty_pinned(n, "float32")
    theirs[:] = 1
    on_cupy = cupy.empty(n, "float32")
    ours = cuda.pinned_array(n, "float32")
    ours[:] = 1
    on_ours = cuda.to_device(ours)
    wait = cupy.cuda.Device().synchronize
    figures = in_turns(
        {
            "CuPy, to the GPU": (lambda: on_cupy.set(theirs), wait),
            "xcuda, to the GPU": (lambda: on_ours.copy_to_device(ours), cuda.synchronize),
            "CuPy, to the host": (lambda: on_cupy.get(out=theirs), wait),
            "xcuda, to the host": (lambda: on_ours.copy_to_host(ours), cuda.synchronize),
        }
    )
    say("\n| page-locked host memory, 256 MiB | GB/s |\n| --- | ---: |")
    for name, t in figures.items():
        say(f"| {name} | {4 * n / t / 1e9:.3g} |")
    for way in ("to the GPU", "to the host"):
        goal(
            f"page-locked memory {way}, of CuPy",
            figures[f"CuPy, {way}"] / figures[f"xcuda, {way}"],
            0.95,
            least=True,
        )


def main():
    cuda = on_a_gpu()
    peer = cuda_cpp()
    parts = {
        "pipeline": lambda: pipeline(cuda),
        "threads": lambda: threads(cuda, peer),
        "pinned": lambda: pinned(cuda),
    }
    run_parts(parts)


if __name__ == "__main__":
    main()

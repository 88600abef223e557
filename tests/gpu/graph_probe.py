"""What CUPTI tells of a graph's kernels, record by record, and what the profiler makes of it; about 5 s on a GPU.

    PYTHONPATH=build/gpu/site python tests/gpu/graph_probe.py

Each session asks CUPTI for one kind of record, launches a graph of two kernels twice with a plain launch in between,
and prints the driver calls' correlation numbers and every record. The graph is made before CUPTI looks on or meanwhile,
and the subscription is a new one each time or one for several sessions: CUPTI 13.0 has wrong numbers in sessions after
the first. Then come the rows of xcuda's own profiles; last, in a process of its own, GRAPH_TRACE, which ended one with a
segmentation fault on an H200 with CUPTI 13.0 (xcuda never asks for it).
"""

from __future__ import annotations

import ctypes
import glob
import struct
import subprocess
import sys

KERNEL, CONCURRENT, GRAPH = 3, 10, 51
NAMES = {KERNEL: "KERNEL", CONCURRENT: "CONCURRENT_KERNEL", GRAPH: "GRAPH_TRACE"}
DRIVER_API = 1
CALLS = {514: "cuGraphLaunch", 307: "cuLaunchKernel"}
ENTER = 0
PLACES = (
    "libcupti.so.13",
    "libcupti.so",
    *sorted(glob.glob("/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*"), reverse=True),
    *sorted(glob.glob("/usr/local/cuda*/targets/*/lib/libcupti.so*"), reverse=True),
    *sorted(p for folder in sys.path for p in glob.glob(f"{folder}/nvidia/*/lib/libcupti.so*")),
)

Callback = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(ctypes.c_ubyte)
)
Wanted = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)
)
Filled = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t
)

calls: list[str] = []
records: list[tuple] = []
buffers: dict[int, ctypes.Array] = {}


def opened() -> ctypes.CDLL:
    for place in PLACES:
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    sys.exit("no libcupti was found")


cupti = opened()


def check(doing: str, result: int) -> None:
    if result:
        print(f"    {doing}: CUPTI says {result}", flush=True)


@Callback
def on_call(_user, _domain, number, data):
    site, correlation = (struct.unpack_from("I", bytes(data[:72]), at)[0] for at in (0, 64))
    if site == ENTER:
        calls.append(f"{CALLS.get(number, number)}={correlation}")


@Wanted
def want(buffer, size, most):
    made = ctypes.create_string_buffer(1 << 20)
    at = ctypes.addressof(made)
    buffers[at] = made
    buffer[0], size[0], most[0] = at, 1 << 20, 0


@Filled
def filled(_context, _stream, buffer, _size, valid):
    record = ctypes.c_void_p()
    while (
        cupti.cuptiActivityGetNextRecord(
            ctypes.c_void_p(buffer), ctypes.c_size_t(valid), ctypes.byref(record)
        )
        == 0
    ):
        text = ctypes.string_at(record.value, 160)
        kind = struct.unpack_from("I", text)[0]
        if kind == GRAPH:
            begin, end = struct.unpack_from("QQ", text, 8)
            records.append(
                (begin, kind, *struct.unpack_from("I", text, 4), struct.unpack_from("I", text, 28)[0])
            )
            records[-1] += (0, "", end - begin)
        elif kind in (KERNEL, CONCURRENT):
            begin, end = struct.unpack_from("QQ", text, 16)
            correlation, graph = (struct.unpack_from("I", text, at)[0] for at in (92, 156))
            name, node = (struct.unpack_from("Q", text, at)[0] for at in (104, 144))
            grid = struct.unpack_from("i", text, 52)[0]
            called = ctypes.string_at(name).decode() if name else "?"
            records.append((begin, kind, correlation, graph, node, f"{called} grid {grid}", end - begin))
    buffers.pop(buffer, None)


def session(title, cuda, work, kinds, subscriber=None, making=None, switched=None):
    calls.clear()
    records.clear()
    own = subscriber is None
    if own:
        subscriber = subscribe()
    if switched is not None:  # as the profiler does at a replay
        check("enabling KERNEL", cupti.cuptiActivityEnable(KERNEL))
        switched()
        cuda.synchronize()
        check("flushing", cupti.cuptiActivityFlushAll(0))
        check("disabling KERNEL", cupti.cuptiActivityDisable(KERNEL))
    for kind in kinds:
        check(f"enabling {NAMES[kind]}", cupti.cuptiActivityEnable(kind))
    if making is not None:
        work = making()
    work()
    cuda.synchronize()
    check("flushing", cupti.cuptiActivityFlushAll(0))
    for kind in kinds:
        check("disabling", cupti.cuptiActivityDisable(kind))
    if own:
        check("unsubscribing", cupti.cuptiUnsubscribe(subscriber))
    print(f"\n{title}: {' + '.join(NAMES[k] for k in kinds)}\n    calls {' '.join(calls)}")
    for begin, kind, correlation, graph, node, name, took in sorted(records):
        when = "no time" if begin == 0 else f"{took} ns"
        print(f"    {NAMES[kind]} correlation {correlation} graph {graph} node {node:#x} {name} {when}")
    sys.stdout.flush()


def subscribe():
    subscriber = ctypes.c_void_p()
    check("subscribing", cupti.cuptiSubscribe(ctypes.byref(subscriber), on_call, None))
    check("registering", cupti.cuptiActivityRegisterCallbacks(want, filled))
    for number in CALLS:
        check("a callback", cupti.cuptiEnableCallback(1, subscriber, DRIVER_API, number))
    return subscriber


def main():
    import xcuda.core as cuda
    from xcuda import profiler

    @cuda.kernel
    def add_one(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = a[i] + 1.0

    version = ctypes.c_uint32()
    cupti.cuptiGetVersion(ctypes.byref(version))
    print(f"{cupti._name}, CUPTI {version.value}, {cuda.Device().name}")
    a = cuda.zeros(1 << 20, "float32")

    def made():
        with cuda.graph() as g:
            add_one[4096, 256](a)
            add_one[2048, 256](a)

        def work():
            g.launch()
            add_one[1024, 256](a)
            g.launch()

        return work

    add_one[16, 256](a)
    cuda.synchronize()
    before = made()
    before()
    cuda.synchronize()
    for kind in (KERNEL, KERNEL, CONCURRENT, CONCURRENT):
        session("the graph made before", cuda, before, [kind])
    for kind in (KERNEL, CONCURRENT):
        session("the graph made meanwhile", cuda, None, [kind], making=made)
    session(
        "switched from KERNEL before the replays", cuda, before, [CONCURRENT], switched=add_one_of(a, add_one)
    )
    kept = subscribe()
    for kind in (KERNEL, KERNEL, CONCURRENT):
        session("one subscription for all, the graph made before", cuda, before, [kind], subscriber=kept)
    check("unsubscribing", cupti.cuptiUnsubscribe(kept))

    print("\nxcuda's profiles")
    for overlapping in (False, True, False):
        with profiler.profile(overlapping=overlapping) as p:
            before()
        rows = [
            (r["name"], r["grid"][0], r["calls"], bool(r.get("foreign")), r["time"]["total"])
            for r in p.report.kernels
        ]
        print("overlapping" if overlapping else "exact", p.report.document.get("collection"), flush=True)
        for row in rows:
            print("   ", row, flush=True)
    other_librarys(profiler)


def other_librarys(profiler):
    """A graph of torch's: measured as one in the first profile, kernel by kernel in the second."""
    try:
        import torch
    except ImportError:
        return print("no torch here")
    x = torch.ones(1 << 20, device="cuda")
    y = x * 2 + 1
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        y.copy_(x * 2 + 1)
    for turn in (1, 2):
        with profiler.profile() as p:
            g.replay()
            g.replay()
            torch.cuda.synchronize()
        print(f"torch's graph, profile {turn}:", p.report.document["collection"], p.report.document["totals"])
        for row in p.report.kernels:
            print("   ", row["name"], row["calls"], row["time"]["total"], flush=True)


def add_one_of(a, add_one):
    return lambda: add_one[512, 256](a)


def whole_graphs():
    """What GRAPH_TRACE tells: run with --whole, for it may end the process."""
    import faulthandler

    import xcuda.core as cuda

    faulthandler.enable()

    @cuda.kernel
    def add_one(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = a[i] + 1.0

    a = cuda.zeros(1 << 20, "float32")
    with cuda.graph() as g:
        add_one[4096, 256](a)
        add_one[2048, 256](a)
    g.launch()
    cuda.synchronize()
    for kinds in ([GRAPH], [KERNEL, GRAPH]):
        session("whole graphs", cuda, g.launch, kinds)


if __name__ == "__main__":
    if "--whole" in sys.argv:
        whole_graphs()
    else:
        main()
        print("\nGRAPH_TRACE in a process of its own", flush=True)
        print("exit status", subprocess.run([sys.executable, __file__, "--whole"]).returncode)

"""The Jupyter kernel beside ipykernel and xpython: start, round trip, memory.

    ./run bench kernel
    python bench/kernel.py --json

All are driven the same way, by jupyter_client over loopback TCP. Kernels take turns.
"""

import json
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import _measure
import psutil
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpec

STARTS = 7
ROUND_TRIPS = 300
XPYTHON = "xeus-python==0.19.*"


def xpython() -> str | None:
    """The Python of a venv of xpython's own (another xeus-python-shell), or None if there is none."""
    venv = Path(__file__).parents[1] / "build" / "bench-xpython"
    python = venv / "bin" / "python"
    if not (venv / "ready").exists():
        base = str(Path(sys.executable).resolve())
        try:
            subprocess.run([base, "-m", "venv", "--clear", venv], check=True, capture_output=True)
            subprocess.run([python, "-m", "pip", "install", "-q", XPYTHON], check=True, capture_output=True)
        except subprocess.CalledProcessError as error:
            print(f"left out: xpython ({error.stderr.decode().strip().splitlines()[-1:]})", file=sys.stderr)
            return None
        (venv / "ready").touch()
    return str(python)


def kernels() -> dict[str, list[str]]:
    """The command line of each kernel."""
    tail = ["-f", "{connection_file}"]
    found = {"ipykernel": [sys.executable, "-m", "ipykernel_launcher", *tail]}
    if other := xpython():
        found["xpython"] = [other, "-m", "xpython_launcher", *tail]
    found["xcuda"] = [sys.executable, "-m", "xcuda.kernel", *tail]
    return found


def await_port(host: str, port: int):
    """Until the kernel listens. ZeroMQ alone would try again only each 100 ms."""
    for _ in range(60_000):
        with socket.socket() as probe:
            if probe.connect_ex((host, port)) == 0:
                return
        time.sleep(0.001)
    raise SystemExit("a kernel did not listen within a minute")


class Running:
    """A started kernel and its client; `seconds` is the time from start to the reply to kernel_info."""

    def __init__(self, argv: list[str]):
        self.manager = KernelManager()
        self.manager._kernel_spec = KernelSpec(argv=argv, display_name="bench", language="python")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        begin = time.perf_counter()
        self.manager.start_kernel(**quiet)
        await_port(self.manager.ip, self.manager.shell_port)
        self.client = self.manager.client()
        self.client.start_channels(hb=False)
        self.client.kernel_info()
        self.client.get_shell_msg(timeout=60)
        self.seconds = time.perf_counter() - begin
        self.client.wait_for_ready(timeout=60)

    def run(self, code: str) -> float:
        """Seconds from the request to its reply and its idle."""
        begin = time.perf_counter()
        reply = self.client.execute_interactive(code, timeout=60, output_hook=lambda message: None)
        took = time.perf_counter() - begin
        if reply["content"]["status"] != "ok":
            raise SystemExit(f"{code!r} failed: {reply['content']}")
        return took

    def megabytes(self) -> float:
        return psutil.Process(self.manager.provisioner.process.pid).memory_info().rss / 2**20

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def main():
    commands = kernels()
    starts: dict[str, list[float]] = {name: [] for name in commands}
    memory: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(STARTS + 1):
        for name, argv in commands.items():
            kernel = Running(argv)
            if turn:  # the first warms the system's file cache
                starts[name].append(kernel.seconds)
                memory[name].append(kernel.megabytes())
            kernel.stop()

    running = {name: Running(argv) for name, argv in commands.items()}
    trips: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(20):
        for kernel in running.values():
            kernel.run("1+1")
    for _ in range(ROUND_TRIPS):
        for name, kernel in running.items():
            trips[name].append(kernel.run("1+1"))
    for kernel in running.values():
        kernel.stop()

    if "--json" in sys.argv[1:]:
        figures = {
            name: {
                "start_ms": statistics.median(starts[name]) * 1e3,
                "round_trip_ms": statistics.median(trips[name]) * 1e3,
                "resident_mib": statistics.median(memory[name]),
            }
            for name in commands
        }
        print(json.dumps({"machine": _measure.machine(), "kernels": figures}, indent=2))
        return

    rows = [
        (
            name,
            _measure.milliseconds(statistics.median(starts[name]) * 1e3),
            f"{statistics.median(starts[name]) / statistics.median(starts['xcuda']):.2f}",
            f"{statistics.median(trips[name]) * 1e3:.2f}",
            f"{statistics.median(trips[name]) / statistics.median(trips['xcuda']):.2f}",
            f"{statistics.median(memory[name]):.0f}",
        )
        for name in commands
    ]
    print(f"{_measure.today()}; {_measure.machine()}\n")
    header = (
        "kernel",
        "start to kernel_info, ms",
        "/ xcuda",
        "1+1, ms",
        "/ xcuda",
        "resident MiB after start",
    )
    print(_measure.table(rows, header))


if __name__ == "__main__":
    main()

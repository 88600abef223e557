"""One kernel under a soak's cells: their results, and what its memory does."""

from __future__ import annotations

import queue
import random
import subprocess
import time
from dataclasses import dataclass, field

import jupyter_client

from soak.cells import FILL, SETUP, Cell, cell

FLAT = 1.02
MEMORY = "import gc; gc.collect(); cuda.synchronize(); cuda.Device().memory()['used']"
# glibc's own account of what is in use; Python's objects below 512 bytes are not in it, but in getallocatedblocks().
HEAP = "import ctypes; _libc = ctypes.CDLL(None)\n" + (
    "class _I(ctypes.Structure): _fields_ = [(n, ctypes.c_size_t) for n in"
    " 'arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost'.split()]\n"
    "_libc.mallinfo2.restype = _I"
)
HEAP_USED = "import gc; gc.collect(); (lambda m: m.uordblks + m.hblkhd)(_libc.mallinfo2())"
BLOCKS = "import sys; sys.getallocatedblocks()"


@dataclass
class Outcome:
    """What came of a soak."""

    cells: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    resident: list[int] = field(default_factory=list)  # bytes, at each sample
    own: list[int] = field(default_factory=list)  # of these, without the pages of files
    heap: list[int] = field(default_factory=list)  # malloc's bytes in use
    blocks: list[int] = field(default_factory=list)  # Python's small objects
    device: list[int] = field(default_factory=list)
    seconds: float = 0.0

    def growth(self) -> float:
        """The last resident size over the largest one of the first half, by when every text has run."""
        half = max(1, len(self.resident) // 2)
        return self.resident[-1] / max(self.resident[:half])

    def problems(self) -> list[str]:
        found = list(self.wrong)
        if len(self.resident) >= 10 and self.growth() > FLAT:
            found.append(f"the process grew by {self.growth():.3f} in the second half")
        if self.device and self.device[-1] > max(self.device[: len(self.device) // 2 + 1]):
            found.append(f"device memory grew: {self.device}")
        return found


class Hang(Exception):
    """A cell that did not end: nothing can be asked of its kernel any more."""


class Session:
    """A kernel and a client."""

    def __init__(self, kernel: str = "xcuda"):
        self.manager, self.client = jupyter_client.manager.start_new_kernel(
            kernel_name=kernel, startup_timeout=60, stderr=subprocess.DEVNULL
        )

    def another(self) -> Session:
        """A further client of the same kernel; `leave` it before the kernel is closed."""
        made = object.__new__(Session)
        # Not manager.client(): that has the manager's own identity, and a kernel answers each identity once.
        made.manager, made.client = self.manager, jupyter_client.BlockingKernelClient()
        made.client.load_connection_file(self.manager.connection_file)
        made.client.start_channels()
        made.client.wait_for_ready(timeout=60)
        return made

    def leave(self) -> None:
        self.client.stop_channels()

    def run(self, one: Cell) -> str:
        """ "" where the cell did as it must; else what it did instead."""
        message = self.client.execute(one.text, store_history=False, stop_on_error=False)
        result, begun = None, False
        while True:
            try:
                told = self.client.get_iopub_msg(timeout=90)
            except queue.Empty:
                raise Hang(f"{one.text!r} did not end within 90 s") from None
            if told["parent_header"].get("msg_id") != message:
                continue
            kind, content = told["msg_type"], told["content"]
            if kind == "execute_result":
                result = content["data"]["text/plain"]
            elif kind == "stream" and one.kind == "interrupt" and not begun and "begun" in content["text"]:
                begun = True
                time.sleep(0.02)
                self.manager.interrupt_kernel()
            elif kind == "status" and content["execution_state"] == "idle":
                break
        reply = self.reply(message)
        if reply.get("ename") != one.error:
            return f"{one.text!r} ended with {reply.get('ename')} ({reply.get('evalue')}), not {one.error}"
        if one.result is not None and result != one.result:
            return f"{one.text!r} gave {result}, not {one.result}"
        return ""

    def reply(self, message) -> dict:
        while True:
            reply = self.client.get_shell_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == message:
                return reply["content"]

    def number(self, text: str) -> int:
        found = []
        self.client.execute_interactive(
            text,
            store_history=False,
            output_hook=lambda m: (
                m["msg_type"] == "execute_result" and found.append(m["content"]["data"]["text/plain"])
            ),
            timeout=60,
        )
        return int(found[0])

    def resident(self, what: str = "VmRSS") -> int:
        """Bytes of the process in memory; RssAnon: without the pages of files, its libraries' code among them."""
        pid = self.manager.provisioner.process.pid
        with open(f"/proc/{pid}/status") as status:
            [line] = [line for line in status if line.startswith(f"{what}:")]
        return int(line.split()[1]) * 1024

    def close(self) -> None:
        self.leave()
        self.manager.shutdown_kernel(now=True)


def soak(
    cells: int, seed: int, seconds: float = float("inf"), samples: int = 20, progress=None, fill=True
) -> Outcome:
    """Runs random cells in one kernel; stops early after `seconds`, or at the tenth wrong result.

    fill: the log of events first, so that what grows after that has no end."""
    rng = random.Random(seed)
    outcome, begin = Outcome(), time.monotonic()
    session = Session()
    try:
        session.run(Cell("setup", SETUP))
        session.run(Cell("heap", HEAP))
        if fill and (problem := session.run(Cell("fill", FILL))):
            outcome.wrong.append(problem)
        every = max(1, cells // samples)
        for number in range(1, cells + 1):
            one = cell(rng)
            try:
                if problem := session.run(one):
                    outcome.wrong.append(f"cell {number}: {problem}")
            except Hang as hang:
                outcome.wrong.append(f"cell {number}: {hang}")
                break
            outcome.cells = number
            outcome.kinds[one.kind] = outcome.kinds.get(one.kind, 0) + 1
            late = time.monotonic() - begin > seconds or len(outcome.wrong) >= 10
            if number % every == 0 or late:
                session.run(Cell("clean", "%cuda_free --all"))
                session.run(Cell("setup", SETUP))
                outcome.device.append(session.number(MEMORY))
                outcome.resident.append(session.resident())
                outcome.own.append(session.resident("RssAnon"))
                outcome.heap.append(session.number(HEAP_USED))
                outcome.blocks.append(session.number(BLOCKS))
                outcome.seconds = time.monotonic() - begin
                if progress:
                    progress(outcome)
            if late:
                break
    finally:
        outcome.seconds = time.monotonic() - begin
        session.close()
    return outcome


def restarts(count: int, seed: int = 0, progress=None) -> list[str]:
    """Restarts one kernel that often, each time with a random cell; every third time it is killed. What went wrong."""
    session, wrong = Session(), []
    rng = random.Random(seed)
    try:
        for number in range(count + 1):  # the last restart is looked at too
            session.run(Cell("setup", SETUP))
            if problem := session.run(cell(rng)):
                wrong.append(f"after {number} restarts: {problem}")
            if progress:
                progress(number, wrong)
            if number == count:
                break
            before = session.manager.provisioner.process.pid
            session.manager.restart_kernel(now=number % 3 == 0)
            session.client.wait_for_ready(timeout=60)
            if session.manager.provisioner.process.pid == before:
                wrong.append(f"restart {number + 1} made no new process")
    except (Hang, queue.Empty, RuntimeError) as problem:  # nothing more can be asked of it
        wrong.append(f"after {number} restarts: {problem!r}")
    finally:
        session.close()
    return wrong

"""Interrupts at random moments: of a cell that compiles, computes, waits, shows or reports, of one that has ended, of none.

An interrupted cell gives what it would have given or a KeyboardInterrupt; the cell after it is never interrupted, and
right. Half of the interrupts are signals, half are requests on the control channel, some of which the kernel reads after
the next cell's request, since nothing orders messages of two sockets.
"""

from __future__ import annotations

import queue
import random
import subprocess
import time

import jupyter_client

SETUP = """
import asyncio, time
import numpy as np
import xcuda.numeric as xnp
from xcuda import core as cuda

@cuda.kernel
def add(a, number):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] += number

@cuda.kernel
def turns(a, count):
    i = cuda.grid(1)
    k = 0
    while k < count:
        k += 1
        a[i] += 1

@cuda.kernel
def met(a):
    i = cuda.grid(1)
    if i == 3:
        while a[0] == 0:
            a[i] += 0
    cuda.syncthreads()

mine = cuda.stream()

class Slow:
    def __repr__(self):
        time.sleep(0.03)
        return "slow"
"""
AFTER = "check = cuda.zeros(64, 'int64')\nadd[2, 32](check, {n})\nint(check.copy_to_host().sum())"
ENDLESS = "an endless cell"  # that only an interrupt ends

# kind: (the cell, its result; ENDLESS where it has no end)
CELLS = {
    "plain": ("sum(range({n}))", lambda n: str(sum(range(n)))),
    "sleep": ("time.sleep(0.05)\n{n}", str),
    "compile": (
        "@cuda.kernel\ndef fresh(a):\n    a[cuda.grid(1)] = {n}\na = cuda.zeros(64, 'int64')\nfresh[2, 32](a)\n"
        "int(a.copy_to_host().sum())",
        lambda n: str(64 * n),
    ),
    "launch": ("a = np.zeros(1000)\nadd(a, {n}.0)\nint(a.sum())", lambda n: str(1000 * n)),
    "long launch": ("a = cuda.zeros(64, 'int64')\nturns[2, 32](a, 300_000)\ncuda.synchronize()\n{n}", str),
    "stream": ("a = cuda.zeros(64)\nwith mine:\n    turns[2, 32](a, 100_000)\nmine.synchronize()\n{n}", str),
    "await": (
        "a = cuda.zeros(64)\nwith mine:\n    await turns[2, 32].async_call(a, 100_000)\nawait asyncio.sleep(0.01)\n{n}",
        str,
    ),
    "numeric": ("int((xnp.arange(1000) * 0 + {n}).sum())", lambda n: str(1000 * n)),
    "report": ("%cuda_profile -q add(np.zeros(1000), {n})\n{n}", str),
    "display": ("display(Slow(), Slow())\n{n}", str),
    "output": ("for i in range(300): print(i, end=' ')\n{n}", str),
    "left behind": ("a = cuda.zeros(64, 'int64')\nwith mine:\n    met[2, 32](a)\n{n}", str),
    "barrier": ("a = cuda.zeros(64, 'int64')\nmet[2, 32](a)\ncuda.synchronize()", ENDLESS),
    "await at a barrier": (
        "a = cuda.zeros(64, 'int64')\nwith mine:\n    await met[2, 32].async_call(a)",
        ENDLESS,
    ),
    "task": (
        "a = cuda.zeros(64, 'int64')\nasync def waits():\n    with mine:\n        await met[2, 32].async_call(a)\n"
        "task = asyncio.create_task(waits())\nawait asyncio.sleep(100)",
        ENDLESS,
    ),
}


class Talk:
    """A kernel, a client of it, and interrupts in both ways."""

    def __init__(self):
        self.at = "the setup"  # what runs
        self.manager, self.client = jupyter_client.manager.start_new_kernel(
            kernel_name="xcuda", startup_timeout=60, stderr=subprocess.DEVNULL
        )

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def signal(self) -> None:
        self.manager.interrupt_kernel()

    def request(self, wait: bool) -> None:
        message = self.client.session.msg("interrupt_request", {})
        self.client.control_channel.send(message)
        while wait:
            reply = self.client.get_control_msg(timeout=60)
            wait = reply["parent_header"].get("msg_id") != message["header"]["msg_id"]

    def interrupt(self, rng: random.Random) -> None:
        if rng.random() < 0.5:
            self.signal()
        else:
            self.request(wait=rng.random() < 0.5)

    def ended(self, message: str, again=None) -> tuple[dict, str | None]:
        """(reply, result) of a cell; `again` is called each second in which it has not ended."""
        result, seconds, since = None, 1, time.monotonic()
        while True:
            if time.monotonic() - since > seconds:  # lines of progress may come meanwhile
                if seconds == 60:
                    raise TimeoutError("the cell did not end within a minute")
                seconds += 1
                if again is not None:
                    again()
            try:
                told = self.client.get_iopub_msg(timeout=0.5)
            except queue.Empty:
                continue
            if told["parent_header"].get("msg_id") != message:
                continue
            if told["msg_type"] == "execute_result":
                result = told["content"]["data"]["text/plain"]
            if told["msg_type"] == "status" and told["content"]["execution_state"] == "idle":
                break
        while True:
            reply = self.client.get_shell_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == message:
                return reply["content"], result


def one(talk: Talk, rng: random.Random) -> tuple[str, str, str]:
    """(kind, how it ended, what was wrong) of a cell, its interrupts, and the cell after it."""
    kind, n = rng.choice(list(CELLS)), rng.randrange(2, 1000)
    text, right = CELLS[kind]
    talk.at = kind
    message = talk.client.execute(text.format(n=n), store_history=False)
    time.sleep(rng.choice([0, rng.random() * 0.002, rng.random() * 0.06, rng.random() * 0.2]))
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        talk.interrupt(rng)
    # One that came before the cell began has nothing to end; what has no end is interrupted again.
    reply, result = talk.ended(message, again=talk.signal if right is ENDLESS else None)
    if reply["status"] == "ok" and right is not ENDLESS and result == right(n):
        how = "right"
    elif reply.get("ename") == "KeyboardInterrupt":
        how = "interrupted"
    else:
        return kind, "wrong", f"{kind}, {n}: {reply} {result}"
    if kind == "left behind":  # a kernel goes on until an interrupt comes that finds it
        talk.signal()
    if rng.random() < 0.3:  # of no cell; the next one is sent at once
        talk.interrupt(rng)
        how += ", then idle"
    talk.at = f"the cell after {kind} ({how})"
    reply, result = talk.ended(talk.client.execute(AFTER.format(n=n), store_history=False))
    if reply["status"] != "ok" or result != str(64 * n):
        return kind, "wrong", f"the cell after {kind}, {n} ({how}): {reply} {result}"
    return kind, how, ""


def fuzz(seed: int, count: int) -> tuple[dict[str, int], list[str]]:
    """({how cells ended: how many}, what went wrong)."""
    rng = random.Random(seed)
    outcomes: dict[str, int] = {}
    wrong: list[str] = []
    talk = Talk()
    try:
        talk.ended(talk.client.execute(SETUP, store_history=False))
        for number in range(1, count + 1):
            try:
                kind, how, problem = one(talk, rng)
            except TimeoutError as hang:
                wrong.append(f"{number} of seed {seed}, {talk.at}: {hang}")
                break
            outcomes[how] = outcomes.get(how, 0) + 1
            if problem:
                wrong.append(f"{number} of seed {seed}: {problem}")
    finally:
        talk.close()
    return outcomes, wrong

"""Ctrl-C at any moment of a launch ends it: before the compile, during it, and while the kernel runs."""

from __future__ import annotations

import collections
import functools
import linecache
import os
import signal
import threading
import time

import numpy as np
import pytest
from xcuda import _runtime
from xcuda import core as cuda

ON_CPU = cuda.Device().kind == "cpu"
ENDLESS = "@cuda.kernel\ndef endless(x):\n    while x[0] == 0:\n        x[1] += {by}\n"


def fresh_kernel(number):
    """A kernel that nobody has compiled yet."""
    text, file = ENDLESS.format(by=number), f"<endless {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"cuda": cuda}
    exec(compile(text, file, "exec"), names)
    return names["endless"]


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread"
)
@pytest.mark.parametrize("delay", [0.0, 0.002, 0.01, 0.03, 0.2])
def test_an_interrupt_is_never_lost(delay):
    kernel = fresh_kernel(int(delay * 1000) + 1)
    over = threading.Event()

    def interrupt():
        time.sleep(delay)
        while not over.wait(0):
            os.kill(os.getpid(), signal.SIGINT)
            if over.wait(20):  # lost: once more, so that the test ends
                return
            lost.append(delay)

    lost: list[float] = []
    x = np.zeros(2, np.int64)
    sender = threading.Thread(target=interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            sender.start()
            kernel[1, 1](x)
            cuda.synchronize()
    finally:
        over.set()
        sender.join()
        signal.signal(signal.SIGINT, before)
    assert lost == []
    y = np.zeros(2, np.int64)
    y[0] = 1
    kernel[1, 1](y)
    cuda.synchronize()


def at_once(*calls):
    """One after the other with no look at signals in between, which Python takes between its instructions."""
    collections.deque(map(functools.partial.__call__, [functools.partial(call) for call in calls]), maxlen=0)


@cuda.kernel
def waits(x):
    while x[0] == 0:
        x[1] += 1


class Busy:
    """A kernel that never ends, in a stream, and what would wait for it."""

    def __init__(self):
        self.x, self.other = cuda.zeros(2, "int64"), cuda.zeros(2, "int64")
        self.other[0] = 1
        waits[1, 1](self.other)  # compiled, and ends
        self.bound = waits[1, 1].bind(self.other)
        with cuda.graph() as self.graph:
            waits[1, 1](self.other)
        self.configured = waits[1, 1]
        self.host = np.zeros(2, np.int64)
        self.other[0] = 0  # from now on neither ends
        self.stream, self.event = cuda.stream(), cuda.event()
        with self.stream:
            waits[1, 1](self.x)
        self.event.record(self.stream)


WAITS = {
    "a stream": lambda busy: busy.stream._synchronize,
    "an event": lambda busy: busy.event._synchronize,
    "all streams": lambda busy: cuda.Device().synchronize,
    "a copy to the host": lambda busy: functools.partial(busy.x._to_host, busy.host),
    "a launch": lambda busy: functools.partial(busy.configured, busy.other),
    "a bound launch": lambda busy: busy.bound,
    "a graph": lambda busy: functools.partial(busy.graph._replay, None),
}


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread"
)
@pytest.mark.parametrize("what", WAITS)
def test_an_interrupt_that_python_has_noted_ends_the_wait_that_begins(what):
    busy = Busy()
    over, lost = threading.Event(), []

    def rescue():
        if not over.wait(20):
            lost.append(what)
            os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=rescue)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sender.start()
        with pytest.raises(KeyboardInterrupt):
            at_once(functools.partial(os.kill, os.getpid(), signal.SIGINT), WAITS[what](busy))
        over.set()
        sender.join()
    finally:
        over.set()
        signal.signal(signal.SIGINT, before)
        _runtime.stop_kernels()
        cuda.synchronize()
    assert lost == []


@cuda.kernel
def takes_long(x, count):
    k = 0
    while k < count:
        k += 1
        x[1] += 1


@pytest.mark.skipif(not ON_CPU, reason="a GPU's memory goes back in the order of its own streams")
def test_an_array_that_goes_while_a_kernel_works_on_it_keeps_nobody_waiting():
    busy = Busy()
    size = cuda.Device().memory()["used"]
    del busy.x  # its kernel goes on for ever
    assert not busy.stream.query() and cuda.Device().memory()["used"] == size
    _runtime.stop_kernels()
    busy.stream.synchronize()
    assert cuda.Device().memory()["used"] < size


@pytest.mark.skipif(not ON_CPU, reason="a GPU's memory goes back in the order of its own streams")
def test_memory_that_a_kernel_still_holds_is_waited_for_before_there_is_none():
    device, stream = cuda.Device(), cuda.stream()
    x = cuda.zeros(1 << 20, "int64")
    with stream:
        takes_long[1, 1](x, 30_000_000)
    before = device.memory_limit
    try:
        device.memory_limit = device.memory()["used"] + (4 << 20)
        del x
        y = cuda.zeros(1 << 20, "int64")
        assert stream.query() and int(y.copy_to_host().sum()) == 0
    finally:
        device.memory_limit = before

"""Ctrl-C at any moment of a launch ends it: before the compile, during it, and while the kernel runs."""

from __future__ import annotations

import linecache
import os
import signal
import threading
import time

import numpy as np
import pytest
from xcuda import core as cuda

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

"""Eight threads that launch, compile, copy and compute at once: each must get what it would get alone."""

import itertools
import linecache
import random
import threading
from collections import Counter

import numpy as np
import xcuda.numeric as xnp
from xcuda import core as cuda

THREADS, LENGTH = 8, 1000
numbers = itertools.count()


@cuda.kernel
def add(a, number):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] += number


def launch(draw):
    """A kernel that all threads share, on a host array."""
    a = np.zeros(LENGTH)
    add(a, float(n := draw.randrange(99)))
    cuda.synchronize()
    return a, n


def stream(draw):
    """The same in a stream of one's own, and an event after it."""
    a, mine, n = cuda.zeros(LENGTH), cuda.stream(), draw.randrange(99)
    add[8, 128, mine](a, float(n))
    add[8, 128, mine](a, 1.0)
    end = cuda.event()
    end.record(mine)
    end.synchronize()
    return a.copy_to_host(), n + 1


def fresh(draw):
    """A kernel that was never compiled."""
    number = next(numbers)
    text, file = f"@cuda.kernel\ndef fresh(a):\n    a[cuda.grid(1)] = {number}\n", f"<thread {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"cuda": cuda}
    exec(compile(text, file, "exec"), names)
    a = cuda.zeros(LENGTH)
    names["fresh"][LENGTH // 100, 100](a)
    return a.copy_to_host(), number


def numeric(draw):
    """A fused expression and a sum."""
    n = draw.randrange(99)
    a = xnp.arange(LENGTH) * 2.0 + n
    return (a - xnp.arange(LENGTH) * 2.0).get(), float(a.sum() - LENGTH * (LENGTH - 1)) / LENGTH


WORK = {f.__name__: f for f in (launch, stream, fresh, numeric)}


def fuzz(seed: int, count: int):
    """How often each kind of work was done, and what came out wrong."""
    done, wrong = Counter(), []

    def work(number):
        draw = random.Random(seed * THREADS + number)
        for _ in range(count // THREADS):
            name = draw.choice(sorted(WORK))
            try:
                got, want = WORK[name](draw)
                if not (np.asarray(got) == want).all():
                    wrong.append(f"{name} in thread {number}: {got[:5]} instead of {want}")
            except Exception as error:
                wrong.append(f"{name} in thread {number}: {type(error).__name__}: {error}")
            done[name] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done, wrong

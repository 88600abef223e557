"""asyncio for cells: one loop for the kernel's life, run while a cell awaits and, by the server, between messages.

A plain cell may call ``asyncio.create_task`` as with ipykernel: the loop is marked as running meanwhile. Tasks then go
on when the cell has ended; they stand still only while a cell computes without awaiting.
"""

import sys
import traceback

from xcuda._sigint import Handler

_loop = None


def get():
    """The kernel's event loop, made at first use: importing asyncio is a good part of a kernel's start."""
    global _loop
    if _loop is None or _loop.is_closed():
        import asyncio

        from IPython.core.async_helpers import get_asyncio_loop

        _loop = get_asyncio_loop()
        asyncio.set_event_loop(_loop)
    return _loop


class marked_running:
    """While inside, ``asyncio.get_running_loop()`` finds the kernel's loop."""

    def __init__(self, code: str):
        self._needed = "asyncio" in sys.modules or "asyncio" in code or "await" in code

    def __enter__(self):
        if self._needed:
            import asyncio

            asyncio._set_running_loop(get())

    def __exit__(self, *_):
        if self._needed:
            import asyncio

            asyncio._set_running_loop(None)


class _Interruptible:
    """Awaits a cell's coroutine; what a signal raises (KeyboardInterrupt, a time limit's) is raised where the user's
    code waits."""

    def __init__(self, coroutine):
        self._coroutine = coroutine
        self.interrupted = None

    def __await__(self):
        import asyncio

        steps = self._coroutine.__await__()
        error = None
        while True:
            try:
                waiting = steps.send(None) if error is None else steps.throw(error)
            except StopIteration as end:
                return end.value
            error = None
            try:
                yield waiting
            except BaseException as other:
                error = other
            # What was waited for may swallow the cancellation.
            if self.interrupted is not None and (error is None or isinstance(error, asyncio.CancelledError)):
                error, self.interrupted = self.interrupted, None
                asyncio.current_task().uncancel()


class _between_steps(Handler):
    """While inside, what SIGINT raises while no task's code runs goes to `tell` instead: raised inside the loop's own
    code, it could lose a callback that was about to be called, and its task would wait for ever."""

    def __init__(self, loop, tell):
        self._loop, self._tell = loop, tell

    def _handle(self, number, frame):
        import asyncio

        if not self._inside or asyncio.current_task(self._loop) is not None:
            return self._before(number, frame)
        try:
            self._before(number, frame)
        except BaseException as raised:
            self._loop.call_soon_threadsafe(self._tell, raised)


def run(coroutine):
    """IPython's ``loop_runner``: run a cell that awaits, to its end."""
    import asyncio

    loop = get()
    body = _Interruptible(coroutine)
    task = None

    async def drive():
        return await body

    def interrupt(raised):
        if not task.done():
            body.interrupted = raised.with_traceback(None)
            task.cancel()

    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        with _between_steps(loop, interrupt):  # before there is a task that could be left behind
            task = loop.create_task(drive())
            while True:
                try:
                    return loop.run_until_complete(task)
                except BaseException as raised:  # in our task, or in another one
                    if not task.done():
                        interrupt(raised)
                    elif (
                        body.interrupted is not None
                    ):  # before the task's first step, which would have raised it
                        raise body.interrupted from None
                    else:
                        raise
    finally:
        asyncio._set_running_loop(outer)
        coroutine.close()


def pump(tell) -> tuple[int, int]:
    """Run the callbacks that are due; what interrupts them goes to `tell`. Returns the descriptor to wait for
    (-1: none) and milliseconds (-1: for ever)."""
    loop = _loop
    if loop is None or loop.is_closed():
        return -1, -1
    try:
        ready, scheduled, selector = loop._ready, loop._scheduled, loop._selector
    except AttributeError:  # not one of CPython's loops: look often
        _run_once(loop, tell)
        return -1, 20
    if ready or _milliseconds_left(loop, scheduled) == 0 or selector.select(0):
        _run_once(loop, tell)
    if ready:
        return selector.fileno(), 0
    return selector.fileno(), _milliseconds_left(loop, scheduled)


def _milliseconds_left(loop, scheduled) -> int:
    if not scheduled:
        return -1
    left = scheduled[0]._when - loop.time()
    return max(0, int(left * 1000 + 0.999)) if left > 0 else 0


def _run_once(loop, tell) -> None:
    try:
        with _between_steps(loop, tell):
            stop = loop.call_soon(loop.stop)
            try:
                loop.run_forever()
            finally:
                stop.cancel()  # a task that was interrupted ended the round first: it would stop the next cell's loop
    except (KeyboardInterrupt, SystemExit):
        print("A task that ran between two cells was stopped:", file=sys.stderr)
        traceback.print_exc()

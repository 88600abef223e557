"""What a cell's report costs: to a cell that launches nothing, and to one of 10,000 launches, with reports on and off.

    ./run bench report          through the Jupyter kernel, on the CPU device
    python bench/report.py gpu  on a GPU, where there may be no Jupyter: the hooks that the kernel calls round a cell,
                                the report's text and page, and these as JSON; all but sending them
    python bench/report.py parts    the processor's time for each part of a report, which others' load disturbs less

On and off take turns, the one that begins too, and what counts is the median of the turns' differences. Beside the wall
clock's time stands the processor's, of all threads of the process with the kernel, which others' load disturbs less.
Goals (issue 6): 0.5 ms, 3 %.
"""

import json
import linecache
import statistics
import sys
import time
from pathlib import Path

import _measure

LAUNCHES = 10_000
TURNS = 24
EMPTY_CELLS = 200

DEFINE = """
import numpy as np
from xcuda import core as cuda
from xcuda import profiler

@cuda.kernel
def add_one(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] + 1.0

a = cuda.zeros(256, "float32")
add_one[1, 256](a)
cuda.synchronize()
"""
LOOP = f"""
for _ in range({LAUNCHES}):
    add_one[1, 256](a)
cuda.synchronize()
"""


def through_the_kernel():
    """What turns() gives."""
    from kernel import Running

    running = Running([sys.executable, "-m", "xcuda.kernel", "-f", "{connection_file}"])

    def switch(mode):
        running.run(f"%cuda_report {mode}")

    tasks = Path(f"/proc/{running.manager.provisioner.pid}/task")

    def used():
        """Seconds that the kernel's threads have been on a processor."""
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) * 1e-9

    def run(code):
        before = used()
        seconds = running.run(code)
        return seconds, used() - before

    running.run(DEFINE)
    for _ in range(20):
        running.run("pass")
    try:
        return turns(switch, run)
    finally:
        running.stop()


def defined() -> dict:
    """The names that DEFINE makes."""
    space: dict = {}
    name = "<what is defined>"
    linecache.cache[name] = (
        len(DEFINE),
        None,
        DEFINE.splitlines(keepends=True),
        name,
    )  # kernels are read from it
    exec(compile(DEFINE, name, "exec"), space)
    return space


def parts():
    """{part: seconds of this thread's processor time, the least and the median of TURNS}, after LOOP."""
    from xcuda import profiler
    from xcuda.magics.render import render_report

    space, code = defined(), compile(LOOP, "<cell>", "exec")
    times: dict[str, list[float]] = {}

    def timed(part, work):
        begin = time.thread_time()
        result = work()
        times.setdefault(part, []).append(time.thread_time() - begin)
        return result

    for _ in range(TURNS + 3):
        timed("cell_begin", lambda: profiler.cell_begin(LOOP, 1))
        timed("the loop", lambda: exec(code, space))
        report = timed("cell_end: the document", profiler.cell_end)
        bundle = timed("its text and page", lambda report=report: render_report(report))
        timed("as JSON", lambda bundle=bundle: json.dumps(bundle[0]))
    return {part: (min(all[3:]), statistics.median(all[3:])) for part, all in times.items()}


def by_the_hooks():
    from xcuda import profiler
    from xcuda.magics.render import render_report

    space = defined()

    def run(code):
        compiled = compile(code, "<cell>", "exec")
        begin, used = time.perf_counter(), time.process_time()
        profiler.cell_begin(code, 1)
        exec(compiled, space)
        report = profiler.cell_end()
        if report is not None:
            json.dumps(render_report(report)[0])
        return time.perf_counter() - begin, time.process_time() - used

    return turns(profiler.show_reports, run)


def turns(switch, run):
    """({mode: one (wall, processor) of an empty cell a turn}, the same of the loop), seconds."""
    empty = {"on": [], "off": []}
    loop = {"on": [], "off": []}
    for mode in empty:
        switch(mode)
        run(LOOP)  # what is measured once a machine is known then
    for turn in range(TURNS):
        for mode in ("on", "off") if turn % 2 else ("off", "on"):
            switch(mode)
            run("pass")
            cells = [run("pass") for _ in range(EMPTY_CELLS // TURNS)]
            empty[mode].append(tuple(statistics.median(each) for each in zip(*cells, strict=True)))
            loop[mode].append(run(LOOP))
    return empty, loop


CLOCKS = ("wall", "processor")


def added(cells, clock):
    """(median without reports, the differences of the turns, their median), ms on that clock."""
    off, on = ([cell[clock] * 1e3 for cell in cells[mode]] for mode in ("off", "on"))
    differences = [b - a for a, b in zip(off, on, strict=True)]
    return statistics.median(off), differences, statistics.median(differences)


def row(name, cells, clock, goal):
    """Of the table: medians of both modes and of the differences of a turn, on that clock."""
    off, differences, more = added(cells, clock)
    quarter, _, three_quarters = statistics.quantiles(differences)
    share = f" ({more / off:+.1%})" if "%" in goal else ""
    return (
        f"{name}, {CLOCKS[clock]}",
        f"{off:.3f}",
        f"{statistics.median(cell[clock] * 1e3 for cell in cells['on']):.3f}",
        f"{more:+.3f}{share}",
        f"{quarter:+.3f} to {three_quarters:+.3f}",
        goal,
    )


def main():
    if sys.argv[1:] == ["parts"]:
        rows = [(part, *(f"{1e6 * seconds:.0f}" for seconds in two)) for part, two in parts().items()]
        print(f"{_measure.today()}; {_measure.machine()}\n")
        print(_measure.table(rows, ("part", "least, us", "median, us")))
        return
    empty, loop = by_the_hooks() if sys.argv[1:] == ["gpu"] else through_the_kernel()
    rows = [
        row(name, cells, clock, goal)
        for name, cells, goal in (
            ("a cell that launches nothing", empty, "0.5 ms"),
            (f"{LAUNCHES} launches", loop, "3 %"),
        )
        for clock in (0, 1)
    ]
    print(f"{_measure.today()}; {_measure.machine()}\n")
    head = ("cell and clock", "reports off, ms", "on, ms", "a report adds, ms", "half of the turns", "goal")
    print(_measure.table(rows, head), end="\n\n")
    for clock in (0, 1):
        _, _, nothing = added(empty, clock)
        _measure.goal(f"a cell that launches nothing, ms more, {CLOCKS[clock]}", nothing, 0.5)
        off, _, more = added(loop, clock)
        _measure.goal(f"{LAUNCHES} launches, % more, {CLOCKS[clock]}", 100 * more / off, 3)


if __name__ == "__main__":
    main()

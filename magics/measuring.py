"""The magics that measure: options here, work in the modules they name, loaded when first used."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from xcuda.magics.options import options_and_code, variable

PROFILE_VALUES = {"-o", "--output", "-m", "--metrics", "-n", "--number", "--target"}
TIME_VALUES = {"-n", "--number", "-t", "--time"}


@magics_class
class CudaMeasuring(Magics):
    """xcuda's measuring magics; `%magic?` shows the options of each."""

    @magic_arguments()
    @argument("-o", "--output", metavar="NAME", help="keep the report in this variable")
    @argument("-q", "--quiet", action="store_true", help="show no report, only keep it")
    @argument(
        "-m",
        "--metrics",
        nargs="+",
        metavar="METRIC",
        help="show only these figures: time, memory_throughput, ...; with commas between them, or blanks",
    )
    @argument(
        "--counters",
        action="store_true",
        help="read the GPU's hardware counters: the first launches of each kernel run several times over for it",
    )
    @argument("-n", "--number", type=int, default=1, metavar="N", help="run it N times in one report")
    @argument(
        "--target", metavar="SM", help="sm_80, sm_90, ...: what the kernels would need on a GPU not here, too"
    )
    @argument("--timeline", action="store_true", help="draw what ran when: streams, compiles, copies")
    @argument("--roofline", action="store_true", help="draw the kernels under the device's limits")
    @line_cell_magic
    def cuda_profile(self, line, cell=None):
        """Run the cell, or the rest of the line, wait for all its launches and show its report unfolded."""
        line, cell = self._code("%cuda_profile", line, cell, PROFILE_VALUES)
        __tracebackhide__ = True
        options = parse_argstring(self.cuda_profile, line)
        from xcuda.magics.profile_cell import profile_cell

        profile_cell(self.shell, cell, options)

    @magic_arguments()
    @argument("-n", "--number", type=int, metavar="N", help="run it N times, not as often as the time allows")
    @argument("-t", "--time", type=float, default=1.0, metavar="SECONDS", help="for all runs; 1 by default")
    @argument("-w", "--warm", action="store_true", help="leave out the runs with cold caches")
    @argument("-o", "--output", metavar="NAME", help="keep the result in this variable")
    @line_cell_magic
    def cuda_time(self, line, cell=None):
        """Time the cell, or the rest of the line, as %%timeit does, waiting for the device each time.

        It tells the device's time from the host's, with warm and with cold caches. What the cell assigns is
        gone afterwards.
        """
        magic = "%cuda_time" if cell is None else "%%cuda_time"
        line, cell = self._code("%cuda_time", line, cell, TIME_VALUES | {"-o", "--output"})
        __tracebackhide__ = True
        options = parse_argstring(self.cuda_time, line)
        from xcuda.magics.time_cell import time_cell

        variable(options.output)
        timed = time_cell(self.shell, cell, options.number, options.time, not options.warm, magic)
        if options.output is None:
            return timed
        self.shell.user_ns[options.output] = timed
        return None

    @magic_arguments()
    @argument("file", help="where the trace goes, such as trace.json; Perfetto (ui.perfetto.dev) opens it")
    @argument("-q", "--quiet", action="store_true", help="show no report, only write the trace")
    @cell_magic
    def cuda_trace(self, line, cell):
        """Run the cell and write what ran when as a trace: a track a stream, compiles and copies on the host's."""
        __tracebackhide__ = True
        options = parse_argstring(self.cuda_trace, line)
        from xcuda.magics.trace_cell import trace_cell

        trace_cell(self.shell, cell, options.file, options.quiet)

    @magic_arguments()
    @argument("kernel", help="a @cuda.kernel function that has been called or compiled")
    @argument(
        "blocks",
        nargs="*",
        default=[],
        metavar="block",
        help="threads of a block: 256, 16x16; the usual sizes without",
    )
    @argument("--target", metavar="SM", help="sm_80, sm_90, ...: a GPU that need not be here")
    @argument(
        "--shared",
        type=int,
        default=0,
        metavar="BYTES",
        help="dynamic shared memory that a launch gives a block",
    )
    @line_magic
    def cuda_occupancy(self, line):
        """How many of a GPU's threads a kernel keeps resident at each block size, and what limits it."""
        options = parse_argstring(self.cuda_occupancy, line)
        from xcuda.magics.occupancy import occupancy

        kernel = self.shell._ofind(options.kernel)
        if not kernel.found:
            raise UsageError(f"there is no {options.kernel!r} here: run the cell that defines it first")
        return occupancy(kernel.obj, options.kernel, options.blocks, options.target, options.shared)

    @magic_arguments()
    @argument("mode", nargs="?", choices=("on", "off", "full"), help="full: unfolded, with pictures")
    @line_magic
    def cuda_report(self, line):
        """Whether cells that used a device show a report: on, off, or full. Without a mode: which it is."""
        options = parse_argstring(self.cuda_report, line)
        from xcuda.profiler import show_reports

        words = {"on": "a line that unfolds", "off": "no reports", "full": "unfolded, with pictures"}
        mode = show_reports(options.mode)
        print(f"{mode}: {words[mode]}")

    def _code(self, name: str, line: str, cell: str | None, with_value: set[str]) -> tuple[str, str]:
        """(options, code): of a cell magic the line is all options, of a line magic what follows them is the code."""
        if cell is not None:
            return line, cell
        options, code = options_and_code(line, with_value)
        if not code:
            raise UsageError(f"{name} needs an expression after its options, or, as %{name}, a cell")
        return options, code

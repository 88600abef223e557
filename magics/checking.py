"""The magics that look for mistakes in kernels: options here, work in the modules they name, loaded when first used."""

from __future__ import annotations

import re

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring


@magics_class
class CudaChecking(Magics):
    """xcuda's magics that check and debug kernels; `%magic?` shows the options of each."""

    @magic_arguments()
    @argument("-o", "--output", metavar="NAME", help="keep the report in this variable")
    @argument(
        "--orders",
        type=int,
        default=3,
        metavar="N",
        help="orders of threads and blocks to run in; 3 by default",
    )
    @argument("--seed", type=int, default=0, metavar="N", help="what the orders are drawn from")
    @argument(
        "--steps",
        type=int,
        metavar="N",
        help="accesses of a run that are looked at, at most; by default 20 million on the CPU device, all on a GPU",
    )
    @argument(
        "--on",
        choices=("cpu", "gpu"),
        help="where the launches are checked: the CPU device by default, where there is one",
    )
    @argument(
        "--launches",
        type=int,
        default=10,
        metavar="N",
        help="launches alike that are looked at; 10 by default",
    )
    @argument(
        "--skip", action="append", metavar="RULE", help="leave out race, inf, nan, order-dependent, ..."
    )
    @cell_magic
    def cuda_check(self, line, cell):
        """Run the cell and check each of its launches, over copies on the CPU device or a GPU, before it starts.

        Found are races on global and shared memory, elements read before they are written, barriers that some threads
        do not come to, indices out of range also with checked=False, arguments that overlap, results that hang on the
        order of threads, and where an inf or nan is made. What the cell itself computes is as without it.
        """
        __tracebackhide__ = True
        options = parse_argstring(self.cuda_check, line)
        from xcuda.magics.check_cell import check_cell

        check_cell(self.shell, cell, options)

    @magic_arguments()
    @argument("--thread", metavar="BLOCK,THREAD", help="(bx,by,bz),(tx,ty,tz): (0,0,0),(0,0,0) by default")
    @argument("--kernel", metavar="NAME", help="which kernel; the cell's first launch by default")
    @argument("--launch", type=int, default=1, metavar="N", help="its how manieth launch in the cell, from 1")
    @argument(
        "--break", dest="condition", metavar="CONDITION", help="show only where this holds: --break 'i == 3'"
    )
    @argument("--line", type=int, metavar="N", help="show only this line of the kernel's file or cell")
    @argument("--steps", type=int, default=10_000, metavar="N", help="lines that are followed, at most")
    @argument("--rows", type=int, default=100, metavar="N", help="lines that are shown, at most")
    @argument("-o", "--output", metavar="NAME", help="keep what was followed in this variable")
    @cell_magic
    def cuda_debug(self, line, cell):
        """Run the cell and follow one thread of a kernel, line by line, with the values that it has.

        It runs on the CPU device over copies, with all threads of its block, before the launch itself. Without --thread
        the first thread that comes to a breakpoint() is followed, where the kernel has one; a debugger that is attached
        to the notebook stops there with the kernel's variables.
        """
        __tracebackhide__ = True
        options = parse_argstring(self.cuda_debug, without_blanks(line))
        from xcuda.magics.debug_cell import debug_cell

        debug_cell(self.shell, cell, options)

    @magic_arguments()
    @argument("kernel", help="a @cuda.kernel function, or kernel[grid,block], without blanks")
    @argument(
        "arguments",
        nargs="*",
        default=[],
        help="the arguments of the call: names, or expressions without blanks",
    )
    @argument("--block", metavar="X,Y,Z", help="the only block to draw; without it all of a small launch")
    @line_magic
    def cuda_draw(self, line):
        """A picture of what each thread of a launch reads and writes, from a run on the CPU device over copies."""
        options = parse_argstring(self.cuda_draw, line)
        from xcuda import check

        block = None
        if options.block is not None:
            parts = options.block.strip("()").split(",")
            if len(parts) > 3 or not all(part.strip().isdecimal() for part in parts):
                raise UsageError(f"--block takes one to three numbers, as in 0,1, not {options.block!r}")
            block = tuple(map(int, parts))
        try:
            values = [self.shell.ev(text) for text in (options.kernel, *options.arguments)]
        except Exception as error:
            raise UsageError(f"%cuda_draw {line}: {error}") from None
        try:
            return check.draw(*values, block=block)
        except (TypeError, IndexError) as error:
            raise UsageError(str(error)) from None


def without_blanks(line: str) -> str:
    """The line with --thread's places in one word, as (0, 0, 0), (1, 0, 0) are meant."""
    return re.sub(r"(--thread)[ =]+([\d\s(),]+)", lambda m: f"{m[1]} {''.join(m[2].split())} ", line)

"""The magics for memory and limits: options here, work in the modules they name, loaded when first used."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring


@magics_class
class CudaKeeping(Magics):
    """xcuda's magics for what is kept and what may be used; `%magic?` shows the options of each."""

    @magic_arguments()
    @argument("device", nargs="?", help="cpu, cuda:0, ...; the current device without")
    @argument("--diff", action="store_true", help="what came and went since the last %%cuda_mem")
    @argument(
        "--spill",
        metavar="SIZE",
        help="64GB: arrays of a full GPU may move to host memory, so much; off: none",
    )
    @line_magic
    def cuda_mem(self, line):
        """A device's memory: in use, kept for reuse, free, what holds it by variable and cell, peaks by cell."""
        options = parse_argstring(self.cuda_mem, line)
        from xcuda.magics.memory import difference, overview, spill

        if options.spill:
            print(spill(options.device, options.spill))
            return None
        return (
            difference(self.shell, options.device) if options.diff else overview(self.shell, options.device)
        )

    @magic_arguments()
    @argument("off", nargs="?", choices=("off",), help="stop the panel that is shown")
    @argument("--every", type=float, default=1.0, metavar="SECONDS", help="between two looks; 1 by default")
    @line_magic
    def cuda_dashboard(self, line):
        """A panel that goes on while cells run: devices' use, memory by variable, what is under way, the last kernels.

        It ends with its output, or with %cuda_dashboard off. Where widgets don't work it is a snapshot.
        """
        options = parse_argstring(self.cuda_dashboard, line)
        from xcuda.magics import dashboard

        if options.off:
            print(dashboard.stop())
        elif not options.every > 0:
            raise UsageError("%cuda_dashboard --every takes seconds above 0")
        else:
            dashboard.show(self.shell, options.every)

    @magic_arguments()
    @argument(
        "names",
        nargs="*",
        default=[],
        metavar="name",
        help="variables to delete, with what Out[] and _ keep of them",
    )
    @argument(
        "--unused",
        action="store_true",
        help="arrays that only Out[], _ or a failed cell's traceback hold, and memory kept for reuse",
    )
    @argument(
        "--all", action="store_true", help="every device array of the notebook's variables, and the above"
    )
    @no_var_expand  # IPython's expansion copies the namespace, which would hold what is to be freed
    @line_magic
    def cuda_free(self, line):
        """Give device memory back: of variables, of what nothing needs any more, or all."""
        options = parse_argstring(self.cuda_free, line)
        from xcuda.magics.memory import free

        print(free(self.shell, options.names, options.unused, options.all))

    @magic_arguments()
    @argument("limits", nargs="*", default=[], metavar="limit", help="time=5s, memory=8GB; none lifts one")
    @line_cell_magic
    def cuda_limit(self, line, cell=None):
        """How long each cell may run and how much device memory arrays may hold; as %%cuda_limit, for this cell."""
        __tracebackhide__ = True
        options = parse_argstring(self.cuda_limit, line)
        from xcuda.magics.limits import limit, limited_cell

        if cell is None:
            print(limit(options.limits))
        else:
            limited_cell(self.shell, cell, options.limits)

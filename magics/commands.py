"""The magics that ask and switch: options here, work in the modules they name, loaded when first used."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring


@magics_class
class CudaMagics(Magics):
    """xcuda's magics; `%magic?` shows the options of each."""

    @magic_arguments()
    @line_magic
    def cuda_info(self, line):
        """Devices, compilers, libraries and cache: what was found, what is missing and how to get it."""
        parse_argstring(self.cuda_info, line)
        from xcuda.magics.info import info

        return info()

    @magic_arguments()
    @argument("kernel", help="a @cuda.kernel function that has been called or compiled")
    @argument(
        "-v",
        "--version",
        type=int,
        default=-1,
        help="which compiled version, from 0; the last one by default",
    )
    @argument("--cpp", action="store_true", help="the generated C++; so without any of these")
    @argument("--ir", action="store_true", help="the typed IR instead")
    @argument("--text", action="store_true", help="the generated C++ as plain text, without the Python")
    @argument("--asm", action="store_true", help="the assembly of the device that it was compiled for")
    @argument("--ptx", action="store_true", help="the PTX for a GPU")
    @argument("--sass", action="store_true", help="a GPU's machine code beside the Python; needs nvdisasm")
    @argument("--target", metavar="SM", help="sm_80, sm_90, ...: a GPU that need not be here")
    @line_magic
    def cuda_source(self, line):
        """The C++ generated for a kernel, beside the Python lines it came from and what each costs.

        The cost of a line is how many instructions it became on a GPU: the present one, --target, or sm_90.
        """
        options = parse_argstring(self.cuda_source, line)
        from xcuda.magics.source import source_of

        forms = [form for form in ("cpp", "ir", "text", "asm", "ptx", "sass") if getattr(options, form)]
        if len(forms) > 1:
            raise UsageError(
                "%cuda_source shows one of --cpp, --ir, --text, --asm, --ptx and --sass at a time"
            )
        form = forms[0] if forms else "cpp"
        return source_of(self._object(options.kernel), options.kernel, form, options.version, options.target)

    @magic_arguments()
    @argument("kernel", help="a @cuda.kernel function, kernel[grid, block], or a whole call of one")
    @argument(
        "arguments",
        nargs="*",
        default=[],
        help="names of the arguments of a call; without, the types of the last one",
    )
    @line_magic
    def cuda_advise(self, line):
        """What costs a kernel its time or its correctness, found in a traced run of some of its blocks."""
        from xcuda.magics.advise import advise, call_of

        kernel, arguments = call_of(line) or (None, None)
        if kernel is None:
            options = parse_argstring(self.cuda_advise, line)
            kernel, arguments = options.kernel, options.arguments
        return advise(self._value(kernel), kernel, [self._value(name) for name in arguments])

    @magic_arguments()
    @argument("device", nargs="?", help="cpu, cuda:0, ...: the device for all cells from now on")
    @line_magic
    def cuda_device(self, line):
        """Show the device that is current, or make another one current."""
        options = parse_argstring(self.cuda_device, line)
        from xcuda.magics.info import use_device

        print(use_device(options.device))

    @magic_arguments()
    @argument("--clear", action="store_true", help="remove all compiled kernels from the disk cache")
    @line_magic
    def cuda_cache(self, line):
        """The cache of compiled kernels: where it is, how large, how often it served."""
        options = parse_argstring(self.cuda_cache, line)
        from xcuda.magics.info import cache

        print(cache(options.clear))

    @magic_arguments()
    @argument(
        "owner",
        nargs="?",
        choices=("xcuda", "installed"),
        help="xcuda: cuda.core, cupy.numeric, ... are xcuda's, whatever is installed; installed: only where "
        "no installed package has the name",
    )
    @line_magic
    def cuda_names(self, line):
        """Who serves `import cuda.core` and its like, and a switch between xcuda and installed packages."""
        options = parse_argstring(self.cuda_names, line)
        from xcuda.magics.names import names

        print(names(options.owner))

    def _value(self, expression: str):
        """What a name or an expression without blanks stands for in the user's notebook."""
        try:
            return self.shell.ev(expression)
        except Exception as error:
            told = error.msg if isinstance(error, SyntaxError) else error  # without IPython's name of a file
            raise UsageError(f"{expression}: {told}") from None

    def _object(self, name: str):
        found = self.shell._ofind(name)
        if not found.found:
            raise UsageError(f"there is no {name!r} here: run the cell that defines it first")
        return found.obj

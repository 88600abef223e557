"""The IPython shell of the kernel, and the application that configures it.

Straight over IPython: ``xeus_python_shell.shell`` would import urllib3, half of a kernel's start.
"""

import os
import sys
import traceback

from IPython.core import page, payloadpage
from IPython.core.application import BaseIPythonApplication
from IPython.core.autocall import ExitAutocall
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.shellapp import InteractiveShellApp
from traitlets import Any, Type
from traitlets.config import Config
from xeus_python_shell.compiler import XCachingCompiler

from . import _kernel
from .display import KernelDisplayHook, KernelDisplayPublisher
from .encode import to_json
from .frames import name_cells_in_warnings, without_own
from .outputs import Errors, Outputs

# What needs no event loop beside asyncio's, which runs always.
LOOPLESS_GUIS = frozenset(
    (
        None,
        "inline",
        "agg",
        "headless",
        "svg",
        "pdf",
        "ps",
        "nbagg",
        "webagg",
        "notebook",
        "ipympl",
        "widget",
        "asyncio",
    )
)


class KernelExit(ExitAutocall):
    """``exit`` and ``quit``: end the kernel, or with ``exit(keep_kernel=True)`` only the front-end."""

    def __call__(self, keep_kernel=False):
        self._ip.keepkernel_on_exit = keep_kernel
        self._ip.ask_exit()


# Libraries (rich, tqdm, IPython's own extensions) know a notebook by this class's name.
class ZMQInteractiveShell(InteractiveShell):
    """IPython's shell with its outputs, errors and exits as Jupyter messages."""

    display_pub_class = Type(KernelDisplayPublisher)
    displayhook_class = Type(KernelDisplayHook)
    compiler_class = Type(XCachingCompiler)
    kernel = Any()
    keepkernel_on_exit = None
    silent_now = False  # while a request marked silent runs
    _last_traceback = None

    def init_hooks(self):
        super().init_hooks()
        self.set_hook("show_in_pager", page.as_hook(payloadpage.page), 99)

    def init_history(self):
        super().init_history()
        if hasattr(self.history_manager, "outputs"):  # of IPython 9
            self.history_manager.outputs = Outputs()
            self.history_manager.exceptions = Errors()

    def _showtraceback(self, etype, evalue, stb):
        sys.stdout.flush()
        self._last_traceback = stb
        if not self.silent_now:
            content = {"ename": etype.__name__, "evalue": safe_text(evalue), "traceback": stb}
            _kernel.publish("error", to_json(content))

    def showtraceback(self, exc_tuple=None, *args, **kwargs):
        try:
            super().showtraceback(exc_tuple, *args, **kwargs)
        except Exception as broken:  # an exception whose own __str__ raises
            etype, evalue, _ = self._get_exc_info(exc_tuple)
            told = f"{etype.__name__}: (it can't be printed: {type(broken).__name__})"
            self._showtraceback(etype, evalue, [told])

    def _get_exc_info(self, exc_tuple=None):
        etype, value, trace = super()._get_exc_info(exc_tuple)
        told = etype is KeyboardInterrupt or etype.__name__ == "TimeLimitError"  # wherever they meet us
        return etype, value, without_own(trace, told or getattr(value, "_xcuda_told", False))

    def showsyntaxerror(self, filename=None, running_compiled_code=False):
        """What a kernel refuses is a SyntaxError of a running cell: without the frames of IPython above the cell."""
        if filename or not running_compiled_code:
            return super().showsyntaxerror(filename, running_compiled_code)
        etype, value, trace = self._get_exc_info()
        while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith("IPython."):
            trace = trace.tb_next
        frames = traceback.extract_tb(trace)
        return self._showtraceback(etype, value, self.SyntaxTB.structured_traceback(etype, value, frames))

    def _format_exception_for_storage(self, exception, *args, **kwargs):
        # IPython would format the traceback a second time; it was shown a moment ago.
        if self._last_traceback is None:
            return super()._format_exception_for_storage(exception, *args, **kwargs)
        return {
            "ename": type(exception).__name__,
            "evalue": safe_text(exception),
            "traceback": self._last_traceback,
        }

    def run_cell(self, *args, **kwargs):
        self._last_traceback = None
        return super().run_cell(*args, **kwargs)

    def ask_exit(self):
        self.payload_manager.write_payload(
            {"source": "ask_exit", "keepkernel": bool(self.keepkernel_on_exit)}
        )
        if not self.keepkernel_on_exit:
            _kernel.request_stop()

    def enable_gui(self, gui=None):
        if gui not in LOOPLESS_GUIS:
            raise UsageError(
                f"The xcuda kernel runs no event loop for '{gui}'. Use %matplotlib inline, or %matplotlib widget."
            )

    def init_magics(self):
        super().init_magics()
        self.register_magics(KernelMagics)

    def set_next_input(self, text, replace=False):
        self.payload_manager.write_payload({"source": "set_next_input", "text": text, "replace": replace})

    def set_parent(self, parent):
        """Asked for by libraries that replay messages; the parent is the request being handled."""

    def get_parent(self):
        return self.kernel.get_parent()


def safe_text(value) -> str:
    try:
        return str(value)
    except Exception:
        return object.__repr__(value)


def _magics():
    from IPython.core.magic import Magics, line_magic, magics_class

    @magics_class
    class KernelMagics(Magics):
        """The line magics that ipykernel has over IPython's own."""

        @line_magic
        def connect_info(self, line):
            """Tell how another front-end connects to this kernel."""
            print("Connect another front-end with:\n    jupyter console --existing")

        @line_magic
        def autosave(self, line):
            """Set the notebook's autosave interval in seconds; 0 turns it off."""
            print(
                "Autosave is a setting of the front-end: JupyterLab has it under Settings, Autosave Documents."
            )

    return KernelMagics


KernelMagics = _magics()


class KernelApp(BaseIPythonApplication, InteractiveShellApp):
    """Reads IPython's configuration and profile, as every front-end of IPython does."""

    name = "ipython-kernel"

    def initialize(self, argv=None):
        super().initialize(argv)
        self.user_ns = {}
        self.init_path()
        self.init_shell()
        self.init_gui_pylab()
        self.init_extensions()
        self.init_code()

    def init_path(self):
        super().init_path()
        if "" not in sys.path and not self.ignore_cwd:
            # The kernelspec's -P keeps the working directory out while the kernel starts; cells import from it.
            packages = [
                i for i, path in enumerate(sys.path) if path.endswith(("site-packages", "dist-packages"))
            ]
            sys.path.insert(packages[0] if packages else len(sys.path), "")

    def init_shell(self):
        self.config.setdefault("IPKernelApp", Config())  # tqdm and others look for this section
        self.shell = ZMQInteractiveShell.instance(
            parent=self, profile_dir=self.profile_dir, user_ns=self.user_ns
        )
        self.shell.configurables.append(self)
        name_cells_in_warnings(self.shell)
        self.shell.exiter = KernelExit(self.shell)
        for name in ("exit", "quit"):
            self.shell.user_ns[name] = self.shell.exiter
            self.shell.user_ns_hidden[name] = self.shell.exiter

    def exit(self, exit_status=0):
        """Not for IPython to decide: the kernel ends at a shutdown request or ``exit()``."""


def make_app() -> KernelApp:
    """The application, not yet initialized: xeus does that."""
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    return KernelApp.instance()

"""Makes the magics known to a shell, and shows reports through its events where the kernel does not do so."""

from __future__ import annotations

import importlib
import re

import xcuda

NAMES = {
    "line": ("cuda_info", "cuda_source", "cuda_advise", "cuda_device", "cuda_cache", "cuda_names"),
    "cell": ("cuda_profile",),
}
NAMES["line"] += ("cuda_profile", "cuda_time", "cuda_occupancy", "cuda_report")
NAMES["cell"] += ("cuda_time", "cuda_trace")
NAMES["line"] += ("cuda_mem", "cuda_free", "cuda_limit", "cuda_draw", "cuda_dashboard")
NAMES["cell"] += ("cuda_limit", "cuda_check", "cuda_debug")


class Unloaded:
    """A magic by name only: the commands, slow to load, are loaded when one is called or asked about."""

    def __init__(self, shell, kind: str, name: str):
        self.shell, self.kind, self.__name__ = shell, kind, name

    def __call__(self, *arguments):
        return self.loaded()(*arguments)

    @property
    def __doc__(self):
        return self.loaded().__doc__

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.loaded(), name)  # how IPython is to call it

    def loaded(self):
        magics = self.shell.magics_manager.magics[self.kind]
        if magics[self.__name__] is self:
            self.shell.register_magics(*classes())  # replaces all of them
        return magics[self.__name__]


def classes() -> tuple[type, ...]:
    """All magics, loaded."""
    from xcuda.magics.checking import CudaChecking
    from xcuda.magics.commands import CudaMagics
    from xcuda.magics.keeping import CudaKeeping
    from xcuda.magics.measuring import CudaMeasuring

    return CudaMagics, CudaMeasuring, CudaKeeping, CudaChecking


def register(shell, hooks: bool) -> None:
    for kind, names in NAMES.items():
        for name in names:
            if name not in shell.magics_manager.magics[kind]:
                shell.magics_manager.magics[kind][name] = Unloaded(shell, kind, name)
    xcuda._prepare = prepare
    xcuda._show_line = line_shower(shell)
    complete_options(shell)
    tell_near_names(shell)
    if not getattr(shell, "_xcuda_tells_names", False):
        shell.events.register("pre_run_cell", tell_of_names)
        shell._xcuda_tells_names = True
    if hooks and not shows_reports_itself(shell) and not getattr(shell, "_xcuda_hooks", False):
        shell.events.register("pre_run_cell", before_cell)
        shell.events.register("post_run_cell", after_cell)
        shell._xcuda_hooks = True


def tell_near_names(shell) -> None:
    """IPython's "magic not found" of a name that begins with cuda_ goes on with the names that are there."""
    if getattr(shell, "_xcuda_tells_near_names", False) or not hasattr(shell, "show_usage_error"):
        return
    shown = shell.show_usage_error

    def show(error):
        found = re.search(r"agic (?:function )?`%%?(cuda_\w*)` not found", str(error))
        if found:
            from xcuda.magics.near import near_names

            error = type(error)(f"{str(error).rstrip('.')}; {near_names(found[1])}")
        shown(error)

    shell.show_usage_error = show
    shell._xcuda_tells_near_names = True


def complete_options(shell) -> None:
    """The options of these magics, and the values of an option that has a fixed list of them, on Tab."""
    if getattr(shell, "_xcuda_completes", False) or not hasattr(shell, "set_hook"):
        return
    try:
        from IPython.core.completer import context_matcher
    except ImportError:
        pass  # before IPython 8.6: Python's names stand among the options
    else:
        shell.Completer.custom_matchers.append(context_matcher()(only_options(shell)))
        shell._xcuda_completes = True
        return
    for kind, names in NAMES.items():
        prefix = "%" if kind == "line" else "%%"
        for name in names:
            shell.set_hook("complete_command", offered_options, str_key=prefix + name)
            if kind == "line":
                shell.set_hook("complete_command", offered_options, str_key=name)  # automagic
    shell._xcuda_completes = True


def only_options(shell):
    """IPython's matcher: where a magic of ours takes an option or a value, that and nothing else."""
    from IPython.core.completer import SimpleCompletion

    known = {
        prefix + name
        for kind, names in NAMES.items()
        for name in names
        for prefix in (("%", "") if kind == "line" else ("%%",))
    }

    def matcher(context):
        line = context.text_until_cursor
        offered: list[str] = []
        word = re.search(r"[^\s,]*\Z", line)[0]
        magic, blank, _ = line.lstrip().partition(" ")
        if blank and magic in known:
            from xcuda.magics.completions import option_completions

            offered = option_completions(shell, line, word)
        return {
            "completions": [SimpleCompletion(text=text, type="option") for text in offered],
            "matched_fragment": word,
            "suppress": bool(offered),
        }

    return matcher


def offered_options(shell, event) -> list[str]:
    """IPython's hook: completions of the word under the cursor."""
    from xcuda.magics.completions import option_completions

    return option_completions(shell, event.line, event.symbol)


def shows_reports_itself(shell) -> bool:
    return any(cls.__module__.startswith("xcuda.kernel") for cls in type(shell).__mro__)


def prepare() -> None:
    """What the first report would have to load; run on a thread of its own once a device is in use."""
    importlib.import_module("xcuda.magics.render")


def line_shower(shell):
    """What shows a line that changes while a cell runs: loaded when the first one is due."""
    made = None

    def show(text: str, which: str) -> None:
        nonlocal made
        if made is None:
            from xcuda.magics.live_line import LiveLine

            made = LiveLine(shell)
        made(text, which)

    return show


def tell_of_names(info) -> None:
    """Says so where a cell imports one of the article's names and gets an installed package."""
    from xcuda.magics.names import installed_instead

    for line in installed_instead(info.raw_cell or ""):
        print(line)


def before_cell(info) -> None:
    from IPython import get_ipython
    from xcuda.profiler import cell_begin

    cell_begin(info.raw_cell or "", get_ipython().execution_count)


def after_cell(result) -> None:
    from xcuda.profiler import cell_end

    # IPython has counted on before it told of the cell's begin.
    report = cell_end(not result.success, result.execution_count)
    if report is not None:
        from IPython.display import display
        from xcuda.magics.render import render_report

        bundle, metadata = render_report(report)
        display(bundle, metadata=metadata, raw=True)

"""The requests of Jupyter's shell channel, as the C++ interpreter asks them. Replies are JSON text."""

import importlib.util
import json
import sys

from IPython.utils.tokenutil import token_at_cursor

from . import _kernel, comms, crash, interrupted, loop, report, stdin, streams
from .encode import to_json
from .shell import safe_text

shell = None


class Kernel:
    """``get_ipython().kernel``: what libraries look for there."""

    comm_manager = comms.manager
    implementation = "xcuda"

    def __init__(self, owner):
        self.shell = owner

    def get_parent(self, channel=None):
        """The message that is being handled, as far as it is known: its header."""
        return {"header": json.loads(_kernel.parent_header()), "content": {}, "metadata": {}}

    @property
    def _parent_header(self):
        return self.get_parent()


def start(ipython_shell) -> None:
    """Make the shell IPython built into the kernel's."""
    global shell
    shell = ipython_shell
    comms.install()
    shell.kernel = Kernel(shell)
    streams.install()
    stdin.install()
    shell.loop_runner = loop.run
    report.register(shell)
    interrupted.serve()


def pump() -> tuple[int, int]:
    try:
        return loop.pump(lambda raised: stop_kernels())
    finally:
        stop_interrupted()


def stop_interrupted() -> None:
    """Kernels end where an interrupt came, whatever became of what it raised."""
    if interrupted.take():
        stop_kernels()


def stop_kernels() -> None:
    """An interrupt was told of, or came while no cell ran: what cells have left on a device ends too."""
    interrupted.take()
    if report.runtime_loaded():
        report.call("xcuda._runtime", "stop_kernels")


class Cell:
    """One execute_request: an interrupt may cut ``run()`` and ``show_report()`` short."""

    def __init__(self, code, silent, store_history, user_expressions, allow_stdin):
        self.code = code
        self.count = shell.execution_count
        self.silent = silent
        self.store_history = store_history and not silent
        self.expressions = json.loads(user_expressions) or {}
        self.content = {"status": "ok", "user_expressions": {}}
        shell.silent_now = silent
        shell._last_traceback = None
        stdin.allow(allow_stdin)

    def run(self) -> None:
        crash.cell(self.code)
        if not self.silent:
            report.begin(self.code, self.count)
        with loop.marked_running(self.code):
            result = shell.run_cell(self.code, store_history=self.store_history, silent=self.silent)
            error = result.error_before_exec or result.error_in_exec
            if not result.success and error is not None:
                self._fail(error)
            else:
                self.content["user_expressions"] = shell.user_expressions(self.expressions)

    def escaped(self, error) -> None:
        """Something was raised outside the user's own code: an interrupt inside IPython, say."""
        shell.showtraceback((type(error), error, error.__traceback__))
        self._fail(error)

    def escaped_again(self, error) -> None:
        """As `escaped`, where that did not come to an end: nothing of the user's is asked for its text."""
        shell._showtraceback(type(error), "", [f"{type(error).__name__}: (its traceback can't be shown)"])
        self._fail(error)

    def _fail(self, error) -> None:
        if isinstance(error, KeyboardInterrupt):
            stop_kernels()
        self.content |= {
            "status": "error",
            "ename": type(error).__name__,
            "evalue": safe_text(error),
            "traceback": shell._last_traceback or [],
            "user_expressions": {},
        }

    def show_report(self) -> None:
        """May wait for what the cell left running on the device, so an interrupt ends this too."""
        streams.restore_after_cell()
        stop_interrupted()
        if not self.silent:
            report.end(self.content["status"] == "error", self.count)

    def reply(self) -> str:
        stop_interrupted()
        self.content["execution_count"] = shell.execution_count - 1
        self.content["payload"] = shell.payload_manager.read_payload()
        shell.payload_manager.clear_payload()
        shell.silent_now = False
        return to_json(self.content)


def _within(code: str, cursor: int) -> int:
    return min(cursor, len(code)) if cursor >= 0 else len(code)


def complete(code: str, cursor: int) -> str:
    from IPython.core.completer import provisionalcompleter, rectify_completions

    cursor = _within(code, cursor)
    with provisionalcompleter():
        found = list(rectify_completions(code, shell.Completer.completions(code, cursor)))
    start, end = (found[0].start, found[0].end) if found else (cursor, cursor)
    matches = [one.text for one in found]
    types = [{"start": c.start, "end": c.end, "text": c.text, "type": c.type or ""} for c in found]
    more = (
        report.call("xcuda.magics", "kernel_completions", code, cursor) if report.runtime_loaded() else None
    )
    if more:
        names, more_start, more_end = more
        if (more_start, more_end) != (start, end):
            matches, types, start, end = [], [], more_start, more_end
        matches = [*names, *(text for text in matches if text not in names)]
        types += [{"start": start, "end": end, "text": name, "type": "function"} for name in names]
    content = {
        "status": "ok",
        "matches": matches,
        "cursor_start": start,
        "cursor_end": end,
        "metadata": {"_jupyter_types_experimental": types},
    }
    return to_json(content)


def inspect(code: str, cursor: int, detail_level: int) -> str:
    name = token_at_cursor(code, _within(code, cursor))
    content = {"status": "ok", "found": False, "data": {}, "metadata": {}}
    try:
        content["data"] = shell.object_inspect_mime(name, detail_level=detail_level)
        if not shell.enable_html_pager:
            content["data"].pop("text/html", None)
        content["found"] = True
    except KeyError:
        pass  # no such name
    except Exception as error:  # the object's own __doc__, __repr__ or __signature__ raised
        content["data"] = {
            "text/plain": f"{name} can't be inspected: {type(error).__name__}: {safe_text(error)}"
        }
        content["found"] = True
    return to_json(content)


def is_complete(code: str) -> str:
    status, indent = shell.input_transformer_manager.check_complete(code)
    content = {"status": status}
    if status == "incomplete":
        content["indent"] = " " * (indent or 0)
    return to_json(content)


def run_internal(code: str) -> str:
    """Code that the debugger asks for: it sees the user's names and leaves none of its own."""
    try:
        exec(code, dict(shell.user_ns))
    except BaseException as error:
        content = {
            "status": "error",
            "ename": type(error).__name__,
            "evalue": safe_text(error),
            "traceback": [code],
        }
        return to_json(content)
    return to_json({"status": "ok", "payload": [], "user_expressions": {}})


def rich(value) -> str:
    """A value's MIME bundle, for the debugger's variable view."""
    data, metadata = shell.display_formatter.format(value)
    return to_json({"data": data, "metadata": metadata})


def rich_by_name(name: str) -> str:
    return rich(eval(name, shell.user_ns))


def kernel_info() -> str:
    version = sys.version.split()[0]
    content = {
        "status": "ok",
        "implementation": "xcuda",
        "implementation_version": _kernel.__version__,
        "banner": (
            f"xcuda {_kernel.__version__}: GPU code in plain Python, run at Shift-Enter, on a GPU or without one.\n"
            f"Python {version}. %cuda_info tells what it runs on."
        ),
        "language_info": {
            "name": "python",
            "version": version,
            "mimetype": "text/x-python",
            "file_extension": ".py",
            "pygments_lexer": f"ipython{sys.version_info.major}",
            "codemirror_mode": {"name": "ipython", "version": sys.version_info.major},
            "nbconvert_exporter": "python",
        },
        "debugger": importlib.util.find_spec("debugpy") is not None,
        "help_links": [
            {
                "text": "Python reference",
                "url": f"https://docs.python.org/{sys.version_info.major}.{sys.version_info.minor}",
            },
            {"text": "IPython reference", "url": "https://ipython.org/documentation.html"},
            {"text": "NumPy reference", "url": "https://numpy.org/doc/stable/reference/"},
            {
                "text": "CUDA programming guide",
                "url": "https://docs.nvidia.com/cuda/cuda-c-programming-guide/",
            },
        ],
    }
    return to_json(content)

"""Executes the tutorials' code cells without Jupyter: `tutorials.py [--jobs N] [--limit S] [--out DIR] [NOTEBOOK...]`.

For a machine that has the runtime (on PYTHONPATH) and IPython, but no kernel: each notebook runs in a process of its own,
its cells in order in an IPython shell with `%load_ext xcuda`, on one event loop, as ipykernel runs them. The puzzles run
with their solutions filled in. An exercise's check must say "right". What a cell needs the embedded CPU device for
(checks, the debugger, pictures) is counted and passed over where the runtime was built without it.

Prints a row a notebook and, of one that failed, the last lines; DIR (build/gpu/tutorials) gets summary.md and what each
printed. Ends with 1 if one failed. The device is XCUDA_DEVICE's, or the first."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))
from tutorial_cells import MIME, SUMMARY_HEAD, solved, summary_row, tags, text  # noqa: E402

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
SHOWN_LINES = 14  # of a failed notebook


def make_shell(shown: list):
    """An IPython shell that keeps what cells display in `shown`, as (MIME bundle) dictionaries."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, **_):
            shown.append(data)

        def clear_output(self, wait=False):
            pass

    class Hook(DisplayHook):
        def write_output_prompt(self):
            pass

        def write_format_data(self, format_dict, md_dict=None):
            shown.append(format_dict)

        def finish_displayhook(self):
            pass

    class Shell(InteractiveShell):
        def init_display_pub(self):
            self.display_pub = Publisher(parent=self, shell=self)

        def init_displayhook(self):
            self.displayhook = Hook(parent=self, shell=self, cache_size=self.cache_size)
            from IPython.core.display_trap import DisplayTrap

            self.display_trap = DisplayTrap(hook=self.displayhook)

        def enable_gui(self, gui=None):
            pass  # %matplotlib inline asks for none

    shell = Shell.instance()
    shell.run_line_magic("load_ext", "xcuda")
    shell.run_line_magic("cuda_names", "xcuda")  # a GPU machine may have NVIDIA's cuda.core
    return shell


async def run_cell(shell, code: str):
    """As ipykernel does: on the loop that runs already, so that tasks go on from cell to cell."""
    transformed = shell.transform_cell(code)
    result = await shell.run_cell_async(code, store_history=True, transformed_cell=transformed)
    shell.events.trigger("post_execute")
    shell.events.trigger("post_run_cell", result)
    return result.error_before_exec or result.error_in_exec


def needs_cpu_device(error: BaseException, unset: set[str]) -> bool:
    """The runtime's own words for it, or a name that a cell passed over for them would have set."""
    if isinstance(error, NameError):
        return error.name in unset
    return "this build has no CPU device" in str(error)


async def run_notebook(file: Path) -> dict:
    """What came of one notebook: its reports, what it printed, the cells passed over, the error that ended it."""
    os.chdir(file.parent)
    begin, shown, printed = time.perf_counter(), [], ""
    done = {"reports": [], "passed over": 0, "failed": "", "trace": ""}
    shell, unset = make_shell(shown), set()
    notebook = solved(json.loads(file.read_text()))
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        shown.clear()
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            error = await run_cell(shell, text(cell))
        plain = "\n".join(str(data.get("text/plain", "")) for data in shown)
        printed += f"--- cell {number}\n{said.getvalue()}{plain}\n"
        done["reports"] += [data[MIME] for data in shown if MIME in data]
        if error is not None and needs_cpu_device(error, unset):
            unset.update(re.findall(r"\w+", text(cell)))
            done["passed over"] += 1
            if text(cell).startswith(
                "%%cuda_check"
            ):  # its work without the check: later cells use what it writes
                with contextlib.redirect_stdout(said):
                    error = await run_cell(shell, text(cell).partition("\n")[2])
                if error is not None:
                    done["failed"] = (
                        f"cell {number}, unchecked: {type(error).__name__}: {error}".splitlines()[0]
                    )
                    done["trace"] = "".join(traceback.format_exception(error))
                    break
        elif error is not None:
            done["failed"] = f"cell {number}: {type(error).__name__}: {error}".splitlines()[0]
            done["trace"] = "".join(traceback.format_exception(error))
            break
        elif "check" in tags(cell) and not re.search(r"\bright\b", said.getvalue() + plain):
            done["failed"] = f"cell {number}: the check does not say that it is right"
            done["trace"] = f"{text(cell)}\n{said.getvalue()}{plain}"
            break
    done["seconds"], done["printed"] = time.perf_counter() - begin, printed
    return done


def in_a_process(file: Path, out: Path, limit: float) -> dict:
    begin = time.perf_counter()
    result = out / f"{file.stem}.json"
    result.unlink(missing_ok=True)
    command = [sys.executable, "-X", "faulthandler", __file__, "--one", str(result), str(file)]
    with open(out / f"{file.stem}.log", "wb") as log:
        try:
            code = subprocess.run(command, stdout=log, stderr=log, timeout=limit).returncode
            ended = f"the process ended with {code}"
        except subprocess.TimeoutExpired:
            ended = f"still running after {limit:g} s"
    if result.exists():
        return json.loads(result.read_text())
    trace = (out / f"{file.stem}.log").read_text(errors="replace")
    return {
        "reports": [],
        "passed over": 0,
        "failed": ended,
        "trace": trace,
        "seconds": time.perf_counter() - begin,
    }


def main(arguments: argparse.Namespace) -> int:
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    lines = list(SUMMARY_HEAD)
    print(*lines, sep="\n", flush=True)
    failures = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        files = [file.resolve() for file in arguments.notebooks]
        for file, done in zip(
            files, pool.map(lambda f: in_a_process(f, out, arguments.limit), files), strict=True
        ):
            over = (
                f"passed but for {done['passed over']} cells that need the CPU device"
                if done["passed over"]
                else ""
            )
            lines.append(summary_row(file.stem, done["reports"], done["seconds"], done["failed"] or over))
            print(lines[-1], flush=True)
            if done["failed"]:
                failures += 1
                print("\n".join(done["trace"].rstrip().splitlines()[-SHOWN_LINES:]), flush=True)
    (out / "summary.md").write_text("\n".join(lines) + "\n")
    return int(failures > 0)


def one(file: Path, result: Path) -> None:
    done = asyncio.run(run_notebook(file))
    result.write_text(json.dumps(done, default=str))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, default=NOTEBOOKS)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--limit", type=float, default=80, help="seconds for one notebook")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gpu" / "tutorials")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.notebooks[0], given.one)
    else:
        sys.exit(main(given))

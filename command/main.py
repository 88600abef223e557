"""`xcuda`: what is asked on the command line, and who answers it."""

from __future__ import annotations

import argparse
import platform
import sys

import xcuda


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="xcuda", description="GPU code in plain Python in a notebook, on a GPU or without one."
    )
    parser.add_argument("--version", action="version", version=f"xcuda {xcuda.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    doctor = commands.add_parser(
        "doctor",
        help="check devices, libraries, the Jupyter kernel and the cache, and say what to do",
        description="Checks devices, libraries, the Jupyter kernel and the cache. Ends with 1 if something is wrong; "
        "that there is no GPU is not.",
    )
    doctor.add_argument("--json", action="store_true", help="print the checks as JSON")
    doctor.add_argument(
        "--no-start", action="store_true", help="do not start a kernel to see whether it answers"
    )

    install = commands.add_parser(
        "install-kernel",
        help="tell Jupyter of this Python's xcuda kernel",
        description="Writes a kernelspec that starts this Python. Needed where Jupyter runs in another environment "
        "than xcuda; inside the same one it knows the kernel already. `jupyter kernelspec remove NAME` undoes it.",
    )
    where = install.add_mutually_exclusive_group()
    where.add_argument(
        "--user", action="store_true", help="for this user, in every environment (the default)"
    )
    where.add_argument("--sys-prefix", action="store_true", help=f"for this environment: {sys.prefix}")
    where.add_argument("--prefix", metavar="FOLDER", help="for the environment at FOLDER")
    install.add_argument("--name", default="xcuda", help="the kernelspec's name (xcuda)")
    install.add_argument("--display-name", metavar="TEXT", help="what JupyterLab's launcher shows")
    install.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an environment variable for the kernel",
    )
    return parser


def main(words: list[str] | None = None) -> int:
    parser = arguments()
    asked = parser.parse_args(words)
    if asked.command == "doctor":
        return doctor(asked.json, start=not asked.no_start)
    if asked.command == "install-kernel":
        return install_kernel(parser, asked)
    parser.print_help()
    return 2


def doctor(as_json: bool, start: bool) -> int:
    from xcuda.command import checks

    done = checks.run(start)
    if as_json:
        import json

        print(json.dumps([check.__dict__ for check in done], indent=1))
    else:
        print(
            f"xcuda {xcuda.__version__}, Python {platform.python_version()} ({sys.executable}), {platform.platform()}\n"
        )
        print(checks.told(done))
    return int(any(check.state == checks.WRONG for check in done))


def install_kernel(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> int:
    from xcuda.command import kernelspec

    bad = [pair for pair in asked.env if not pair.partition("=")[0] or "=" not in pair]
    if bad:
        parser.error(f"--env wants NAME=VALUE, not {bad[0]!r}")
    prefix = sys.prefix if asked.sys_prefix else asked.prefix
    try:
        folder = kernelspec.install(
            asked.name, prefix, asked.display_name, dict(pair.split("=", 1) for pair in asked.env)
        )
    except (OSError, ValueError) as error:
        print(f"xcuda install-kernel: {error}", file=sys.stderr)
        return 1
    print(f"Jupyter's kernel {asked.name!r} is in {folder}; it starts {sys.executable}")
    return 0

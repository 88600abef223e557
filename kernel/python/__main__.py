"""``python -P -m xcuda.kernel -f CONNECTION_FILE``: what the kernelspec runs."""

import os
import sys

USAGE = """usage: python -m xcuda.kernel -f CONNECTION_FILE

The xcuda Jupyter kernel. Jupyter starts it with a connection file; to open a notebook with it:
    jupyter lab          and choose "xcuda"
    jupyter nbconvert --execute --ExecutePreprocessor.kernel_name=xcuda ..."""


def connection_file(arguments: list[str]) -> tuple[str, list[str]]:
    """The connection file named in the arguments, and the arguments that are left for IPython."""
    rest: list[str] = []
    found = ""
    waiting = iter(arguments)
    for argument in waiting:
        if argument in ("-f", "--f"):
            found = next(waiting, "")
        elif argument.startswith(("-f=", "--f=")):
            found = argument.partition("=")[2]
        else:
            rest.append(argument)
    return found, rest


def forget_working_directory() -> None:
    """Drop the path entry that ``-m`` made of the working directory; IPython adds its own ``''``, at the end."""
    if not sys.flags.safe_path and sys.path and sys.path[0] == os.getcwd():
        del sys.path[0]


def main() -> int:
    path, rest = connection_file(sys.argv[1:])
    if not path:
        print(USAGE, file=sys.stderr if rest not in (["-h"], ["--help"]) else sys.stdout)
        return 0 if rest in (["-h"], ["--help"]) else 2
    sys.argv = [sys.argv[0], *rest]
    forget_working_directory()
    from xcuda.kernel import interrupted

    interrupted.wait_for_cells()
    from xcuda.kernel import _kernel, crash

    crash.start(path)
    try:
        _kernel.serve(path)
    except (RuntimeError, OSError) as error:
        print(f"xcuda kernel: {error}", file=sys.stderr)
        return 1
    finally:
        interrupted.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())

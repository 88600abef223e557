"""Runs test files of the suite in this process and writes one JSON line as each test begins and ends.

The command starts it with the stand-in for numba on PYTHONPATH; a hang or a crash here is the command's to notice.
"""

import contextlib
import importlib
import io
import json
import os
import sys
import time
import unittest
import warnings

import numba  # noqa: F401  processes that tests start import this file: the suite's modules then have their names


def main():
    """Reads {"files": [...], "skip": [...]} from the standard input; tests named in skip were run before."""
    wanted = json.loads(sys.stdin.read())
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what kernels and tests print is no result

    def tell(**line):
        out.write(json.dumps(line) + "\n")

    from numba import absent, suite

    for file in wanted["files"]:
        absent.strict = False
        tell(file=file, at="import")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = importlib.import_module(f"{suite.ALIAS}.cudapy.{file}")
        except BaseException as error:  # also SkipTest and SystemExit: the file can't be run
            tell(file=file, at="no import", why=_short(error))
            continue
        absent.strict = True
        tests = unittest.TestLoader().loadTestsFromModule(module)
        for test in _flat(tests):
            name = ".".join(test.id().split(".")[-2:])
            if f"{file}.{name}" not in wanted["skip"]:
                tell(file=file, test=name, at="begin")
                outcome, why, seconds = _run(test)
                tell(file=file, test=name, at="end", outcome=outcome, why=why, seconds=seconds)
    tell(at="done")


def _flat(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from _flat(test)
        else:
            yield test


def _run(test):
    result, begun = unittest.TestResult(), time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        test.run(result)
    seconds = round(time.monotonic() - begun, 2)
    for kind in ("errors", "failures"):
        for _, text in getattr(result, kind):
            if os.environ.get("NUMBA_SUITE_TRACE"):
                print(text, file=sys.stderr)
            return "fail", _last_line(text), seconds
    if result.unexpectedSuccesses:
        return "pass", "", seconds
    if result.skipped:
        return "skip", result.skipped[0][1], seconds
    return "pass", "", seconds


def _last_line(text):
    lines = text.rstrip().splitlines()
    starts = [line for line in lines if line and not line[0].isspace() and ":" in line.split(" ")[0]]
    return (starts[-1] if starts else lines[-1])[:300]


def _short(error):
    return f"{type(error).__name__}: {error}"[:300]


if __name__ == "__main__":
    main()

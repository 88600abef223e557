"""conftest.py of the rewritten tests: NumPy's markers, and a line to the command as each test begins and ends."""

import inspect
import json
import os

import numpy
import pytest
import substitute
from classify import APPLICABLE, Classes
from xcuda.numeric import config
from xcuda.numeric._fallback import counts

_out = os.fdopen(int(os.environ["NUMPY_SUITE_FD"]), "w", buffering=1)
_skip = set(json.loads(open(os.environ["NUMPY_SUITE_SKIP"]).read()))
config.fallback = "silent"


def _tell(**line):
    _out.write(json.dumps(line) + "\n")


def pytest_configure(config):
    for marker in (
        "slow",
        "leaks_references",
        "valgrind_error",
        "thread_unsafe",
        "parallel_threads",
        "iterations",
    ):
        config.addinivalue_line("markers", f"{marker}: NumPy's")


def _id(item):
    return item.nodeid.removeprefix("./")


def pytest_collection_modifyitems(items):
    items[:] = [i for i in items if _id(i) not in _skip and not i.get_closest_marker("slow")]
    if os.environ.get("NUMPY_SUITE_APPLICABLE"):
        classes, module = Classes(), os.environ["NUMPY_SUITE_APPLICABLE"]
        items[:] = [
            i for i in items if classes.of(f"{module}/{_id(i)}", {"source": _source(i)}) == APPLICABLE
        ]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    substitute.touched.clear()
    counts.clear()
    _tell(at="begin", test=_id(item))
    yield
    _tell(
        at="source",
        test=_id(item),
        source=_source(item),
        touched=len(substitute.touched),
        fallbacks=sorted(counts),
    )


def _source(item):
    try:
        return inspect.getsource(item.function)
    except (OSError, TypeError):
        return ""


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        _tell(at="end", test=report.nodeid.removeprefix("./"), outcome=_outcome(report), why=_why(report))


def _outcome(report):
    if hasattr(report, "wasxfail"):
        return "skip"
    return {"passed": "pass", "failed": "fail", "skipped": "skip"}[report.outcome]


def _why(report):
    if report.outcome != "failed":
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    return (crash.message if crash else str(report.longrepr)[-300:])[:400]


def pytest_collectreport(report):
    if report.failed:
        _tell(at="no import", test=report.nodeid, why=str(report.longrepr)[-400:])


def pytest_sessionfinish():
    _tell(at="done")


@pytest.fixture(autouse=True)
def _clean():
    with numpy.errstate():
        yield

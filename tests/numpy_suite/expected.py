"""Holds failures against expected.toml, where each applicable test that fails has a line saying why."""

import fnmatch
import pathlib
import tomllib

from classify import APPLICABLE

FILE = pathlib.Path(__file__).resolve().parent / "expected.toml"
KINDS = ("inside", "words", "differs", "missing")


class Reasons:
    """Which group of expected.toml a test belongs to."""

    def __init__(self, path=FILE):
        self.groups = tomllib.loads(path.read_text())["group"]
        assert all(group["kind"] in KINDS and group["why"] and group["tests"] for group in self.groups)

    def of(self, test):
        """The group, or None for a test that has to pass."""
        for group in self.groups:
            if any(test == name or fnmatch.fnmatchcase(test, name) for name in group["tests"]):
                return group
        return None


def unexpected(outcomes, classes, reasons):
    """[(test, what it says)] of the applicable tests that fail without a line in expected.toml."""
    return [
        (test, told["why"])
        for test, told in sorted(outcomes.items())
        if told["outcome"] == "fail" and classes.of(test, told) == APPLICABLE and reasons.of(test) is None
    ]


def idle(outcomes, reasons):
    """Patterns of expected.toml whose file was run and that no failing test has."""
    failing = [test for test, told in outcomes.items() if told["outcome"] == "fail"]
    files = {test.partition("::")[0] for test in outcomes}
    return [
        name
        for group in reasons.groups
        for name in group["tests"]
        if name.partition("::")[0] in files
        and not any(test == name or fnmatch.fnmatchcase(test, name) for test in failing)
    ]

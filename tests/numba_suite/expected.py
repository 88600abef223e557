"""Holds outcomes against expected.toml, where each test that fails has a line saying why."""

import collections
import fnmatch
import pathlib
import tomllib

FILE = pathlib.Path(__file__).resolve().parent / "expected.toml"
KINDS = {
    "numba": "tests of numba's own inside",
    "gpu": "tests that need a GPU",
    "differs": "xcuda does otherwise",
    "missing": "not there",
}


class Reasons:
    """Which group of expected.toml a test belongs to."""

    def __init__(self):
        groups = tomllib.loads(FILE.read_text())["group"]
        assert all(group["kind"] in KINDS and group["why"] for group in groups)
        self.exact = {test: group for group in groups for test in group["tests"] if "*" not in test}
        self.patterns = [(test, group) for group in groups for test in group["tests"] if "*" in test]

    def of(self, test):
        """The group, or None for a test that is expected to pass. A test's own entry goes before a pattern."""
        if test in self.exact:
            return self.exact[test]
        return next((group for pattern, group in self.patterns if fnmatch.fnmatchcase(test, pattern)), None)


def check(outcomes, device):
    """Prints the rates and what differs from expected.toml; 0 if no test fails that should pass."""
    reasons, kinds, unexpected, mended = Reasons(), collections.Counter(), [], []
    on_gpu = not device.startswith("cpu")
    for test, (outcome, why) in sorted(outcomes.items()):
        group = reasons.of(test)
        kind = group["kind"] if group else "language"
        if outcome == "skip":
            kinds["skipped"] += 1
            continue
        kinds[kind, outcome] += 1
        if outcome == "fail" and (kind == "language" or kind == "gpu" and on_gpu):
            unexpected.append(f"{test}: {why}")
        if outcome == "pass" and test in reasons.exact and not (kind == "gpu" and on_gpu):
            mended.append(f"{test}: passes, though expected.toml says: {group['why']}")
    _print_rates(kinds, on_gpu)
    for title, lines in (("Failing, and not expected to:", unexpected), ("Passing, take it out:", mended)):
        if lines:
            print(title, *lines, sep="\n  ")
    return 1 if unexpected or mended else 0


def _print_rates(kinds, on_gpu):
    run = {key: n for key, n in kinds.items() if key != "skipped"}
    passed = sum(n for (_, outcome), n in run.items() if outcome == "pass")
    aside = {"numba"} if on_gpu else {"numba", "gpu"}
    language = {key: n for key, n in run.items() if key[0] not in aside}
    language_passed = sum(n for (_, outcome), n in language.items() if outcome == "pass")
    print(f"all tests: {_rate(passed, sum(run.values()))}; {kinds['skipped']} skipped")
    print(f"tests of the kernel language and its API: {_rate(language_passed, sum(language.values()))}")
    for kind, meaning in KINDS.items():
        print(f"  {meaning}: {kinds[kind, 'fail']} fail, {kinds[kind, 'pass']} pass")


def _rate(passed, total):
    return f"{passed} of {total} pass, {100 * passed / max(total, 1):.1f} %"

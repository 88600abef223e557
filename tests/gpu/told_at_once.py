"""A pytest plugin: a test's failure is written to the file XCUDA_FAILURES as it comes, for a run that may be cut off."""

import os


def pytest_configure(config):
    if not hasattr(config, "workerinput") and os.environ.get("XCUDA_FAILURES"):
        config.pluginmanager.register(_Told(os.environ["XCUDA_FAILURES"]))


class _Told:
    def __init__(self, file):
        self.file = file

    def pytest_runtest_logreport(self, report):
        if report.failed:
            lines = [line for line in report.longreprtext.splitlines() if line.strip()]
            why = [line for line in lines if line.startswith("E ")][:8] or lines[-3:]
            with open(self.file, "a", encoding="utf-8") as file:
                print(
                    f"{report.nodeid} ({report.when}, {report.duration:.1f} s)", *why, sep="\n    ", file=file
                )

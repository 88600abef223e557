"""What ran on the devices, what it cost and why.

    from xcuda import profiler

    @profiler.profile(metrics=["memory_throughput", "compute_utilization"])
    def step():
        smooth(image, result)

    step()
    report = profiler.generate_report()
    print(f"{report.memory_efficiency:.0%} of the memory's bandwidth")

Under the xcuda kernel each cell that used a device shows its report by itself.
"""

from xcuda.profiler.analysis import Analysis, Finding, analyze, rules
from xcuda.profiler.cells import cell_begin, cell_end, leave_out
from xcuda.profiler.counters import COUNTERS
from xcuda.profiler.measure import benchmark
from xcuda.profiler.modes import show_reports
from xcuda.profiler.profile import METRICS, generate_report, profile
from xcuda.profiler.progress import show_progress
from xcuda.profiler.report import AbsentFigure, Report

_LATER = {"ProfileGuidedOptimizer": "xcuda.profiler.guided"}  # they load the runtime


__all__ = [
    "COUNTERS",
    "METRICS",
    "AbsentFigure",
    "Analysis",
    "Finding",
    "ProfileGuidedOptimizer",
    "Report",
    "analyze",
    "cell_begin",
    "cell_end",
    "benchmark",
    "show_progress",
    "show_reports",
    "generate_report",
    "leave_out",
    "profile",
    "rules",
]


def __getattr__(name):
    if name in _LATER:
        import importlib

        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'xcuda.profiler' has no attribute '{name}'")

"""Profile-guided optimisation: variants of a kernel, tried on a sample, the fastest kept."""

from xcuda.profiler.guided.optimizer import ProfileGuidedOptimizer
from xcuda.profiler.guided.report import OptimizationReport, Trial

__all__ = ["OptimizationReport", "ProfileGuidedOptimizer", "Trial"]

"""Choices by measurement: `with nvmath.optimization.auto_tune():` tries candidates and keeps the winners on disk."""

from ._report import Report, report
from ._tuning import auto_tune, forget

__all__ = ["Report", "auto_tune", "forget", "report"]

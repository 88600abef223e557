"""Whether kernels are right: races, elements without a value, barriers, indices, order, infs and nans.

check(kernel[grid, block], *arguments)   checks one launch, over copies
with checking() as report:               checks each launch before it starts
rules()                                  what is looked for
debug(kernel[grid, block], *arguments)   follows one thread line by line
"""

from xcuda.check.debugger import Debugged, Step, debug
from xcuda.check.report import Finding, Launch, Report
from xcuda.check.session import check, checking, rules

__all__ = ["Debugged", "Finding", "Launch", "Report", "Step", "check", "checking", "debug", "rules"]

"""Whether kernels are right: races, elements without a value, barriers, indices, order, infs and nans.

check(kernel[grid, block], *arguments)   checks one launch, over copies
with checking() as report:               checks each launch before it starts
rules()                                  what is looked for
debug(kernel[grid, block], *arguments)   follows one thread line by line
draw(kernel[grid, block], *arguments)    a picture of each thread's reads and writes
verify(kernel[grid, block], *arguments, expected={...})   what is wrong with its results, in one sentence
"""

from xcuda.check.accesses import Access, Drawing, draw
from xcuda.check.debugger import Debugged, Step, debug
from xcuda.check.report import Finding, Launch, Report
from xcuda.check.session import check, checking, rules
from xcuda.check.verified import Verified, verify

__all__ = [
    "Access",
    "Debugged",
    "Drawing",
    "Finding",
    "Launch",
    "Report",
    "Step",
    "Verified",
    "check",
    "checking",
    "debug",
    "draw",
    "rules",
    "verify",
]

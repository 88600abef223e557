"""Which GPUs' architectures the tests compile for: all of them, or those of XCUDA_TARGETS alone.

A run on a GPU asks for that GPU's own: the others' texts are the same in every run, and CI compiles them.
"""

import os

ASKED = os.environ.get("XCUDA_TARGETS", "").split()


def wanted(targets):
    """The targets to compile for; the last of them where none is asked for."""
    if not ASKED:
        return tuple(targets)
    return tuple(t for t in targets if t in ASKED) or tuple(targets)[-1:]


def is_wanted(parameters):
    """Whether a test with these parameters is to run: all of its architectures are asked for, or none is named."""
    named = [p for p in parameters if isinstance(p, str) and p.startswith("sm_") and p[3:].isdigit()]
    return not ASKED or all(p in ASKED for p in named)

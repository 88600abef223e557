"""A part of a long list of like tests, so that CI stays short; XCUDA_ALL=1 runs all of them."""

from __future__ import annotations

import os
from collections.abc import Iterable

ALL = os.environ.get("XCUDA_ALL", "") not in ("", "0")


def one_of(count: int, names: Iterable) -> list:
    """Every `count`-th of the names, the first among them; with XCUDA_ALL=1 all."""
    listed = list(names)
    return listed if ALL else listed[::count]

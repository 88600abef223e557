"""Kernels from text for the front end's tests: made with linecache as a notebook cell is, lowered without a device."""

import json
import linecache
import math
import textwrap

import numpy as np
import pytest
from targets import wanted
from xcuda import _runtime, core, tiles
from xcuda.core.source import capture

_count = 0


def make(text, name=None, **names):
    """The function that `text` defines (`name`, else the last one), with np, math, cuda and `names` as its globals."""
    global _count
    _count += 1
    file = f"<test cell {_count}>"
    text = textwrap.dedent(text).lstrip("\n")
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np, "math": math, "cuda": core, "tiles": tiles, **names}
    known = set(space)
    exec(compile(text, file, "exec"), space)
    made = [key for key in space if key not in known and key != "__builtins__"]
    return space[name or made[-1]]


def types_of(text):
    """ "float32[2], weak int64, bool" as `_runtime.lower_text` takes types."""
    types = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        weak = part.startswith("weak ")
        dtype, _, rest = part.removeprefix("weak ").partition("[")
        if rest:
            types.append(("array", dtype, int(rest.rstrip("]")), "contiguous"))
        else:
            types.append(("scalar", dtype, weak))
    return types


def lower(function, types, checked=True):
    """The IR of a function as text."""
    c = capture(function)
    return _runtime.lower_text(c.name, c.file, c.ast_json, c.names_json, types_of(types), checked)


def lower_tiles(function, types, tile_size=(16, 16)):
    """The IR of a function as a tile kernel, as text."""
    c = capture(function)
    names = json.dumps({**json.loads(c.names_json), "tile_size": tile_size})
    return _runtime.lower_text(c.name, c.file, c.ast_json, names, types_of(types), True)


def ir(text, types, checked=True, **names):
    """The IR of the function that `text` defines."""
    return lower(make(text, **names), types, checked)


def run(function, *args, grid=1, block=1):
    """Runs a function as a kernel, and waits."""
    core.kernel(function)[grid, block](*args)
    core.synchronize()


TARGETS = ("sm_80", "sm_90", "sm_120")


def compiles(kernel, args, block=(64, 1, 1), targets=TARGETS):
    """A kernel's CUDA text for these arguments (arrays of records too) compiles for three generations of GPU."""
    nvrtc = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
    if nvrtc is None or nvrtc["problem"]:
        pytest.skip("no NVRTC here, so nothing compiles for CUDA")
    made, leaves, *_ = kernel.variant(tuple(args))
    for target in wanted(targets):
        assert made.compile(tuple(leaves), block, target=target)["registers"] > 0

"""Tile kernels for the tests: the device's own plan, and on the CPU device a GPU's plan too, run thread by thread."""

import numpy as np
import pytest
from targets import wanted
from xcuda import _runtime, core, tiles
from xcuda.tiles import kernels

TARGETS = ("sm_80", "sm_90", "sm_100")


def plans():
    """The targets whose plans run on the current device."""
    return ("", "sm_80") if core.Device().kind == "cpu" else ("",)


def tile_kernel(function=None, *, tile_size=(), plan="", checked=True, asked=None):
    """tiles.tile_kernel, with the plan of another target; asked: what that plan is to have."""
    if function is None:
        return lambda f: tile_kernel(f, tile_size=tile_size, plan=plan, checked=checked, asked=asked)
    return kernels._made(function, tuple(tile_size), (checked, False, True, True, 0, 0, 0), plan, asked)


def expect_nvrtc():
    """Skips the test where nothing compiles for CUDA."""
    nvrtc = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
    if nvrtc is None or nvrtc["problem"]:
        pytest.skip("no NVRTC here, so nothing compiles for CUDA")


def compiles(kernel, args, targets=TARGETS):
    """The kernel's CUDA text for these arguments compiles for each target."""
    expect_nvrtc()
    for target in wanted(targets):
        made = kernel.compile(tuple(args), target=target)
        assert made["registers"] > 0
    return made


def close(found, wanted, tolerance):
    """Within `tolerance` of the largest number there."""
    scale = np.abs(wanted).max(initial=1.0)
    assert np.abs(found.astype(np.float64) - wanted).max(initial=0.0) <= tolerance * scale


__all__ = ["TARGETS", "close", "compiles", "expect_nvrtc", "plans", "tile_kernel", "tiles"]

"""Which libraries of NVIDIA's are here, and how to get those that are not. Nothing is loaded for it."""

from __future__ import annotations

import ctypes.util
import glob
import os
import sysconfig
from typing import NamedTuple


class Library(NamedTuple):
    name: str
    soname: str  # without lib and .so
    purpose: str
    get: str


LIBRARIES = (
    Library(
        "NVIDIA driver", "cuda", "runs kernels on a GPU", "install NVIDIA's driver on a machine with a GPU"
    ),
    Library("NVRTC", "nvrtc", "compiles kernels for a GPU", "pip install nvidia-cuda-nvrtc"),
)


def libraries() -> list[tuple[str, str]]:
    """(name, where it was found, or what it is for and how to get it) for each."""
    rows = []
    for library in LIBRARIES:
        found = find(library.soname)
        rows.append((library.name, found or f"not found; it {library.purpose}: {library.get}"))
    return rows


def find(soname: str) -> str | None:
    """Where the system's loader, the CUDA toolkit or an NVIDIA wheel has it."""
    if system := ctypes.util.find_library(soname):
        return system
    toolkit = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    site = sysconfig.get_path("platlib")
    for pattern in (f"{toolkit}/lib64/lib{soname}.so*", f"{site}/nvidia/*/lib/lib{soname}.so*"):
        if paths := sorted(glob.glob(pattern)):
            return paths[0]
    return None

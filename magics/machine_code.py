"""A kernel's PTX, and its SASS by the user's lines."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from typing import NamedTuple

from IPython.core.error import UsageError
from xcuda.profiler.elf import section

WITHOUT_GPU = "sm_90"
SASS_LINE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
SASS_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?;)")
HIDDEN = re.compile(r"\s*(?:/\*0x[0-9a-f]+\*/|\.\w|//|\.L_)")


class Piece(NamedTuple):
    """A line of machine code, and the line of the user's source that it is of; 0: of none."""

    file: str
    line: int
    text: str


def compiled_for(kernel, signature: str, target: str | None) -> dict:
    """The kernel as it is compiled for the target, the present GPU, or sm_90."""
    from xcuda import core

    if not target:
        here = core.Device()
        target = here.architecture if here.kind == "cuda" else WITHOUT_GPU
    try:
        return kernel.compile(signature.replace(" (weak)", "")[1:-1], target=target)
    except Exception as error:  # an unknown target, no NVRTC, records: the sentence says which
        raise UsageError(" ".join(str(error).split())) from None


def ptx(cubin: bytes) -> str:
    """The PTX that the compiler went through, which a cubin with line numbers holds."""
    text = section(cubin, ".nv_debug_ptx_txt").replace(b"\0", b"\n").decode(errors="replace")
    return "\n".join(row.expandtabs(4) for row in text.splitlines() if row.strip())


def sass(cubin: bytes) -> list[Piece]:
    """What nvdisasm tells of a cubin. UsageError where it is not installed."""
    tool = disassembler()
    if tool is None:
        raise UsageError("SASS needs nvdisasm, which is not here: pip install nvidia-cuda-nvdisasm")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = subprocess.run([tool, "-c", "-g", file.name], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise UsageError(f"nvdisasm does not read this kernel: {' '.join(done.stderr.split())}")
    pieces: list[Piece] = []
    name, line = "", 0
    for row in done.stdout.splitlines():
        if mark := SASS_LINE.match(row):
            name, line = mark[1], int(mark[2])
        elif code := SASS_INSTRUCTION.match(row):
            pieces.append(Piece(name, line, "    " + " ".join(code[1].split())))
        elif row.strip().endswith(":") and not HIDDEN.match(row):
            pieces.append(Piece(name, line, row.strip()))
    return pieces


def disassembler() -> str | None:
    """nvdisasm, on the path or in one of pip's wheels."""
    import sys
    from pathlib import Path

    if tool := shutil.which("nvdisasm"):
        return tool
    for folder in map(Path, sys.path):
        for tool in folder.glob("nvidia/*/bin/nvdisasm"):
            return str(tool)
    return None

"""What `%cuda_...` may have been meant where there is no magic of that name."""

from __future__ import annotations

import difflib

from xcuda.magics.shell import NAMES

# What the like is called elsewhere.
ALSO_CALLED = {
    "memory": "cuda_mem", "vars": "cuda_mem", "arrays": "cuda_mem", "smi": "cuda_info", "status": "cuda_info",
    "bench": "cuda_time", "benchmark": "cuda_time", "timeit": "cuda_time", "prof": "cuda_profile",
    "ptx": "cuda_source", "sass": "cuda_source", "asm": "cuda_source", "cpp": "cuda_source", "debugger": "cuda_debug",
    "sanitizer": "cuda_check", "memcheck": "cuda_check", "racecheck": "cuda_check", "clear": "cuda_free",
    "reset": "cuda_free", "timeline": "cuda_trace", "nvtx": "cuda_trace", "devices": "cuda_info", "gpu": "cuda_info",
    "optimize": "cuda_advise", "help": "cuda_info",
}  # fmt: skip


def near_names(name: str) -> str:
    """Of a magic `cuda_...` that is not there: those that may have been meant, or all."""
    known = sorted({each for names in NAMES.values() for each in names})
    word = name.removeprefix("cuda_")
    near = [ALSO_CALLED[word]] if word in ALSO_CALLED else difflib.get_close_matches(name, known, 2, 0.75)
    shown = [
        "%" * (1 + (each not in NAMES["line"])) + each + (f" and %%{each}" if each in both() else "")
        for each in near or known
    ]
    return f"did you mean {' or '.join(shown)}?" if near else f"there are {', '.join(shown)}."


def both() -> set[str]:
    return set(NAMES["line"]) & set(NAMES["cell"])

"""Which libraries of NVIDIA's are here, as the runtime finds them, and how to get those that are not."""

from __future__ import annotations


def found() -> list[dict]:
    """The runtime's own search: a dict a library with name, purpose, version, file, from, problem, advice."""
    from xcuda import _runtime

    return [*_runtime.libraries(), *_runtime.math_libraries()]


def libraries() -> list[tuple[str, str]]:
    """(name, what was found where, or what it is for, why it is absent and how to get it) for each."""
    rows = found()
    if not rows:
        return [("CUDA", "this build has no CUDA device: build it with -DXCUDA_CUDA_DEVICE=ON")]
    return [(row["name"], told(row)) for row in rows]


def told(row: dict) -> str:
    """One library's state in a sentence."""
    if not row["problem"]:
        return f"{row['version']}, {row['file']} ({row['from']})"
    return f"not found; it {row['purpose']}: {row['advice']} ({row['problem']})"

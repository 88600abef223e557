"""CUDA C++ compiled by nvcc as a library, for the rows of peers."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path


def find() -> str | None:
    """nvcc, on the path or the toolkit's; None where there is none."""
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def library(folder, stem, sources, arch, *, headers=(), options=()) -> Path:
    """The library made of the sources in the folder, unless it lies there of the same text and options."""
    options = ["-O3", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC", *options]
    text = b"".join(Path(f).read_bytes() for f in [*sources, *headers])
    told = hashlib.sha256(text + " ".join(options).encode()).hexdigest()[:12]
    file = Path(folder) / f"{stem}_{told}.so"
    if not file.exists():
        made = file.with_suffix(f".{os.getpid()}")
        subprocess.run([find(), *options, "-o", str(made), *map(str, sources)], check=True)
        made.replace(file)  # whole, or not there
    return file

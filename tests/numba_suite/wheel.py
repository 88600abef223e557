"""Fetches the wheel that holds the tests; none of it is kept in the repository."""

import pathlib
import subprocess
import sys
import zipfile

VERSION = "0.30.4"
ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "numba_suite"


def tests_folder():
    """`numba/cuda/tests` of the unpacked wheel; downloaded through pip where it isn't there yet."""
    unpacked = FOLDER / f"numba_cuda-{VERSION}"
    tests = unpacked / "numba_cuda" / "numba" / "cuda" / "tests"
    if not tests.is_dir():
        wanted = f"numba-cuda=={VERSION}"
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*pip, "-d", str(FOLDER), wanted], check=True)
        wheel = next(FOLDER.glob(f"numba_cuda-{VERSION}-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(unpacked)
    return tests

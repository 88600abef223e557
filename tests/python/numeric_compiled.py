"""The kernels that a program of arrays becomes, compiled for a GPU that need not be here."""

import json
import subprocess
import sys


def compiled(program, architecture):
    """[(name, text, registers)] of the kernels, from a process of its own, whose kernels are these alone.

    The program prints json.dumps(_runtime.numeric_compile_for(sys.argv[1])) at its end.
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, architecture],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)

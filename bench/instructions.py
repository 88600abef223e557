"""Instructions and allocations of a launch on the host: valgrind's counts of two loops of different length over the
tests' driver, which computes nothing. The figures are those of a build, whatever the machine does meanwhile.

    python bench/instructions.py [--tree]      # needs valgrind and the driver: a build with -DXCUDA_TESTS=ON

--tree also prints where the instructions of a plain launch go, function by function."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FEW, MANY = 1000, 4000
LOOP = """
import sys
import numpy as np
from xcuda import core as cuda
way, times = sys.argv[1], int(sys.argv[2])

@cuda.kernel
def add(c, a, b):
    i = cuda.grid(1)
    if i < c.shape[0]:
        c[i] = a[i] + b[i]

x, y, z = (cuda.to_device(np.arange(1024, dtype="float32")) for _ in range(3))
stream = cuda.stream()
shaped, on = add[4, 256], add[4, 256, stream]
with cuda.graph() as graph:
    for _ in range(1000 if way == "replay of 1,000" else 1):
        shaped(z, x, y)
calls = {
    "python": lambda: None,
    "k[grid, block](...)": lambda: shaped(z, x, y),
    "k(...)": lambda: add(z, x, y),
    "on a stream": lambda: on(z, x, y),
    "bound": add.bind(4, 256, z, x, y),
    "replay of 1,000": graph,
}
call = calls[way]
for _ in range(200):
    call()
cuda.synchronize()
for _ in range(times):
    call()
cuda.synchronize()
"""
WAYS = ("python", "k[grid, block](...)", "k(...)", "on a stream", "bound", "replay of 1,000")


def driver():
    sys.path.insert(0, str(HERE.parent / "tests" / "python"))
    from fake_cuda import library

    return library()


def run(tool, script, way, times, *options):
    """What valgrind says of a loop."""
    library = str(driver())
    env = os.environ | {"XCUDA_DRIVER": library, "XCUDA_CUPTI": library, "XCUDA_DEVICE": "cuda:0"}
    env["PYTHONHASHSEED"] = "0"
    command = ["valgrind", f"--tool={tool}", *options, sys.executable, script, way, str(times)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return done.stderr


def figure(text, pattern):
    return int(re.search(pattern, text)[1].replace(",", ""))


def counted(script, way):
    """(instructions, allocations) of one turn of the loop."""
    instructions, allocations = [], []
    for times in (FEW, MANY):
        text = run("callgrind", script, way, times, "--callgrind-out-file=/dev/null")
        instructions.append(figure(text, r"Collected : (\d+)"))
        text = run("memcheck", script, way, times, "--leak-check=no", "--undef-value-errors=no")
        allocations.append(figure(text, r"total heap usage: ([\d,]+) allocs"))
    return [(b - a) / (MANY - FEW) for a, b in (instructions, allocations)]


def tree(script):
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for times in (FEW, MANY):
            files.append(Path(folder) / f"{times}.out")
            run("callgrind", script, "k[grid, block](...)", times, f"--callgrind-out-file={files[-1]}")
        own = [functions(file) for file in files]
    spent = {name: (count - own[0].get(name, 0)) / (MANY - FEW) for name, count in own[1].items()}
    for name, count in sorted(spent.items(), key=lambda item: -item[1])[:60]:
        if count >= 4:
            print(f"{count:8.1f}  {name[:150]}")


def functions(file):
    """Instructions in each function itself."""
    text = subprocess.run(
        ["callgrind_annotate", "--threshold=100", str(file)], capture_output=True, text=True
    ).stdout
    found = {}
    for count, name in re.findall(r"^\s*([\d,]+) \([^)]*\)\s+(.*)$", text, re.MULTILINE):
        name = re.sub(r"\S*/([^/\s:]+):", r"\1:", name, count=1)
        found[name] = found.get(name, 0) + int(count.replace(",", ""))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", action="store_true")
    parser.add_argument("ways", nargs="*", default=WAYS)
    asked = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(LOOP)
        script.flush()
        base = counted(script.name, "python")
        print("| a launch, without the loop around it | instructions | allocations |")
        print("| --- | ---: | ---: |")
        for way in asked.ways:
            if way == "python":
                continue
            instructions, allocations = counted(script.name, way)
            print(f"| {way} | {instructions - base[0]:,.0f} | {allocations - base[1]:.2f} |", flush=True)
        if asked.tree:
            tree(script.name)


if __name__ == "__main__":
    main()

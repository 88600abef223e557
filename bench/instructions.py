"""Instructions and allocations of a launch on the host: valgrind's counts of two loops of different length over the
tests' driver, which does nothing then, from where CPython calls us to where it goes on. The figures are those of a
build, whatever the machine does meanwhile.

    python bench/instructions.py [--tree] [bound ...]     # needs valgrind, and a build with -DXCUDA_TESTS=ON

--tree also prints where the instructions go, function by function."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FEW, MANY = 500, 2500
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
calls = {
    "k[grid, block](...)": lambda: shaped(z, x, y),
    "k(...)": lambda: add(z, x, y),
    "on a stream": lambda: on(z, x, y),
    "bound": add.bind(4, 256, z, x, y),
}
call = calls[way]
for _ in range(200):
    call()
cuda.synchronize()
for _ in range(times):
    call()
cuda.synchronize()
"""
WAYS = ("k[grid, block](...)", "k(...)", "on a stream", "bound")
# Where CPython comes in: what is under these is counted.
ENTRIES = "xcuda::python::(anonymous namespace)::call_*"


def driver():
    sys.path.insert(0, str(HERE.parent / "tests" / "python"))
    from fake_cuda import library

    return library()


def counts(script, way, times, folder):
    """(instructions, allocations, instructions of each function itself) of a loop."""
    library, file = str(driver()), Path(folder) / "counts"
    env = os.environ | {"XCUDA_DRIVER": library, "XCUDA_CUPTI": library, "XCUDA_DEVICE": "cuda:0"}
    env |= {"PYTHONHASHSEED": "0", "FAKE_CUDA": "idle=1"}
    python = [sys.executable, script, way]
    if times < FEW:  # the compile cache is to be filled
        subprocess.run([*python, str(times)], env=env, check=True)
        return None
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", f"--toggle-collect={ENTRIES}"]
    done = subprocess.run([*command, *python, str(times)], env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return read(file)


def read(file):
    names, own, allocations, library, function, of_call = {}, {}, 0, "", "", False

    def named(text, kind="function"):
        number, _, name = text.partition(" ")
        return names.setdefault((kind, number), name) if name else names[kind, number]

    callee = ""
    with open(file) as lines:
        for line in lines:
            if line.startswith("ob="):
                library = named(line[3:-1], "library").rpartition("/")[2]
            elif line.startswith("cob="):
                named(line[4:-1], "library")
            elif line.startswith("fn="):
                function = f"{library}: {named(line[3:-1])}"
            elif line.startswith("cfn="):
                callee = named(line[4:-1])
            elif line.startswith("calls="):
                of_call = True  # the next line is what the call cost
                if callee.split("'")[0] in ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign"):
                    allocations += int(line[6:].split()[0])
            elif line[0] in "0123456789+-*":
                if not of_call:
                    own[function] = own.get(function, 0) + int(line.split()[1])
                of_call = False
    return sum(own.values()), allocations, own


def counted(script, way):
    """(instructions, allocations, {function: instructions}) of one turn of the loop."""
    with tempfile.TemporaryDirectory() as folder:
        counts(script, way, 1, folder)
        few, many = (counts(script, way, times, folder) for times in (FEW, MANY))
    turns = MANY - FEW
    own = {name: (count - few[2].get(name, 0)) / turns for name, count in many[2].items()}
    return (many[0] - few[0]) / turns, (many[1] - few[1]) / turns, own


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", action="store_true")
    parser.add_argument("ways", nargs="*", default=WAYS)
    asked = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(LOOP)
        script.flush()
        print("| a launch, of three device arrays | instructions | allocations |")
        print("| --- | ---: | ---: |")
        for way in asked.ways:
            instructions, allocations, own = counted(script.name, way)
            print(f"| {way} | {instructions:,.0f} | {allocations:.2f} |", flush=True)
            if asked.tree:
                libraries = {}
                for name, count in own.items():
                    library = name.partition(":")[0]
                    libraries[library] = libraries.get(library, 0) + count
                print({name: round(count) for name, count in libraries.items() if abs(count) >= 1})
                for name, count in sorted(own.items(), key=lambda item: -item[1])[:70]:
                    print(f"{count:8.1f}  {name[:170]}")


if __name__ == "__main__":
    main()

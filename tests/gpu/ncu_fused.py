"""Nsight Compute's figures of fused rows and tiles: the kernels of bench/math.py and bench/tiles.py on a GPU.

    python tests/gpu/ncu_fused.py [NAMES] [--out FOLDER]    needs a GPU, ncu, torch and NumPy

A function at a time, in a process of its own, at the sizes of the benchmarks; its longest kernel counts, and where a peer
is named (torch's form of the same), its longest kernel stands beside it.
"""

import argparse
import importlib.util
import subprocess
import sys
import time
from pathlib import Path

from ncu_report import duration, ncu_file, profiled, table

HERE = Path(__file__).resolve()
BENCH = HERE.parent.parent.parent / "bench"


def fused(title):
    """A function of bench/_math_on_a_gpu.py, ours and torch's."""

    def run():
        import _math_on_a_gpu as gpu
        import torch
        from xcuda import core
        from xcuda import math as nvmath

        spec = importlib.util.spec_from_file_location("formulas", BENCH / "math.py")
        formulas = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(formulas)
        for contest in gpu.contests(torch, formulas):
            if contest.title.startswith(title):
                made, given = (
                    nvmath.jit(lambda *given, f=contest.function: f(nvmath, *given)),
                    contest.arrays(),
                )
                made(*map(nvmath.asarray, given))
                core.synchronize()
                contest.torchs(*given)
                torch.cuda.synchronize()
                return
        raise SystemExit(f"no function is called {title}")

    return run


def product(dtype, m, k, n, plan=None):
    """The product of bench/tiles.py, or the same with another plan; cuBLAS' beside."""

    def run():
        import tiles
        import torch
        from xcuda import tiles as ours

        A, B = tiles.arrays(dtype, (m, k), (k, n))
        C = tiles.empty_like_product(A, B, dtype)
        kernel = tiles.product
        if plan:
            kernel = ours.tile_kernel(kernel.py_func, tile_size=(16, 16), plan=plan)
        kernel(A, B, C)
        tiles.wait()
        A @ B
        torch.cuda.synchronize()

    return run


def attention():
    import tiles
    import torch
    from xcuda import tiles as ours

    h, n, d = 16, 4096, 128
    Q, K, V = tiles.arrays("float16", *[(h, n, d)] * 3)
    out = torch.empty_like(Q)
    ours.launch(None, (n // 128, h), tiles.attention, (Q, K, V, out, d**-0.5 * tiles.LOG2_E, d, 128, 128))
    tiles.wait()
    torch.nn.functional.scaled_dot_product_attention(Q[None], K[None], V[None])
    torch.cuda.synchronize()


CASES = {
    "softmax": fused("softmax"),
    "layer_norm": fused("layer norm"),
    "rms_norm": fused("RMS norm"),
    "rope": fused("RoPE"),
    "cross_entropy": fused("cross-entropy"),
    "article": fused("the article"),
    "attention": attention,
    "float16_4096": product("float16", 4096, 4096, 4096),
    "float16_tall": product("float16", 16384, 1024, 1024),
    "float16_deep": product("float16", 1024, 16384, 1024),
    "float32_1024": product("float32", 1024, 1024, 1024),
    "float32_4096": product("float32", 4096, 4096, 4096),
}


def by_side(rows):
    """{whose: its longest kernel}: ours are named for Python's functions or for what they fuse, with `xc_` before."""
    theirs = [row for row in rows if foreign(row["Kernel Name"])]
    parts = {"xcuda": [row for row in rows if row not in theirs], "torch": theirs}
    return {whose: max(part, key=duration) for whose, part in parts.items() if part}


def foreign(name):
    return any(
        word in name
        for word in ("at::", "cutlass", "cublas", "gemm", "nvjet", "flash", "cudnn", "Softmax", "norm_kernel")
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CASES)}; all where left out")
    parser.add_argument("--out", default="build/ncu", help="the folder for ncu's own files")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.names or list(CASES)
    if options.child:
        sys.path.append(str(BENCH))  # behind Python's own: it has a math.py
        return CASES[names[0]]()
    ncu, folder, begin = ncu_file(), Path(options.out).resolve(), time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    whole = 0
    for name in names:
        rows, report = profiled(ncu, name, [HERE, name, "--child"], folder)
        sides = by_side(rows)
        whole += "xcuda" in sides
        if sides:
            table(name, {f"{side}: {row['Kernel Name'][:40]}": row for side, row in sides.items()})
            told = subprocess.run(
                [ncu, "--import", str(report), "--csv", "--page", "source"], capture_output=True
            )
            report.with_suffix(".source.csv").write_bytes(told.stdout)
        print(f"\n{time.monotonic() - begin:.0f} s", flush=True)
    return whole < len(names)


if __name__ == "__main__":
    sys.exit(main())

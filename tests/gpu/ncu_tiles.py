"""Why tile kernels are where they are beside cuBLAS and cuDNN: issue slots, stalls and pipes, by Nsight Compute.

    python tests/gpu/ncu_tiles.py [NAMES] [--seconds 40] [--out FOLDER]    needs a GPU, ncu, torch and NumPy

A case at a time, in a process of its own, in the order below while the time lasts; of each side the longest kernel counts.
Pipes are told in % of what they could do, those above 2. Ends with 1 where a case gave no figures of ours.
"""

import argparse
import sys
import time
from pathlib import Path

import ncu_fused
from ncu_report import duration, ncu_file, pipes, profiled, table

HERE = Path(__file__).resolve()
BENCH = HERE.parent.parent.parent / "bench"
KERNELS = "regex:product|attention|exp2|gemm|cutlass|nvjet|flash|sdpa|Kernel"


def attention(plan, name="exp2"):
    """Tiles of 128 x 128, head size 128, as tests/gpu/attention_probe.py has it; torch's beside."""

    def run():
        import attention_probe
        import torch
        from xcuda import core, tiles

        h, n, d = attention_probe.TIMED
        chance = torch.Generator(device="cuda").manual_seed(1)
        Q, K, V = (
            torch.randn((h, n, d), generator=chance, device="cuda").to(torch.float16) for _ in range(3)
        )
        out, scale = torch.empty_like(Q), float(d**-0.5 * 1.4426950408889634)
        kernel = tiles.tile_kernel(attention_probe.kernels()[name], plan=plan, fastmath=True)
        tiles.launch(None, (n // 128, h), kernel, (Q, K, V, out, scale, d, 128, 128))
        core.synchronize()
        torch.nn.functional.scaled_dot_product_attention(
            Q[None], K[None], V[None], is_causal=name == "causal"
        )
        torch.cuda.synchronize()

    return run


# Two warps a scheduler, as cuBLAS has them; the default of large products has four.
WIDE = {"unit": [256, 128], "threads": 256, "depth": 16, "stages": 3, "steps": "unrolled"}
CASES = {
    "float32_4096": ncu_fused.product("float32", 4096, 4096, 4096),
    "attention_128": attention({"copies": "bulk"}),
    "float16_deep": ncu_fused.product("float16", 1024, 16384, 1024),
    "float32_deep": ncu_fused.product("float32", 1024, 16384, 1024),
    "float16_tall": ncu_fused.product("float16", 16384, 1024, 1024),
    "float32_wide": ncu_fused.product("float32", 4096, 4096, 4096, WIDE),
    "float16_deep_shared": ncu_fused.product("float16", 1024, 16384, 1024, {"unit": [128, 128], "split": 2}),
    "attention_causal": attention({"copies": "bulk"}, "causal"),
}


def sides_of(rows):
    """{whose: its longest kernel}."""
    ours = [r for r in rows if any(r["Kernel Name"].startswith(w) for w in ("product", "exp2", "causal"))]
    parts = {"xcuda": ours, "library": [r for r in rows if r not in ours]}
    return {whose: max(part, key=duration) for whose, part in parts.items() if part}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CASES)}; all where left out")
    parser.add_argument("--out", default="build/ncu", help="the folder for ncu's own files")
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        sys.path.append(str(BENCH))  # behind Python's own: it has a math.py
        return CASES[options.names[0]]()
    ncu, folder, begin = ncu_file(), Path(options.out).resolve(), time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    names, told, tried = options.names or list(CASES), 0, 0
    for name in names:
        if time.monotonic() - begin > options.seconds - 6:
            print(f"the time is over: {name} not tried")
            continue
        tried += 1
        more = ["--kernel-name", KERNELS, "--section", "ComputeWorkloadAnalysis"]
        rows, _ = profiled(ncu, name, [HERE, name, "--child"], folder, more)
        sides = sides_of(rows)
        told += "xcuda" in sides
        if sides:
            titled = {f"{side}: {row['Kernel Name'][:48]}": row for side, row in sides.items()}
            table(name, titled)
            pipes(titled)
        print(f"\n{time.monotonic() - begin:.0f} s", flush=True)
    return int(told < tried)


if __name__ == "__main__":
    sys.exit(main())

"""Which plan of a plain product is right and fastest on this GPU: each candidate beside the vendor's library.

    python tests/gpu/tiles_plans.py [--seconds 140] [--write gpu_runtime/tiles/measured.hpp] [--only float16]

A process runs a type's plans one after the other, and is ended when it says nothing for ten seconds: a plan that hangs
costs that, and the next process goes on behind it. Each says what it begins, so that a hang has a place, and the time's end
is not taken for one. Results are checked against torch in float32 (integers exactly) before anything is timed, over ragged shapes too.
Prints a table in TFLOP/s, plan by shape, and the fastest right plan of each type and size; --write puts these where the
planner reads them. Needs torch with CUDA. Ends with 1 where a plan gave a wrong result or did not end.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

import watched_child
from watched_child import OVER, SILENT, seconds_of


# name: what is asked of the plan. "own": what the compiler takes without being asked.
def bulk(rows, columns):
    plan = {"unit": [rows, columns], "threads": 2 * rows, "products": "wgmma", "copies": "bulk"}
    # As many stages as choose.cpp's take_stages has room for.
    return {**plan, "stages": min(8, 226 * 1024 // ((rows + columns) * 128))}


def four_warps(rows, columns, stages):
    plan = {"unit": [rows, columns], "threads": 2 * rows, "stages": stages}
    return {**plan, "products": "wgmma", "copies": "threads"}


PLANS = {
    "own": {},
    "bulk 128x256": bulk(128, 256),
    "bulk 256x128": bulk(256, 128),
    "bulk 128x128": bulk(128, 128),
    "bulk 64x256": bulk(64, 256),
    "bulk 64x128": bulk(64, 128),
    "wgmma 128x128 s3": four_warps(128, 128, 3),
    "wgmma 64x128 s4": four_warps(64, 128, 4),
    "mma 128x128 s3": {"unit": [128, 128], "threads": 256, "stages": 3, "products": "mma"},
}
# type: (what it is summed in, depth of a step, whether instructions of four warps need the second matrix by columns, options)
TYPES = {
    "float16": ("float16", 64, False, {}),
    "bfloat16": ("bfloat16", 64, False, {}),
    "int8": ("int32", 128, True, {}),
    "float8_e4m3fn": ("float32", 128, True, {}),
    "float32": ("float32", 32, True, {"tf32": True}),
}
# In this order: what tells most first, all types before what is left of one.
ORDER = [
    ("float16", ["own", "bulk 128x256 c2", "bulk 64x128 c2", "bulk 256x128 c2", "bulk 64x256"]),
    ("bfloat16", ["own", "bulk 128x256 c2"]),
    ("int8", ["own", "bulk 128x256 c2"]),
    ("float8_e4m3fn", ["own", "bulk 128x256 c2"]),
    ("float16", ["bulk 128x128 c2", "bulk 64x256 c2", "bulk 128x128", "wgmma 64x128 s4", "bulk 128x256"]),
    ("int8", ["bulk 128x128", "bulk 64x128 c2"]),
    ("float8_e4m3fn", ["bulk 128x128", "bulk 64x128 c2"]),
    ("float32", ["own", "bulk 128x256 c2"]),
    ("bfloat16", ["bulk 64x128 c2"]),
    ("float16", ["bulk 256x128", "bulk 64x128", "wgmma 128x128 s3", "mma 128x128 s3"]),
]
TIMED = [(512, 512, 512), (1024, 1024, 1024), (4096, 4096, 4096), (8192, 8192, 8192)]
TALL = [(16384, 1024, 1024), (1024, 16384, 1024), (1024, 1024, 16384)]
RAGGED = [(1000, 776, 1304), (130, 64, 72), (16, 8, 2048), (257, 1040, 16)]


def size_of(m, k, n):
    """As gpu_runtime/tiles/choose.cpp has it: the class of the largest of the three arrays, and whether the result's tiles
    are few."""
    largest = max(m * k, k * n, m * n)
    return sum(largest >= limit for limit in (128 * 128, 1024 * 1024, 2048 * 2048)), m * n < 128**3


def child(dtype, names):
    """Checks and times plans of a type; a line of JSON for each shape, as soon as it is known."""
    for name in names:
        try:
            one_plan(dtype, name)
        except Exception as error:
            words = f"{type(error).__name__}: {(str(error).splitlines() or ['no words'])[0]}"
            watched_child.tell(dtype=dtype, plan=name, failed=words)
            if "CUDA_ERROR" in words:  # the context is lost
                return 1
    return 0


def one_plan(dtype, name):
    import torch
    from xcuda import core, tiles

    torch.backends.cuda.matmul.allow_tf32 = False
    into, depth, by_columns, options = TYPES[dtype]
    asked = dict(PLANS[name])
    if asked and "unit" in asked:
        asked["depth"] = depth

    def plain(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))

    def turned(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B).T))

    def fused(A, B, bias, C):
        whole = tiles.load_shared(A) @ tiles.load_shared(B) + tiles.load_shared(bias)
        tiles.store(C, tiles.compute(tiles.maximum(whole, 0)))

    function = turned if by_columns else plain
    kernel = tiles.tile_kernel(function, tile_size=(16, 16), plan=asked, **options)
    layer = tiles.tile_kernel(fused, tile_size=(16, 16), plan=asked, **options)
    other = tiles.tile_kernel(turned, tile_size=(16, 16), plan=asked, **options)
    real, result = getattr(torch, dtype), getattr(torch, into)
    chance = torch.Generator(device="cuda").manual_seed(1)

    def numbers(*shape):
        whole = torch.randint(-4, 5, shape, generator=chance, device="cuda", dtype=torch.int32)
        return whole.to(torch.float32).to(real)

    def tell(**row):
        watched_child.tell(dtype=dtype, plan=name, **row)

    def off(found, wanted):
        scale = max(1.0, float(wanted.abs().max()))
        return float((found.to(torch.float32) - wanted).abs().max()) / scale

    tolerance = {"float16": 2e-3, "bfloat16": 1e-2}.get(into, 0.0)
    tell(begun=True)
    for at, (m, k, n) in enumerate(RAGGED):
        tell(trying=[m, k, n])
        A, B = numbers(m, k), numbers(n, k) if by_columns else numbers(k, n)
        wanted = A.float() @ (B.float().T if by_columns else B.float())
        C = torch.full((m, n), 77, device="cuda", dtype=result)
        kernel(A, B, C)
        core.synchronize()
        tell(shape=[m, k, n], kind="ragged", off=off(C, wanted), tolerance=tolerance)
        # Other kernels by the same plan: for those that are looked at first.
        if not by_columns and at < 2 and name in ("own", "bulk 128x256 c2"):
            bias = torch.randn(n, generator=chance, device="cuda")
            layer(A, B, bias, C)
            core.synchronize()
            tell(
                shape=[m, k, n],
                kind="epilogue",
                tolerance=tolerance,
                off=off(C, (wanted + bias).clamp(min=0)),
            )
            other(A, B.T.contiguous(), C)
            core.synchronize()
            tell(shape=[m, k, n], kind="turned", off=off(C, wanted), tolerance=tolerance)
    for m, k, n in TIMED + (TALL if into in ("float16", "bfloat16") else []):
        tell(trying=[m, k, n])
        A, B = numbers(m, k), numbers(n, k) if by_columns else numbers(k, n)
        C = torch.full((m, n), 77, device="cuda", dtype=result)
        kernel(A, B, C)
        core.synchronize()
        wanted = A.float() @ (B.float().T if by_columns else B.float())
        row = {"shape": [m, k, n], "kind": "timed", "off": off(C, wanted), "tolerance": tolerance}
        del wanted
        row["seconds"] = seconds_of(lambda A=A, B=B, C=C: kernel(A, B, C), core.synchronize)
        if name == "own":
            library = library_product(torch, dtype, A, B)
            try:
                library()
                row["library"] = seconds_of(library, torch.cuda.synchronize)
            except Exception as error:
                row["library_error"] = str(error).splitlines()[0]
        tell(**row)
    for n in (512, 4096) if name == "own" else (4096,):
        A = numbers(n, n)
        C = torch.empty((n, n), device="cuda", dtype=result)
        try:  # of no weight for the plan
            tell(explained=str(kernel.explain(A, A, C)), of=n)
        except Exception as error:
            tell(explained=f"products by: not told, {type(error).__name__}: {error}", of=n)
    tell(ended=True)


def library_product(torch, dtype, A, B):
    """The vendor's product for this type."""
    if dtype == "int8":
        return lambda: torch._int_mm(A, B.T)
    if dtype == "float8_e4m3fn":
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(A, B.T, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    if dtype == "float32":
        torch.backends.cuda.matmul.allow_tf32 = True
        return lambda: A @ B.T
    return lambda: A @ B


# Seconds without a word after which a process is taken to hang; its start, imports too, takes less.
SILENCE = 10.0


WHY = {OVER: "the time was over", SILENT: f"silent for {SILENCE:.0f} s"}


def rows_of(dtype, names, end):
    """{plan: (what was told of it, why it is not whole)} of one process, of the plans that it began."""
    command = [sys.executable, __file__, "--child", dtype, *names]
    told, why, words = watched_child.rows_of(command, SILENCE, end, env={"CUDA_MODULE_LOADING": "LAZY"})
    found = {}
    for row in told:
        found.setdefault(row["plan"], []).append(row)
    if not found:
        found[names[0]] = []
    results = {}
    for name, rows in found.items():
        failed = next((r["failed"] for r in rows if "failed" in r), "")
        tried = next((r["trying"] for r in reversed(rows) if "trying" in r), "its start")
        last = WHY.get(why) or f"ended early: {words or 'no words'}"
        whole = any("ended" in r for r in rows)
        results[name] = (rows, failed or ("" if whole else f"{last}, at {tried}"))
    return results


def is_right(rows, ended):
    checked = [row for row in rows if "off" in row]
    return not ended and bool(checked) and all(row["off"] <= row["tolerance"] for row in checked)


def fastest(results):
    """{(type, size): (plan, share of the library's speed)} among plans that were right everywhere."""
    shares = {}
    for (dtype, name), (rows, ended) in results.items():
        if not is_right(rows, ended) or name == "own":
            continue
        for row in rows:
            own = results.get((dtype, "own"), ([], ""))[0]
            base = next(
                (r for r in own if r.get("shape") == row.get("shape") and r.get("kind") == "timed"), None
            )
            if row.get("kind") != "timed" or base is None:
                continue
            gain = base["seconds"] / row["seconds"]
            shares.setdefault((dtype, size_of(*row["shape"])), {}).setdefault(name, []).append(gain)
    best = {}
    for key, plans in shares.items():
        means = {name: float(len(g)) / sum(1 / each for each in g) for name, g in plans.items()}
        best[key] = max(means.items(), key=lambda pair: pair[1])
    return best


DTYPES = {"float16": "f16", "bfloat16": "bf16", "int8": "i8", "float8_e4m3fn": "f8e4m3"}


def written(text, best, target):
    """The header's text with the target's rows anew. float32's are left out: TF32 is asked for by name."""
    declared = re.compile(r"std::array<Measured, \d+> measured_plans\{\{(.*?)\}\};", re.DOTALL)
    lines = [row for row in re.findall(r"\{\".*?\}", declared.search(text)[1]) if f'"{target}"' not in row]
    for (dtype, (size, few)), (name, gain) in sorted(best.items()):
        if dtype not in DTYPES or gain < 1.02:
            continue
        plan = PLANS[name]
        lines.append(
            f'{{"{target}", DType::{DTYPES[dtype]}, {size}, {str(few).lower()}, {plan["unit"][0]}, {plan["unit"][1]}, '
            f"{TYPES[dtype][1]}, {plan['threads']}, {plan['stages']}, Instructions::{plan['products']}, "
            f"{str(plan.get('copies') == 'bulk').lower()}}}"
        )
    rows = "".join(f"\n    {line}," for line in lines) + ("\n" if lines else "")
    return declared.sub(lambda _: f"std::array<Measured, {len(lines)}> measured_plans{{{{{rows}}}}};", text)


def table(results):
    shapes = sorted(
        {tuple(r["shape"]) for rows, _ in results.values() for r in rows if r.get("kind") == "timed"}
    )
    for dtype in dict.fromkeys(d for d, _ in results):
        print(f"\n{dtype}, TFLOP/s (share of the library)")
        print("| plan | " + " | ".join("x".join(map(str, s)) for s in shapes) + " | right |")
        print("|" + " --- |" * (len(shapes) + 2))
        own = {
            tuple(r["shape"]): r for r in results.get((dtype, "own"), ([], ""))[0] if r.get("kind") == "timed"
        }

        def cell(shape, seconds, own=own):
            if not seconds:
                return ""
            m, k, n = shape
            library = own.get(shape, {}).get("library")
            share = f" ({library / seconds:.2f})" if library else ""
            return f"{2 * m * k * n / seconds / 1e12:.1f}{share}"

        print("| library | " + " | ".join(cell(s, own.get(s, {}).get("library")) for s in shapes) + " | |")
        for (d, name), (rows, ended) in results.items():
            if d != dtype:
                continue
            timed = {tuple(r["shape"]): r["seconds"] for r in rows if r.get("kind") == "timed"}
            wrong = [
                f"{r['kind']} {r['shape']} off by {r['off']:.2g}"
                for r in rows
                if r.get("off", 0) > r.get("tolerance", 0)
            ]
            verdict = "; ".join([*wrong[:2], *([ended] if ended else [])]) or (
                "yes" if is_right(rows, ended) else "nothing ran"
            )
            print(f"| {name} | " + " | ".join(cell(s, timed.get(s)) for s in shapes) + f" | {verdict} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=140)
    parser.add_argument("--write", type=Path)
    parser.add_argument(
        "--target", default="sm_90", help="the GPU's architecture, as the table is to name it"
    )
    parser.add_argument("--only", action="append", choices=sorted(TYPES))
    parser.add_argument("--child", nargs="+")
    asked = parser.parse_args()
    if asked.child:
        return child(asked.child[0], asked.child[1:])
    results, end = {}, time.monotonic() + asked.seconds
    for dtype, names in ORDER:
        left = [] if asked.only and dtype not in asked.only else list(names)
        while left and end - time.monotonic() > 6:
            told = rows_of(dtype, left, end)
            for name, (rows, ended) in told.items():
                results[dtype, name] = (rows, ended)
                checked = sum("off" in r for r in rows)
                print(f"{dtype} {name}: {checked} shapes checked{', ' + ended if ended else ''}", flush=True)
                for row in (r for r in rows if "explained" in r):
                    lines = [
                        s for s in row["explained"].splitlines() if s.startswith(("products by", "hardware"))
                    ]
                    print(f"    of {row['of']}: " + "; ".join(lines))
            left = left[left.index(list(told)[-1]) + 1 :]
        if left:
            print(f"the time is over: of {dtype} not tried: {', '.join(left)}")
    table(results)
    best = fastest(results)
    print("\nfastest, beside what the compiler takes unasked:")
    for (dtype, (size, few)), (name, gain) in sorted(best.items()):
        print(f"    {dtype} size {size}{', few tiles' if few else ''}: {name}, {gain:.2f}x")
    if asked.write:
        asked.write.write_text(written(asked.write.read_text(), best, asked.target))
    wrong = [pair for pair, (rows, ended) in results.items() if not is_right(rows, ended)]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Plans of plain products that could be faster, each timed on this GPU beside cuBLAS with its values checked.

    python tests/gpu/products_probe.py [--seconds 40] [--only "float32,float16 split"]

Factors are small whole numbers, so that any order of summing is exact: a value that differs is wrong. A process runs a
type's plans one after the other and says what it begins; one that is silent for eight seconds is ended, and the next goes
on behind that plan. Needs torch with CUDA. Ends with 1 where a plan was wrong or hung; what the time left out is told.
"""

import argparse
import sys
import time

import watched_child
from watched_child import OVER, SILENT, seconds_of, tell


def threads(rows, columns, many, depth, stages, **more):
    return {"unit": [rows, columns], "threads": many, "depth": depth, "stages": stages, **more}


FLAT = {"steps": "unrolled"}
# type: {name: what is asked of the plan}; "own" is the compiler's choice, and comes first.
PLANS = {
    "float32": {
        "own": {},
        "unrolled, 2 blocks": {**FLAT, "blocks": 2},
        "256x128, depth 16 unrolled": threads(256, 128, 256, 16, 3, **FLAT),
        "256x128, depth 8 unrolled": threads(256, 128, 256, 8, 5, **FLAT),
        "256x128, depth 32 unrolled": threads(256, 128, 256, 32, 3, **FLAT),
        "128x128 by 128, depth 16 unrolled": threads(128, 128, 128, 16, 4, blocks=2, **FLAT),
        "128x128 by 128, depth 8 unrolled": threads(128, 128, 128, 8, 5, blocks=2, **FLAT),
        "depth 8 unrolled, 2 blocks": threads(128, 128, 256, 8, 5, blocks=2, **FLAT),
        "128x256, depth 16 unrolled": threads(128, 256, 256, 16, 3, **FLAT),
        "128x64 by 64, depth 16 unrolled": threads(128, 64, 64, 16, 4, blocks=4, **FLAT),
        "64x128 by 128, depth 16 unrolled": threads(64, 128, 128, 16, 4, blocks=4, **FLAT),
        "64x64 by 64, depth 16 unrolled": threads(64, 64, 64, 16, 4, **FLAT),
    },
    "float32 split": {
        "own": {},
        "256x128 unrolled, split 4": threads(256, 128, 256, 16, 3, split=4, **FLAT),
        "128x128 unrolled, split 4": threads(128, 128, 256, 8, 5, blocks=2, split=4, **FLAT),
        "128x128 by 128 unrolled, split 4": threads(128, 128, 128, 16, 4, blocks=2, split=4, **FLAT),
        "128x128 unrolled, split 2": threads(128, 128, 256, 8, 5, blocks=2, split=2, **FLAT),
        "256x128 unrolled, split 2": threads(256, 128, 256, 16, 3, split=2, **FLAT),
        "64x128 by 128 unrolled, split 2": threads(64, 128, 128, 16, 4, blocks=4, split=2, **FLAT),
        "64x64 unrolled, split 2": {**FLAT, "blocks": 2, "split": 2},
    },
    "float16": {"own": {}, "own, pairs": {"stores": "pairs"}, "own, lines": {"stores": "lines"}},
    "float16 split": {
        "own": {},
        **{
            f"{m}x{n}, split {parts}": {"unit": [m, n], "split": parts}
            for m, n, parts in (
                (128, 128, 2),
                (128, 128, 4),
                (128, 256, 4),
                (256, 128, 4),
                (128, 64, 2),
                (64, 256, 2),
            )
        },
        "128x128": {"unit": [128, 128]},
    },
    "bfloat16": {"own": {}, "own, pairs": {"stores": "pairs"}, "own, lines": {"stores": "lines"}},
}
SQUARE = [(1024, 1024, 1024), (4096, 4096, 4096)]
SHAPES = {  # m, k, n
    "float32": [*SQUARE, (16384, 1024, 1024), (1024, 16384, 1024)],
    "float16": [(512, 512, 512), *SQUARE, (8192, 8192, 8192), (16384, 1024, 1024), (1024, 16384, 1024)],
}
SHAPES["bfloat16"] = SHAPES["float16"]
SHAPES["float16 split"] = [SQUARE[0], (1024, 16384, 1024), (512, 32768, 512), (2048, 8192, 2048)]
SHAPES["float32 split"] = [SQUARE[0], (1024, 16384, 1024), (512, 32768, 512)]
RAGGED = [(1000, 777, 1305), (130, 64, 72)]
SILENCE = 8.0
WHY = {OVER: "the time is over", SILENT: "HUNG"}


def child(dtype, names):
    import torch
    from xcuda import core, tiles

    torch.backends.cuda.matmul.allow_tf32 = False

    def product(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))

    chance = torch.Generator(device="cuda").manual_seed(3)

    def numbers(*shape):
        whole = torch.randint(-2, 3, shape, generator=chance, device="cuda", dtype=torch.int32)
        return whole.to(getattr(torch, dtype.split()[0]))

    made = {}
    for name in names:
        tell(plan=name, begun=True)
        kernel = tiles.tile_kernel(product, tile_size=(16, 16), plan=PLANS[dtype][name])
        for shape in [*RAGGED, *SHAPES[dtype]]:
            m, k, n = shape
            if shape not in made:
                A, B = numbers(m, k), numbers(k, n)
                made[shape] = A, B, (A.float() @ B.float()).to(A.dtype)
            A, B, wanted = made[shape]
            C = torch.full_like(wanted, 77)
            try:
                kernel(A, B, C)
                core.synchronize()
            except Exception as error:
                tell(plan=name, shape=shape, failed=f"{type(error).__name__}: {str(error).splitlines()[0]}")
                continue
            row = {"plan": name, "shape": shape, "right": bool(torch.equal(C, wanted))}
            if shape in SHAPES[dtype]:
                row["seconds"] = seconds_of(lambda A=A, B=B, C=C: kernel(A, B, C), core.synchronize)
                if name == "own":
                    row["cublas"] = seconds_of(lambda A=A, B=B: A @ B, torch.cuda.synchronize)
            tell(**row)
        try:
            tell(
                plan=name,
                words=str(kernel.explain(*made[SQUARE[0]])).splitlines()[:4],
            )
        except Exception as error:
            tell(plan=name, words=[f"not told: {error}"])
        tell(plan=name, ended=True)
    return 0


def rows_of(dtype, names, end):
    """What a process told of these plans, and why it is not whole."""
    command = [sys.executable, __file__, "--child", dtype, *names]
    rows, why, words = watched_child.rows_of(command, SILENCE, end, grace=10)
    return rows, WHY.get(why) or (words and f"ended early: {words}")


def shown(dtype, rows):
    shapes = SHAPES[dtype]
    base = {tuple(r["shape"]): r["cublas"] for r in rows if "cublas" in r}
    print(
        f"\n{dtype}, TFLOP/s (share of cuBLAS)\n| plan | "
        + " | ".join("x".join(map(str, s)) for s in shapes)
        + " | values |"
    )
    print("|" + " --- |" * (len(shapes) + 2))

    def cell(shape, seconds):
        m, k, n = shape
        share = f" ({base[shape] / seconds:.2f})" if shape in base else ""
        return f"{2 * m * k * n / seconds / 1e12:.1f}{share}"

    print("| cuBLAS | " + " | ".join(cell(s, base[s]) if s in base else "" for s in shapes) + " | |")
    for name in dict.fromkeys(r["plan"] for r in rows):
        own = [r for r in rows if r["plan"] == name]
        timed = {tuple(r["shape"]): r["seconds"] for r in own if "seconds" in r}
        wrong = [
            f"{r['shape']} {r.get('failed', 'WRONG')}" for r in own if "shape" in r and not r.get("right")
        ]
        told = "; ".join(wrong) or f"{sum('right' in r for r in own)} right"
        print(
            f"| {name} | "
            + " | ".join(cell(s, timed[s]) if s in timed else "" for s in shapes)
            + f" | {told} |"
        )
    for row in rows:
        if "words" in row:
            print(f"    {row['plan']}: " + "; ".join(row["words"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--only", default="")
    parser.add_argument("--child", nargs="+")
    asked = parser.parse_args()
    if asked.child:
        return child(asked.child[0], asked.child[1:])
    end, bad = time.monotonic() + asked.seconds, False
    for dtype in asked.only.split(",") if asked.only else PLANS:
        left, rows = list(PLANS[dtype]), []
        while left and end - time.monotonic() > 5:
            told, why = rows_of(dtype, left, end)
            rows += told
            last = told[-1]["plan"] if told else left[0]
            bad |= bool(why) and why != "the time is over"
            if why:
                print(f"{dtype} {last}: {why}", flush=True)
            left = left[left.index(last) + 1 :] if why else []
        if left:
            print(f"the time is over: of {dtype} not tried: {', '.join(left)}")
        if rows:
            shown(dtype, rows)
            bad |= any("shape" in r and not r.get("right") for r in rows)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())

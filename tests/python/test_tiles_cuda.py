"""Tile kernels' CUDA text compiles for three generations of GPU, with what the plan promises in it."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
import tensor_machine
from tile_kernels import compiles, expect_nvrtc
from tile_products import by_columns, turned
from xcuda import tiles


@tiles.tile_kernel(tile_size=(16, 16))
def product(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))


def bfloat16():
    return pytest.importorskip("ml_dtypes").bfloat16


def e4m3():
    return pytest.importorskip("ml_dtypes").float8_e4m3fn


# dtype, what it is summed in, options of the kernel, targets, the number of xc_tile_mma, what is in the machine code.
INSTRUCTIONS = {
    "float16": ("float16", "f4", {}, ("sm_80", "sm_100"), 0, "HMMA.16816.F32"),
    "bfloat16": (bfloat16, "f4", {}, ("sm_80",), 1, "HMMA.16816.F32.BF16"),
    "int8": ("int8", "i4", {}, ("sm_80",), 2, "IMMA.16832.S8.S8"),
    "uint8": ("uint8", "i4", {}, ("sm_90",), 3, "IMMA.16832.U8.U8"),
    "float8": (e4m3, "f4", {}, ("sm_89",), 4, "QMMA.16832.F32.E4M3.E4M3"),
    # sm_90 has no such instruction of one warp: ptxas widens the factors to float16.
    "float8 by a warp of sm_90": (e4m3, "f4", {}, ("sm_90",), 4, "F2FP.F16.E4M3.UNPACK_B"),
    "TF32": ("float32", "f4", {"tf32": True}, ("sm_80",), 6, "HMMA.1688.F32.TF32"),
    "float32": ("float32", "f4", {}, ("sm_90",), None, "FFMA"),
    "float64": ("float64", "f8", {}, ("sm_80",), 7, "DMMA.884"),
    "complex64": ("complex64", "c8", {}, ("sm_100",), None, "FFMA"),
}


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_products_by_the_instructions_of_their_type(name):
    dtype, into, options, targets, kind, machine = INSTRUCTIONS[name]
    A, C = np.ones((64, 64), dtype() if callable(dtype) else dtype), np.ones((64, 64), into)
    kernel = tiles.tile_kernel(product.py_func, tile_size=(16, 16), **options)
    made = compiles(kernel, (A, A, C), targets)
    assert made["local_bytes"] == 0, "the accumulators are to live in registers"
    assert ("xc_tile_mma<" in made["text"]) == (kind is not None)
    if kind is not None:
        assert f"xc_tile_mma<{kind}," in made["text"]
    assert "xc_tile_async<" in made["text"]
    code = machine_code(made)
    assert code is None or machine in code


@pytest.mark.parametrize(
    ("dtype", "into", "shape", "machine"),
    [
        ("float16", "f4", "m16n8k8, float16", "HMMA.1688.F32"),
        ("int8", "i4", "m8n8k16, int8", "IMMA.8816.S8.S8"),
        ("uint8", "i4", "m8n8k16, uint8", "IMMA.8816.U8.U8"),
    ],
)
@pytest.mark.parametrize("function", [product.py_func, turned], ids=["plain", "turned"])
def test_smaller_instructions_of_sm_75(function, dtype, into, shape, machine):
    """The same products, each of two or four of them; copies are waited for, as there are no others."""
    A, C = np.ones((64, 64), dtype), np.ones((64, 64), into)
    kernel = tiles.tile_kernel(function, tile_size=(16, 16))
    made = compiles(kernel, (A, A, C), ("sm_75",))
    assert made["local_bytes"] == 0 and "xc_tile_mma<" in made["text"] and "xc_tile_async" not in made["text"]
    assert f"mma.sync {shape}" in kernel.explain(A, A, C, target="sm_75").plan["instructions"]
    code = machine_code(made)
    assert code is None or machine in code


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint8"])
@pytest.mark.parametrize("function", [product.py_func, turned, by_columns], ids=lambda f: f.__name__)
def test_the_text_for_sm_75_gives_the_product(function, dtype):
    """On the machine of tensor_machine.hpp, as no such GPU has run it."""
    expect_nvrtc()
    random = np.random.default_rng(7)
    A, B = (random.integers(0, 5, s).astype(dtype) for s in ((70, 150), (150, 80)))
    wanted, C = A.astype(int) @ B.astype(int), np.zeros((70, 80), "f4" if dtype == "float16" else "i4")
    A = A.T.copy() if function is turned else A
    B = B if function is product.py_func else B.T.copy()
    kernel = tiles.tile_kernel(function, tile_size=(16, 16), plan={"unit": (64, 64), "threads": 128})
    for _ in tensor_machine.launch(kernel, A, B, C, grid=(2, 2), lazy=(False,), target="sm_75"):
        assert np.array_equal(C, wanted)


def test_other_types_are_each_threads_own_on_sm_75():
    for dtype in ("float32", "float64", bfloat16()):
        A, C = np.ones((64, 64), dtype), np.ones((64, 64), "f4" if dtype == bfloat16() else dtype)
        made = compiles(product, (A, A, C), ("sm_75",))
        assert "xc_tile_mma<" not in made["text"] and made["local_bytes"] == 0


def machine_code(made):
    """SASS of a compiled version, None where nothing here disassembles it."""
    tool = shutil.which("nvdisasm") or next(iter(sorted(Path("/usr/local/cuda/bin").glob("nvdisasm"))), None)
    if tool is None:
        return None
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(made["cubin"])
        file.flush()
        return subprocess.run([tool, file.name], capture_output=True, text=True, check=True).stdout


# dtype, sum, options, kernel, the number of xc_tile_wgmma, what is in the machine code.
FOUR_WARPS = {
    "float16": ("float16", "f4", {}, product.py_func, 0, "HGMMA.64x128x16.F32 "),
    "float16 turned": ("float16", "f2", {}, turned, 0, "HGMMA.64x128x16.F32 "),
    "bfloat16": (bfloat16, "f4", {}, product.py_func, 1, "HGMMA.64x128x16.F32.BF16"),
    "int8": ("int8", "i4", {}, by_columns, 2, "IGMMA.64x128x32.S8.S8"),
    "uint8": ("uint8", "i4", {}, by_columns, 3, "IGMMA.64x128x32.U8.U8"),
    "float8": (e4m3, "f4", {}, by_columns, 4, "QGMMA.64x128x32.F32.E4M3.E4M3"),
    "TF32": ("float32", "f4", {"tf32": True}, by_columns, 6, "HGMMA.64x128x8.F32.TF32"),
}


@pytest.mark.parametrize("name", FOUR_WARPS)
def test_four_warps_instructions_with_threads_copies(name):
    """They read swizzled shared memory, which begins at a multiple of 1024."""
    dtype, into, options, function, kind, machine = FOUR_WARPS[name]
    A, C = np.ones((64, 64), dtype() if callable(dtype) else dtype), np.ones((64, 64), into)
    kernel = tiles.tile_kernel(function, tile_size=(16, 16), plan={"copies": "threads"}, **options)
    made = compiles(kernel, (A, A, C), ("sm_90",))
    assert made["text"].count(f"xc_tile_wgmma<{kind}, 128,") == 1
    assert "1023) & ~" in made["text"] and "xc_tile_proxy" in made["text"]
    assert made["local_bytes"] == 0
    code = machine_code(made)
    assert code is None or machine in code
    elsewhere = compiles(kernel, (A, A, C), ("sm_100",))
    assert "xc_tile_wgmma<" not in elsewhere["text"] and f"xc_tile_mma<{kind}," in elsewhere["text"]


def plan_of(kernel, m, k, n, dtype="float16"):
    A, B, C = np.ones((m, k), dtype), np.ones((k, n), dtype), np.ones((m, n), "f4")
    return kernel.explain(A, B, C, target="sm_90").plan


def test_which_tiles_four_warps_get():
    """By the result's size: few tiles are small ones, so that more blocks have work."""
    expect_nvrtc()
    plan = plan_of(product, 512, 512, 512)  # as measured.hpp has it, of float16 alone
    assert (plan["unit"], plan["threads"], plan["stages"]) == ([64, 256], 128, 5)
    for shape, dtype in (
        ((512, 512, 512), bfloat16()),
        ((1024, 1024, 1024), "float16"),
        ((1024, 16384, 1024), "float16"),
    ):
        plan = plan_of(product, *shape, dtype)
        assert (plan["unit"], plan["threads"], plan["stages"]) == ([64, 128], 128, 8)
    for shape in ((4096, 4096, 4096), (16384, 1024, 1024), (1024, 1024, 16384)):
        plan = plan_of(product, *shape)
        assert (plan["unit"], plan["threads"], plan["stages"]) == ([128, 256], 256, 4)
        assert plan["instructions"] == "wgmma m64n256k16, float16 from bulk tensor copies"

    def result_first(C, A, B):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))

    A, C = np.ones((4096, 64), "f2"), np.ones((4096, 4096), "f4")
    first = tiles.tile_kernel(result_first, tile_size=(16, 16))
    assert first.explain(C, A, A.T.copy(), target="sm_90").plan["unit"] == [128, 256]
    # Rows of 1001 halves don't begin at multiples of 16 bytes, as the copy engine wants them: a launch knows.
    threads = tiles.tile_kernel(product.py_func, tile_size=(16, 16), plan={"copies": "threads"})
    assert plan_of(threads, 4096, 4096, 4096)["unit"] == [128, 128]
    assert plan_of(threads, 512, 512, 512)["stages"] == 4


def test_products_that_four_warps_can_not_make_get_a_warps_plan():
    def squared(A, B, C):
        a = tiles.load_shared(A)
        tiles.store(C, tiles.compute((a * a) @ tiles.load_shared(B)))

    expect_nvrtc()
    plan = plan_of(tiles.tile_kernel(squared, tile_size=(16, 16)), 4096, 4096, 4096)
    assert "mma.sync" in plan["instructions"] and "wgmma" not in plan["instructions"]
    assert "mma.sync m16n8k32, int8" in plan_of(product, 4096, 4096, 4096, "int8")["instructions"]
    assert "mma.sync" in plan_of(product, 100, 100, 100)["instructions"], "of small arrays"
    asked = tiles.tile_kernel(product.py_func, tile_size=(16, 16), plan={"products": "mma"})
    assert "mma.sync" in plan_of(asked, 4096, 4096, 4096)["instructions"]


# dtype, sum, depth, options, unit and threads, in the machine code.
BULK = {
    "float16": ("float16", "f2", 64, {}, (128, 256), 256, "HGMMA.64x256x16.F32"),
    "bfloat16": (bfloat16, "f4", 64, {}, (256, 128), 512, "HGMMA.64x128x16.F32.BF16"),
    "int8": ("int8", "i4", 128, {}, (128, 128), 256, "IGMMA.64x128x32.S8.S8"),
    "float8": (e4m3, "f4", 128, {}, (128, 256), 256, "QGMMA.64x256x32.F32.E4M3.E4M3"),
    "TF32": ("float32", "f4", 32, {"tf32": True}, (64, 256), 128, "HGMMA.64x256x8.F32.TF32"),
}


@pytest.mark.parametrize("name", BULK)
def test_operands_by_bulk_copies(name):
    """A warp beside the others asks for them, gates of shared memory tell when they are there; nothing spills."""
    dtype, into, depth, options, unit, threads, machine = BULK[name]

    def by_columns(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B).T))

    plan = {"unit": unit, "depth": depth, "threads": threads, "products": "wgmma", "copies": "bulk"}
    A, C = np.ones((64, 64), dtype() if callable(dtype) else dtype), np.ones((64, 64), into)
    kernel = tiles.tile_kernel(by_columns, tile_size=(16, 16), plan=plan, **options)
    made = compiles(kernel, (A, A, C), ("sm_90",))
    assert made["local_bytes"] == 0
    assert made["block"] == (threads + 32, 1, 1)
    assert f"__launch_bounds__({threads + 32}, 1)" in made["text"]
    assert "__grid_constant__" in made["text"] and "bar.sync 1" not in made["text"]
    explained = str(kernel.explain(A, A, C, target="sm_90"))
    assert "from bulk tensor copies" in explained and "mma.sync" not in explained
    code = machine_code(made)
    assert code is None or (machine in code and "UTMALDG.2D" in code and "LDGSTS" not in code)
    if name == "int8":
        elsewhere = compiles(kernel, (A, A, C), ("sm_100",))
        assert "xc_tile_flow" not in elsewhere["text"]


@pytest.mark.parametrize("stores", ["pairs", "lines"])
def test_sums_stored_in_lines(stores):
    """Four lanes exchange their pairs for sixteen bytes of a row each: faster on an H200, so it is sm_90's own choice."""
    A = np.ones((64, 64), np.float16)
    plan = {"unit": (64, 128), "products": "wgmma", "copies": "bulk"}
    plan |= {"stores": "pairs"} if stores == "pairs" else {}
    made = compiles(tiles.tile_kernel(product.py_func, tile_size=(16, 16), plan=plan), (A, A, A), ("sm_90",))
    assert made["local_bytes"] == 0
    assert ("xc_tile_quad(" in made["text"]) == ("xc_tile_store<8>(" in made["text"]) == (stores == "lines")
    code = machine_code(made)
    assert code is None or ("STG.E.128" in code) == (stores == "lines")


def test_steps_without_a_loop_and_blocks_that_have_room():
    """float32: each thread's products of a step stand one after the other, in as many registers as two blocks leave."""
    A, unit = np.ones((64, 64), np.float32), {"unit": (128, 128), "threads": 256, "depth": 16, "stages": 3}
    flat, many = {"steps": "unrolled"}, {"blocks": 2}
    counts = []
    for more in ({}, flat, flat | many):
        kernel = tiles.tile_kernel(product.py_func, tile_size=(16, 16), plan=unit | more)
        made = compiles(kernel, (A, A, A), ("sm_90",))
        assert ("__launch_bounds__(256, 2)" in made["text"]) == ("blocks" in more)
        assert "blocks" not in more or (made["registers"] <= 128 and made["local_bytes"] == 0)
        code = machine_code(made)
        counts.append(code and code.count("FFMA"))
    assert counts[0] is None or counts[0] * 2 <= counts[1] and abs(counts[1] - counts[2]) <= 64


SPLIT = {
    "float32": ("float32", "f4", {"split": 4}),
    "float32 unrolled": (
        "float32",
        "f4",
        {"split": 2, "unit": (128, 128), "steps": "unrolled", "threads": 256},
    ),
    "float64": ("float64", "f8", {"split": 2}),
    "int32": ("int32", "i4", {"split": 8}),
    "float16 by a warp": ("float16", "f4", {"split": 4, "products": "mma", "unit": (64, 64), "threads": 128}),
    "float16 by the copy engine": ("float16", "f2", {"split": 2, "unit": (128, 128)}),
    "float16 by the copy engine, 128x256": ("float16", "f4", {"split": 4, "unit": (128, 256)}),
}


@pytest.mark.parametrize("name", SPLIT)
def test_blocks_of_a_cluster_share_the_inner_dimension(name):
    """Each sums its steps, the first adds the others' sums out of their shared memory and alone stores."""
    dtype, into, plan = SPLIT[name]
    A, C = np.ones((64, 64), dtype), np.ones((64, 64), into)
    made = compiles(tiles.tile_kernel(product.py_func, tile_size=(16, 16), plan=plan), (A, A, C), ("sm_90",))
    text, n = made["text"], plan["split"]
    assert made["local_bytes"] == 0 and f"__cluster_dims__(1, 1, {n})" in text
    assert text.count(f"xc_tile_split_sum<{n}, ") == 1
    summed, stored = text.index("xc_tile_split_sum<"), text.rindex("C[")
    alone = text.index("if (((i32)blockIdx.z == 0)) {", summed)
    assert summed < alone < stored and "C[" not in text[:alone].split("product_kernel(")[-1]
    code = machine_code(made)
    assert code is None or ("UCGABAR_ARV" in code and "UCGABAR_WAIT" in code)
    if "copy engine" in name:  # one tile a cluster, whose blocks begin so many steps apart
        assert "xc_tile_flow_give<" in text and "xc_tile_flow_take<" in text
        assert "while (" not in text.split("product_kernel(")[-1] and "before * 64" in text
        assert code is None or ("UTMALDG" in code and "HGMMA" in code)
    elsewhere = compiles(
        tiles.tile_kernel(product.py_func, tile_size=(16, 16), plan=plan), (A, A, C), ("sm_80",)
    )
    assert "cluster" not in elsewhere["text"]


def test_what_blocks_cannot_share_is_computed_by_one():
    """Two products in one kernel: each block would need both sums."""

    def two(A, B, C):
        tiles.store(
            C,
            tiles.compute(
                tiles.load_shared(A) @ tiles.load_shared(B) + tiles.load_shared(B) @ tiles.load_shared(A)
            ),
        )

    A = np.ones((64, 64), np.float32)
    made = compiles(tiles.tile_kernel(two, tile_size=(16, 16), plan={"split": 4}), (A, A, A), ("sm_90",))
    assert "cluster" not in made["text"]


def test_warps_that_multiply_meet_by_themselves():
    """In an epilogue that reads other threads' elements, with the warp that fetches elsewhere."""

    def layer(A, B, bias, C):
        whole = tiles.load_shared(A) @ tiles.load_shared(B) + tiles.load_shared(bias)
        tiles.store(C, tiles.compute(tiles.maximum(whole, 0)))

    A, bias = np.ones((64, 64), np.float16), np.ones(64, "f")
    plan = {"products": "wgmma", "copies": "bulk"}
    made = compiles(tiles.tile_kernel(layer, tile_size=(16, 16), plan=plan), (A, A, bias, A), ("sm_90",))
    assert "bar.sync 1, 256;" in made["text"]
    assert made["text"].count("__syncthreads") == 1, "where the gates are made"
    assert "xc_poll" not in made["text"], "a warp that is stopped would leave the others waiting"
    assert made["local_bytes"] == 0


def test_rows_and_their_reductions():
    @tiles.tile_kernel
    def normal(X, Y, order, n: tiles.Constant[int]):
        i = tiles.bid(0)
        x = tiles.load(X, (i, 0), (1, n), padding=-np.inf)
        e = tiles.exp(x - tiles.max(x))
        tiles.store(Y, (i, 0), tiles.cumsum(e / tiles.sum(e), axis=1))
        tiles.store(order, (i,), tiles.argmax(x, axis=1))

    X = np.ones((4, 1000), "f")
    made = compiles(normal, (X, X, np.ones(4, np.int64), 1024), ("sm_90",))
    assert made["local_bytes"] == 0


def test_attention():
    @tiles.tile_kernel
    def attention(Q, K, V, out, d: tiles.Constant[int]):
        i = tiles.bid(0)
        q = tiles.load(Q, (i, 0), (64, d))
        top = tiles.full((64, 1), -np.inf, tiles.float32)
        total, acc = tiles.zeros((64, 1)), tiles.zeros((64, d))
        for j in range(tiles.num_tiles(K, 0, (64, d))):
            k, v = tiles.load(K, (j, 0), (64, d)), tiles.load(V, (j, 0), (64, d))
            s = q @ k.T
            now = tiles.maximum(top, tiles.max(s, axis=1, keepdims=True))
            p, less = tiles.exp(s - now), tiles.exp(top - now)
            total = total * less + tiles.sum(p, axis=1, keepdims=True)
            acc = tiles.mma(p.astype(V.dtype), v, acc * less)
            top = now
        tiles.store(out, (i, 0), acc / total)

    Q = np.ones((128, 64), np.float16)
    made = compiles(attention, (Q, Q, Q, np.ones((128, 64), "f"), 64), ("sm_80", "sm_100"))
    assert made["text"].count("xc_tile_mma<") == 1 and made["text"].count("xc_tile_mma_held<") == 1


def test_tiles_too_large_for_a_block_are_refused_with_the_limit():
    @tiles.tile_kernel
    def large(A, C):
        a = tiles.load(A, (0, 0), (512, 512))
        tiles.store(C, (0, 0), a @ a.T)

    A = np.ones((512, 512))
    with pytest.raises(ValueError, match=r"large: its tiles take \d+ bytes of shared memory; sm_90 has \d+"):
        compiles(large, (A, A), ("sm_90",))

"""Products of sm_100a by tcgen05, their sums in tensor memory: compiled, and their text run by tensor_machine.hpp.

Nothing here ran on such a GPU. What the machine does is written from the PTX ISA; that it sees what is wrong is tested too.
"""

import re

import numpy as np
import pytest
import tensor_machine
from a_part import one_of
from fake_cuda import driver, need_nvrtc, on_fake
from test_tiles_cuda import bfloat16, e4m3, machine_code, product
from tile_kernels import compiles, expect_nvrtc, tiles
from tile_products import by_columns, by_rows, turned
from xcuda import core as cuda

RANDOM = np.random.default_rng(29)


def e5m2():
    return pytest.importorskip("ml_dtypes").float8_e5m2


def layer(A, B, C, bias):
    whole = tiles.load_shared(A) @ tiles.load_shared(B) + tiles.load_shared(bias)
    tiles.store(C, tiles.compute(tiles.maximum(whole, 0)))


# dtype, sum, options, kernel, plan, threads, in the machine code.
COMPILED = {
    "float16": ("float16", "f2", {}, product.py_func, {}, 384, "UTCHMMA"),
    "float16, few tiles": ("float16", "f4", {}, product.py_func, {"unit": (128, 64)}, 256, "UTCHMMA"),
    "float16, 64 rows": ("float16", "f2", {}, product.py_func, {"unit": (64, 128)}, 256, "UTCHMMA"),
    "float16, 256 rows": ("float16", "f2", {}, product.py_func, {"unit": (256, 128)}, 384, "UTCHMMA"),
    "float16, pairs": ("float16", "f2", {}, product.py_func, {"stores": "pairs"}, 384, "UTCHMMA"),
    "float16 turned": ("float16", "f4", {}, turned, {}, 384, "UTCHMMA"),
    "bfloat16": (bfloat16, bfloat16, {}, by_columns, {}, 384, "UTCHMMA"),
    "TF32": ("float32", "f4", {"tf32": True}, by_columns, {}, 384, "UTCHMMA"),
    "int8": ("int8", "i4", {}, by_columns, {}, 384, "UTCIMMA"),
    "int8 turned": ("int8", "i4", {}, turned, {}, 384, "UTCIMMA"),
    "uint8": ("uint8", "i4", {}, by_rows, {"unit": (128, 128)}, 256, "UTCIMMA"),
    "e4m3": (e4m3, "f4", {}, product.py_func, {}, 384, "UTCQMMA"),
    "e5m2": (e5m2, "f4", {}, by_columns, {}, 384, "UTCQMMA"),
    "split": ("float16", "f4", {}, product.py_func, {"unit": (128, 128), "split": 2}, 256, "UTCHMMA"),
}


def made_of(given):
    return np.dtype(given() if callable(given) else given)


@pytest.mark.parametrize("name", COMPILED)
def test_products_compile_without_spills(name):
    """One warp fetches, one thread of another asks for products, and the others read the sums."""
    dtype, into, options, function, plan, threads, machine = COMPILED[name]
    A, C = np.ones((64, 64), made_of(dtype)), np.ones((64, 64), made_of(into))
    kernel = tiles.tile_kernel(function, tile_size=(16, 16), plan={"products": "tcgen05", **plan}, **options)
    made = compiles(kernel, (A, A, C), ("sm_100a",))
    assert made["local_bytes"] == 0
    assert made["block"] == (threads, 1, 1)
    text = made["text"]
    assert [
        text.count(f"xc_tile_tensor_{part}") for part in ("mma<", "take<", "take_memory<", "give_memory<")
    ] == [1] * 4
    assert ("setmaxnreg" in made["full_text"]) and ("xc_tile_more_registers<" in text) == (threads == 384)
    assert "xc_poll" not in text, "a warp that is stopped would leave the others waiting"
    if name == "float16":
        explained = str(kernel.explain(A, A, C, target="sm_100a"))
        assert "tcgen05.mma m128n64k16" in explained and "in tensor memory, two tiles" in explained
    code = machine_code(made)
    if code is not None:
        assert all(
            part in code for part in (machine, "LDTM.16dp256bit", "UTCBAR", "UTMALDG.2D", "UTCATOMSWS")
        )
        assert not any(part in code for part in ("LDGSTS", "HMMA.16816", "STL", "LDL"))


def plan_of(target, m, k, n, dtype="float16", **options):
    A, B, C = np.ones((m, k), dtype), np.ones((k, n), dtype), np.ones((m, n), "f4")
    kernel = tiles.tile_kernel(product.py_func, tile_size=(16, 16), **options)
    return kernel.explain(A, B, C, target=target).plan


def test_who_gets_them():
    """sm_100a by name; a device of capability 10.0, which is sm_100, where the plan says so; nobody else."""
    expect_nvrtc()
    large, few = (4096, 4096, 4096), (1024, 1024, 1024)
    plan = plan_of("sm_100a", *large)
    assert (plan["unit"], plan["threads"], plan["stages"]) == ([128, 256], 256, 4)
    assert plan["instructions"] == "tcgen05.mma m128n256k16, float16 from bulk tensor copies"
    plan = plan_of("sm_100a", *few)
    assert (plan["unit"], plan["threads"], plan["copies"]) == ([128, 64], 128, "bulk")
    assert plan_of("sm_100a", *few, "int8")["unit"] == [128, 128], "rows of 128 bytes"
    asked = {"plan": {"products": "tcgen05"}}
    assert "tcgen05" in plan_of("sm_100", *large, **asked)["instructions"]
    for target, options in (
        ("sm_100", {}),
        ("sm_90", asked),
        ("sm_80", asked),
        ("sm_103", asked),
        ("sm_120", asked),
        ("sm_100a", {"plan": {"products": "mma"}}),
        ("sm_100a", {"plan": {"copies": "threads"}}),
        ("sm_100a", {"plan": {"unit": (256, 256)}}),  # more sums than tensor memory has room for
    ):
        assert "mma.sync" in plan_of(target, *large, **options)["instructions"], (target, options)
    assert "mma.sync" in plan_of("sm_100a", 64, 64, 64)["instructions"], "of small arrays"
    assert "fma" in plan_of("sm_100a", *large, "float32")["instructions"]
    turned_tf32 = plan_of("sm_100a", *large, "float32", tf32=True)
    assert "mma.sync m16n8k8, TF32" in turned_tf32["instructions"], "B lies across the inner dimension"


def test_a_plain_sm_100_is_compiled_without_them():
    A = np.ones((64, 64), np.float16)
    made = compiles(product, (A, A, A), ("sm_100",))
    assert "tcgen05" not in made["full_text"] and "xc_tile_mma<" in made["text"]
    code = machine_code(made)
    assert code is None or ("HMMA.16816" in code and "UTC" not in code)


@on_fake("architecture=100")
def test_a_device_of_capability_10_has_them_by_a_plan():
    need_nvrtc()

    def multiplied(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))

    A, B, C = (cuda.zeros(s, "float16") for s in ((1000, 80), (80, 2048), (1000, 2048)))
    kernel = tiles.tile_kernel(
        multiplied, tile_size=(16, 16), plan={"products": "tcgen05", "unit": (128, 256)}
    )
    kernel(A, B, C)
    cuda.synchronize()
    assert [tuple(each) for each in driver.launches()[-1][1:3]] == [(8, 8, 1), (384, 1, 1)]
    assert driver.get("calls:cuTensorMapEncodeTiled") == 2
    tiles.tile_kernel(multiplied, tile_size=(16, 16))(A, B, C)
    cuda.synchronize()
    assert [tuple(each) for each in driver.launches()[-1][1:3]] == [(16, 8, 1), (256, 1, 1)]
    assert driver.get("calls:cuTensorMapEncodeTiled") == 2, "left open, they are by a warp's instructions"


def operands(dtype, m, k, n, function):
    low = 0 if made_of(dtype).kind == "u" else -4
    A, B = (RANDOM.integers(low, 5, s).astype(made_of(dtype)) for s in ((m, k), (k, n)))
    wanted = A.astype(int) @ B.astype(int)
    if function in (turned, by_rows):
        A = A.T.copy()
    if function in (turned, by_columns):
        B = B.T.copy()
    return A, B, wanted


# dtype, sum, options, kernel, plan, rows, depth and columns.
RUN = {
    "float16 128x128": ("float16", "f4", {}, product.py_func, {"unit": (128, 128)}, (136, 200, 144)),
    "float16 128x256": ("float16", "f2", {}, product.py_func, {"unit": (128, 256)}, (136, 64, 264)),
    "float16 256x128": ("float16", "f4", {}, turned, {"unit": (256, 128)}, (264, 136, 136)),
    "float16 256x64": ("float16", "f4", {}, by_columns, {"unit": (256, 64)}, (264, 72, 72)),
    "float16 64x64": ("float16", "f4", {}, turned, {"unit": (64, 64)}, (136, 264, 136)),
    "float16 64x256": ("float16", "f2", {}, by_rows, {"unit": (64, 256)}, (72, 136, 264)),
    "float16 one stage": (
        "float16",
        "f4",
        {},
        product.py_func,
        {"unit": (128, 64), "stages": 1},
        (128, 200, 200),
    ),
    "float16 deep": ("float16", "f4", {}, turned, {"unit": (128, 128), "depth": 128}, (136, 200, 136)),
    "bfloat16": (bfloat16, "f4", {}, by_rows, {"unit": (128, 64)}, (136, 136, 72)),
    "TF32": ("float32", "f4", {"tf32": True}, by_columns, {"unit": (128, 128)}, (132, 68, 132)),
    "TF32 64x128": ("float32", "f4", {"tf32": True}, by_columns, {"unit": (64, 128)}, (68, 36, 132)),
    "int8": ("int8", "i4", {}, by_columns, {"unit": (128, 256)}, (144, 272, 272)),
    "int8 turned": ("int8", "i4", {}, turned, {"unit": (128, 128)}, (144, 160, 144)),
    "int8 256 rows turned": ("int8", "i4", {}, turned, {"unit": (256, 128)}, (272, 160, 144)),
    "uint8 by rows": ("uint8", "i4", {}, by_rows, {"unit": (128, 128)}, (144, 144, 144)),
    "e4m3": (e4m3, "f4", {}, product.py_func, {"unit": (128, 128)}, (144, 144, 144)),
    "e5m2": (e5m2, "f4", {}, by_columns, {"unit": (64, 128)}, (80, 272, 144)),
    "no depth": ("float16", "f4", {}, product.py_func, {"unit": (128, 128)}, (136, 0, 136)),
    "one row": ("float16", "f4", {}, product.py_func, {"unit": (128, 64)}, (1, 8, 8)),
}


@pytest.mark.parametrize("name", one_of(2, RUN))
def test_their_text_gives_the_product(name):
    """Ragged at every edge, blocks with several tiles, what is asynchronous soon or as late as can be."""
    expect_nvrtc()
    dtype, into, options, function, plan, shape = RUN[name]
    A, B, wanted = operands(dtype, *shape, function)
    C = np.zeros(wanted.shape, into)
    kernel = tiles.tile_kernel(function, tile_size=(16, 16), plan={"products": "tcgen05", **plan}, **options)
    for _ in tensor_machine.launch(kernel, A, B, C):
        assert np.array_equal(C, wanted)
        C[...] = -99


def test_their_text_gives_epilogues_on_several_blocks():
    expect_nvrtc()
    A, B, wanted = operands("float16", 136, 72, 136, product.py_func)
    bias, C = RANDOM.integers(-9, 9, 136).astype("f"), np.zeros((136, 136), "f2")
    plan = {"products": "tcgen05", "unit": (128, 128)}
    for _ in tensor_machine.launch(
        tiles.tile_kernel(layer, tile_size=(16, 16), plan=plan), A, B, C, bias, grid=(2, 1)
    ):
        assert np.array_equal(C, np.maximum(wanted + bias, 0))
        C[...] = -99


# What is changed in the text, and what the machine says then; None: the product is wrong.
BROKEN = {
    "sums are read too soon": (r"xc_tile_pass\(sums \+ half, [^;]*;", "", None),
    "operands are read too soon": (r"xc_tile_pass\(gates \+ stage, n / STAGES & 1\);", "", None),
    "stages are fetched too soon": (
        r"xc_tile_pass\(gates \+ STAGES \+ stage, \(round & 1\) \^ 1\);",
        "",
        None,
    ),
    "sums are overwritten": (r"xc_tile_pass\(sums \+ 2 \+ half, [^;]*;", "", None),
    "loads are not waited for": (r'asm volatile\("tcgen05.wait::ld.sync.aligned;" ::: "memory"\);', "", None),
    "a stage is never free": (
        r"xc_tile_tensor_tell\(gates \+ STAGES \+ stage\);",
        "",
        "nothing is under way",
    ),
    "no sum is ever there": (r"xc_tile_tensor_tell\(sums \+ half\);", "", "nothing is under way"),
    "a sum is never read": (
        r"if \(\(\(int\)thread & 31\) == 0\)\s*asm",
        "if (false) asm",
        "nothing is under way",
    ),
    "memory is kept": (r"xc_tile_tensor_give_memory<256>\(&memory[^;]*;", "", "not given back"),
    "other lanes": (r"lanes = warp % 4 \* 32", "lanes = (warp ^ 1) % 4 * 32", "that another warp reads"),
    "another half": (r"half = \(u32\)tile & 1, warp", "half = ~(u32)tile & 1, warp", None),
    "no constant in a descriptor": (r"0x4000404000010000ull", "0x4000004000010000ull", "bits 46 to 48"),
    "eight rows at another distance": (r"0x4000404000010000ull", "0x4000402000010000ull", None),
    "lines at another distance": (r"0x4000404002000000ull", "0x4000404001000000ull", None),
    "too many columns": (r"0x4210010u", "0x4450010u", "that many columns|outside"),
    "the other operand lies across": (r"0x4210010u", "0x4208010u", None),
}


@pytest.mark.parametrize("name", one_of(3, BROKEN))
def test_the_machine_sees_what_is_wrong(name, monkeypatch):
    expect_nvrtc()
    pattern, by, said = BROKEN[name]
    A, B, wanted = operands("float16", 200, 136, 256, product.py_func)
    C = np.zeros(wanted.shape, "f4")
    plan = {"products": "tcgen05", "unit": (64, 128), "stages": 2}
    whole = tensor_machine.library

    def broken(full_text, entry, target):
        text, n = re.subn(pattern, by, full_text)
        assert n >= 1, "nothing was changed"
        return whole(text, entry, target)

    monkeypatch.setattr(tensor_machine, "library", broken)
    kernel = tiles.tile_kernel(product.py_func, tile_size=(16, 16), plan=plan)
    runs = tensor_machine.launch(kernel, A, B, C, seeds=(0, 1, 2))
    if said is not None:
        with pytest.raises(AssertionError, match=said):
            list(runs)
        return
    seen = False
    try:
        for _ in runs:
            seen |= not np.array_equal(C, wanted)
            C[...] = -99
    except AssertionError:
        seen = True
    assert seen

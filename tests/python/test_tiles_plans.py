"""What is asked of a kernel's plan, and how shared memory and matrix instructions lie: GPU plans, run on the CPU device."""

import numpy as np
import pytest
from tile_kernels import close, tile_kernel
from xcuda import core, tiles

RANDOM = np.random.default_rng(23)
on_the_cpu = pytest.mark.skipif(core.Device().kind != "cpu", reason="runs GPU plans on the CPU device")


def product(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))


def both_turned(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A).T @ tiles.load_shared(B).T))


PLANS = {
    "swizzled": ("sm_80", {"unit": (64, 64), "depth": 64, "threads": 128, "stages": 3}),
    "two lines": ("sm_80", {"unit": (32, 128), "depth": 128, "threads": 64, "stages": 2}),
    "one stage": ("sm_90", {"unit": (64, 128), "depth": 64, "threads": 256, "stages": 1}),
    "four warps": (
        "sm_90",
        {"unit": (64, 128), "depth": 64, "threads": 128, "products": "wgmma", "copies": "threads"},
    ),
    "eight warps": (
        "sm_90",
        {"unit": (128, 64), "depth": 128, "threads": 256, "products": "wgmma", "copies": "threads"},
    ),
    "bulk": ("sm_90", {"unit": (64, 64), "depth": 64, "threads": 128, "products": "wgmma", "copies": "bulk"}),
    "wide bulk": ("sm_90", {"products": "wgmma", "copies": "bulk"}),
    "the compiler's": ("sm_90", {"unit": (64, 128)}),
    "tensor memory": ("sm_100a", {"products": "tcgen05"}),
    "tensor memory, 64 rows": ("sm_100a", {"products": "tcgen05", "unit": (64, 64)}),
    "tensor memory, 128 rows": ("sm_100a", {"products": "tcgen05", "unit": (128, 64)}),
    "tensor memory, 256 rows": ("sm_100", {"products": "tcgen05", "unit": (256, 64)}),
    "no matrix": ("sm_80", {"unit": (32, 64), "depth": 16, "threads": 64, "products": "fma"}),
    "no loop": (
        "sm_80",
        {"unit": (32, 64), "depth": 16, "threads": 64, "products": "fma", "steps": "unrolled", "blocks": 2},
    ),
}


@on_the_cpu
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("kernel", [product, both_turned])
def test_every_plan_gives_the_product(plan, kernel):
    target, asked = PLANS[plan]
    A, B = (RANDOM.integers(-4, 5, s).astype(np.float16) for s in ((72, 152), (152, 136)))
    C = np.zeros((72, 136), "f")
    made = tile_kernel(kernel, tile_size=(16, 16), plan=target, asked=asked)
    args = (A, B) if kernel is product else (A.T.copy(), B.T.copy())
    made(*args, C)
    assert np.array_equal(C, A.astype(int) @ B.astype(int))
    text = made.inspect_source()
    by_default = "products" not in asked and target == "sm_90" and asked.get("threads", 128) == 128
    flows = asked.get("copies") == "bulk" or by_default
    tensors = asked.get("products") == "tcgen05"
    assert ("xc_tile_tensor_now<" in text) == tensors
    assert ("xc_tile_flow_take<" in text) == flows
    assert ("xc_tile_wgmma<" in text) == (asked.get("products") == "wgmma" and not flows)
    assert ("xc_tile_mma<" in text) == (asked.get("products") is None and not by_default)


@on_the_cpu
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "float64", "float32"])
def test_matrix_instructions_of_other_types(dtype, turned):
    asked = {"unit": (64, 64), "depth": {"float64": 16, "float32": 32}.get(dtype, 128), "threads": 128}
    into = {"int8": "i4", "uint8": "i4", "float64": "f8", "float32": "f4"}[dtype]
    A, B = (RANDOM.integers(0, 9, s).astype(dtype) for s in ((70, 150), (150, 66)))
    C = np.zeros((70, 66), into)
    asked |= {"tf32": True} if dtype == "float32" else {}
    made = tile_kernel(both_turned if turned else product, tile_size=(16, 16), plan="sm_80", asked=asked)
    made(*((A.T.copy(), B.T.copy()) if turned else (A, B)), C)
    assert np.array_equal(C, A.astype(int) @ B.astype(int))
    assert "xc_tile_mma<" in made.inspect_source()


BULK = {"unit": (64, 64), "threads": 128, "products": "wgmma", "copies": "bulk"}


def by_columns(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B).T))


@on_the_cpu
@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32"])
def test_bulk_copies_of_other_types(dtype):
    """Their instructions read both operands along the inner dimension."""
    asked = BULK | {"depth": 32 if dtype == "float32" else 128, "tf32": dtype == "float32"}
    A, B = (RANDOM.integers(0, 9, s).astype(dtype) for s in ((70, 144), (66, 144)))
    for kernel, second in ((by_columns, B), (product, B.T.copy())):
        C = np.zeros((70, 66), "f4" if dtype == "float32" else "i4")
        made = tile_kernel(kernel, tile_size=(16, 16), plan="sm_90", asked=asked)
        made(A, second, C)
        assert np.array_equal(C, A.astype(int) @ B.astype(int).T)
        assert ("xc_tile_flow_take<" in made.inspect_source()) == (kernel is by_columns)


@on_the_cpu
def test_bulk_copies_with_an_epilogue_that_reads_others_elements():
    def layer(A, B, bias, C):
        whole = tiles.load_shared(A) @ tiles.load_shared(B) + tiles.load_shared(bias)
        tiles.store(C, tiles.compute(tiles.maximum(whole, 0)))

    A, B = (RANDOM.integers(-4, 5, s).astype(np.float16) for s in ((72, 152), (152, 136)))
    bias, C = RANDOM.integers(-9, 9, 136).astype("f"), np.zeros((72, 136), np.float16)
    made = tile_kernel(layer, tile_size=(16, 16), plan="sm_90", asked=BULK | {"depth": 64})
    made(A, B, bias, C)
    assert np.array_equal(C, np.maximum(A.astype(int) @ B.astype(int) + bias, 0))
    assert "xc_tile_flow_take<" in made.inspect_source()
    with pytest.raises(ValueError, match="the first has another number of columns than the second has rows"):
        made(A, A, bias, C)
    made(A, B, bias, C)


@on_the_cpu
@pytest.mark.parametrize("inner", [0, 8, 7, 64, 200])
def test_bulk_copies_of_any_depth_and_where_rows_lie_askew(inner):
    """Rows of 7 halves don't start at multiples of 16 bytes: threads copy them."""
    A, B = (RANDOM.integers(-4, 5, s).astype(np.float16) for s in ((70, inner), (inner, 136)))
    C = np.full((70, 136), 7, "f")
    made = tile_kernel(product, tile_size=(16, 16), plan="sm_90", asked=BULK | {"depth": 64})
    made(A, B, C)
    assert np.array_equal(C, A.astype(int) @ B.astype(int))
    if inner:
        assert ("xc_tile_flow_take<" in made.inspect_source()) == (inner % 8 == 0)


@on_the_cpu
def test_a_kernel_that_bulk_copies_do_not_fit_goes_without():
    """What is written is also read; what is multiplied is computed first; arrays with gaps."""

    def squared(A, B, C):
        a = tiles.load_shared(A)
        tiles.store(C, tiles.compute((a * a) @ tiles.load_shared(B)))

    A, B = (RANDOM.integers(-4, 5, s).astype(np.float16) for s in ((72, 72), (72, 72)))
    wide = np.zeros((72, 144), np.float16)
    wide[:, ::2] = B
    for kernel, second, wanted in (
        (squared, B, (A.astype(int) ** 2) @ B.astype(int)),
        (product, wide[:, ::2], A.astype(int) @ B.astype(int)),
    ):
        C = np.zeros((72, 72), "f")
        made = tile_kernel(kernel, tile_size=(16, 16), plan="sm_90", asked=BULK | {"depth": 64})
        made(A, second, C)
        assert np.array_equal(C, wanted)
        assert "xc_tile_flow_take<" not in made.inspect_source()


@on_the_cpu
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("unit", "threads"),
    [((128, 128), 256), ((64, 64), 128), ((64, 128), 128), ((16, 128), 32), ((128, 16), 64)],
)
def test_threads_multiply_in_warps_of_four_by_eight_where_they_can(unit, threads, dtype):
    A, B = (RANDOM.integers(-4, 5, s).astype(dtype) for s in ((135, 40), (40, 140)))
    C = np.zeros((135, 140), dtype)
    asked = {"unit": unit, "depth": 16, "threads": threads, "products": "fma"}
    tile_kernel(product, tile_size=(16, 16), plan="sm_80", asked=asked)(A, B, C)
    assert np.array_equal(C, A @ B)


@on_the_cpu
def test_where_tiles_are_few_those_of_float32_are_small():
    """Every multiprocessor is to have one: matrix instructions, which float32 has none of, make up for it elsewhere."""
    A, B, C = np.zeros((1024, 1024), "f"), np.zeros((1024, 48), "f"), np.zeros((1024, 48), "f")
    plans = {}
    for dtype in ("float32", "float16"):
        made = tile_kernel(product, tile_size=(16, 16), plan="sm_90")
        plans[dtype] = made.explain(A.astype(dtype), B.astype(dtype), C).plan
    assert (plans["float32"]["unit"], plans["float32"]["threads"]) == ([64, 64], 128)
    assert plans["float16"]["unit"] == [64, 128]


@on_the_cpu
@pytest.mark.parametrize(
    ("shape", "target", "unit", "depth"),
    [
        ((4096, 64, 4096), "sm_90", [128, 128], 8),
        ((4096, 64, 4096), "sm_80", [128, 128], 32),
        ((1024, 8192, 1024), "sm_90", [64, 64], 32),
        ((300, 300, 300), "sm_90", [64, 64], 32),
    ],
    ids=str,
)
def test_tiles_of_float32_are_as_measured(shape, target, unit, depth):
    m, k, n = shape
    args = [np.empty(s, "f") for s in ((m, k), (k, n), (m, n))]
    plan = tile_kernel(product, tile_size=(16, 16), plan=target).explain(*args).plan
    assert (plan["unit"], plan["depth"]) == (unit, depth)


@on_the_cpu
def test_one_shape_for_two_types_of_product():
    """float32 must not go through the instructions of the float16 product that has its shape."""

    @tile_kernel(plan="sm_80")
    def two(A, B, X, Y, C):
        a, b = tiles.load(A, (0, 0), (32, 32)), tiles.load(B, (0, 0), (32, 32))
        x, y = tiles.load(X, (0, 0), (32, 32)), tiles.load(Y, (0, 0), (32, 32))
        tiles.store(C, (0, 0), a @ b + x @ y)

    A, B = (RANDOM.integers(-4, 5, (32, 32)).astype(np.float16) for _ in range(2))
    X, Y = (RANDOM.standard_normal((32, 32)).astype("f") for _ in range(2))
    C = np.zeros((32, 32), "f")
    two[1, 1](A, B, X, Y, C)
    close(C, A.astype("d") @ B + X.astype("d") @ Y, 1e-6)
    assert two.inspect_source().count("xc_tile_mma<") == 1


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ({"threads": 100}, r"threads of 100; give a power of two up to 1024"),
        ({"threads": 16}, r"fewer than 32 threads; give 32, 64"),
        ({"unit": (3, 4)}, r"a unit with a length of 3; give a power of two"),
        ({"unit": 64}, r"a unit of 64; give 1 to 3 lengths, as \(128, 128\)"),
        ({"stages": 0}, r"stages of 0; give 1 to 8"),
        ({"products": "hmma"}, r'products by "hmma"; give "fma", "mma", "wgmma" or "tcgen05"'),
        ({"depth": 2048}, r"a depth of 2048; give a power of two up to 1024"),
        (
            {"warps": 4},
            r"'warps'; there are unit, depth, threads, stages, blocks, split, products, copies, waits, stores, steps and tf32",
        ),
        ({"waits": "never"}, r'waits that are "never"; give "early" or "late"'),
        ({"stores": 4}, r'stores by 4; give "pairs" or "lines"'),
        ({"steps": "all"}, r'steps that are "all"; give "looped" or "unrolled"'),
        ({"split": 3}, "a split of 3; give a power of two up to 8"),
        ({"blocks": 9}, r"blocks of 9; give 1 to 8"),
        ({"copies": "tma"}, r'copies by "tma"; give "threads" or "bulk"'),
    ],
)
def test_plans_that_there_are_not(plan, sentence):
    with pytest.raises(ValueError, match=sentence):
        tiles.tile_kernel(product, tile_size=(16, 16), plan=plan)

"""Products in a chain, the second of which takes what the first gave from registers: GPU plans, run on the CPU device."""

import re

import numpy as np
import pytest
from test_tiles_cuda import machine_code
from tile_kernels import close, compiles, tile_kernel
from xcuda import core, tiles

RANDOM = np.random.default_rng(31)
on_the_cpu = pytest.mark.skipif(core.Device().kind != "cpu", reason="runs GPU plans on the CPU device")


def attention(
    Q,
    K,
    V,
    out,
    scale,
    d: tiles.Constant[int],
    tm: tiles.Constant[int],
    tn: tiles.Constant[int],
    causal: tiles.Constant[bool],
):
    i, h = tiles.bid(0), tiles.bid(1)
    q = tiles.load(Q, (h, i, 0), (1, tm, d)).reshape((tm, d))
    rows = i * tm + tiles.arange(tm)[:, None]
    top = tiles.full((tm, 1), -np.inf, tiles.float32)
    total = tiles.zeros((tm, 1), tiles.float32)
    acc = tiles.zeros((tm, d), tiles.float32)
    stop = tiles.num_tiles(K, 1, (1, tn, d))
    if causal:
        stop = min(stop, tiles.cdiv((i + 1) * tm, tn))
    for j in range(stop):
        k = tiles.load(K, (h, j, 0), (1, tn, d)).reshape((tn, d))
        v = tiles.load(V, (h, j, 0), (1, tn, d)).reshape((tn, d))
        columns = j * tn + tiles.arange(tn)[None, :]
        seen = (columns < K.shape[1]) & ((columns <= rows) if causal else (columns >= 0))
        s = tiles.where(tiles.broadcast_to(seen, (tm, tn)), (q @ k.T) * scale, -np.inf)
        now = tiles.maximum(top, tiles.max(s, axis=1, keepdims=True))
        p, less = tiles.exp(s - now), tiles.exp(top - now)
        total = total * less + tiles.sum(p, axis=1, keepdims=True)
        acc = tiles.mma(p.astype(V.dtype), v, acc * less)
        top = now
    tiles.store(out, (h, i, 0), (acc / total).reshape((1, tm, d)).astype(out.dtype))


def attended(Q, K, V, causal):
    Q, K, V = (x.astype("d") for x in (Q, K, V))
    s = np.einsum("hid,hjd->hij", Q, K) * Q.shape[2] ** -0.5
    if causal:
        s = np.where(np.tri(*s.shape[1:], dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(2, keepdims=True))
    return np.einsum("hij,hjd->hid", p / p.sum(2, keepdims=True), V)


def bfloat16():
    return pytest.importorskip("ml_dtypes").bfloat16


# target, type, (tm, tn, head size), what is asked of the plan, the instructions of the second product.
CHAINS = {
    "four warps": ("sm_90", "f2", (64, 64, 64), {}, "wgmma m64n64k16, float16 from registers"),
    "eight warps": ("sm_90", "f2", (128, 64, 128), {}, "wgmma m64n128k16, float16 from registers"),
    "as many columns as rows": ("sm_90", bfloat16, (64, 64, 128), {}, "bfloat16 from registers"),
    "narrow heads": ("sm_90", "f2", (64, 64, 32), {}, "mma.sync m16n8k16, float16 from registers"),
    "few keys": ("sm_90", "f2", (64, 16, 64), {}, "wgmma m64n64k16, float16 from registers"),
    "a warp's": ("sm_80", "f2", (32, 16, 64), {}, "mma.sync m16n8k16, float16 from registers"),
    "a warp's, asked for": (
        "sm_90",
        "f2",
        (64, 32, 64),
        {"products": "mma", "stages": 2},
        "mma.sync m16n8k16, float16 from registers",
    ),
    "one stage": ("sm_90", "f2", (64, 64, 64), {"stages": 1}, "wgmma m64n64k16, float16 from registers"),
    "threads asked for": ("sm_90", "f2", (64, 64, 64), {"threads": 64}, None),
    "float32": ("sm_90", "f4", (64, 32, 32), {}, None),
}


@on_the_cpu
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", CHAINS)
def test_attention_by_every_chain(name, causal):
    target, dtype, (tm, tn, d), asked, _ = CHAINS[name]
    dtype = np.dtype(dtype() if callable(dtype) else dtype)
    Q, K, V = (RANDOM.standard_normal((2, 150, d)).astype(dtype) for _ in range(3))
    out = np.zeros((2, 150, d), "f")
    kernel = tile_kernel(attention, plan=target, asked=asked)
    tiles.launch(None, (-(-150 // tm), 2), kernel, (Q, K, V, out, d**-0.5, d, tm, tn, causal))
    close(out, attended(Q, K, V, causal), 2e-2 if dtype.itemsize == 2 else 1e-5)


@pytest.mark.parametrize("name", CHAINS)
def test_chains_by_their_instructions(name):
    target, dtype, (tm, tn, d), asked, instructions = CHAINS[name]
    Q = np.ones((2, 256, d), dtype() if callable(dtype) else dtype)
    kernel = tiles.tile_kernel(attention, plan=asked)
    args = (Q, Q, Q, np.ones((2, 256, d), "f"), 1.0, d, tm, tn, True)
    made = compiles(kernel, args, (target,))
    plan = str(kernel.explain(*args, target=target))
    assert ("from registers" in plan) == (instructions is not None)
    if instructions is None:
        return
    assert instructions in plan and made["local_bytes"] == 0
    loop = made["text"][made["text"].index("xc_tile_wait<" if asked.get("stages") != 1 else "while (") :]
    loop = loop[: loop.index("_held<")]
    if asked.get("stages") != 1:
        turns = 2 if "beside the next turn" in plan else 1  # the first turn is written apart
        assert loop.count("__syncthreads") == turns, "rows are folded by shuffles, p goes through no memory"
    code = machine_code(made)
    assert code is None or ("HGMMA" in code) == ("wgmma" in plan)


# (tm, tn, head size), what is asked, threads of a block. Copies and turns that no GPU has run yet.
ENGINE = {
    "two groups": ((128, 128, 128), {}, 384),
    "two groups, late": ((128, 128, 128), {"waits": "late"}, 384),
    "two groups of narrow tiles": ((128, 64, 64), {"waits": "late", "stages": 2}, 384),
    "one group": ((64, 64, 128), {"waits": "late"}, 256),
    "four groups": ((256, 64, 64), {"stages": 2}, 640),
}


@on_the_cpu
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", ENGINE)
def test_attention_from_the_copy_engine(name, causal):
    (tm, tn, d), asked, _ = ENGINE[name]
    n = 3 * tn + 38  # four turns and more: stages are used again
    Q, K, V = (RANDOM.standard_normal((2, n, d)).astype("f2") for _ in range(3))
    out = np.zeros((2, n, d), "f")
    kernel = tile_kernel(attention, plan="sm_90", asked={"copies": "bulk", **asked})
    tiles.launch(None, (-(-n // tm), 2), kernel, (Q, K, V, out, d**-0.5, d, tm, tn, causal))
    close(out, attended(Q, K, V, causal), 2e-2)
    assert kernel.inspect_source().count("xc_tile_flow_now<") == 4, (
        "two operands, in the first turn and in later ones"
    )


@pytest.mark.parametrize("name", ENGINE)
def test_groups_of_warps_take_turns(name):
    """Products are begun in turn, what lies between is beside the other group's, and nothing is spilled or waited for early."""
    (tm, tn, d), asked, threads = ENGINE[name]
    Q = np.ones((2, 512, d), "f2")
    kernel = tiles.tile_kernel(attention, plan={"copies": "bulk", **asked})
    made = compiles(kernel, (Q, Q, Q, np.ones((2, 512, d), "f"), 1.0, d, tm, tn, True), ("sm_90",))
    assert made["local_bytes"] == 0 and made["block"] == (threads, 1, 1)
    text = made["text"]
    assert text.count("__syncthreads") == 1, "where the gates are made"
    assert "xc_tile_async<" not in text and "xc_poll" not in text
    assert ("xc_tile_turn_take<" in text) == (threads > 256)
    given = [int(n) for n in re.findall(r"(?:fewer|more)_registers<(\d+)>", text)]
    if threads > 256:  # more than the block was launched with would be waited for without end
        assert 128 * min(given) + (threads - 128) * max(given) <= made["registers"] * threads <= 65536
    else:
        assert not given
    code = machine_code(made)
    if code is None:
        return
    assert "UTMALDG.3D" in code and "LDGSTS" not in code
    begun, waits = code.count("HGMMA"), code.count("WARPGROUP.DEPBAR")
    assert waits <= 5 < begun, "products are under way together, none is waited for by itself"
    if asked.get("waits") == "late":
        turn = code[: code.rindex("WARPGROUP.DEPBAR")]
        turn = turn[turn.rindex("WARPGROUP.DEPBAR.LE gsb0, 0x1") :]
        assert turn.count("MUFU.EX2") >= tn // 2 and "WARPGROUP.DEPBAR.LE gsb0, 0x0" in turn
        assert turn.index("MUFU.EX2") < turn.index("WARPGROUP.DEPBAR.LE gsb0, 0x0")


# (tm, tn, head size), causal, what is asked, whether the copy engine brings the operands: where an H200 was faster by it.
CHOICES = {
    "a head of 128": ((128, 128, 128), False, {}, True),
    "a head of 64": ((128, 128, 64), False, {}, True),
    "causal": ((128, 128, 128), True, {}, True),
    "causal, a head of 64": ((128, 128, 64), True, {}, True),
    "by threads, as asked": ((128, 128, 128), False, {"copies": "threads"}, False),
    "narrow tiles": ((128, 64, 128), False, {}, False),
    "narrow tiles and heads": ((128, 64, 64), False, {}, False),
    "one group": ((64, 128, 128), False, {}, False),
}


@pytest.mark.parametrize("name", CHOICES)
def test_copies_are_chosen_as_measured(name):
    (tm, tn, d), causal, asked, engine = CHOICES[name]
    Q = np.ones((2, 512, d), "f2")
    kernel = tiles.tile_kernel(attention, plan=asked)
    args = (Q, Q, Q, np.ones((2, 512, d), "f"), 1.0, d, tm, tn, causal)
    made = compiles(kernel, args, ("sm_90",))
    assert ("xc_tile_chain_give<" in made["text"]) == engine and made["local_bytes"] == 0
    assert "xc_tile_settle_after<" not in made["text"], "late waits are slower by the engine: asked for"
    assert "xc_tile_chain_give<" not in compiles(kernel, args, ("sm_80",))["text"]


def test_blocks_of_many_threads_have_registers_for_all():
    """A scale of float64 makes tiles of it, and blocks of 512 threads, of which each has 128 registers at most."""
    d, tm, tn = 128, 128, 128
    Q = np.ones((2, 512, d), "f2")
    args = (Q, Q, Q, np.ones((2, 512, d), "f"), np.float64(1), d, tm, tn, False)
    made = compiles(tiles.tile_kernel(attention), args, ("sm_80", "sm_90"))
    assert made["block"][0] == 512 and made["registers"] * made["block"][0] <= 65536


def chain(A, B, C, out, most, least: tiles.Constant[bool]):
    """Two products; numbers a row as rows, as vectors, turned, folded whole."""
    a, b, c = (
        tiles.load(A, (0, 0), (64, 64)),
        tiles.load(B, (0, 0), (64, 64)),
        tiles.load(C, (0, 0), (64, 64)),
    )
    s = a @ b
    row = tiles.sum(s, axis=1)
    s = s - row[:, None] / 64 + tiles.transpose(row[:, None])
    s = s * tiles.sum(row) if least else s + tiles.max(row)
    t = tiles.mma(s.astype(A.dtype), c, tiles.zeros((64, 64), tiles.float32))
    tiles.store(most, (0,), tiles.max(t, axis=0) + row)
    tiles.store(out, (0, 0), t + tiles.cumsum(row)[:, None])


@on_the_cpu
@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_numbers_a_row_are_seen_from_everywhere(target, least):
    A, B, C = (RANDOM.integers(-1, 2, (64, 64)).astype("f2") for _ in range(3))
    A[8:] = 0
    A[:, 8:] = 0
    out, most = np.zeros((64, 64), "f"), np.zeros(64, "f")
    tiles.launch(None, 1, tile_kernel(chain, plan=target), (A, B, C, out, most, least))
    s = A.astype("d") @ B
    row = s.sum(1)
    s = s - row[:, None] / 64 + row[None, :]
    s = s * row.sum() if least else s + row.max()
    t = s.astype("f2").astype("d") @ C
    close(most, t.max(0) + row, 1e-5)
    close(out, t + np.cumsum(row)[:, None], 1e-5)


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_halves_widen_to_float64(target):
    def scaled(A, B, C, by):
        s = tiles.load(A, (0, 0), (32, 32)) @ tiles.load(B, (0, 0), (32, 32))
        tiles.store(C, (0, 0), tiles.exp2(s * by - tiles.max(s, axis=1, keepdims=True) * by))

    A = RANDOM.standard_normal((32, 32)).astype("f2")
    C = np.zeros((32, 32))
    args = (A, A, C, np.float64(0.5))
    made = compiles(tiles.tile_kernel(scaled), args, (target,))
    assert made["text"]
    tiles.launch(None, (1,), tiles.tile_kernel(scaled), args)
    s = (A.astype("f4") @ A.astype("f4")).astype("f2").astype("f8")
    close(C, np.exp2(s * 0.5 - s.max(1, keepdims=True) * 0.5), 2e-2)

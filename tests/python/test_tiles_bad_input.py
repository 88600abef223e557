"""What is wrong with a call of a tile kernel, or can't fit: a sentence with the limit, or another plan; nothing is spoilt."""

import numpy as np
import pytest
from tile_kernels import compiles, plans, tile_kernel
from xcuda import tiles

both_plans = pytest.mark.parametrize("plan", plans())


@both_plans
def test_what_lies_outside_is_left(plan):
    """Tiles before the beginning and past the end: loads give padding, stores and atomics do nothing."""

    @tile_kernel(plan=plan)
    def reached(A, out, where, n):
        i = tiles.gather(where, tiles.bid(0))
        t = tiles.load(A, (i, n), (4, 4), padding=-1)
        tiles.store(out, (tiles.bid(0), 0), t)
        tiles.store(A, (i, n), t + 100)
        tiles.scatter(A, (i * 4 + tiles.arange(4)[:, None], n * 4 + tiles.arange(4)[None, :]), t + 200)
        tiles.atomic_add(A, (i * 4 + tiles.arange(4)[:, None], n * 4 + tiles.arange(4)[None, :]), 1)

    whole = np.zeros((30, 30))
    A = whole[10:20, 10:20]  # what is around would be seen
    for where, n in (
        ([-1, 3, 10**12, -(10**12), 2**60], 0),
        ([0, 1, 2, -1, 3], -1),
        ([0, 1, 2, -1, 3], 10**15),
    ):
        whole[:] = 5
        out = np.zeros((20, 4))
        tiles.launch(None, 5, reached, (A, out, np.array(where), n))
        assert (out == -1).all()
        assert (whole == 5).all()
    whole[:] = 5
    tiles.launch(None, 1, reached, (A, np.zeros((4, 4)), np.array([2]), 2))
    inside = np.full((30, 30), 5.0)
    inside[18:20, 18:20] = 206
    assert np.array_equal(whole, inside)


LARGE = {  # extents of the tile, dtype, target: the sentence, or none where it fits
    "products": (
        (512, 512),
        "f8",
        "sm_80",
        r"large: its tiles take \d+ bytes of shared memory; sm_80 has 166912",
    ),
    "of a smaller GPU": (
        (256, 128),
        "f4",
        "sm_86",
        r"\d+ bytes of shared memory; sm_86 has 101376.*tiles of \(128, 256\) where there are \(256, 256\)",
    ),
    "that fit": ((128, 128), "f4", "sm_90", None),
}


@pytest.mark.parametrize("name", LARGE)
def test_tiles_too_large_for_a_block(name):
    extents, dtype, target, sentence = LARGE[name]

    @tiles.tile_kernel
    def large(A, C, m: tiles.Constant[int], n: tiles.Constant[int]):
        a = tiles.load(A, (0, 0), (m, n))
        tiles.store(C, (0, 0), a @ a.T)

    A = np.ones((512, 512), dtype)
    if sentence is None:
        compiles(large, (A, A, *extents), (target,))
        return
    compiles(large, (A, A, 16, 16), (target,))
    with pytest.raises(ValueError, match=sentence):
        large.compile((A, A, *extents), target=target)


def test_a_plan_that_does_not_fit_gives_way_to_a_smaller_one():
    @tiles.tile_kernel(tile_size=(16, 16), plan={"unit": (64, 64), "depth": 128, "stages": 8})
    def product(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))

    A = np.ones((64, 64), np.float16)
    compiles(product, (A, A, np.ones((64, 64), "f")), ("sm_86",))
    plan = product.explain(A, A, np.ones((64, 64), "f"), target="sm_86").plan
    assert plan["shared_bytes"] <= 101376 and plan["stages"] < 8


@pytest.mark.parametrize("extents", [(1, 32768), (128, 256)], ids=str)
def test_large_tiles_get_the_threads_that_hold_them(extents):
    @tiles.tile_kernel
    def doubled(A, C, m: tiles.Constant[int], n: tiles.Constant[int]):
        a = tiles.load(A, (tiles.bid(0), 0), (m, n))
        tiles.store(C, (tiles.bid(0), 0), a * 2 - tiles.sum(a, axis=1, keepdims=True))

    A = np.ones((256, 65536), "f")
    made = compiles(doubled, (A, A, *extents), ("sm_90",))
    assert made["local_bytes"] == 0
    assert made["block"][0] == 1024


BODIES = {
    # A: float64 (8, 8), b: int32 (8,), n: an int of run time
    "t = tiles.zeros((n, 16))": r"known when the kernel is compiled.*n: tiles.Constant\[int\]",
    "t = tiles.load(A, (0, 0), (A.shape[0], 8))": r"known when the kernel is compiled.*tiles.Constant\[int\]",
    "t = tiles.arange(n)": r"known when the kernel is compiled",
    "t = tiles.zeros((12, 16))": r"a tile's lengths are powers of two, found 12; write 16",
    "t = tiles.load(A, (0, 0), (0, 8))": r"powers of two, found 0",
    "t = tiles.load(A, (0,), (8, 8))": r"one index an axis: found 1 for an array of 2",
    "t = tiles.load(A, (0, 0), (8,))": r"axes|lengths",
    "tiles.store(A, (0, 0), tiles.ones(8))": r"axes|shape",
    "tiles.store(A, (0, 0, 0), tiles.ones((8, 8, 8)))": r"axes|indices|index",
    "tiles.store(b, (0,), tiles.ones(8, np.float64) * 0.5)": r"would lose|float64",
    "t = tiles.mma(tiles.ones((8, 4)), tiles.ones((8, 4)), tiles.zeros((8, 4)))": r"can't be multiplied: inner",
    "t = tiles.ones((8, 4)) + tiles.ones((4, 4))": r"shapes \(8, 4\) and \(4, 4\) don't go together",
    "t = tiles.load(b, (0,), (8,))[tiles.load(b, (0,), (8,)) > 0]": r"subscript|index|where|tile",
    "t = tiles.sum(tiles.ones((4, 4)), axis=2)": r"axis 2 of a tile of 2 axes",
    "t = tiles.ones((4, 4)).reshape((n, 4))": r"known when the kernel is compiled",
    "t = tiles.scan(tiles.ones(8), n, lambda x, y: x, 0)": r"an axis is a constant",
}


@pytest.mark.parametrize("body", BODIES)
def test_a_sentence_with_the_line(body):
    import linecache

    text = f"def program(A, b, n):\n    {body}\n"
    file = f"<bad {abs(hash(body))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"tiles": tiles, "np": np}
    exec(compile(text, file, "exec"), space)
    A, b = np.ones((8, 8)), np.ones(8, np.int32)
    with pytest.raises(SyntaxError, match=BODIES[body]) as error:
        tiles.tile_kernel(space["program"])[1, 1](A, b, 8)
    assert error.value.lineno == 2 and body[:10] in error.value.text
    assert A.all() and b.all()


def test_grids_that_are_none():
    @tiles.tile_kernel
    def copied(A, C):
        tiles.store(C, (tiles.bid(0),), tiles.load(A, (tiles.bid(0),), (4,)))

    A, C = np.arange(8.0), np.zeros(8)
    for grid, sentence in (((1, 1, 1, 1), "grid"), (-1, "grid|negative"), ("one", "grid"), (1.5, "grid")):
        with pytest.raises((TypeError, ValueError), match=sentence):
            tiles.launch(None, grid, copied, (A, C))
    with pytest.raises(TypeError, match="without 'C'"):
        tiles.launch(None, 2, copied, (A,))
    with pytest.raises(TypeError, match="arguments as a tuple"):
        tiles.launch(None, 2, copied, A)
    tiles.launch(None, 0, copied, (A, C))
    assert not C.any()
    tiles.launch(None, 2, copied, (A, C))
    assert np.array_equal(A, C)

"""Warp operations, barriers with a value, fences: against a plain model of 32 lanes, and wrong masks told, not hung."""

import numpy as np
import pytest
from xcuda import core as cuda

FULL = 0xFFFFFFFF
ON_CPU = cuda.Device().kind == "cpu"
TYPES = [np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]


def values(n, dtype, seed=3):
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, n, dtype)
    return (rng.random(n) * 2**33).astype(dtype)


@cuda.kernel
def shuffles(idx, up, down, xor, x, k):
    i = cuda.grid(1)
    v = x[i]
    idx[i] = cuda.shfl_sync(0xFFFFFFFF, v, k)
    up[i] = cuda.shfl_up_sync(FULL, v, k)
    down[i] = cuda.shfl_down_sync(FULL, v, k)
    xor[i] = cuda.shfl_xor_sync(FULL, v, k)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("k", [0, 1, 5, 31])
def test_shuffles(dtype, k):
    n = 96
    x = values(n, dtype)
    out = [np.zeros(n, dtype) for _ in range(4)]
    shuffles[1, n](*out, x, k)
    for i in range(n):
        warp, lane = i // 32 * 32, i % 32
        assert out[0][i] == x[warp + k]
        assert out[1][i] == x[warp + lane - k if lane >= k else i]
        assert out[2][i] == x[warp + lane + k if lane + k < 32 else i]
        assert out[3][i] == x[warp + (lane ^ k)]


@cuda.kernel
def rotate(out, x):
    i = cuda.grid(1)
    out[i] = cuda.shfl_sync(FULL, x[i], (cuda.laneid + 1) % cuda.warpsize)


def test_lane_of_its_own_for_each_thread():
    x = values(64, np.float32)
    out = np.zeros_like(x)
    rotate[2, 32](out, x)
    np.testing.assert_array_equal(out.reshape(2, 32), np.roll(x.reshape(2, 32), -1, 1))


@cuda.kernel
def intrinsic(out, within, x, clamp):
    i = cuda.grid(1)
    out[i], within[i] = cuda.shfl_sync_intrinsic(FULL, 2, x[i], 3, clamp)


@pytest.mark.parametrize("width", [4, 8, 16, 32])
def test_segments(width):
    x = values(32, np.int32)
    out, within = np.zeros_like(x), np.zeros(32, bool)
    intrinsic[1, 32](out, within, x, (32 - width) << 8 | 31)
    for i in range(32):
        inside = i % width + 3 < width
        assert within[i] == inside
        assert out[i] == x[i + 3 if inside else i]


def reduce_warp(v):
    """A helper that meets in its loop."""
    step = 16
    while step > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
        step //= 2
    return v


@cuda.kernel
def warp_sums(out, x):
    i = cuda.grid(1)
    total = reduce_warp(x[i])
    if cuda.laneid == 0:
        out[i // 32] = total


def test_reduction_in_a_helper():
    x = np.arange(256, dtype=np.float64)
    out = np.zeros(8)
    warp_sums[2, 128](out, x)
    np.testing.assert_array_equal(out, x.reshape(8, 32).sum(1))


@cuda.kernel
def block_sum(out, x):
    part = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    v = reduce_warp(x[cuda.grid(1)])
    if cuda.laneid == 0:
        part[t // 32] = v
    cuda.syncthreads()
    if t < 32:
        v = part[t] if t < cuda.blockDim.x // 32 else 0.0
        v = reduce_warp(v)
        if t == 0:
            out[cuda.blockIdx.x] = v


def test_reduction_of_a_block():
    x = np.arange(512, dtype=np.float64)
    out = np.zeros(2)
    block_sum[2, 256](out, x)
    np.testing.assert_array_equal(out, x.reshape(2, 256).sum(1))


@cuda.kernel
def votes(everyone, someone, equal, ballot, x, limit):
    i = cuda.grid(1)
    p = x[i] < limit
    everyone[i] = cuda.all_sync(FULL, p)
    someone[i] = cuda.any_sync(FULL, p)
    equal[i] = cuda.eq_sync(FULL, p)
    ballot[i] = cuda.ballot_sync(FULL, p)


@pytest.mark.parametrize("limit", [0, 1, 17, 32, 40, 64, 70])
def test_votes(limit):
    n = 64
    x = np.arange(n)
    everyone, someone, equal = (np.zeros(n, bool) for _ in range(3))
    ballot = np.zeros(n, np.int32)
    votes[1, n](everyone, someone, equal, ballot, x, limit)
    for w in range(2):
        p = x[w * 32 : w * 32 + 32] < limit
        bits = sum(1 << i for i in range(32) if p[i])
        here = slice(w * 32, w * 32 + 32)
        assert (everyone[here] == p.all()).all()
        assert (someone[here] == p.any()).all()
        assert (equal[here] == (p.all() or not p.any())).all()
        assert (ballot[here].view(np.uint32) == bits).all()


@cuda.kernel
def vote_modes(out, flags, x):
    i = cuda.grid(1)
    p = x[i] > 3
    _, flags[0, i] = cuda.vote_sync_intrinsic(FULL, 0, p)
    _, flags[1, i] = cuda.vote_sync_intrinsic(FULL, 1, p)
    _, flags[2, i] = cuda.vote_sync_intrinsic(FULL, 2, p)
    out[i], _ = cuda.vote_sync_intrinsic(FULL, 3, p)


def test_vote_intrinsic():
    out, flags = np.zeros(32, np.int32), np.zeros((3, 32), bool)
    vote_modes[1, 32](out, flags, np.arange(32))
    assert (out.view(np.uint32) == 0xFFFFFFF0).all()
    assert flags.any(1).tolist() == [False, True, False] and flags.all(1).tolist() == [False, True, False]


@cuda.kernel
def matches(some, every, same, x):
    i = cuda.grid(1)
    some[i] = cuda.match_any_sync(FULL, x[i])
    every[i], same[i] = cuda.match_all_sync(FULL, x[i])


@pytest.mark.parametrize("dtype", TYPES)
def test_matches(dtype):
    x = np.concatenate([np.arange(32) % 5, np.full(32, 7)]).astype(dtype)
    some, every, same = np.zeros(64, np.int32), np.zeros(64, np.int32), np.zeros(64, bool)
    matches[1, 64](some, every, same, x)
    for i in range(64):
        warp = x[i // 32 * 32 : i // 32 * 32 + 32]
        bits = sum(1 << k for k in range(32) if warp[k] == x[i])
        assert some.view(np.uint32)[i] == bits
    assert not same[:32].any() and not every[:32].any()
    assert same[32:].all() and (every[32:] == -1).all()


@cuda.kernel
def half_and_half(out, x):
    i = cuda.grid(1)
    if cuda.laneid < 16:
        out[i] = cuda.shfl_xor_sync(0x0000FFFF, x[i], 1)
    else:
        out[i] = 100 + cuda.shfl_xor_sync(0xFFFF0000, x[i], 2)


def test_masks_of_a_divergent_warp():
    x = np.arange(64, dtype=np.int32)
    out = np.zeros_like(x)
    half_and_half[1, 64](out, x)
    lane = x % 32
    np.testing.assert_array_equal(out, np.where(lane < 16, x ^ 1, 100 + (x ^ 2)))


@cuda.kernel
def active_of_branches(out):
    i = cuda.threadIdx.x
    if i % 3 == 0:
        mask = cuda.activemask()
        out[i] = cuda.ballot_sync(mask, i % 2 == 0)
    else:
        out[i] = cuda.activemask()


@pytest.mark.skipif(not ON_CPU, reason="which lanes are active together is the hardware's choice")
def test_active_mask_is_all_who_come_there():
    out = np.zeros(40, np.int32)
    active_of_branches[1, 40](out)
    for w, lanes in ((0, 32), (32, 8)):
        third = [k for k in range(lanes) if (w + k) % 3 == 0]
        others = sum(1 << k for k in range(lanes) if (w + k) % 3)
        even = sum(1 << k for k in third if (w + k) % 2 == 0)
        for k in range(lanes):
            assert out.view(np.uint32)[w + k] == (even if k in third else others)


@cuda.kernel
def lanes(lane, below):
    x, y = cuda.grid(2)
    lane[y, x] = cuda.laneid
    below[y, x] = cuda.lanemask_lt()


def test_lanes_of_a_two_dimensional_block():
    lane, below = np.zeros((8, 12), np.int32), np.zeros((8, 12), np.int32)
    lanes[1, (12, 8)](lane, below)
    want = np.arange(96).reshape(8, 12) % 32
    np.testing.assert_array_equal(lane, want)
    np.testing.assert_array_equal(below.view(np.uint32), (1 << want) - 1)


@cuda.kernel
def across_rows(out, x):
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    out[j, i] = cuda.shfl_sync(FULL, x[j, i], 0)


def test_warps_run_through_the_rows_of_a_block():
    x = np.arange(64).reshape(8, 8)
    out = np.zeros_like(x)
    across_rows[1, (8, 8)](out, x)
    np.testing.assert_array_equal(out.ravel(), np.repeat([0, 32], 32))


@cuda.kernel
def of_part(out, n):
    t = cuda.threadIdx.x
    if t < n:
        out[t] = cuda.ballot_sync((1 << n) - 1, t != 1)


@pytest.mark.parametrize("n", [1, 2, 9, 20])
def test_part_of_a_warp(n):
    out = np.zeros(20, np.int32)
    of_part[1, 20](out, n)
    want = ((1 << n) - 1) & ~2
    assert out.tolist() == [want] * n + [0] * (20 - n)


@cuda.kernel
def ended(out):
    t = cuda.threadIdx.x
    if t >= 10:
        return
    out[t] = cuda.ballot_sync(FULL, True)


@pytest.mark.skipif(not ON_CPU, reason="what a ballot says of ended lanes is not defined on hardware")
def test_ended_lanes_are_not_waited_for():
    out = np.zeros(10, np.int32)
    ended[1, 32](out)
    assert (out == 1023).all()


@cuda.kernel
def leaves_itself_out(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_sync(0x0000000F, x[t], 0)


def test_a_mask_without_the_caller():
    with pytest.raises(
        RuntimeError, match=r"shfl_sync\(\) was called by a lane that its mask 0x0000000f leaves out, at line"
    ):
        leaves_itself_out[1, 32](np.zeros(32, np.int32))
        cuda.synchronize()


@cuda.kernel
def waits_for_the_others(x):
    t = cuda.threadIdx.x
    if t < 16:
        x[t] = cuda.shfl_sync(FULL, x[t], 0)
    cuda.syncthreads()


@cuda.kernel
def two_masks(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_sync(0x0000FFFF if t < 8 else FULL, x[t], 0)


@pytest.mark.skipif(not ON_CPU, reason="hardware hangs, or gives anything")
@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (
            waits_for_the_others,
            r"mask 0xffffffff waits for lane 31, which waits at cuda.syncthreads\(\) in line \d+",
        ),
        (two_masks, r"mask 0x\w+ waits for lane \d+, which waits at cuda.shfl_sync\(\) in line \d+"),
    ],
)
def test_a_mask_that_never_comes_together(kernel, words):
    with pytest.raises(RuntimeError, match=words):
        kernel[1, 32](np.zeros(32, np.int32))


@cuda.kernel
def two_barriers(x):
    if cuda.threadIdx.x < 5:
        cuda.syncthreads()
    else:
        x[0] = 1
        cuda.syncthreads()


@pytest.mark.skipif(not ON_CPU, reason="hardware takes one barrier for another")
def test_two_barriers_are_not_one():
    with pytest.raises(RuntimeError, match="all threads of the block must come to the same one"):
        two_barriers[1, 32](np.zeros(1))


@cuda.kernel
def block_votes(count, every, some, x):
    i = cuda.grid(1)
    count[i] = cuda.syncthreads_count(x[i])
    every[i] = cuda.syncthreads_and(x[i] > 1)
    some[i] = cuda.syncthreads_or(x[i] > 1)


@pytest.mark.parametrize("block", [1, 7, 32, 96])
def test_barriers_with_a_value(block):
    x = np.arange(3 * block) % 5 % 3
    count, every, some = (np.zeros(3 * block, np.int32) for _ in range(3))
    block_votes[3, block](count, every, some, x)
    blocks = x.reshape(3, block)
    np.testing.assert_array_equal(count, np.repeat((blocks != 0).sum(1), block))
    np.testing.assert_array_equal(every, np.repeat((blocks > 1).all(1), block))
    np.testing.assert_array_equal(some, np.repeat((blocks > 1).any(1), block))


@cuda.kernel
def count_until_none(out, x):
    """The count steers a loop that all threads leave together."""
    t = cuda.threadIdx.x
    v = x[t]
    rounds = 0
    while cuda.syncthreads_count(v > 0) > 0:
        v -= 1
        rounds += 1
    out[t] = rounds


def test_a_count_steers_a_loop():
    x = np.array([3, 0, 7, 1, 2], np.int32)
    out = np.zeros(5, np.int32)
    count_until_none[1, 5](out, x)
    assert (out == 7).all()


@cuda.kernel
def fenced(x, ticks):
    t = cuda.threadIdx.x
    before = cuda.clock64()
    x[t] = t
    cuda.threadfence()
    cuda.threadfence_block()
    cuda.threadfence_system()
    cuda.syncwarp()
    cuda.syncwarp(FULL)
    cuda.nanosleep(100)
    x[t] += x[t ^ 1]
    ticks[t] = cuda.clock64() - before


def test_fences_and_clocks():
    x, ticks = np.zeros(32, np.int32), np.zeros(32, np.int64)
    fenced[1, 32](x, ticks)
    assert (ticks > 0).all()


@cuda.kernel
def late(x, mask):
    x[0] = cuda.shfl_sync(mask, x[0], 0)


def test_refusals():
    with pytest.raises(cuda.KernelSyntaxError, match="shfl_sync\\(\\) takes an int as its argument 'mask'"):
        late[1, 1](np.zeros(1), 1.5)
    with pytest.raises(RuntimeError, match="inside a kernel only"):
        cuda.shfl_sync(FULL, 1, 2)

    @cuda.kernel
    def mode(x, m):
        x[0], _ = cuda.shfl_sync_intrinsic(FULL, m, x[0], 0, 31)

    with pytest.raises(cuda.KernelSyntaxError, match="the mode of cuda.shfl_sync_intrinsic is 0, 1, 2 or 3"):
        mode[1, 1](np.zeros(1), 1)

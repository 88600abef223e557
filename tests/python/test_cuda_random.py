"""Random numbers in kernels: xoroshiro128+ bit by bit against a plain computation, Philox against Random123's vectors."""

import math

import numpy as np
import pytest
from xcuda import core as cuda
from xcuda.core import random as rng

MASK = (1 << 64) - 1
JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)


def rotl(x, k):
    return (x << k | x >> 64 - k) & MASK


def step(s):
    s0, s1 = s
    result = (s0 + s1) & MASK
    s1 ^= s0
    return result, (rotl(s0, 55) ^ s1 ^ (s1 << 14) & MASK, rotl(s1, 36))


def jump(s):
    a = b = 0
    for word in JUMP:
        for bit in range(64):
            if word >> bit & 1:
                a, b = a ^ s[0], b ^ s[1]
            _, s = step(s)
    return a, b


def first_state(seed):
    z = (seed + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    z ^= z >> 31
    return z, z


def states_of(n, seed, start=0):
    s = first_state(seed)
    for _ in range(start):
        s = jump(s)
    out = []
    for _ in range(n):
        out.append(s)
        s = jump(s)
    return out


@pytest.mark.parametrize(
    ("n", "seed", "start"), [(1, 1, 0), (7, 1, 0), (33, 2**64 - 1, 0), (5, 0, 3), (4, 42, 11)]
)
def test_states_are_a_jump_apart(n, seed, start):
    made = rng.create_xoroshiro128p_states(n, seed=seed, subsequence_start=start).copy_to_host()
    assert made.dtype == np.uint64
    assert [tuple(map(int, row)) for row in made] == states_of(n, seed, start)


def test_no_states():
    assert rng.create_xoroshiro128p_states(0, seed=1).shape == (0, 2)
    with pytest.raises(ValueError, match="there can't be -1 states"):
        rng.create_xoroshiro128p_states(-1, seed=1)


def test_states_filled_in_place():
    made = np.zeros(5, rng.xoroshiro128p_dtype)
    rng.init_xoroshiro128p_states(made, 9)
    assert [tuple(map(int, s)) for s in made] == states_of(5, 9)


@cuda.kernel
def draws(bits, real, single, states):
    i = cuda.grid(1)
    if i < bits.shape[0]:
        for k in range(bits.shape[1]):
            bits[i, k] = rng.xoroshiro128p_next(states, i)
            real[i, k] = rng.xoroshiro128p_uniform_float64(states, i)
            single[i, k] = rng.xoroshiro128p_uniform_float32(states, i)


def test_draws_bit_by_bit():
    n, rounds = 70, 5
    bits = np.zeros((n, rounds), np.uint64)
    real, single = np.zeros((n, rounds)), np.zeros((n, rounds), np.float32)
    states = rng.create_xoroshiro128p_states(n, seed=1234)
    draws[3, 32](bits, real, single, states)
    left = states.copy_to_host()
    for i, s in enumerate(states_of(n, 1234)):
        for k in range(rounds):
            x, s = step(s)
            assert int(bits[i, k]) == x
            x, s = step(s)
            assert real[i, k] == (x >> 11) * 2.0**-53
            x, s = step(s)
            assert single[i, k] == np.float32((x >> 11) * 2.0**-53)
        assert tuple(map(int, left[i])) == s


@cuda.kernel
def normals(single, double, states):
    i = cuda.grid(1)
    single[i] = rng.xoroshiro128p_normal_float32(states, i)
    double[i] = rng.xoroshiro128p_normal_float64(states, i)


def test_normals_are_numbas():
    n = 64
    single, double = np.zeros(n, np.float32), np.zeros(n)
    normals[2, 32](single, double, rng.create_xoroshiro128p_states(n, seed=5))
    for i, s in enumerate(states_of(n, 5)):
        u = []
        for _ in range(4):
            x, s = step(s)
            u.append((x >> 11) * 2.0**-53)
        u1, u2 = np.float32(u[0]), np.float32(u[1])
        angle = np.float32(2 * math.pi) * u2
        want = np.sqrt(np.float32(-2) * np.log(u1)) * np.cos(angle)
        np.testing.assert_allclose(single[i], want, rtol=2e-5, atol=2e-6)
        want = math.sqrt(-2 * math.log(float(np.float32(u[2])))) * math.cos(2 * math.pi * u[3])
        np.testing.assert_allclose(double[i], want, rtol=1e-12, atol=1e-13)


@cuda.kernel
def jumps(states):
    rng.xoroshiro128p_jump(states, 0)


def test_jump_in_a_kernel():
    states = rng.create_xoroshiro128p_states(1, seed=77)
    jumps[1, 1](states)
    assert tuple(map(int, states.copy_to_host()[0])) == states_of(2, 77)[1]


# Random123's known answers, kat_vectors: counter, key, result.
VECTORS = [
    ((0,) * 6, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 6, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@cuda.kernel
def philox(out, x):
    i = cuda.grid(1)
    if i < out.shape[0]:
        a, b, c, d = rng.philox4x32(x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4], x[i, 5])
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a, b, c, d


def test_philox_known_answers():
    x = np.array([v[0] for v in VECTORS], np.uint32)
    out = np.zeros((len(VECTORS), 4), np.uint32)
    philox[1, 32](out, x)
    assert [tuple(map(int, row)) for row in out] == [v[1] for v in VECTORS]


@cuda.kernel
def philox_draws(u32, u64, n32, n64, seed):
    i = cuda.grid(1)
    if i < u32.size:
        u32[i] = rng.philox_uniform_float32(seed, i)
        u64[i] = rng.philox_uniform_float64(seed, i, 3)
        n32[i] = rng.philox_normal_float32(seed, i)
        n64[i] = rng.philox_normal_float64(seed, i, offset=2**40)


def test_philox_distributions():
    n = 1 << 16
    u32, u64, n32, n64 = np.zeros(n, np.float32), np.zeros(n), np.zeros(n, np.float32), np.zeros(n)
    philox_draws[n // 256, 256](u32, u64, n32, n64, 12345678901234)
    for u in (u32, u64):
        assert u.min() >= 0 and u.max() < 1
        assert abs(u.mean() - 0.5) < 5 * (1 / 12 / n) ** 0.5
        assert abs(u.var() - 1 / 12) < 0.002
    for x in (n32, n64):
        assert np.isfinite(x).all()
        assert abs(x.mean()) < 5 / n**0.5
        assert abs(x.var() - 1) < 0.03
    assert len(np.unique(u64)) == n
    again = [np.zeros_like(a) for a in (u32, u64, n32, n64)]
    philox_draws[n // 64, 64](*again, 12345678901234)  # another launch shape, the same numbers
    for a, b in zip(again, (u32, u64, n32, n64), strict=True):
        np.testing.assert_array_equal(a, b)

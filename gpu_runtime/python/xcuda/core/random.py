"""Random numbers in kernels: numba's xoroshiro128+ streams, value for value, and Philox, which needs no states.

states = create_xoroshiro128p_states(threads, seed=1)
... xoroshiro128p_uniform_float32(states, i) ...        # in a kernel: each call steps state i
... philox_uniform_float32(seed, i, step) ...           # in a kernel: the same arguments give the same number
"""

from __future__ import annotations

import math

import numpy as np

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_states",
    "philox4x32",
    "philox_normal_float32",
    "philox_normal_float64",
    "philox_uniform_float32",
    "philox_uniform_float64",
    "xoroshiro128p_dtype",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]

# numba's dtype of a state; here a state is a row of two uint64, which lies in memory alike.
xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)

_JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)
_TWO_PI_32 = np.float32(2 * math.pi)
_TWO_PI_64 = 2 * math.pi


# ---- states, made on the host --------------------------------------------------------------------------------------


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """A device array (n, 2) of uint64: n states, each 2**64 steps after the one before it.

    seed: uint64. subsequence_start: how many subsequences to leave out at first.
    """
    from xcuda.core.arrays import to_device

    return to_device(_states(n, seed, subsequence_start), **({"stream": stream} if stream else {}))


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """Fills an array of states, as create_xoroshiro128p_states makes them: (n, 2) of uint64, or numba's dtype."""
    made = _states(len(states), seed, subsequence_start)
    if isinstance(states, np.ndarray):
        states[...] = made if states.dtype == np.uint64 else made.view(states.dtype).reshape(states.shape)
    else:
        states.copy_to_device(made, **({"stream": stream} if stream else {}))


def _states(n, seed, subsequence_start):
    if n < 0:
        raise ValueError(f"there can't be {n} states")
    if subsequence_start < 0:
        raise ValueError("subsequence_start is 0 or more")
    states = np.zeros((n, 2), np.uint64)
    if n == 0:
        return states
    # A jump is linear over bits: what it makes of the 128 single bits says what it makes of every state.
    jump = _jumped(_single_bits())
    states[0] = _splitmix64(seed)
    left, power = subsequence_start, jump
    while left:
        if left & 1:
            states[:1] = _apply(power, states[:1])
        left >>= 1
        power = _apply(power, power)
    done = 1
    while done < n:  # the second half is the first, jumped as often as the first is long
        more = min(done, n - done)
        states[done : done + more] = _apply(jump, states[:more])
        jump = _apply(jump, jump)
        done += more
    return states


def _splitmix64(seed):
    mask = (1 << 64) - 1
    z = (int(seed) + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    return z ^ z >> 31


def _single_bits():
    bits = np.zeros((128, 2), np.uint64)
    for i in range(128):
        bits[i, i // 64] = np.uint64(1 << i % 64)
    return bits


def _jumped(states):
    states, sums = states.copy(), np.zeros_like(states)
    for word in _JUMP:
        for bit in range(64):
            if word >> bit & 1:
                sums ^= states
            s0, s1 = states[:, 0].copy(), states[:, 1] ^ states[:, 0]
            states[:, 0] = (s0 << 55 | s0 >> 9) ^ s1 ^ s1 << 14
            states[:, 1] = s1 << 36 | s1 >> 28
    return sums


def _apply(linear, states):
    """What the map that makes `linear` of the 128 single bits makes of states: a look-up for each of 16 bytes."""
    tables = np.zeros((16, 256, 2), np.uint64)
    for bit in range(8):
        has_it = (np.arange(256) >> bit & 1).astype(bool)
        tables[:, has_it] ^= linear[bit::8][:, None]
    raw = np.ascontiguousarray(states).view(np.uint8).reshape(len(states), 16)
    out = tables[0][raw[:, 0]]
    for byte in range(1, 16):
        out ^= tables[byte][raw[:, byte]]
    return out


# ---- xoroshiro128+, in kernels --------------------------------------------------------------------------------------


def xoroshiro128p_next(states, index):
    """The next 64 random bits of a state, as uint64."""
    s0 = states[index, 0]
    s1 = states[index, 1]
    result = s0 + s1
    s1 ^= s0
    states[index, 0] = (s0 << 55 | s0 >> 9) ^ s1 ^ (s1 << 14)
    states[index, 1] = s1 << 36 | s1 >> 28
    return result


def xoroshiro128p_jump(states, index):
    """Moves a state 2**64 steps on."""
    s0 = np.uint64(0)
    s1 = np.uint64(0)
    for word in _JUMP:
        for bit in range(64):
            if np.uint64(word) >> bit & 1:
                s0 ^= states[index, 0]
                s1 ^= states[index, 1]
            xoroshiro128p_next(states, index)
    states[index, 0] = s0
    states[index, 1] = s1


def xoroshiro128p_uniform_float64(states, index):
    """A float64 from 0 up to but not 1."""
    return (xoroshiro128p_next(states, index) >> 11) * (1.0 / (1 << 53))


def xoroshiro128p_uniform_float32(states, index):
    """A float32 from 0 to 1: the float64 one, rounded."""
    return np.float32(xoroshiro128p_uniform_float64(states, index))


def xoroshiro128p_normal_float32(states, index):
    """A float32 of the normal distribution with mean 0 and deviation 1 (Box-Muller, two steps)."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(np.float32(-2.0) * math.log(u1)) * math.cos(_TWO_PI_32 * u2)


def xoroshiro128p_normal_float64(states, index):
    """A float64 of the normal distribution with mean 0 and deviation 1 (Box-Muller, two steps)."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float64(states, index)
    return math.sqrt(-2.0 * math.log(np.float64(u1))) * math.cos(_TWO_PI_64 * u2)


# ---- Philox 4x32-10, in kernels -------------------------------------------------------------------------------------


def philox4x32(c0, c1, c2, c3, k0, k1):
    """Four uint32 of random bits from a counter of four and a key of two (Salmon et al., 2011; 10 rounds)."""
    a, b, c, d = np.uint32(c0), np.uint32(c1), np.uint32(c2), np.uint32(c3)
    x, y = np.uint32(k0), np.uint32(k1)
    for _ in range(10):
        p = np.uint64(a) * np.uint64(0xD2511F53)
        q = np.uint64(c) * np.uint64(0xCD9E8D57)
        a = np.uint32(q >> 32) ^ b ^ x
        c = np.uint32(p >> 32) ^ d ^ y
        b = np.uint32(q & 0xFFFFFFFF)
        d = np.uint32(p & 0xFFFFFFFF)
        x += np.uint32(0x9E3779B9)
        y += np.uint32(0xBB67AE85)
    return a, b, c, d


def _philox(seed, index, offset):
    s, i, o = np.uint64(seed), np.uint64(index), np.uint64(offset)
    low = np.uint64(0xFFFFFFFF)
    return philox4x32(i & low, i >> 32, o & low, o >> 32, s & low, s >> 32)


def philox_uniform_float32(seed, index, offset=0):
    """A float32 from 0 up to but not 1, of (seed, index, offset): integers up to 64 bits."""
    return np.float32(_philox(seed, index, offset)[0] >> 8) * np.float32(2.0**-24)


def philox_uniform_float64(seed, index, offset=0):
    """A float64 from 0 up to but not 1, of (seed, index, offset): integers up to 64 bits."""
    r = _philox(seed, index, offset)
    return np.float64((np.uint64(r[0]) << 32 | np.uint64(r[1])) >> 11) * 2.0**-53


def philox_normal_float32(seed, index, offset=0):
    """A float32 of the normal distribution with mean 0 and deviation 1, of (seed, index, offset)."""
    r = _philox(seed, index, offset)
    u1 = np.float32((r[0] >> 8) + 1) * np.float32(2.0**-24)
    u2 = np.float32(r[1] >> 8) * np.float32(2.0**-24)
    return math.sqrt(np.float32(-2.0) * math.log(u1)) * math.cos(_TWO_PI_32 * u2)


def philox_normal_float64(seed, index, offset=0):
    """A float64 of the normal distribution with mean 0 and deviation 1, of (seed, index, offset)."""
    r = _philox(seed, index, offset)
    u1 = np.float64(((np.uint64(r[0]) << 32 | np.uint64(r[1])) >> 11) + 1) * 2.0**-53
    u2 = np.float64((np.uint64(r[2]) << 32 | np.uint64(r[3])) >> 11) * 2.0**-53
    return math.sqrt(-2.0 * math.log(u1)) * math.cos(_TWO_PI_64 * u2)

"""NumPy's bit streams inside kernels: Philox4x64-10, PCG64 (XSL-RR) and PCG64DXSM, from any position.

A stream is a local array of uint64 whose length says which it is; the compiler decides by it:

    s[0] 64-bit draws made   s[1] the word that 32-bit draws halve   s[2] 32-bit draws made
    s[3] the word that draws of 16, 8 and 1 bits come from, those taken shifted out   s[4] such draws made
    Philox  s[5:9] block, s[9:11] key, s[11:15] counter of block 0
    PCG     s[5:7] state, s[7:9] increment, high words first

Positions count from where the host's generator stood (for Philox: from the block it stood in).
"""

import numpy as np

from xcuda import core as cuda

PHILOX, PCG64, DXSM = 15, 9, 10  # lengths of the local array

_U = np.uint64
_M0, _M1 = _U(0xD2E7470EE14C6C93), _U(0xCA5A826395121157)
_W0, _W1 = _U(0x9E3779B97F4A7C15), _U(0xBB67AE8584CAA73B)
PCG_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
DXSM_MULTIPLIER = 0xDA942042E4DD58B5
_PCG_HIGH, _PCG_LOW = _U(PCG_MULTIPLIER >> 64), _U(PCG_MULTIPLIER & (1 << 64) - 1)
_DXSM = _U(DXSM_MULTIPLIER)
_DOUBLE = 1.0 / (1 << 53)
_SINGLE = np.float32(1.0 / (1 << 24))


def philox4x64(a, b, c, d, x, y):
    """Four uint64 of random bits from a counter of four and a key of two (Salmon et al., 2011; 10 rounds)."""
    for _ in range(10):
        high, low = cuda.mulhi(_M0, a), _M0 * a
        high2, low2 = cuda.mulhi(_M1, c), _M1 * c
        a, b, c, d = high2 ^ b ^ x, low2, high ^ d ^ y, low
        x += _W0
        y += _W1
    return a, b, c, d


def _philox_block(s, index):
    a = s[11] + index
    b = s[12] + (_U(1) if a < index else _U(0))
    c = s[13] + (_U(1) if a < index and b == 0 else _U(0))
    d = s[14] + (_U(1) if a < index and b == 0 and c == 0 else _U(0))
    s[5], s[6], s[7], s[8] = philox4x64(a, b, c, d, s[9], s[10])


def _philox_next(s):
    at = s[0] & _U(3)
    if at == 0:
        _philox_block(s, s[0] >> 2)
    s[0] += _U(1)
    return s[5] if at == 0 else s[6] if at == 1 else s[7] if at == 2 else s[8]


def _times(high, low, high2, low2):
    """The product of two 128-bit numbers, modulo 2**128."""
    return cuda.mulhi(low, low2) + high * low2 + low * high2, low * low2


def _plus(high, low, high2, low2):
    low3 = low + low2
    return high + high2 + (_U(1) if low3 < low else _U(0)), low3


def _pcg_step(s, high, low):
    high, low = _times(s[5], s[6], high, low)
    s[5], s[6] = _plus(high, low, s[7], s[8])
    s[0] += _U(1)


def _pcg64_next(s):
    _pcg_step(s, _PCG_HIGH, _PCG_LOW)
    word, turn = s[5] ^ s[6], s[5] >> 58
    return word >> turn | word << ((_U(64) - turn) & _U(63))


def _dxsm_next(s):
    high, low = s[5], s[6] | _U(1)
    high = (high ^ high >> 32) * _DXSM
    high = (high ^ high >> 48) * low
    _pcg_step(s, _U(0), _DXSM)
    return high


def next64(s):
    """The next 64 bits."""
    if s.shape[0] == PHILOX:
        return _philox_next(s)
    if s.shape[0] == PCG64:
        return _pcg64_next(s)
    return _dxsm_next(s)


def next32(s):
    """The next 32 bits: the lower half of a 64-bit draw, then the upper."""
    if s[2] & _U(1) == 0:
        s[1] = next64(s)
    word = s[1] >> 32 if s[2] & _U(1) else s[1] & _U(0xFFFFFFFF)
    s[2] += _U(1)
    return word


def next_bits(s, bits):
    """The next 16, 8 or 1 bits: of a 32-bit draw, the lowest first."""
    if s[4] % _U(32 // bits) == 0:
        s[3] = next32(s)
    found = s[3] & _U((1 << bits) - 1)
    s[3] >>= _U(bits)
    s[4] += _U(1)
    return found


def next_double(s):
    """A float64 from 0 up to but not 1, of 53 bits."""
    return (next64(s) >> 11) * _DOUBLE


def next_float(s):
    """A float32 from 0 up to but not 1, of 24 bits."""
    return np.float32(next32(s) >> 8) * _SINGLE


def start64(s, base, jumps, position):
    """Sets the stream up so that the next 64-bit draw is that of `position`."""
    s[0], s[1], s[2] = _U(position), _U(0), _U(0)
    if s.shape[0] == PHILOX:
        for i in range(6):
            s[9 + i] = base[i]
        if s[0] & _U(3):
            _philox_block(s, s[0] >> 2)
    else:
        for i in range(4):
            s[5 + i] = base[i]
        left, row = s[0], 0
        while left:
            if left & _U(1):
                high, low = _times(s[5], s[6], jumps[row, 0], jumps[row, 1])
                s[5], s[6] = _plus(high, low, jumps[row, 2], jumps[row, 3])
            left >>= _U(1)
            row += 1


def start32(s, base, jumps, position):
    """The same for 32-bit draws; at -1 is what the host's generator kept of its last one, base[6]."""
    if position < 0:
        start64(s, base, jumps, np.int64(base[7]))
        s[1] = base[6] << 32
    else:
        start64(s, base, jumps, np.int64(base[7]) + (position >> 1))
        if position & 1:
            s[1] = next64(s)
    s[2] = _U(position)


def start(s, base, jumps, position, bits):
    """Sets the stream up for draws of 64, 32, 16, 8 or 1 bits, those before `position` made."""
    if bits == 64:
        start64(s, base, jumps, position)
    elif bits == 32:
        start32(s, base, jumps, position)
    else:
        count = 32 // bits
        start32(s, base, jumps, np.int64(base[8]) + position // count)
        s[4] = _U(position)
        if position % count:
            s[3] = next32(s) >> _U(position % count * bits)


def position_of(s, bits):
    """How many draws of so many bits were made."""
    return np.int64(s[0] if bits == 64 else s[2] if bits == 32 else s[4])

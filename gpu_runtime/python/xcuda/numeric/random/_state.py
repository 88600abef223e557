"""Where a NumPy bit generator stands, as kernels need it, and how it is moved on after them."""

import threading

import numpy as np

from xcuda.core.arrays import to_device

from . import _streams

# Held from reading a generator's state to moving it on: threads that share one draw different numbers.
TURN = threading.RLock()

_MASK = (1 << 64) - 1
_MASK128 = (1 << 128) - 1
_LENGTHS = {"Philox": _streams.PHILOX, "PCG64": _streams.PCG64, "PCG64DXSM": _streams.DXSM}


def stream_of(bit_generator):
    """Length of the local array for this generator's stream (see _streams); None where there is no kernel for it."""
    return (
        _LENGTHS.get(type(bit_generator).__name__)
        if type(bit_generator).__module__.startswith("numpy.")
        else None
    )


class Start:
    """A generator's state for kernels: host arrays of uint64, which `with_table` copies to the device.

    `pending` is 1 where half of a 64-bit draw is left for the next 32-bit one, else 0; `first`: see position().
    """

    def __init__(self, bit_generator):
        state = bit_generator.state
        self.pending = int(state["has_uint32"])
        kept = int(state["uinteger"])
        if state["bit_generator"] == "Philox":
            counter = _joined(state["state"]["counter"])
            at = counter * 4 + int(state["buffer_pos"])
            self.first = at & 3
            block = (at >> 2) & ((1 << 256) - 1)
            key = [int(k) for k in state["state"]["key"]]
            words = [*key, *(block >> 64 * i & _MASK for i in range(4))]
            self.host_jumps = np.zeros((1, 4), np.uint64)
        else:
            self.first = 0
            inner, increment = state["state"]["state"], state["state"]["inc"]
            words = [inner >> 64, inner & _MASK, increment >> 64, increment & _MASK, 0, 0]
            self.host_jumps = _jumps(state["bit_generator"], increment)
        self.host_base = np.array([*words, kept, self.first, -self.pending & _MASK], np.uint64)

    def with_table(self, table, told):
        """(`told` zeros of int64, base, jumps, the table of rows) on the device, by one copy."""
        rows, columns = table.shape
        jumps = self.host_jumps
        whole = to_device(
            np.concatenate(
                [
                    np.zeros(told, np.uint64),
                    self.host_base,
                    jumps.reshape(-1),
                    table.view(np.uint64).reshape(-1),
                ]
            )
        )
        base = told
        jump = base + self.host_base.size
        first = jump + jumps.size
        return (
            whole._view(0, [told], [1], "int64"),
            whole._view(base, [self.host_base.size], [1]),
            whole._view(jump, jumps.shape, [jumps.shape[1], 1]),
            whole._view(first, table.shape, [columns, 1], table.dtype.name),
        )

    def position(self, bits):
        """Of the next draw of so many bits, as _streams.start takes it."""
        return self.first if bits == 64 else -self.pending if bits == 32 else 0


def _joined(words):
    return sum(int(w) << 64 * i for i, w in enumerate(words))


_tables: dict = {}


def _jumps(name, increment):
    """Row k: multiplier and addend of 2**k steps of the generator x -> a x + c, two words each."""
    key = name, increment
    if key not in _tables:
        a = _streams.PCG_MULTIPLIER if name == "PCG64" else _streams.DXSM_MULTIPLIER
        c, rows = increment, []
        for _ in range(64):
            rows.append([a >> 64, a & _MASK, c >> 64, c & _MASK])
            a, c = a * a & _MASK128, c * (a + 1) & _MASK128
        if len(_tables) > 64:
            _tables.clear()
        _tables[key] = np.array(rows, np.uint64)
    return _tables[key]


def move_on(bit_generator, draws):
    """As if so many 64-bit draws had been made."""
    if not draws:
        return
    if type(bit_generator).__name__ != "Philox":
        kept = bit_generator.state
        bit_generator.advance(int(draws))  # forgets what is left for a 32-bit draw
        state = bit_generator.state
        state["has_uint32"], state["uinteger"] = kept["has_uint32"], kept["uinteger"]
        bit_generator.state = state
        return
    state = bit_generator.state
    at = _joined(state["state"]["counter"]) * 4 + int(state["buffer_pos"]) + draws
    before, taken = (at - 1 >> 2) - 1, (at - 1 & 3) + 1
    before &= (1 << 256) - 1
    state["state"]["counter"] = np.array([before >> 64 * i & _MASK for i in range(4)], np.uint64)
    state["buffer_pos"] = 4
    bit_generator.state = state
    bit_generator.random_raw(taken)


def move_on_by_halves(bit_generator, halves):
    """As if so many 32-bit draws had been made."""
    state = bit_generator.state
    if halves and state["has_uint32"]:
        state["has_uint32"] = 0
        bit_generator.state = state
        halves -= 1
    if halves:
        move_on(bit_generator, (halves + 1) // 2 - 1)
        # The last word is drawn, so that the state remembers its other half as NumPy's does.
        np.random.Generator(bit_generator).integers(0, 1 << 32, 2 - halves % 2, dtype=np.uint32)

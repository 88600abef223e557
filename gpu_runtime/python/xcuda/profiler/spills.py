"""Which lines of a kernel pay for values that found no register: the spilling instructions of its machine code."""

from __future__ import annotations

import struct
from collections import Counter

from xcuda.profiler.elf import section
from xcuda.profiler.line_table import INSTRUCTION, instructions

# The low 12 bits of an instruction, from Volta to Blackwell (as nvdisasm shows them).
STORE_LOCAL, LOAD_LOCAL = 0x387, 0x983
STACK_POINTER = 1  # R1; an array of the thread's own that is indexed at run time has another register there


def spilled_lines(cubin: bytes, entry: str, file: str, lines: range) -> Counter:
    """Loads and stores of spilled values by line; under 0 those of none of the kernel's lines.

    An array of the thread's own that is indexed by constants alone would be counted too, where it found no registers.
    """
    code = section(cubin, f".text.{entry}")

    def is_spill(address: int) -> bool:
        if address + INSTRUCTION > len(code):
            return False
        (word,) = struct.unpack_from("<Q", code, address)
        base = (word >> 24) & 0xFF  # both name the register of the address there
        return word & 0xFFF in (STORE_LOCAL, LOAD_LOCAL) and base == STACK_POINTER

    return instructions(section(cubin, ".debug_line"), file, lines, is_spill)


def told(counts: Counter) -> str:
    """ "most in line 7 (12 of 40 loads and stores), then in line 9 (8)"; "" where no line has any."""
    whole = sum(counts.values())
    first, *others = [(line, n) for line, n in counts.most_common() if line] or [None]
    if first is None:
        return ""
    words = f"most in line {first[0]} ({first[1]} of {whole} loads and stores)"
    return words + "".join(f", then in line {line} ({n})" for line, n in others[:2])

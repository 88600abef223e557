"""How many machine instructions of a cubin are of which line of the source: its DWARF line table, read."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

INSTRUCTION = 16  # bytes, on every GPU since Volta

# The standard's opcodes that matter here; others are passed over by the lengths that the table's head gives.
COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC, FIXED_ADVANCE_PC = 1, 2, 3, 4, 8, 9
END_SEQUENCE, SET_ADDRESS, INLINED_CALL = 1, 2, 0x90  # of the extended ones; the last is NVIDIA's


class Row(NamedTuple):
    """From this address on the code is of this line. caller: the number of the row that it was written into, or 0."""

    address: int
    file: str
    line: int
    caller: int


class Reader:
    """Numbers out of bytes, one after the other."""

    def __init__(self, data: bytes, at: int = 0):
        self.data, self.at = data, at

    def number(self, size: int, signed: bool = False) -> int:
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "little", signed=signed)

    def leb(self, signed: bool = False) -> int:
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << shift) if signed and byte & 0x40 else value

    def text(self) -> str:
        end = self.data.index(b"\0", self.at)
        found = self.data[self.at : end].decode(errors="replace")
        self.at = end + 1
        return found


def instructions(section: bytes, file: str, lines: range, is_counted=None) -> Counter:
    """Instructions by line of a kernel; under 0 those of none of its lines. `section`: .debug_line of its cubin.

    A helper's count for the line that calls it. The file is not asked there: NVRTC names the one before.
    is_counted: of an instruction's address; None counts all.
    """
    counts: Counter = Counter()
    reader = Reader(section)
    while reader.at + 4 < len(section):
        end = reader.at + 4 + int.from_bytes(section[reader.at : reader.at + 4], "little")
        for rows, stop in _sequences(reader, end):
            for row, following in zip(rows, [*rows[1:], Row(stop, "", 0, 0)], strict=True):
                outer = _outermost(row, rows)
                mine = outer.line in lines and (
                    outer is not row or row.file == file or row.file.endswith("/" + file)
                )
                addresses = range(row.address, following.address, INSTRUCTION)
                count = len(addresses) if is_counted is None else sum(map(is_counted, addresses))
                counts[outer.line if mine else 0] += count
        reader.at = end
    return +counts


def _outermost(row, rows):
    seen = 0
    while 0 < row.caller <= len(rows) and seen < 32:
        row, seen = rows[row.caller - 1], seen + 1
    return row


def _sequences(reader, end):
    """The rows of each function, and where it ends."""
    reader.number(4)
    version = reader.number(2)
    program = reader.number(4) + reader.at
    least = reader.number(1)
    if version >= 4:
        reader.number(1)
    reader.number(1)
    line_base, line_range, opcode_base = reader.number(1, signed=True), reader.number(1), reader.number(1)
    lengths = [reader.number(1) for _ in range(opcode_base - 1)]
    folders = []
    while name := reader.text():
        folders.append(name)
    files = [""]
    while name := reader.text():
        folder = reader.leb()
        reader.leb(), reader.leb()
        files.append(name if not folder or name.startswith("/") else f"{folders[folder - 1]}/{name}")
    reader.at = program
    rows, address, file, line, caller = [], 0, 1, 1, 0
    while reader.at < end:
        op = reader.number(1)
        if op >= opcode_base:
            address += (op - opcode_base) // line_range * least
            line += line_base + (op - opcode_base) % line_range
            rows.append(Row(address, files[file], line, caller))
        elif op == 0:
            length = reader.leb()
            after = reader.at + length
            extended = reader.number(1)
            if extended == END_SEQUENCE:
                yield rows, address
                rows, address, file, line, caller = [], 0, 1, 1, 0
            elif extended == SET_ADDRESS:
                address = reader.number(length - 1)
            elif extended == INLINED_CALL:
                caller = reader.leb()
            reader.at = after
        elif op == COPY:
            rows.append(Row(address, files[file], line, caller))
        elif op == ADVANCE_PC:
            address += reader.leb() * least
        elif op == ADVANCE_LINE:
            line += reader.leb(signed=True)
        elif op == SET_FILE:
            file = reader.leb()
        elif op == CONST_ADD_PC:
            address += (255 - opcode_base) // line_range * least
        elif op == FIXED_ADVANCE_PC:
            address += reader.number(2)
        else:
            for _ in range(lengths[op - 1]):
                reader.leb()

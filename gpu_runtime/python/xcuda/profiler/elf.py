"""Sections of an ELF file, which a cubin is."""

import struct


def section(elf: bytes, name: str) -> bytes:
    """The bytes of a section of a 64-bit ELF file; empty where it has none of this name."""
    if elf[:5] != b"\x7fELF\x02":
        return b""
    (at,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, at + i * size) for i in range(count)]
    start = headers[names][4]
    for header in headers:
        begin = start + header[0]
        if elf[begin : elf.index(b"\0", begin)].decode() == name:
            return elf[header[4] : header[4] + header[5]]
    return b""

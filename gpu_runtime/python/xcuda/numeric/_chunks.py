"""Between files and device memory, chunk by chunk: no host array of the whole is made."""

import numpy

from xcuda import core as cuda

from ._creation import empty

CHUNK = 32 << 20  # bytes; two are under way


def _exactly(file, view):
    """Fills a memoryview of bytes; EOFError where the file ends before."""
    done = 0
    while done < len(view):
        count = file.readinto(view[done:])
        if not count:
            raise EOFError(f"the file ends {len(view) - done} bytes early")
        done += count


def read_array(file, count, dtype):
    """`count` numbers from where a binary file stands, as a new array with one axis.

    On a GPU the next chunk is read into pinned memory while the one before is copied.
    """
    made = empty(count, dtype)
    if not made.nbytes:
        return made
    if made._host_accessible:
        _exactly(file, memoryview(made._host()).cast("B"))
        return made
    device, length = made.to_device_array(), max(CHUNK // made.itemsize, 1)
    buffers = [cuda.pinned_array(min(length, count), made.dtype) for _ in range(2 if count > length else 1)]
    streams = [cuda.stream() for _ in buffers]
    for turn, start in enumerate(range(0, count, length)):
        buffer, stream = buffers[turn % 2], streams[turn % 2]
        stream.synchronize()  # what this buffer held has arrived
        part = buffer[: min(length, count - start)]
        _exactly(file, memoryview(part).cast("B"))
        device[start : start + part.size].copy_to_device(part, stream=stream)
    for stream in streams:
        stream.synchronize()
    return made


def write_array(file, flat):
    """The bytes of an array with one axis."""
    if flat._host_accessible:
        file.write(numpy.ascontiguousarray(flat._host()).data)
        return
    length = max(CHUNK // flat.itemsize, 1)
    for start in range(0, flat.size, length):
        file.write(flat[start : start + length].get().data)

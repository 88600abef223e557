"""Arrays in files: NumPy's functions and formats, read into device memory and written from it in chunks."""

import os
from contextlib import nullcontext

import numpy
from numpy.lib import format as npy

from . import _dtypes
from ._array import array, asarray, ndarray
from ._chunks import read_array, write_array
from ._fallback import to_host
from ._registry import native


def _opened(file, mode):
    return open(os.fspath(file), mode) if isinstance(file, (str, os.PathLike)) else nullcontext(file)


def _header(file):
    """(shape, whether in Fortran order, dtype) where the file goes on as an array that devices can hold, else None."""
    start = file.tell()
    try:
        if file.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX:
            file.seek(start)
            version = npy.read_magic(file)
            read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
            if read is not None:
                shape, fortran, dtype = read(file)
                if not dtype.hasobject and _dtypes.held(dtype):
                    return shape, fortran, dtype
    except ValueError:
        pass
    file.seek(start)
    return None


def read_npy(file):
    """The array of a `.npy` file that is open; None, and the file where it stood, for what devices can't hold.

    Raises ValueError where the file ends too early.
    """
    found = _header(file)
    if found is None:
        return None
    shape, fortran, dtype = found
    try:
        flat = read_array(file, int(numpy.prod(shape, dtype=object)), dtype)
    except EOFError as error:
        raise ValueError(f"cannot read an array of shape {shape} and {dtype}: {error}") from None
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


class NpzFile:
    """numpy.load's file of several arrays, each read when it is asked for and given as numeric's."""

    def __init__(self, host):
        self._host = host
        self.files = host.files

    def __getitem__(self, name):
        return array(self._host[name])

    def __contains__(self, name):
        return name in self._host

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def keys(self):
        """The names."""
        return self._host.keys()

    def values(self):
        """The arrays, one after the other."""
        return (self[name] for name in self.files)

    def items(self):
        """Pairs of names and arrays."""
        return ((name, self[name]) for name in self.files)

    def get(self, name, default=None):
        """The array of that name, or the default."""
        return self[name] if name in self._host else default

    def close(self):
        """Closes the file."""
        self._host.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return repr(self._host)


@native("load")
def load(
    file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=10000
):
    """numpy.load; `.npy` files go straight into device memory, in chunks.

    With `mmap_mode` it is NumPy's memory map, on the host: what is taken out of it goes to the device, so that files
    larger than any memory can be worked on piece by piece.
    """
    how = {"allow_pickle": allow_pickle, "fix_imports": fix_imports, "encoding": encoding}
    how["max_header_size"] = max_header_size
    if mmap_mode is not None:
        return numpy.load(file, mmap_mode, **how)
    with _opened(file, "rb") as opened:
        made = read_npy(opened)
        if made is not None:
            return made
        if not isinstance(file, (str, os.PathLike)):
            return _given(numpy.load(file, **how))
    return _given(numpy.load(file, **how))


def _given(made):
    if isinstance(made, numpy.lib.npyio.NpzFile):
        return NpzFile(made)
    return array(made) if isinstance(made, numpy.ndarray) else made


@native("save")
def save(file, arr, allow_pickle=True):
    """numpy.save: the same bytes, written in chunks."""
    made = asarray(arr)
    if not isinstance(made, ndarray):
        return numpy.save(file, arr, allow_pickle)
    if isinstance(file, (str, os.PathLike)):
        file = os.fspath(file)
        file = file if file.endswith(".npy") else file + ".npy"
    fortran = made._f_contiguous and not made._c_contiguous
    header = {"descr": npy.dtype_to_descr(made.dtype), "fortran_order": fortran, "shape": made.shape}
    with _opened(file, "wb") as opened:
        npy.write_array_header_1_0(opened, header)
        write_array(opened, (made.T if fortran else made).reshape(made.size))


def _saving(name):
    reference = getattr(numpy, name)

    def save_several(file, *args, **kwargs):
        return reference(file, *to_host(args), **to_host(kwargs))

    save_several.__name__, save_several.__doc__ = name, reference.__doc__
    return native(name)(save_several)


for _name in ("savez", "savez_compressed", "savetxt"):
    _saving(_name)


@native("fromfile", partly="text")
def fromfile(file, dtype=float, count=-1, sep="", offset=0, *, like=None):
    """numpy.fromfile: numbers of a binary file straight into device memory; text is read by NumPy."""
    dtype = _dtypes.as_dtype(dtype)
    if sep or not _dtypes.held(dtype) or not isinstance(file, (str, os.PathLike)):
        return _given(numpy.fromfile(file, dtype, count, sep, offset))
    with open(os.fspath(file), "rb") as opened:
        there = max(os.fstat(opened.fileno()).st_size - offset, 0) // dtype.itemsize
        opened.seek(offset)
        return read_array(opened, there if count < 0 else min(count, there), dtype)

"""Records (NumPy's structured dtypes): what they are to the compiler, and arrays of them in a device's memory."""

import sys

from xcuda.core.dtypes import in_kernels
from xcuda.core.views import indexed


def is_records(value):
    """Whether a kernel takes the value field by field: an array of records, one record, or `DeviceRecords`."""
    if isinstance(value, DeviceRecords):
        return True
    numpy = sys.modules.get("numpy")
    return (
        numpy is not None and isinstance(value, (numpy.ndarray, numpy.void)) and value.dtype.names is not None
    )


def in_memory(value):
    """A record or an array of records as something whose fields are arrays over its memory."""
    if isinstance(value, DeviceRecords):
        return value
    import numpy

    return numpy.asarray(value).view(numpy.ndarray)


def fields_of(dtype):
    """(name, dtype of one element, shape of an array field) of each field."""
    for name in dtype.names:
        field = dtype.fields[name][0]
        base, shape = field.subdtype or (field, ())
        yield name, base, shape


def dtype_meaning(dtype):
    """A structured dtype as the compiler reads it."""
    items = []
    for _, base, shape in fields_of(dtype):
        if base.names:
            item = dtype_meaning(base)
        elif in_kernels(base):
            item = {"kind": "dtype", "dtype": base.name}
        else:
            item = {"kind": "host", "text": str(base)}
        items.append({**item, "shape": list(shape)})
    return {
        "kind": "record_dtype",
        "text": str(dtype),
        "fields": list(dtype.names),
        "items": items,
        "itemsize": dtype.itemsize,
    }


def leaves_of(name, records):
    """(name, array) of each field that kernels take, nested ones too, in the order of `dtype_meaning`."""
    for field, base, _ in fields_of(records.dtype):
        path = f"{name}.{field}"
        if base.names:
            yield from leaves_of(path, records[field])
        elif in_kernels(base):
            yield path, records[field]


class DeviceRecords:
    """An array of records in a device's memory, with NumPy's shape, strides (bytes) and structured dtype.

    records['x'] is a device array over the field's memory; slices share memory too.
    """

    __xcuda_records__ = True

    def __init__(self, memory, offset, shape, strides, dtype):
        self._memory = memory  # a DeviceArray of bytes
        self._offset = offset
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.dtype = dtype

    @classmethod
    def empty(cls, shape, dtype):
        """Room for records on the current device; not initialised."""
        from xcuda.core.arrays import DeviceArray

        size, strides = dtype.itemsize, []
        for length in reversed(shape):
            strides.append(size)
            size *= length
        return cls(DeviceArray([size], "uint8"), 0, shape, strides[::-1], dtype)

    @property
    def ndim(self):
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self):
        """The number of records."""
        count = 1
        for length in self.shape:
            count *= length
        return count

    @property
    def itemsize(self):
        """Bytes of one record."""
        return self.dtype.itemsize

    @property
    def nbytes(self):
        """Bytes of all records."""
        return self.size * self.itemsize

    @property
    def device(self):
        """The Device that it lives on."""
        return self._memory.device

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of a record")
        return self.shape[0]

    def __getitem__(self, key):
        from xcuda.core.arrays import DeviceArray

        if isinstance(key, str):
            if key not in self.dtype.names:
                raise ValueError(f"no field of name {key}")
            dtype, offset = self.dtype.fields[key][:2]
            base, shape = dtype.subdtype or (dtype, ())
            strides, step = [], base.itemsize
            for length in reversed(shape):
                strides.append(step)
                step *= length
            shape, strides = (*self.shape, *shape), (*self.strides, *reversed(strides))
            if base.names:
                return DeviceRecords(self._memory, self._offset + offset, shape, strides, base)
            if not base.isnative:
                raise TypeError(f"the field '{key}' is of {base}, another byte order than the device's")
            at = self._offset + offset
            return DeviceArray(self._memory, at, list(shape), list(strides), base.name, True)
        offset, shape, strides, scalar = indexed(self.shape, self.strides, key)
        part = DeviceRecords(self._memory, self._offset + offset, shape, strides, self.dtype)
        return part.copy_to_host()[()] if scalar else part

    def __setitem__(self, key, value):
        if isinstance(key, str):
            field = self[key]
            host, memory = self._host()
            host[key] = value.copy_to_host() if hasattr(value, "copy_to_host") else value
            del field
            self._memory._from_host(memory)
            return
        offset, shape, strides, _ = indexed(self.shape, self.strides, key)
        DeviceRecords(self._memory, self._offset + offset, shape, strides, self.dtype).copy_to_device(value)

    def _host(self):
        """A host copy of its memory as records, and as bytes."""
        import numpy

        memory = numpy.empty(self._memory.size, numpy.uint8)
        self._memory._to_host(memory)
        return numpy.ndarray(self.shape, self.dtype, memory, self._offset, self.strides), memory

    def copy_to_host(self, out=None, stream=None):
        """A NumPy array of its records, or `out` filled with them. Waits for the work on it."""
        host = self._host()[0]
        if out is None:
            return host.copy()
        if tuple(out.shape) != self.shape or out.dtype != self.dtype:
            raise ValueError(
                f"'out' is {out.dtype} of shape {out.shape}, the records {self.dtype} of {self.shape}"
            )
        out[...] = host
        return out

    def copy_to_device(self, values, stream=None):
        """Fills it with records of the host or of a device; broadcast as NumPy does."""
        host, memory = self._host()
        host[...] = values.copy_to_host() if isinstance(values, DeviceRecords) else values
        self._memory._from_host(memory)

    def copy(self):
        """A copy on the same device."""
        with self.device:
            made = DeviceRecords.empty(self.shape, self.dtype)
        made.copy_to_device(self)
        return made

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("NumPy can only have a copy of records on a device")
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __reduce__(self):
        from xcuda.core.arrays import to_device

        return to_device, (self.copy_to_host(),)

    def __repr__(self):
        shape = "x".join(map(str, self.shape)) or "0-d"
        return f"<DeviceRecords {shape} {self.dtype} on {self._memory._device_label}, {self.nbytes:,} bytes>"

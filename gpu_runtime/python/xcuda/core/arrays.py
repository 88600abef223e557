"""Arrays in a device's memory: making them, views of them, copies to and from the host."""

from xcuda import _runtime
from xcuda.core.dtypes import OF_ML_DTYPES, name_of, numpy_dtype, plain
from xcuda.core.no_arithmetic import explain
from xcuda.core.records import DeviceRecords
from xcuda.core.views import check_broadcast, indexed, put_back, reshaped, slowest_first


@explain
class DeviceArray(_runtime.ArrayBase):
    """An array in a device's memory, with NumPy's shape, strides (bytes) and dtype.

    Slicing, `reshape`, `ravel`, `view` and `T` share its memory, which goes back to the device's pool when the last
    of them is gone. Reading an element or a copy waits for the work on it and raises what went wrong there.
    """

    @property
    def dtype(self):
        """The NumPy dtype."""

        return numpy_dtype(self._dtype_name)

    @property
    def device(self):
        """The Device that it lives on."""
        from xcuda.core.devices import Device

        return Device(self._device_label)

    @property
    def gpu_data(self):
        """Its place in its device's memory, with `device_pointer`; numba's name."""
        from xcuda.core.pointers import DeviceMemory

        return DeviceMemory(self._address, self.nbytes)

    @property
    def alloc_size(self):
        """Bytes from its first element to the end of its last one; numba's name."""
        if not self.size:
            return 0
        steps = zip(self.shape, self.strides, strict=True)
        return self.itemsize + sum((n - 1) * abs(stride) for n, stride in steps)

    @property
    def T(self):
        """The array with its axes in reverse order, sharing memory."""
        return self.transpose()

    def transpose(self, *axes):
        """The array with its axes in the given order (reversed by default), sharing memory."""
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = axes[0] or ()
        order = [axis % self.ndim for axis in axes] if axes else list(range(self.ndim))[::-1]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"axes {tuple(axes)} don't match an array of {self.ndim} dimensions")
        return self._view(0, [self.shape[i] for i in order], [self._steps[i] for i in order])

    def reshape(self, *shape):
        """The array in another shape; shares memory where the strides allow it, else a contiguous copy."""
        shape = shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
        new_shape, steps = reshaped(self.shape, self._steps, tuple(shape))
        if steps is None:
            return self.copy().reshape(new_shape)
        return self._view(0, new_shape, steps)

    def ravel(self, order="C"):
        """One axis in C order; shares memory where the strides allow it."""
        if order not in ("C", "K", "A"):
            raise ValueError("only C order is there")
        return self.reshape(-1)

    def flatten(self):
        """A copy with one axis."""
        return self.copy().reshape(-1)

    def view(self, dtype):
        """The same memory as elements of another dtype; another item size needs a contiguous last axis."""
        name = name_of(dtype)

        old, new = self.itemsize, numpy_dtype(name).itemsize
        shape, steps = list(self.shape), list(self._steps)
        if old != new:
            if not self.ndim or steps[-1] != 1 or shape[-1] * old % new:
                raise ValueError(
                    f"the last axis must be contiguous and a multiple of {new} bytes to be seen as {name}"
                )
            shape[-1] = shape[-1] * old // new
            bytes_ = [step * old for step in steps[:-1]]
            if any(b % new for b in bytes_):
                raise ValueError(f"the strides are no multiples of {new} bytes")
            steps = [b // new for b in bytes_] + [1]
        return self._view(0, shape, steps, name)

    def __getitem__(self, key):
        import numpy

        offset, shape, steps, scalar = indexed(self.shape, self._steps, key)
        found = self._view(offset, shape, steps)
        return numpy.asarray(found.copy_to_host())[()] if scalar else found

    def __setitem__(self, key, value):
        offset, shape, steps, _ = indexed(self.shape, self._steps, key)
        self._view(offset, shape, steps).copy_to_device(value)

    def __len__(self):
        if not self.ndim:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return bool(self.copy_to_host())

    def item(self):
        """The one element of an array of size 1, as a Python number."""
        return self.copy_to_host().item()

    def copy_to_host(self, out=None, stream=None):
        """A NumPy array with its values, or `out` filled with them (same shape and dtype). Waits for the work on it.

        The NumPy array's axes lie in memory as the array's do, as those of NumPy's `copy("K")`.

        stream: the copy goes there; with a pinned `out` (cuda.pinned_array) it goes on when this returns, and `out` has
        the values once the stream is synchronized.
        """
        if out is None:
            with _on(stream):
                return self._host_view()
        if tuple(out.shape) != self.shape:
            raise ValueError(f"'out' has shape {tuple(out.shape)}, the array has {self.shape}")
        if out.dtype != self.dtype:
            raise TypeError(f"'out' is of {out.dtype}, the array of {self.dtype}")
        with _on(stream) as given:
            if self._contiguous and out.flags.c_contiguous:
                self._to_host(plain(out), given is None)
            else:
                out[...] = self._host_view()
        return out

    def copy_to_device(self, values, stream=None):
        """Fills it with `values`: a number, a host array, or another device array; broadcast as NumPy does.

        stream: the copy goes there; pinned values (cuda.pinned_array) of the array's shape and dtype are read after
        this has returned, and must not change until the stream is synchronized. Others are read before it returns.
        """
        with _on(stream) as given:
            if not isinstance(values, DeviceArray) and _on_a_gpu(values):
                values = as_device_array(values)
            if isinstance(values, DeviceArray):
                if self._plainly_like(values):
                    self._copy_from(values)
                    return
                values = values.copy_to_host()
            import numpy

            values = numpy.asarray(values)
            if (
                not numpy.can_cast(values.dtype, self.dtype, "same_kind")
                and values.dtype.kind not in "biufc"
                and self._dtype_name not in OF_ML_DTYPES
            ):
                raise TypeError(f"{values.dtype} values don't fit into an array of {self.dtype}")
            check_broadcast(values.shape, self.shape)
            if self._contiguous:
                as_it_lies = values.shape == self.shape and values.dtype == self.dtype
                if not (as_it_lies and values.flags.c_contiguous):
                    full = numpy.empty(self.shape, self.dtype)
                    full[...] = values
                    values = full
                self._from_host(plain(values), given is None)
            else:
                host, memory = self._host_memory()
                host[...] = values
                self._from_host(plain(memory))

    def copy(self):
        """A contiguous copy on the same device."""
        with self.device:
            made = DeviceArray(self.shape, self._dtype_name)
        made.copy_to_device(self)
        return made

    def astype(self, dtype):
        """A copy of another dtype, converted as NumPy does."""
        with self.device:
            return to_device(self.copy_to_host().astype(dtype))

    def is_c_contiguous(self):
        """True if its elements lie one after another in C order."""
        return self._contiguous

    def is_f_contiguous(self):
        """True if its elements lie one after another in Fortran order."""
        return self.flags["F_CONTIGUOUS"]

    @property
    def flags(self):
        """C_CONTIGUOUS, F_CONTIGUOUS and WRITEABLE, as a dict."""
        fortran = self._contiguous if self.ndim < 2 else self.T._contiguous
        return {"C_CONTIGUOUS": self._contiguous, "F_CONTIGUOUS": fortran, "WRITEABLE": not self._readonly}

    def __array__(self, dtype=None, copy=None):
        if copy is False and not self._host_accessible:
            raise ValueError("the array lives on a GPU: NumPy can only have a copy of it")
        import numpy

        host = (
            numpy.asarray(memoryview(self)).view(self.dtype)
            if self._host_accessible and not copy
            else self.copy_to_host()
        )
        return host if dtype is None else host.astype(dtype, copy=False)

    @property
    def __cuda_array_interface__(self):
        if not self._device_label.startswith("cuda"):
            raise AttributeError("an array of the CPU device is no CUDA array")
        return {
            "shape": self.shape,
            "strides": None if self._contiguous else self.strides,
            "version": 3,
            "typestr": self._typestr,
            "data": (self._address, self._readonly),
            "stream": _runtime.export_stream(self),
        }

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        here = self.__dlpack_device__()
        versioned = max_version is not None and max_version[0] >= 1
        if dl_device is not None and tuple(dl_device) != here:
            if tuple(dl_device) != (1, 0) or copy is False:
                raise BufferError(f"the array lives on DLPack's device {here}, not on {tuple(dl_device)}")
            return self.copy_to_host().__dlpack__(max_version=max_version)
        if copy:
            return _runtime.to_dlpack(self.copy(), stream, versioned, True)
        return _runtime.to_dlpack(self, stream, versioned, False)

    def __dlpack_device__(self):
        return (1, 0) if self._host_accessible else (2, self.device.ordinal)

    def __reduce__(self):
        return to_device, (self.copy_to_host(),)

    def __repr__(self):
        shape = "x".join(map(str, self.shape)) or "0-d"
        how = "" if self._contiguous else f", strides {self.strides}"
        return f"<DeviceArray {shape} {self._dtype_name} on {self._device_label}, {self.nbytes:,} bytes{how}>"

    @property
    def _unit(self):
        """Bytes of a step: of an element, or one where elements lie at any byte, as fields of packed records do."""
        size = self.itemsize
        return 1 if self._address % size or any(stride % size for stride in self.strides) else size

    @property
    def _steps(self):
        """Strides in `_unit`s."""
        unit = self._unit
        return tuple(stride // unit for stride in self.strides)

    def _view(self, offset, shape, steps, dtype=None):
        """`offset` and `steps` in `_unit`s; of this array's dtype unless another is named."""
        unit = self._unit
        name = dtype or self._dtype_name
        return DeviceArray(self, offset * unit, list(shape), list(steps), name, unit != self.itemsize)

    def _plainly_like(self, other):
        return (
            self._contiguous
            and other._contiguous
            and self._dtype_name == other._dtype_name
            and self.shape == other.shape
            and (
                self._device_label == other._device_label
                or not (self._host_accessible or other._host_accessible)
            )
        )

    def _host_memory(self):
        """The bytes from its first to its last element on the host, and an array of its shape and strides over them."""
        import numpy

        before, size = self._extent()
        memory = numpy.empty(size, numpy.uint8)
        self._to_host(plain(memory))
        return numpy.ndarray(self.shape, self.dtype, memory, before if size else 0, self.strides), memory

    def _host_view(self):
        import numpy

        if self._contiguous:
            host = numpy.empty(self.shape, self.dtype)
            self._to_host(plain(host))
            return host
        order = slowest_first(self.strides)
        turned = self.transpose(order)
        if turned._contiguous:
            return turned._host_view().transpose(put_back(order))
        return self._host_memory()[0].copy("K")


class _Nothing:
    def __enter__(self):
        return None

    def __exit__(self, *exception):
        return None


def _on(stream):
    if stream is None:
        return _Nothing()
    from xcuda.core.streams import a_stream

    return a_stream(stream)


def _on_a_gpu(values):
    """True for another library's array that NumPy can't see."""
    if hasattr(values, "__cuda_array_interface__"):
        return True
    device = getattr(values, "__dlpack_device__", None)
    return device is not None and not hasattr(values, "__array_interface__") and int(device()[0]) in (2, 13)


def _records_dtype(dtype):
    """The structured dtype that a user named, or None."""
    names = getattr(dtype, "names", None)
    if names is None and isinstance(dtype, list):
        import numpy

        return numpy.dtype(dtype)
    return dtype if names else None


def _shape(shape):
    lengths = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    return [length.__index__() for length in lengths]


made_empty = (
    None  # called with each array that `empty` makes, while xcuda.check looks for elements without a value
)


def empty(shape, dtype=None):
    """A device array with whatever the memory holds. dtype: float64 by default."""
    records = _records_dtype(dtype)
    if records is not None:
        return DeviceRecords.empty(_shape(shape), records)
    made = DeviceArray(_shape(shape), name_of(dtype))
    if made_empty is not None:
        made_empty(made)
    return made


def device_array(shape, dtype=None, strides=None, order="C", stream=None):
    """`empty` under numba's name."""
    if order not in ("C", "F"):
        raise ValueError(f"order is 'C' or 'F', not {order!r}")
    lengths = _shape(shape)
    if strides is not None and tuple(strides) != _strides(lengths, dtype, order):
        raise ValueError(
            "device arrays are made without gaps; take a slice of a larger one for other strides"
        )
    with _on(stream):
        return empty(lengths, dtype) if order == "C" else empty(lengths[::-1], dtype).T


def _strides(lengths, dtype, order):
    import numpy

    return numpy.ndarray(lengths, name_of(dtype), order=order).strides


def zeros(shape, dtype=None):
    """A device array of zeros."""
    made = empty(shape, dtype)
    (made._memory if isinstance(made, DeviceRecords) else made)._fill_bytes(0)
    return made


def full(shape, value, dtype=None):
    """A device array with `value` everywhere; its dtype is the value's unless given."""
    import numpy

    made = empty(shape, numpy.asarray(value).dtype if dtype is None else dtype)
    made.copy_to_device(value)
    return made


def ones(shape, dtype=None):
    """A device array of ones."""
    return full(shape, 1, name_of(dtype))


def _like(array, dtype):
    return tuple(array.shape), array.dtype if dtype is None else dtype


def empty_like(array, dtype=None):
    """`empty` with the shape and dtype of a host or device array."""
    return empty(*_like(array, dtype))


def device_array_like(array, stream=None):
    """A device array with the shape, dtype and order of axes (C or Fortran) of a host or device array."""
    return device_array(array.shape, array.dtype, order=order_of(array), stream=stream)


def order_of(array):
    """ "F" for an array in Fortran order that isn't in C order too, else "C"; as NumPy's `*_like` functions see it."""
    lengths = [
        (length, stride) for length, stride in zip(array.shape, array.strides, strict=True) if length != 1
    ]
    rising = all(a[1] <= b[1] for a, b in zip(lengths, lengths[1:], strict=False))
    return "F" if len(lengths) > 1 and rising and lengths[0][1] < lengths[-1][1] else "C"


def In(array):
    """As an argument: what a kernel writes there does not come back. The array on the device."""
    return array if is_cuda_array(array) else to_device(array)


def InOut(array):
    """As an argument: what a kernel writes there comes back, as it does by itself. The array as it is."""
    return array


Out = InOut


def zeros_like(array, dtype=None):
    """`zeros` with the shape and dtype of a host or device array."""
    return zeros(*_like(array, dtype))


def ones_like(array, dtype=None):
    """`ones` with the shape and dtype of a host or device array."""
    return ones(*_like(array, dtype))


def full_like(array, value, dtype=None):
    """`full` with the shape and dtype of a host or device array."""
    shape, dtype = _like(array, dtype)
    return full(shape, value, dtype)


def to_device(values, stream=None, copy=True, to=None):
    """A device array with the values of a host array or number; `to` is filled instead where given.

    Raises TypeError for dtypes that device arrays can't hold.
    """
    import numpy

    if isinstance(values, (DeviceArray, DeviceRecords)):
        return (
            values.copy()
            if copy and to is None
            else values
            if to is None
            else (to.copy_to_device(values), to)[1]
        )
    if _on_a_gpu(values):
        theirs = as_device_array(values)
        if to is None and not copy:
            return theirs
        with _on(stream):
            made = empty(theirs.shape, theirs._dtype_name) if to is None else to
            made.copy_to_device(theirs)
        return made
    values = numpy.asarray(values)
    if values.dtype.names is None and not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    with _on(stream):
        made = empty(values.shape, values.dtype) if to is None else to
        made.copy_to_device(values)
    return made


def as_device_array(array):
    """Another library's array as a device array over the same memory, which it keeps alive; ours as it is.

    Takes what has `__cuda_array_interface__` or DLPack: arrays of torch, CuPy, numba, JAX; on the CPU device host
    arrays with DLPack, too. Work in our current stream then comes after the library's work on it. Raises TypeError for
    what is no such array, ValueError for host memory where the device is a GPU.
    """
    if isinstance(array, (DeviceArray, DeviceRecords)):
        return array
    return DeviceArray(array)


def from_dlpack(array, /, *, device=None, copy=None):
    """A device array over the memory of an array with `__dlpack__`, as the array API has it.

    device: another one (a Device, its label or number) needs a copy. copy: True makes one, False refuses where one is
    needed (ValueError).
    """
    from xcuda.core.devices import Device

    wanted = None if device is None else Device(device)
    if not isinstance(array, DeviceArray) and not hasattr(array, "__dlpack__"):
        raise TypeError(f"{type(array).__name__} has no __dlpack__; cuda.to_device(...) copies arrays")
    try:
        made = as_device_array(array)
    except ValueError:
        if copy is False:
            raise
        import numpy

        with wanted or _Nothing():
            return to_device(numpy.from_dlpack(array))
    if wanted is None or made.device == wanted:
        return made.copy() if copy else made
    if copy is False:
        raise ValueError(
            f"the array lives on {made._device_label}: without a copy it can't be on {wanted.label}"
        )
    with wanted:
        moved = empty(made.shape, made._dtype_name)
    moved.copy_to_device(made)
    return moved


def as_cuda_array(array, sync=True):
    """`as_device_array` under numba's name. sync: wait at once for the library's work on it, as numba does."""
    made = as_device_array(array)
    if sync and made is not array:
        made._settle()
    return made


def is_cuda_array(value):
    """True for what kernels take without a copy from the host."""
    return isinstance(value, (DeviceArray, DeviceRecords)) or hasattr(value, "__cuda_array_interface__")

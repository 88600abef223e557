"""A sample's arguments: taken apart, copied, run on and set back."""

from __future__ import annotations

import numpy as np

from xcuda import _runtime


def kernel_of(given):
    """The Kernel behind a kernel or kernel[grid, block]. Raises TypeError for anything else."""
    found = given.kernel if isinstance(given, _runtime.Configured) else given
    if not isinstance(found, _runtime.Kernel):
        raise TypeError(f"optimize takes a kernel, or kernel[grid, block], not {type(given).__name__}")
    return found


def arguments_of(kernel, sample_data) -> tuple:
    """A value for each parameter: from all arguments, from one tuple of them, or from the first and the defaults.

    Raises TypeError naming the parameters that have neither.
    """
    if len(sample_data) == 1 and isinstance(sample_data[0], (tuple, list)):
        sample_data = tuple(sample_data[0])
    signature = kernel.__signature__
    names = list(signature.parameters)
    missing = [n for n in names[len(sample_data) :] if signature.parameters[n].default is signature.empty]
    if missing or len(sample_data) > len(names):
        given = f"{len(sample_data)} value{'s' if len(sample_data) != 1 else ''}"
        raise TypeError(
            f"{kernel.__name__}{signature} needs {' and '.join(missing) or 'fewer values'}: the sample has {given};"
            f" write optimize({kernel.__name__}, {', '.join(names)})"
        )
    bound = signature.bind(*sample_data)
    bound.apply_defaults()
    values = tuple(bound.arguments.values())
    for name, value in zip(names, values, strict=True):
        if not is_array(value) and not isinstance(value, (bool, int, float, np.generic)):
            raise TypeError(
                f"'{name}' is a {type(value).__name__}: the optimiser takes arrays and numbers"
                " (tuples, structs and functions make kernels of their own; call those as they are)"
            )
    return values


def is_array(value) -> bool:
    """True for host and device arrays, 0-dimensional ones too; NumPy's scalars are numbers."""
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, np.generic)


def on_device(value) -> bool:
    """True for an array in a device's memory, ours or another library's."""
    return is_array(value) and (hasattr(value, "copy_to_host") or hasattr(value, "__cuda_array_interface__"))


class Sample:
    """Copies of a call's arguments, with the same strides; `restore` gives them the sample's values again."""

    def __init__(self, values):
        from xcuda.core import as_device_array

        # What is given twice is copied once: the kernel sees one memory.
        seen: dict[int, object] = {}
        self.values = tuple(
            seen.setdefault(id(v), _twin(as_device_array(v) if on_device(v) else v)) if is_array(v) else v
            for v in values
        )
        self.host = tuple(to_host(v).copy() if is_array(v) else v for v in self.values)
        self._pristine: dict[int, object] = {}
        _refuse_overlaps(values)

    @property
    def device(self):
        """The device that the arrays live on; None where all are host arrays."""
        return next((v.device for v in self.values if on_device(v)), None)

    def restore(self, written) -> None:
        """Sets the arrays whose numbers are in `written` back."""
        for i in written:
            if i not in self._pristine:
                self._pristine[i] = self._beside(i)
            self.values[i][...] = self._pristine[i]

    def _beside(self, i):
        """The sample's values in the memory of the array that they go to; on the host where a device has no room."""
        if not on_device(self.values[i]):
            return self.host[i]
        try:
            kept = self.values[i].copy()
            kept[...] = self.host[i]
            return kept
        except MemoryError:
            return self.host[i]

    def results(self, written) -> list[np.ndarray]:
        """Copies of what the arrays hold now."""
        return [to_host(self.values[i]).copy() for i in written]


def to_host(array) -> np.ndarray:
    """The array's values as a NumPy array; of a host array itself."""
    return array.copy_to_host() if hasattr(array, "copy_to_host") else np.asarray(array)


def _twin(array):
    if on_device(array):
        return array.copy()
    array = np.asarray(array)
    if array.size == 0 or array.flags.c_contiguous:
        return array.copy()
    low = sum(min(0, s * (n - 1)) for n, s in zip(array.shape, array.strides, strict=True))
    high = sum(max(0, s * (n - 1)) for n, s in zip(array.shape, array.strides, strict=True))
    memory = np.zeros(high - low + array.itemsize, np.uint8)
    twin = np.ndarray(array.shape, array.dtype, memory, -low, array.strides)
    twin[...] = array
    return twin


def _refuse_overlaps(values):
    arrays = [np.asarray(v) for v in {id(v): v for v in values if is_array(v) and not on_device(v)}.values()]
    for i, one in enumerate(arrays):
        if any(np.may_share_memory(one, other) for other in arrays[:i]):
            raise ValueError(
                "two arrays of the sample overlap, and a copy of each would not: give separate arrays"
            )

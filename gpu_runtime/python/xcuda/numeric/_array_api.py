"""What the array API standard (2024.12) asks of a namespace: devices by argument, and what the namespace can do."""

import numpy

from xcuda import _runtime
from xcuda.core.devices import Device, devices

from ._array import array, ndarray


def to_device(self, device, /, *, stream=None):
    """The array on that device: itself where it lies there, else a copy."""
    if stream is not None:
        raise ValueError("numeric orders its work by itself: the stream argument has to be None")
    where = Device(device)
    if where.label == self._device_label:
        return self
    with where:
        return array(self.get())


def namespace(self, *, api_version=None):
    """The module, as the array namespace of the standard's `api_version` (a string such as "2024.12")."""
    from xcuda import numeric

    numpy.empty(0).__array_namespace__(
        api_version=api_version
    )  # raises for versions that NumPy does not know
    return numeric


class NamespaceInfo:
    """numpy.__array_namespace_info__ for numeric's devices."""

    __module__ = "xcuda.numeric"

    def __init__(self):
        self._numpy = numpy.__array_namespace_info__()

    def capabilities(self):
        """What the standard lets a namespace leave out."""
        return {**self._numpy.capabilities(), "max dimensions": 64}

    def default_device(self):
        """The current device, where new arrays go."""
        return Device(_runtime.current_device_label())

    def devices(self):
        """All devices of this process."""
        return devices()

    def default_dtypes(self, *, device=None):
        """The dtypes of new arrays by kind; the same on every device."""
        if device is not None:
            Device(device)
        return self._numpy.default_dtypes()

    def dtypes(self, *, device=None, kind=None):
        """Dtypes by name, of one kind or a tuple of kinds; the same on every device."""
        if device is not None:
            Device(device)
        return self._numpy.dtypes(kind=kind)


ndarray.to_device = to_device
ndarray.__array_namespace__ = namespace

"""The devices of this process: GPUs first, the embedded CPU device last."""

import re
from difflib import get_close_matches

from xcuda import _runtime


def _limit(kind, nbytes):
    """Bytes of a limit; 0: none."""
    nbytes = 0 if nbytes is None else nbytes.__index__()
    if nbytes < 0:
        raise ValueError(f"a {kind} limit is a number of bytes, or None; not {nbytes}")
    return nbytes


class Device(_runtime.DeviceBase):
    """A device by number (in the order of `devices()`), by label ("cpu", "cuda:0"), or the current one.

    `with Device(1):` makes it current for this thread or asyncio task.
    """

    def __init__(self, which=None):
        super().__init__(_label(which))
        self._outer = []

    def __enter__(self):
        self._outer.append(_runtime.current_device.get())
        _runtime.current_device.set(self)
        return self

    def __exit__(self, *exception):
        _runtime.current_device.set(self._outer.pop())

    def use(self):
        """Makes it the current device from here on."""
        _runtime.current_device.set(self)
        return self

    @property
    def id(self):
        """Its number in `devices()`."""
        return _runtime.device_labels().index(self.label)

    @property
    def compute_capability(self):
        """(major, minor) of a GPU; (0, 0) on the CPU device."""
        found = re.fullmatch(r"sm_(\d+)(\d)[a-z]?", self.architecture)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    @property
    def device(self):
        """The device itself, where numba's contexts have it."""
        return self

    @property
    def memory_info(self):
        """(bytes to be had now, total bytes)."""
        memory = self.memory()
        return memory["available"], memory["total"]

    @property
    def memory_limit(self):
        """Bytes that arrays on it may use together; None: whatever it has. XCUDA_MEMORY_LIMIT at first."""
        return self.memory()["limit"] or None

    @memory_limit.setter
    def memory_limit(self, nbytes):
        self._set_memory_limit(_limit("memory", nbytes))

    @property
    def spill_limit(self):
        """Bytes of pinned host memory that arrays of a full GPU may move to; None: none, which it is at first.

        Arrays of 2 MiB and more that are made from then on may move, those used longest ago first, where a new array
        would not fit. They keep their addresses: kernels read and write them there, if more slowly, and they come back
        when there is room. What other libraries were given stays where it is.
        """
        return self.memory()["spill_limit"] or None

    @spill_limit.setter
    def spill_limit(self, nbytes):
        self._set_spill_limit(_limit("spill", nbytes))

    def get_memory_info(self):
        """(free, total) bytes, under the name that numba's contexts have."""
        return self.memory_info

    def reset(self):
        """Waits for all work on the device. Memory goes back when its arrays go."""
        self.synchronize()

    def __getattr__(self, name):
        if name in _NUMBAS:
            return _NUMBAS[name](self)
        try:
            return self.attributes[name]
        except KeyError:
            pass
        near = get_close_matches(
            name, [n for n in [*self.attributes, *_NUMBAS, *dir(type(self))] if n[0] != "_"], 1
        )
        meant = f"; did you mean '{near[0]}'?" if near else ""
        raise AttributeError(f"a Device has no attribute '{name}'{meant}")

    def __eq__(self, other):
        return self.label == (
            other.label if isinstance(other, Device) else other
        )  # labels, as array APIs have them

    def __hash__(self):
        return hash(self.label)

    def __repr__(self):
        return f"<Device {self.label}: {self.name}>"


# What numba calls a device's attributes, after the driver's own names.
_NUMBAS = {
    "MULTIPROCESSOR_COUNT": lambda d: d.multiprocessors,
    "WARP_SIZE": lambda d: 32,  # of a kernel's warps, on the CPU device too
    "MAX_THREADS_PER_BLOCK": lambda d: d.max_threads_per_block,
    "MAX_BLOCK_DIM_X": lambda d: d.max_block[0],
    "MAX_BLOCK_DIM_Y": lambda d: d.max_block[1],
    "MAX_BLOCK_DIM_Z": lambda d: d.max_block[2],
    "MAX_GRID_DIM_X": lambda d: d.max_grid[0],
    "MAX_GRID_DIM_Y": lambda d: d.max_grid[1],
    "MAX_GRID_DIM_Z": lambda d: d.max_grid[2],
    "COMPUTE_CAPABILITY_MAJOR": lambda d: d.compute_capability[0],
    "COMPUTE_CAPABILITY_MINOR": lambda d: d.compute_capability[1],
}


def _label(which):
    if which is None:
        return _runtime.current_device_label()
    if isinstance(which, _runtime.DeviceBase):
        return which.label
    labels = _runtime.device_labels()
    if isinstance(which, str):
        label = "cuda:0" if which == "cuda" else which
        if label not in labels:
            raise ValueError(
                f"there is no device {label} here; there are: {', '.join(labels)}{_no_gpu(labels)}"
            )
        return label
    if isinstance(which, bool) or not hasattr(which, "__index__"):
        raise TypeError(f"a device is a number or a label ({', '.join(labels)}), not {which!r}")
    number = which.__index__()
    if not 0 <= number < len(labels):
        raise ValueError(
            f"there is no device {number} here; there are: "
            + ", ".join(f"{i} ({label})" for i, label in enumerate(labels))
            + _no_gpu(labels)
        )
    return labels[number]


def _no_gpu(labels):
    return "" if any(label != "cpu" for label in labels) else "; `xcuda doctor` says why no GPU was found"


def devices():
    """All devices of this process."""
    return [Device(label) for label in _runtime.device_labels()]


def get_current_device():
    """The device of `with Device(n):` here, else the process' default."""
    return Device()


current_context = get_current_device


def select_device(which):
    """Makes a device current from here on; gives it."""
    return Device(which).use()


def is_available():
    """True if kernels can run: on a GPU, or on the CPU device where there is none."""
    return bool(_runtime.device_labels())


def detect():
    """Prints the devices found; True if there is one."""
    found = devices()
    print(f"Found {len(found)} device{'s' if len(found) != 1 else ''}")
    for number, device in enumerate(found):
        print(f"id {number}    {device.label:<8}{device.name}    [{device.architecture}]")
    return bool(found)


def synchronize():
    """Waits for all work on the current device; raises the first error of a launch."""
    Device().synchronize()

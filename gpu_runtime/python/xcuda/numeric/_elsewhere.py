"""What CuPy's users look for here, and NumPy has not: what to write instead."""

from xcuda.core.elsewhere import NO_GRADIENTS

_KERNEL = "write @cuda.kernel, a kernel in Python (from xcuda import core as cuda)"
_ELEMENTWISE = (
    "write @cuda.vectorize (from xcuda import core as cuda), or the formula itself: it becomes one kernel"
)
_STREAMS = "devices, streams, events and memory are in xcuda.core: from xcuda import core as cuda"
_MEMORY = "%cuda_mem and cuda.memory_info() tell what a device's memory holds, %cuda_free gives it back"
_HOST = "cuda.pinned_array(shape, dtype) of xcuda.core is host memory that copies fast"

INSTEAD = {
    "ElementwiseKernel": _ELEMENTWISE,
    "ReductionKernel": "write @cuda.reduce (from xcuda import core as cuda)",
    "RawKernel": _KERNEL,
    "RawModule": _KERNEL,
    "fuse": "leave it out: operations are computed together as they are",
    "cuda": _STREAMS,
    "cupyx": _STREAMS,
    "get_array_module": "leave it out: NumPy's functions take these arrays too, and these functions NumPy's arrays",
    "get_default_memory_pool": _MEMORY,
    "get_default_pinned_memory_pool": _MEMORY,
    "clear_memo": "leave it out: compiled kernels are kept within bounds (%cuda_cache)",
    "memoize": "functools.cache does that",
    "empty_pinned": _HOST,
    "zeros_pinned": _HOST,
    "scatter_add": "write numpy.add.at(a, indices, values)",
}

_TO_HOST = "x.get() is a NumPy array of it"
_TO_DEVICE = "with cuda.Device(1): np.array(x) copies it to another device"
OF_ARRAYS = {
    "cpu": _TO_HOST,
    "numpy": _TO_HOST,
    "to_numpy": _TO_HOST,
    "to_host": _TO_HOST,
    "detach": _TO_HOST,
    "copy_to_host": _TO_HOST,
    "to": f"{_TO_HOST}, {_TO_DEVICE}",
    "cuda": _TO_DEVICE,
    "block_until_ready": "np.flush() starts what is pending, cuda.synchronize() waits for it",
    "compute": "np.flush() computes what is pending; looking at the array does it, too",
    "requires_grad": NO_GRADIENTS.format(d="x"),
    "backward": NO_GRADIENTS.format(d="x"),
}


class Missing:
    """An attribute that other libraries' arrays have, and these have not: says what to write. A descriptor, since a
    __getattr__ would cost every other attribute's lookup."""

    def __init__(self, name: str, advice: str):
        self.name, self.advice = name, advice

    def __get__(self, array, kind=None):
        raise AttributeError(
            f"'ndarray' object has no attribute {self.name!r}; {self.advice}", name=self.name, obj=array
        )


def explain(cls: type) -> None:
    """Gives the class the attributes of OF_ARRAYS, which neither dir() nor completion lists."""
    for name, advice in OF_ARRAYS.items():
        setattr(cls, name, Missing(name, advice))
    cls.__dir__ = lambda self: [name for name in object.__dir__(self) if name not in OF_ARRAYS]

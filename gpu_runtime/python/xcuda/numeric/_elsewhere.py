"""What CuPy's users look for here, and NumPy has not: what to write instead."""

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

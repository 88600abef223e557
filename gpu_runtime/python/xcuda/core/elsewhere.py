"""What is looked for in `cuda` and is not there: what to write instead."""

INSTEAD = {
    "array": "cuda.to_device([1, 2, 3]) makes one of a list, cuda.zeros and cuda.device_array of a shape",
    "asarray": "write cuda.to_device(x), or cuda.as_cuda_array(x) for an array that is on a device",
    "asnumpy": "write d.copy_to_host()",
    "close": "leave it out: %cuda_free gives memory back, and the end of the process the rest",
    "mem_alloc": "write cuda.device_array(shape, dtype)",
    "memcpy_htod": "write cuda.to_device(x), or d.copy_to_device(x)",
    "memcpy_dtoh": "write d.copy_to_host()",
}


def instead(name: str) -> str:
    """The end of the sentence that says that there is no such name; also for functions of NumPy's."""
    if name in INSTEAD:
        return f"; {INSTEAD[name]}"
    import numpy

    if callable(getattr(numpy, name, None)) and not name.startswith("_"):
        return f"; whole arrays are xcuda.numeric's: import xcuda.numeric as np, np.{name}(...)"
    return ""

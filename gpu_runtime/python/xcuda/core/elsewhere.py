"""What is looked for in `cuda` and is not there: what to write instead."""

INSTEAD = {
    "array": "cuda.to_device([1, 2, 3]) makes one of a list, cuda.zeros and cuda.device_array of a shape",
    "asarray": "write cuda.to_device(x), or cuda.as_cuda_array(x) for an array that is on a device",
    "asnumpy": "write d.copy_to_host()",
    "profile": "write profiler.profile() (from xcuda import profiler), or %%cuda_profile above a cell",
    "profiling": "write profiler.profile() (from xcuda import profiler), or %%cuda_profile above a cell",
    "close": "leave it out: %cuda_free gives memory back, and the end of the process the rest",
    "mem_alloc": "write cuda.device_array(shape, dtype)",
    "memcpy_htod": "write cuda.to_device(x), or d.copy_to_device(x)",
    "memcpy_dtoh": "write d.copy_to_host()",
}

# Of arrays, by those who come from CuPy, PyTorch and JAX. {d}: such an array.
_TO_HOST = "{d}.copy_to_host() is a NumPy array of it"
_TO_DEVICE = "with cuda.Device(1): cuda.to_device({d}) copies it to another device"
NO_GRADIENTS = "there are no gradients here: torch.as_tensor({d}) shares its memory with PyTorch"
OF_ARRAYS = {
    "get": _TO_HOST,
    "cpu": _TO_HOST,
    "numpy": _TO_HOST,
    "to_numpy": _TO_HOST,
    "to_host": _TO_HOST,
    "detach": _TO_HOST,
    "to": f"{_TO_HOST}, {_TO_DEVICE}",
    "cuda": _TO_DEVICE,
    "to_device": _TO_DEVICE,
    "block_until_ready": "cuda.synchronize() waits for it",
    "requires_grad": NO_GRADIENTS,
    "backward": NO_GRADIENTS,
}
# Of kernels, by those who come from numba, CuPy, PyCUDA and Triton. {k}: the kernel's name.
_SOURCE = "%cuda_source {k} shows what became of it"
_FIGURES = "%cuda_occupancy {k} tells registers, shared memory and what limits it"
OF_KERNELS = {
    "ptx": "%cuda_source {k} --ptx shows it",
    "asm": "%cuda_source {k} --asm shows it",
    "sass": "%cuda_source {k} --sass shows it",
    "source": _SOURCE,
    "code": _SOURCE,
    "num_regs": _FIGURES,
    "n_regs": _FIGURES,
    "n_spills": _FIGURES,
    "local_size_bytes": _FIGURES,
    "shared_size_bytes": _FIGURES,
    "max_threads_per_block": _FIGURES,
    "parallel_diagnostics": "%cuda_advise {k} tells what could be faster",
    "warmup": "{k}.compile(...) compiles it before its first call",
    "run": "call it: {k}[grid, block](...), or {k}(...)",
    "launch": "call it: {k}[grid, block](...), or {k}(...)",
    "prepare": "{k}.bind(...) prepares a call that is made many times",
}


def of_an_array(name: str) -> str:
    """The end of the sentence that says that an array has no such attribute."""
    return f"; {OF_ARRAYS[name].format(d='d')}" if name in OF_ARRAYS else ""


def of_a_kernel(name: str, kernel: str) -> str:
    """The end of the sentence that says that a kernel has no such attribute."""
    advice = OF_KERNELS.get(name, _SOURCE if name.startswith("inspect_") else "")
    return f"; {advice.format(k=kernel)}" if advice else ""


def instead(name: str) -> str:
    """The end of the sentence that says that there is no such name; also for functions of NumPy's."""
    if name in INSTEAD:
        return f"; {INSTEAD[name]}"
    import numpy

    if callable(getattr(numpy, name, None)) and not name.startswith("_"):
        return f"; whole arrays are xcuda.numeric's: import xcuda.numeric as np, np.{name}(...)"
    return ""

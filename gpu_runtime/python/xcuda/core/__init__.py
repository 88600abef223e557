"""Kernels, arrays, streams and devices: `import xcuda.core as cuda`.

The names that numba-cuda's users know are here too.
"""

import importlib
import os

from xcuda import _runtime as _runtime
from xcuda.core import types
from xcuda.core.arrays import (
    DeviceArray,
    In,
    InOut,
    Out,
    as_cuda_array,
    as_device_array,
    device_array,
    device_array_like,
    empty,
    empty_like,
    from_dlpack,
    full,
    full_like,
    is_cuda_array,
    ones,
    ones_like,
    to_device,
    zeros,
    zeros_like,
)
from xcuda.core.definition import KernelWarning
from xcuda.core.devices import (
    Device,
    current_context,
    detect,
    devices,
    get_current_device,
    is_available,
    select_device,
    synchronize,
)
from xcuda.core.dtypes import NAMES as _DTYPES
from xcuda.core.errors import (
    DeviceLostError,
    DeviceMemoryError,
    InternalError,
    KernelSyntaxError,
    MachineError,
    XcudaError,
)
from xcuda.core.graphs import Graph, graph
from xcuda.core.host_arrays import defer_cleanup, managed_array, mapped_array, mapped_array_like
from xcuda.core.kernels import Launch, device_function, jit, kernel
from xcuda.core.language import __getattr__ as _language_name
from xcuda.core.language import (
    atomic,
    blockDim,
    blockIdx,
    cg,
    const,
    grid,
    gridDim,
    gridsize,
    local,
    shared,
    shfl_sync_intrinsic,
    syncthreads,
    threadIdx,
    vote_sync_intrinsic,
    warpsize,
)
from xcuda.core.language import table_names as _table_names
from xcuda.core.pinned import is_pinned, pinned, pinned_array, pinned_array_like
from xcuda.core.streams import (
    Event,
    Stream,
    current_stream,
    default_stream,
    event,
    event_elapsed_time,
    external_stream,
    legacy_default_stream,
    per_thread_default_stream,
    stream,
)


def _relieve():
    from xcuda.core.memory import relieve

    relieve()


def _crash_file():
    """Where the notebook's kernel writes what is to be known of a crash; empty outside one and in its children."""
    owner, _, path = os.environ.get("XCUDA_CRASH_FILE", "").partition(":")
    return path if owner == str(os.getpid()) else ""


_LATER = {
    "CUSource": "foreign",
    "Reduce": "reduction",
    "carray": "pointers",
    "declare_device": "foreign",
    "guvectorize": "rowwise",
    "farray": "pointers",
    "progress": "progress_line",
    "reduce": "reduction",
    "vectorize": "elementwise",
}
_runtime.write_crashes_to(_crash_file())
_runtime.set_array_class(DeviceArray)
_runtime.set_relief(_relieve)
device = device_function

__all__ = [
    "kernel",
    "jit",
    "device",
    "device_function",
    "Launch",
    "KernelWarning",
    "grid",
    "gridsize",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "syncthreads",
    "shfl_sync_intrinsic",
    "vote_sync_intrinsic",
    "warpsize",
    "shared",
    "local",
    "const",
    "cg",
    "atomic",
    "DeviceArray",
    "In",
    "Out",
    "InOut",
    "to_device",
    "device_array",
    "device_array_like",
    "as_cuda_array",
    "as_device_array",
    "from_dlpack",
    "pinned",
    "progress",
    "pinned_array",
    "pinned_array_like",
    "is_pinned",
    "is_cuda_array",
    "mapped_array",
    "mapped_array_like",
    "managed_array",
    "defer_cleanup",
    "empty",
    "empty_like",
    "zeros",
    "zeros_like",
    "ones",
    "ones_like",
    "full",
    "full_like",
    "Stream",
    "stream",
    "default_stream",
    "legacy_default_stream",
    "per_thread_default_stream",
    "external_stream",
    "current_stream",
    "Event",
    "event",
    "event_elapsed_time",
    "Graph",
    "graph",
    "synchronize",
    "Device",
    "devices",
    "gpus",
    "list_devices",
    "get_current_device",
    "select_device",
    "current_context",
    "is_available",
    "detect",
    "kernel_accuracy",
    "kernel_names",
    "reduce",
    "Reduce",
    "vectorize",
    "guvectorize",
    "declare_device",
    "CUSource",
    "carray",
    "farray",
    "check",
    "checking",
    "debug",
    "draw",
    "verify",
    "memory_info",
    "trim_memory",
    "DeviceMemoryError",
    "bf16",
    "fp16",
    "fp8",
    "is_float16_supported",
    "is_fp8_supported",
    "is_bfloat16_supported",
    "DeviceLostError",
    "XcudaError",
    "KernelSyntaxError",
    "MachineError",
    "InternalError",
    "types",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bool_",
    "boolean",
    "intp",
    "uintp",
    "void",
]


def __getattr__(name):
    if name in types.__all__:
        return getattr(types, name)
    if name in ("memory_info", "trim_memory"):
        from xcuda.core import memory

        return getattr(memory, name)
    if name in ("profiler", "compile_kernel"):  # as `cuda.profiler`; the package knows its parts
        import xcuda

        return xcuda.profiler if name == "profiler" else xcuda.jit.compile_kernel
    if name in ("check", "checking", "debug", "draw", "verify"):
        import xcuda

        return getattr(xcuda.check, name)
    if name == "gpus":
        return devices()
    if name in ("bf16", "fp16", "fp8"):
        return importlib.import_module(f"xcuda.core.{name}")
    if name in _LATER:  # not everybody's: imported when asked for
        return getattr(importlib.import_module(f"xcuda.core.{_LATER[name]}"), name)
    if name[-1:] in "1234" and name[:1].isalpha():
        from xcuda.core.vectors import BY_NAME

        if name in BY_NAME:
            return BY_NAME[name]
    if not name.startswith("_"):
        try:
            return _language_name(name)
        except AttributeError:
            pass
    from xcuda.core.elsewhere import instead

    raise AttributeError(f"module 'xcuda.core' has no attribute '{name}'{instead(name)}")


def __dir__():
    return sorted({*globals(), *__all__, *_table_names(), "profiler", "compile_kernel"})


def list_devices():
    """All devices of this process."""
    return devices()


def is_float16_supported():
    """True: kernels take float16 on every device."""
    return True


def is_bfloat16_supported():
    """True where kernels take bfloat16."""
    return "bfloat16" in _DTYPES


def is_fp8_supported():
    """True: kernels take the 8-bit floating formats on every device."""
    return True


def kernel_accuracy():
    """How far results may be off, in units in the last place: {name: {"cpu" or "cuda": {"float32": ulp, ...}}}.

    0 stands for correctly rounded or exact. Without fast math; complex results are not in it.
    """
    return _runtime.kernel_accuracy()


def kernel_names():
    """The kernel language's functions: [(name, spellings, NumPy's twin, one line on it)]."""
    return _runtime.kernel_functions()

"""Work on a GPU that this library knows nothing of: kernels, copies and fills asked of the fake driver by ctypes."""

import ctypes

import fake_cuda

NAME = b"_ZN3lib5scaleIfEEvPT_S2_i"  # void lib::scale<float>(float*, float*, int)
PTX = b".version 9.0 .target sm_90 .entry " + NAME + b"() { ret; }\0"


def _ask(function, *arguments):
    result = getattr(fake_cuda.driver.c, function)(*arguments)
    assert result == 0, f"{function} answered {result}"


def enter_context():
    """The primary context becomes current on this thread, as another library would have it."""
    context = ctypes.c_void_p()
    _ask("cuInit", 0)
    _ask("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    _ask("cuCtxSetCurrent", context)


def graph(kernels=2, grid=7, block=64):
    """A function that replays a graph of so many kernels lib::scale<float>, made by capture."""
    module, function, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    made, ready = ctypes.c_void_p(), ctypes.c_void_p()
    _ask("cuModuleLoadData", ctypes.byref(module), PTX)
    _ask("cuModuleGetFunction", ctypes.byref(function), module, NAME)
    _ask("cuStreamCreate", ctypes.byref(stream), 1)
    _ask("cuStreamBeginCapture_v2", stream, 1)
    for _ in range(kernels):
        _ask("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, stream, None, None)
    _ask("cuStreamEndCapture", stream, ctypes.byref(made))
    _ask("cuGraphInstantiateWithFlags", ctypes.byref(ready), made, ctypes.c_uint64(0))
    return lambda: _ask("cuGraphLaunch", ready, stream)


def kernel(times=1, grid=7, block=64, shared=256):
    """Launches lib::scale<float> on the default stream."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    _ask("cuModuleLoadData", ctypes.byref(module), PTX)
    _ask("cuModuleGetFunction", ctypes.byref(function), module, NAME)
    for _ in range(times):
        _ask("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, shared, None, None, None)


def copies(size=4096):
    """A fill, a copy within the GPU and one to the host, of `size` bytes each."""
    a, b = ctypes.c_uint64(), ctypes.c_uint64()
    host = ctypes.create_string_buffer(size)
    for address in (a, b):
        _ask("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    _ask("cuMemsetD8Async", a, ctypes.c_ubyte(1), ctypes.c_size_t(size), None)
    _ask("cuMemcpyAsync", b, a, ctypes.c_size_t(size), None)
    _ask("cuMemcpyDtoHAsync_v2", host, b, ctypes.c_size_t(size), None)
    assert host.raw[:4] == b"\1\1\1\1"

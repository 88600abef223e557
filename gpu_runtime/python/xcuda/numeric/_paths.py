"""Which of a function's two native ways runs: NumPy over the same memory on the CPU device, kernels elsewhere."""

import functools
from contextlib import contextmanager, nullcontext

import numpy

from xcuda import _runtime

from ._array import DeviceArray, adopt, array, ndarray
from ._dtypes import held
from ._fallback import on_host, to_host
from ._registry import NotHeldError, register

_everywhere = False  # tests: the kernels' way on the CPU device, too


class ByNumpy(Exception):
    """Raised by a kernels' way for arguments that device arrays can't hold, or that it has no kernel for."""


@contextmanager
def kernels_everywhere():
    """The kernels' way is taken on the CPU device as on a GPU."""
    global _everywhere
    before, _everywhere = _everywhere, True
    try:
        yield
    finally:
        _everywhere = before


def _first_array(values):
    for value in values:
        if isinstance(value, ndarray):
            return value
        if type(value) in (list, tuple):
            found = _first_array(value)
            if found is not None:
                return found
    return None


def on_host_memory(*values):
    """True where NumPy can have the arrays' memory as it is."""
    if _everywhere:
        return False
    found = _first_array(values)
    return _runtime.current_device_label() == "cpu" if found is None else found._host_accessible


def device_of(*values):
    """Makes the arrays' device the current one: what kernels write to is made there."""
    found = _first_array(values)
    if found is None or found._device_label == _runtime.current_device_label():
        return nullcontext()
    return found.device


def native_twice(*names, reference, writes=None, partly=""):
    """Registers the kernels' way below under the names; on the CPU device `reference` of NumPy's does the work.

    writes: the place of an argument that the function writes to.
    """

    def make(kernels):
        name = names[0] if names else kernels.__name__

        @functools.wraps(kernels)
        def call(*args, **kwargs):
            if on_host_memory(args, *kwargs.values()):
                return by_numpy(reference, args, kwargs, writes)
            try:
                with device_of(*args, *kwargs.values()):
                    return kernels(*args, **kwargs)
            except ByNumpy:
                return on_host(name, reference, args, kwargs)
            except NotHeldError:
                return on_host(name, reference, args, kwargs, of_host_values=True)

        call.on_cpu = "NumPy"  # for tables of what runs where
        for each in names or (kernels.__name__,):
            register(each, call, kernels.__module__, partly)
        return call

    return make


def by_numpy(function, args, kwargs, writes=None):
    """Calls NumPy's function over the arrays' own memory; its results are numeric's arrays."""
    hosts = [_host(a) for a in args]
    if not kwargs:
        result = function(*hosts)
    else:
        host_kwargs = {k: _host(v) for k, v in kwargs.items()}
        result = function(*hosts, **host_kwargs)
        hosts += host_kwargs.values()
        out = kwargs.get("out")
        if out is not None:
            if isinstance(out, tuple) and len(out) == 1:
                out, host_kwargs["out"] = out[0], _only(host_kwargs["out"])
            if isinstance(out, ndarray):
                _written(out, host_kwargs["out"])
                return out
    if writes is not None and isinstance(args[writes], ndarray):
        _written(args[writes], hosts[writes])
    if result is None:
        return None
    if isinstance(result, numpy.ndarray):
        for k, h in enumerate(hosts):  # an `out` by its place
            if h is result:
                a = args[k] if k < len(args) else None
                if not isinstance(a, ndarray):
                    return array(result)
                _written(a, h)
                return a
    return _ours(result, hosts)


def _only(value):
    return value[0] if isinstance(value, tuple) else value


def _host(value):
    if isinstance(value, ndarray):
        return value._host()
    return value if isinstance(value, (int, float, str, type(None))) else to_host(value)


def _written(ours, host):
    if ours.ndim > 8:  # its host array is a copy
        ours[...] = array(host)


def _ours(value, hosts):
    if type(value) is numpy.ndarray:
        if not held(value.dtype):
            return value
        # Results are NumPy's own, or views of what NumPy made, unless they are of what it was given.
        own = value.flags.writeable and (value.base is None or not _shares(value, hosts))
        return adopted(value) if own else array(value)
    if isinstance(value, numpy.generic):
        return adopted(numpy.array(value)) if held(value.dtype) else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_ours(v, hosts) for v in value))
    if type(value) in (list, tuple):
        return type(value)([_ours(v, hosts) for v in value])
    return value


def _shares(value, hosts):
    for host in hosts:
        if isinstance(host, numpy.ndarray):
            if numpy.may_share_memory(value, host):
                return True
        elif type(host) in (list, tuple) and _shares(value, host):
            return True
    return False


def adopted(host):
    """numeric's array over the memory of a host array that nobody else has."""
    if host.size and host.dtype.kind != "V" and host.ndim <= 8 and _runtime.current_device_label() == "cpu":
        return _runtime.numeric_from_device(DeviceArray(host))
    return adopt(host)


def held_array(value):
    """The value as numeric's array; ByNumpy where it can't be one."""
    made = value if isinstance(value, ndarray) else array(value, copy=None)
    if not isinstance(made, ndarray):
        raise ByNumpy
    return made


def stand_in(a):
    """A host array of the same shape and dtype that takes no memory: what NumPy checks before it computes."""
    return numpy.broadcast_to(numpy.zeros((), a.dtype), a.shape)


def as_numpy_raises(function, *args, **kwargs):
    """Lets NumPy raise its error for these arguments, arrays by stand-ins of their shape and dtype."""

    def stand(value):
        if isinstance(value, ndarray):
            return stand_in(value)
        return type(value)(map(stand, value)) if type(value) in (list, tuple) else value

    return function(*map(stand, args), **{k: stand(v) for k, v in kwargs.items()})


def given(made, out):
    """The result, in `out` where one was given."""
    if out is None:
        return made
    out = _only(out)
    out[...] = made
    return out


def memory_of(a):
    """(the array's memory as a 1-d array from its lowest address on, where its first element lies in it)."""
    lowest = extent = 0
    if a.size:
        for n, step in zip(a.shape, steps_of(a), strict=True):
            lowest += min(0, (n - 1) * step)
            extent += (n - 1) * abs(step)
        extent += 1
    return a._view(lowest, [extent], [1]), -lowest


def steps_of(a):
    """The strides in elements."""
    return [s // a.itemsize for s in a.strides]


def as_kernels_see(a):
    """core's DeviceArray of the same memory."""
    return a._into(DeviceArray)

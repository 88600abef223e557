"""`compile_kernel`: where a kernel may run, and how hard it is compiled."""

from __future__ import annotations

import functools
import re
import types
import warnings

from xcuda import _runtime
from xcuda.core.kernels import kernel
from xcuda.core.signatures import signatures_from
from xcuda.core.types import is_signature, is_type
from xcuda.jit import files

TARGETS = {
    "auto": "where its device arrays are; else on the current device",
    "gpu": "on a GPU; on the CPU device where there is none, which is noted once",
    "cpu": "on the embedded CPU device",
    "sm_NN": "for that architecture; launched only where a device has it",
}

OPTIMIZE = {
    "none": "no optimisation, a * b + c rounded twice: the quickest to compile, the slowest to run",
    "default": "everything that leaves results as NumPy has them",
    "aggressive": "fast math too, and versions in which integers and lengths up to 32 that stayed the same for three"
    " calls are constants (at most 8 versions; other calls run the general one)",
}

_LEVELS = {"none": {"opt": False, "fma": False}, "default": {}, "aggressive": {"fastmath": True}}


def compile_kernel(
    function=None, signature=None, *, target="auto", optimize="default", checked=True, **options
):
    """Makes a kernel of a function for a target: `@compile_kernel(target="gpu", optimize="aggressive")`.

    signature: types to compile for at once, as `cuda.kernel` takes them.
    target: one of TARGETS; "sm_90" and the like compile for that GPU, and `k.compile(types)` tells registers, spills
        (local_bytes) and occupancy; a call where no device is one raises MachineError with these figures.
    optimize: one of OPTIMIZE. With "aggressive", integers, NaN tests and powers of negative numbers mean what they did.
    checked: False leaves out the tests of indices, divisors and asserts. No level does so by itself.
    options: fastmath, fma, max_registers and launch_bounds as `cuda.kernel` takes them, over what `optimize` says.

    Raises ValueError for a target or level that is none, TypeError for what is no plain function.
    """
    if function is not None and (not callable(function) or is_type(function) or is_signature(function)):
        function, signature = None, function
    _check(target, optimize, options)
    if function is None:
        return functools.partial(
            compile_kernel, signature=signature, target=target, optimize=optimize, checked=checked, **options
        )
    if getattr(type(function), "__xcuda_kernel__", False):
        raise TypeError(
            f"{function.__name__} is a kernel already: write @compile_kernel(...) instead of @cuda.kernel"
        )
    made = kernel(function, checked=checked, **(_LEVELS[optimize] | options))
    held = _held_to(target)
    _runtime.tune(made, only_on=held or "", routed=held is None, adaptive=optimize == "aggressive")
    made.about.only_on = held or ""
    made.target, made.optimize = target, optimize
    made.save = types.MethodType(files.save, made)
    if target.startswith("sm_"):
        made.about.architecture = target
    if held is None:
        made.about.route = functools.partial(_refuse, made, target)
    for one in signatures_from(signature) if signature is not None else ():
        made.compile(one)
    return made


def _check(target, optimize, options):
    if not isinstance(target, str) or target not in ("auto", "gpu", "cpu") and not _SM.fullmatch(target):
        raise ValueError(f'target is "auto", "gpu", "cpu" or an architecture like "sm_90", not {target!r}')
    if not isinstance(optimize, str) or optimize not in OPTIMIZE:
        raise ValueError(f'optimize is "none", "default" or "aggressive", not {optimize!r}')
    unknown = set(options) - {"fastmath", "fma", "max_registers", "launch_bounds"}
    if unknown:
        raise TypeError(
            f"compile_kernel() has no option '{min(unknown)}'; there are signature, target, optimize, checked, "
            "fastmath, fma, max_registers and launch_bounds"
        )


_SM = re.compile(r"sm_\d{2,3}[a-z]?")


def _held_to(target):
    """What the runtime holds the kernel to ("": nothing); None where no device here may run it."""
    if target == "auto":
        return ""
    from xcuda.core.devices import devices

    if target == "cpu":
        return "cpu"
    gpus = [device for device in devices() if device.label.startswith("cuda")]
    if target == "gpu":
        if not gpus:
            _note_no_gpu()
        return "cuda" if gpus else "cpu"
    fitting = [gpu for gpu in gpus if gpu.architecture == target]
    if not fitting:
        return None
    return "cuda" if len(fitting) == len(gpus) else fitting[0].label


@functools.cache
def _note_no_gpu():
    warnings.warn(
        'there is no GPU here: kernels of target="gpu" run on the CPU device (`%cuda_info` tells why)',
        stacklevel=4,
    )


def _refuse(made, target, values, _shaped):
    from xcuda.core.devices import devices
    from xcuda.core.errors import MachineError

    figures = made.compile(values)
    here = ", ".join(f"{device.label} ({device.architecture})" for device in devices())
    raise MachineError(
        f"{made.__name__} was compiled for {target} ({in_words(figures)}) and can't be launched here, where there"
        f' is {here}; target="auto" runs on what there is'
    )


def in_words(figures):
    """Registers, spills and occupancy of a version that was compiled for a GPU."""
    words = []
    if "registers" in figures:
        words.append(f"{figures['registers']} registers")
    if "local_bytes" in figures:
        spilled = figures["local_bytes"]
        words.append(f"{spilled} bytes of local memory a thread" if spilled else "no spills")
    if "occupancy" in figures:
        words.append(f"occupancy {figures['occupancy']:.0%}")
    return ", ".join(words) or "no figures"

"""What numba's users ask of a kernel beside launching it: `forall`, `specialize`, `overloads` and figures."""

import functools
import types

from xcuda.core.signatures import types_from
from xcuda.core.types import Array, CPointer, Scalar


class NumbaNames:
    """The names of numba's kernels; a base of what a Kernel hands its attributes on to."""

    specialized = False

    def forall(self, ntasks, tpb=0, stream=None, sharedmem=0):
        """`kernel.forall(n)(...)` launches at least `n` threads along x; `tpb` threads a block, ours to choose if 0."""
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        block = tpb or 256
        return self.kernel[-(-ntasks // block), block, stream, sharedmem]

    def configure(self, griddim, blockdim, stream=None, sharedmem=0):
        """`kernel[griddim, blockdim, stream, sharedmem]`."""
        return self.kernel[griddim, blockdim, stream, sharedmem]

    def specialize(self, *arguments):
        """A kernel of its own, compiled for these argument types (or for those of these arguments)."""
        if self.specialized:
            raise RuntimeError("Dispatcher already specialized")
        key = tuple(types_from(arguments))
        if key not in self.specializations:
            from xcuda.core.kernels import _made

            made = _made(self.py_func, None, self.options)
            made.compile(arguments)
            made.about.declare(types_from(arguments))
            made.about.specialized = True
            self.specializations[key] = made
        return self.specializations[key]

    @functools.cached_property
    def specializations(self):
        """The kernels that `specialize` made, by argument types."""
        return {}

    @property
    def about(self):
        """This object itself, asked for through the kernel."""
        return self

    @property
    def overloads(self):
        """The compiled versions by argument types: {(type, ...): version}, a version's figures being its attributes."""
        return {
            tuple(map(_type_from, types_from(version["signature"]))): types.SimpleNamespace(**version)
            for version in self.specialisations
        }

    def get_regs_per_thread(self, signature=None):
        """Registers of a thread, of one version or of each as {types: registers}."""
        return self._figure("registers", signature)

    def get_shared_mem_per_block(self, signature=None):
        """Bytes of static shared memory, of one version or of each as {types: bytes}."""
        return self._figure("shared_bytes", signature)

    def get_const_mem_size(self, signature=None):
        """Bytes of constant arrays, of one version or of each as {types: bytes}."""
        return self._figure("constant_bytes", signature)

    def get_local_mem_per_thread(self, signature=None):
        """Bytes of a thread's local memory, of one version or of each as {types: bytes}."""
        return self._figure("local_bytes", signature)

    def get_max_threads_per_block(self, signature=None):
        """The most threads that a block may have, of one version or of each as {types: threads}."""
        return self._figure("max_threads_per_block", signature)

    def inspect_asm(self, signature=None, target=None):
        """PTX of one version, or of each as {types: text}, for `target` ("sm_90"): the current GPU's, else sm_80
        (sm_90 where the kernel bounds its clusters)."""
        from xcuda import _runtime

        if target is None:
            target = self.architecture or _current_architecture("sm_90" if self.options[-1] else "sm_80")
        if signature is not None:
            return _runtime.ptx_for(self.kernel, types_from(signature), target)
        found = {
            tuple(map(_type_from, types)): _runtime.ptx_for(self.kernel, types, target)
            for types in (types_from(version["signature"]) for version in self.specialisations)
        }
        return next(iter(found.values())) if self.specialized and found else found

    def _figure(self, name, signature):
        figures = {key: getattr(version, name, None) for key, version in self.overloads.items()}
        if any(figure is None for figure in figures.values()):
            raise RuntimeError(
                f"{self.py_func.__name__} was compiled for the CPU device, where there is no such figure; "
                'compile(signature, target="sm_90") tells it for a GPU'
            )
        if signature is not None:
            return figures[tuple(map(_type_from, types_from(signature)))]
        return next(iter(figures.values())) if self.specialized else figures


def _current_architecture(otherwise):
    from xcuda.core.devices import get_current_device

    architecture = get_current_device().architecture
    return architecture if architecture.startswith("sm_") else otherwise


def _type_from(kind):
    if kind[0] == "scalar":
        return Scalar(kind[1])
    if kind[0] == "pointer":
        return CPointer(Scalar(kind[1]))
    _, dtype, ndim, layout = kind
    return Array(Scalar(dtype), ndim, "C" if layout == "contiguous" else "A")

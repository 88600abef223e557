"""kernel.inspect: one door to the texts of a kernel."""

import numpy as np
import pytest
import xcuda.core as cuda
from fake_cuda import need_nvrtc, on_fake
from xcuda.jit import compile_kernel


def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@pytest.mark.parametrize("make", [cuda.kernel, compile_kernel])
def test_each_text(make):
    kernel = make(twice)
    kernel(np.ones(8, np.float32))
    assert kernel.inspect() == kernel.inspect("cpp") == kernel.inspect_source()
    assert "twice" in kernel.inspect("ir") and "float32" in kernel.inspect("ir")
    assert kernel.inspect("asm") and kernel.inspect("asm") != kernel.inspect("cpp")
    kernel(np.ones(8))
    assert "f64*" in kernel.inspect() and "f32*" in kernel.inspect(signature="float32[::1]")
    assert "i32*" in kernel.inspect("cpp", "int32[::1]"), "compiled where it was not"
    assert len(kernel.specialisations) == 3


@on_fake()
def test_of_a_gpu_that_is_not_here():
    need_nvrtc()
    kernel = cuda.kernel(twice)
    assert ".target sm_100" in kernel.inspect("ptx", "float32[::1]", "sm_100")
    assert "blockIdx" in kernel.inspect("cpp", "float32[::1]", "sm_100") and not kernel.specialisations
    kernel(cuda.zeros(8, "float64"))
    assert ".entry" in kernel.inspect("ptx") and ".f64" in kernel.inspect("ptx")


def test_what_there_is_not_is_refused():
    kernel = cuda.kernel(twice)
    with pytest.raises(ValueError, match="twice has not been compiled yet: call it, or name the signature"):
        kernel.inspect()
    with pytest.raises(ValueError, match="knows no text 'cp'; did you mean 'cpp'"):
        kernel.inspect("cp")
    with pytest.raises(ValueError, match="knows no text 'llvm'; there are 'cpp', 'ir', 'ptx', 'asm'"):
        kernel.inspect("llvm")
    with pytest.raises(ValueError, match="is of the device that it was compiled for: leave target out"):
        kernel.inspect("asm", target="sm_90")
    with pytest.raises(ValueError, match="is of the last launch: leave signature out"):
        kernel.inspect("ir", "float32[::1]")

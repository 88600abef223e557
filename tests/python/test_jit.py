"""xcuda.jit.compile_kernel: what each target and level does, and the sentences for what is none."""

from __future__ import annotations

import asyncio
import warnings

import numpy as np
import pytest
import xcuda.core as cuda
from xcuda import _runtime
from xcuda.core.kernels import OPTION_NAMES
from xcuda.jit import compile as jit_compile
from xcuda.jit import compile_kernel

HAS_GPU = any(d.label.startswith("cuda") for d in cuda.devices())
HAS_CPU = any(d.label == "cpu" for d in cuda.devices())
needs_cpu = pytest.mark.skipif(not HAS_CPU, reason="this build has no CPU device")


def twice(v):
    return v * 2


def add_twice(x, n):
    i = cuda.grid(1)
    if i < x.size:
        for _ in range(n):
            x[i] += twice(x[i])


def smooth(x, y, w):
    i = cuda.grid(1)
    if i < y.size:
        s = 0.0
        for k in range(w.size):
            s += x[i + k] * w[k]
        y[i] = s


def fixed_of(kernel):
    return [fixed for _, fixed in _runtime.fixed_in(kernel) if fixed]


@pytest.mark.parametrize("target", ["auto", "cpu"] if HAS_CPU else ["auto"])
@pytest.mark.parametrize("optimize", ["none", "default", "aggressive"])
def test_each_target_and_level_computes_the_same(target, optimize):
    k = compile_kernel(add_twice, target=target, optimize=optimize)
    x = np.arange(1000, dtype=np.float32)
    k(x, 2)
    np.testing.assert_allclose(x, np.arange(1000, dtype=np.float32) * 9)
    assert (k.target, k.optimize) == (target, optimize)


def test_what_each_level_asks_of_the_compilers():
    def options(**given):
        k = compile_kernel(smooth, **given)
        return dict(zip(OPTION_NAMES, k.about.options, strict=True))

    default = options()
    assert default["checked"] and default["fma"] and default["optimise"] and not default["fastmath"]
    assert options(optimize="none") == default | {"optimise": False, "fma": False}
    assert options(optimize="aggressive") == default | {"fastmath": True}
    assert options(optimize="aggressive", fastmath=False) == default
    assert options(checked=False, max_registers=64) == default | {"checked": False, "max_registers": 64}


def test_none_is_other_code_than_default():
    texts = []
    for optimize in ("none", "default"):
        k = compile_kernel(smooth, optimize=optimize)
        x, w, y = np.arange(40.0), np.ones(3), np.zeros(38)
        k(x, y, w)
        assert (y == np.convolve(x, w, "valid")).all()
        texts.append(_runtime.assembly_text(k, 0))
    assert texts[0] != texts[1]


@needs_cpu
def test_bare_and_with_types():
    @compile_kernel
    def bare(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = i

    x = np.zeros(5, np.int32)
    bare(x)
    assert x.tolist() == [0, 1, 2, 3, 4]

    @compile_kernel("float32[::1]", target="cpu")
    def typed(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = i

    (version,) = typed.specialisations
    assert version["signature"] == "(float32[::1])" and version["device"] == "cpu"


def test_it_is_a_kernel_as_any_other():
    k = compile_kernel(add_twice, optimize="aggressive")
    x = np.ones(64, np.float32)
    k[2, 32](x, 1)
    assert (x == 3).all()
    k.bind(2, 32, x, 1)()
    assert (x == 9).all()

    async def both():
        return await k.async_call(x, 1)

    assert asyncio.run(both()) is x and (x == 27).all()
    assert "twice" in k.inspect_source() or "+" in k.inspect_source()
    assert k.last_launch["launches"] == 3
    k(x, n=0)
    assert (x == 27).all()


@needs_cpu
def test_cpu_runs_on_the_cpu_device():
    k = compile_kernel(add_twice, target="cpu")
    k(np.ones(10, np.float32), 1)
    assert k.last_launch["device"] == "cpu"


@pytest.mark.skipif(not HAS_GPU, reason="needs a GPU's array")
def test_cpu_refuses_arrays_of_a_gpu():
    k = compile_kernel(add_twice, target="cpu")
    with pytest.raises(ValueError, match="compiled for the CPU device, and its arrays live on cuda:0"):
        k(cuda.to_device(np.ones(10, np.float32)), 1)


@pytest.mark.skipif(HAS_GPU or not HAS_CPU, reason="is about machines without a GPU")
def test_gpu_without_a_gpu_is_noted_once_and_runs_on_the_cpu():
    jit_compile._note_no_gpu.cache_clear()
    with pytest.warns(UserWarning, match="there is no GPU here"):
        k = compile_kernel(add_twice, target="gpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_kernel(add_twice, target="gpu")
    x = np.ones(10, np.float32)
    k(x, 1)
    assert (x == 3).all() and k.last_launch["device"] == "cpu"


@pytest.mark.skipif(not HAS_GPU, reason="needs a GPU")
def test_gpu_and_its_architecture_run_there():
    architecture = cuda.Device("cuda:0").architecture
    for target in ("gpu", architecture):
        k = compile_kernel(add_twice, target=target)
        x = np.ones(10, np.float32)
        k(x, 1)
        assert (x == 3).all() and k.last_launch["device"].startswith("cuda")


def nvrtc():
    try:
        cuda.kernel(add_twice).compile("float32[::1], int64", target="sm_90")
    except RuntimeError:
        return False
    return True


@pytest.mark.skipif(not nvrtc(), reason="NVRTC is not installed")
def test_an_architecture_is_compiled_for_and_told_not_launched():
    k = compile_kernel(add_twice, target="sm_100")
    told = k.compile("float32[::1], int64")
    assert told["target"] == "sm_100" and told["registers"] > 0 and 0 < told["occupancy"] <= 1
    x = np.ones(10, np.float32)
    with pytest.raises(
        cuda.MachineError, match=r"compiled for sm_100 \(\d+ registers, no spills, occupancy 1"
    ):
        k(x, 1)
    with pytest.raises(cuda.MachineError, match="can't be launched here"):
        k[1, 32](x, 1)
    assert (x == 1).all()


def test_aggressive_specialises_on_what_stays_the_same():
    k = compile_kernel(smooth, optimize="aggressive")
    x, w = np.arange(40, dtype=np.float64), np.array([0.25, 0.5, 0.25])
    want = np.convolve(x, w, "valid")
    for calls in range(1, 5):
        y = np.zeros(38)
        k(x, y, w)
        np.testing.assert_allclose(y, want)
        assert bool(fixed_of(k)) == (calls >= 3), calls
    (fixed,) = fixed_of(k)
    assert fixed == [("w", 0, 3)]  # the long lengths stay general
    assert "const i64 w_n0 = 3;" in k.inspect_source()

    wide = np.ones(5) / 5  # another length: the general version
    y = np.zeros(36)
    k(x, y, wide)
    np.testing.assert_allclose(y, np.convolve(x, wide, "valid"))
    assert len(fixed_of(k)) == 1


def test_aggressive_values_that_change_stay_general_and_variants_are_bounded():
    k = compile_kernel(add_twice, optimize="aggressive")
    for n in range(6):
        x = np.ones(40, np.float64)
        k(x, n)
        assert (x == 3.0**n).all()
    assert not fixed_of(k)
    for n in range(12):
        for _ in range(4):
            x = np.ones(40, np.float64)
            k(x, n)
            assert (x == 3.0**n).all()
    assert len(fixed_of(k)) == 8


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"]
)
def test_constants_keep_their_types(dtype):
    def kernel(out, n):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = n + n

    special, plain = compile_kernel(kernel, optimize="aggressive"), cuda.kernel(kernel)
    value = np.dtype(dtype).type(np.iinfo(dtype).max if dtype != "bool" else True)
    want = np.zeros(50, np.float64)
    plain(want, value)
    for _ in range(4):
        got = np.zeros(50, np.float64)
        special(got, value)
        assert (got == want).all()
    assert fixed_of(special) == [[("n", -1, int(value))]]


def test_a_parameter_that_is_assigned_starts_from_the_constant():
    @compile_kernel(optimize="aggressive")
    def count(out, n):
        i = cuda.grid(1)
        if i < out.size:
            while n > 0:
                out[i] += n
                n -= 1

    for _ in range(5):
        out = np.zeros(40, np.int64)
        count(out, 4)
        assert (out == 10).all()
    assert fixed_of(count) == [[("n", -1, 4)]]


LIMIT = 3


def test_aggressive_sees_a_changed_global():
    global LIMIT
    LIMIT = 3

    @compile_kernel(optimize="aggressive")
    def fill(out, n):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = LIMIT * n

    out = np.zeros(40, np.int64)
    for _ in range(4):
        fill(out, 2)
    LIMIT = 5
    fill(out, 2)
    assert (out == 10).all()


def test_aggressive_keeps_the_checks_unless_told():
    def beyond(x, n):
        i = cuda.grid(1)
        if i < x.size:
            x[i + n] = 1

    k = compile_kernel(beyond, optimize="aggressive")
    for _ in range(4):
        with pytest.raises(IndexError, match="x"):
            k(np.zeros(40, np.float32), 1)
    cuda.synchronize()
    k = compile_kernel(beyond, optimize="aggressive", checked=False)
    x = np.zeros(40, np.float32)
    k(x, 0)
    assert (x == 1).all()


def test_fast_math_leaves_integers_nan_and_powers_alone():
    @compile_kernel(optimize="aggressive")
    def rules(x, n, out):
        i = cuda.grid(1)
        if i < x.size:
            out[0, i] = 1.0 if x[i] != x[i] else 0.0
            out[1, i] = x[i] ** n
            out[2, i] = (int(i) * 7 - 20) // 3

    x = np.array([1.5, np.nan, -2.0, -1.0, np.inf])
    for _ in range(4):
        out = np.zeros((3, 5))
        rules(x, 3, out)
        assert out[0].tolist() == [0, 1, 0, 0, 0]
        np.testing.assert_allclose(out[1], x**3, rtol=1e-6)
        assert out[2].tolist() == [(i * 7 - 20) // 3 for i in range(5)]


def test_struct_arguments_are_taken_too():
    @compile_kernel(optimize="aggressive")
    def scale(x, by):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] * by[0] + by[1]

    for _ in range(4):
        x = np.ones(40)
        scale(x, (2.0, 3))
        assert (x == 5).all()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (
            {"target": "tpu"},
            ValueError,
            'target is "auto", "gpu", "cpu" or an architecture like "sm_90", not \'tpu\'',
        ),
        ({"target": "sm_9x"}, ValueError, "an architecture like"),
        ({"target": None}, ValueError, "not None"),
        ({"optimize": "O3"}, ValueError, 'optimize is "none", "default" or "aggressive", not \'O3\''),
        ({"level": 3}, TypeError, r"compile_kernel\(\) has no option 'level'"),
    ],
)
def test_wrong_options_get_one_sentence(options, error, words):
    with pytest.raises(error, match=words):
        compile_kernel(add_twice, **options)


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="add_twice is a kernel already: write @compile_kernel"):
        compile_kernel(cuda.kernel(add_twice))
    with pytest.raises(TypeError, match="plain Python function"):
        compile_kernel(np.sin)


def test_the_names_under_core():
    assert cuda.profiler.ProfileGuidedOptimizer.__name__ == "ProfileGuidedOptimizer"
    assert cuda.compile_kernel is compile_kernel

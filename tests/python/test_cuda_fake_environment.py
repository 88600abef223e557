"""What the CUDA device makes of the machine round it, over the fake driver: versions, forks, folders, visibility."""

import multiprocessing
import os

import numpy as np
import pytest
from fake_cuda import driver, need_nvrtc, on_fake
from xcuda import _runtime
from xcuda import core as cuda


def add_one_kernel():
    @cuda.kernel
    def add_one(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] += 1

    return add_one


@on_fake("init=100", CUDA_VISIBLE_DEVICES="", device="")
def test_a_device_that_was_hidden():
    problem = _runtime.libraries()[0]["problem"]
    assert problem == 'the NVIDIA driver shows no GPU (CUDA_VISIBLE_DEVICES is "")'
    assert "cuda:0" not in _runtime.device_labels()


@on_fake("init=100")
def test_a_named_device_that_is_not_there():
    with pytest.raises(
        ValueError, match='XCUDA_DEVICE is "cuda:0", which is not a device here; there are: cpu'
    ):
        cuda.zeros(1)


@on_fake("init=803")
def test_a_driver_that_does_not_start_gives_its_words():
    assert (
        "the NVIDIA driver does not start: system has unsupported display driver / cuda driver combination"
        in (_runtime.libraries()[0]["problem"])
    )


@on_fake("version=12040")
def test_an_nvrtc_newer_than_the_driver_is_passed_over():
    need_nvrtc_of_13()
    row = _runtime.libraries()[1]
    assert "newer than the driver's CUDA 12.4" in row["problem"]
    assert "nvidia-cuda-nvrtc-cu12" in row["advice"]
    with pytest.raises(
        cuda.MachineError, match="NVRTC, which compiles kernels for a GPU .*newer than the driver"
    ):
        add_one_kernel()[1, 32](cuda.zeros(10))


def need_nvrtc_of_13():
    row = _runtime.libraries()[1]
    if not row["problem"] or "newer than" not in row["problem"]:
        pytest.skip("there is an NVRTC of CUDA 12, or none of CUDA 13, here")


@on_fake("architecture=199")
def test_a_device_newer_than_nvrtc_gets_ptx():
    need_nvrtc()
    a = cuda.zeros(10)
    add_one_kernel()[1, 32](a)
    cuda.synchronize()
    assert driver.get("calls:cuLinkComplete") == 1
    assert driver.get("launches") == 1


@on_fake(XCUDA_CACHE_DIR="/proc/xcuda")
def test_a_cache_folder_that_cannot_be_written_costs_time_only():
    need_nvrtc()
    add_one_kernel()[1, 32](cuda.zeros(10))
    cuda.synchronize()
    stats = _runtime.cache_stats()
    assert (stats["compiled"], stats["disk_hits"], driver.get("launches")) == (1, 0, 1)
    assert "/proc/xcuda" in stats["disk_problem"]


@pytest.mark.parametrize("version", [13000, 13010])
def test_the_drivers_version_is_part_of_the_caches_key(version):
    first, again, other = (toolchain(v) for v in (version, version, 12080))
    assert first == again
    assert first != other


def toolchain(version):
    """What of the compiler and the driver is in the cache's key, told by a process of its own."""
    import subprocess
    import sys

    import fake_cuda

    if fake_cuda.library() is None:
        pytest.skip("the fake CUDA driver is not built")
    code = "from xcuda import core; print(core.Device().toolchain)"
    env = os.environ | {
        "XCUDA_DRIVER": str(fake_cuda.library()),
        "XCUDA_DEVICE": "cuda:0",
        "FAKE_CUDA": f"version={version}",
    }
    return subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    ).stdout


@on_fake()
def test_a_forked_child_is_told_what_to_do():
    kept = cuda.to_device(np.arange(10.0))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            cuda.zeros(10)
        except RuntimeError as error:
            told = str(error)
            if "forked from one that had started CUDA" in told and 'set_start_method("spawn")' in told:
                status = 0
            else:
                print(told, flush=True)
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert kept.copy_to_host()[9] == 9


def in_child(n):
    return cuda.to_device(np.arange(float(n))).copy_to_host().sum()


@on_fake()
def test_a_spawned_child_works_and_so_does_one_forked_before_the_first_use():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(in_child, (5,)) == 10
    assert in_child(4) == 6
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(in_child, (6,)) == 15


@on_fake()
def test_a_pool_of_forked_workers_raises_the_same_sentence():
    assert in_child(4) == 6
    with (
        multiprocessing.get_context("fork").Pool(1) as pool,
        pytest.raises(RuntimeError, match="forked from one that had started CUDA"),
    ):
        pool.apply(in_child, (5,))


@on_fake()
def test_large_static_shared_memory_is_opted_in():
    need_nvrtc()

    @cuda.kernel
    def greedy(x):
        s = cuda.shared.array(20000, cuda.float32)
        i = cuda.threadIdx.x
        s[i] = x[i]
        cuda.syncthreads()
        x[i] = s[19999 - i]

    a = cuda.zeros(32, "float32")
    greedy[1, 32](a)
    greedy[1, 32, 0, 4096](a)
    cuda.synchronize()
    assert [launch[3] for launch in driver.launches()] == [80000, 80000 + 4096]
    with pytest.raises(
        ValueError, match="takes 280000 bytes of shared memory .80000 from shared.array, 200000"
    ):
        greedy[1, 32, 0, 200000](a)


@pytest.mark.parametrize("shape", [((1, 70000), 32), (1, 2048), ((1, 1, 1), (1, 1, 128)), (-1, 32)])
@on_fake()
def test_shapes_that_no_gpu_has_are_refused_before_the_launch(shape):
    need_nvrtc()
    grid, block = shape
    with pytest.raises(ValueError, match="grid|block"):
        add_one_kernel()[grid, block](cuda.zeros(10))
    assert driver.get("calls:cuLaunchKernel") == 0

"""Streams, events, devices and the names that users import."""

import asyncio
import subprocess
import sys
import threading
from importlib import metadata

import numpy as np
import pytest
import xcuda
import xcuda.core as cuda


def test_current_stream_follows_the_context():
    a, b = cuda.stream(), cuda.Stream()
    assert cuda.current_stream().is_default
    with a:
        assert cuda.current_stream() is a
        with b:
            assert cuda.current_stream() is b
        assert cuda.current_stream() is a
        seen = []
        thread = threading.Thread(target=lambda: seen.append(cuda.current_stream().is_default))
        thread.start()
        thread.join()
        assert seen == [True]
    assert cuda.current_stream().is_default


def test_tasks_have_their_own_current_stream():
    async def work(stream):
        with stream:
            await asyncio.sleep(0)
            await asyncio.sleep(0.001)
            return cuda.current_stream() is stream

    async def both():
        shared = cuda.stream()
        return await asyncio.gather(work(shared), work(cuda.stream()), work(shared))

    assert asyncio.run(both()) == [True, True, True]
    assert cuda.current_stream().is_default


def test_events_order_and_time():
    s = cuda.stream()
    start, end = cuda.event(), cuda.Event()
    assert start.query()
    with pytest.raises(ValueError, match="must have been recorded"):
        start.elapsed_time(end)
    start.record(s)
    with s:
        cuda.to_device(np.zeros(1000))
    s.record(end)
    end.synchronize()
    assert end.query() and 0 <= start.elapsed_time(end) == cuda.event_elapsed_time(start, end)
    cuda.stream().wait(end)
    end.wait(s)
    with pytest.raises(TypeError, match="a Stream is wanted, not str"):
        start.record("no")


def test_async_done_and_callbacks():
    s = cuda.stream()
    called = threading.Event()
    s.add_callback(lambda stream, status, arg: called.set() if arg == 5 else None, 5)
    assert asyncio.run(s.async_done()) is s
    assert called.wait(60)
    with s.auto_synchronize() as inner:
        assert inner is s
    assert s.query() and s.done()


def test_default_streams():
    assert cuda.legacy_default_stream() == cuda.default_stream() != cuda.stream()
    mine = cuda.per_thread_default_stream()
    assert mine == cuda.per_thread_default_stream() and not mine.is_default
    seen = []
    thread = threading.Thread(target=lambda: seen.append(cuda.per_thread_default_stream()))
    thread.start()
    thread.join()
    with mine:
        a = cuda.zeros(3)
    mine.synchronize()
    assert not a.copy_to_host().any() and len(seen) == 1
    if cuda.Device().kind == "cpu":
        assert seen[0] != mine and not hasattr(mine, "__cuda_stream__")
        with pytest.raises(ValueError, match="has no streams of other libraries"):
            cuda.external_stream(4096)
    with pytest.raises(TypeError, match="a Stream is wanted, not dict"):
        cuda.Stream({})
    assert cuda.stream(priority=-1).query()


def test_devices():
    device = cuda.get_current_device()
    assert cuda.is_available() and device in cuda.devices() == cuda.gpus == cuda.list_devices()
    assert device.name and device.id == cuda.devices().index(device)
    assert cuda.Device(device.label) == device == cuda.Device(device.id) == cuda.Device(device)
    free, total = device.memory_info
    assert 0 < free <= total
    assert device.max_threads_per_block >= 256
    if device.kind == "cpu":
        assert device.compute_capability == (0, 0)
    with cuda.Device(device.id) as inside:
        assert cuda.get_current_device() == inside
    with pytest.raises(ValueError, match="there is no device 99 here; there are: 0 "):
        cuda.Device(99)
    with pytest.raises(ValueError, match="there is no device tpu here"):
        cuda.Device("tpu")
    with pytest.raises(AttributeError, match="a Device has no attribute 'colour'"):
        device.colour
    with pytest.raises(AttributeError, match="no attribute 'multiprocesors'; did you mean 'multiprocessors'"):
        device.multiprocesors
    # as numba-cuda's programs ask
    assert device.MULTIPROCESSOR_COUNT == device.attributes["multiprocessors"] > 0
    assert device.WARP_SIZE == 32 and device.MAX_THREADS_PER_BLOCK == device.max_threads_per_block
    assert (device.MAX_BLOCK_DIM_X, device.MAX_GRID_DIM_Y) == (device.max_block[0], device.max_grid[1])
    assert (device.COMPUTE_CAPABILITY_MAJOR, device.COMPUTE_CAPABILITY_MINOR) == device.compute_capability
    cuda.synchronize()
    device.synchronize()


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_xcuda_loads_nothing():
    assert (
        run(
            "import sys, xcuda; print('numpy' in sys.modules, 'xcuda._runtime' in sys.modules, xcuda.__version__)"
        )
        == f"False False {xcuda.__version__}"
    )
    assert (
        run("import sys, xcuda.core; print('numpy' in sys.modules, 'asyncio' in sys.modules)")
        == "False False"
    )
    assert "cpu_jit" not in run("import xcuda.core as c; c.zeros(3); print(open('/proc/self/maps').read())")


def has_cuda_core():
    try:
        return bool(metadata.distribution("cuda-core"))
    except metadata.PackageNotFoundError:
        return False


no_cuda_core = pytest.mark.skipif(has_cuda_core(), reason="cuda-core is installed here and keeps its name")


@no_cuda_core
def test_article_names():
    assert (
        run(
            "import xcuda; xcuda.install_names(); xcuda.install_names()\n"
            "import cuda.core as cuda, xcuda.core\n"
            "import cuda.core\n"
            "from cuda.core import Stream\n"
            "assert cuda.core is xcuda.core and Stream is xcuda.core.Stream\n"
            "assert xcuda.core.__spec__.name == 'xcuda.core' == xcuda.core.__name__\n"
            "try: import cupy\n"
            "except ModuleNotFoundError: print('no cupy')"
        )
        == "no cupy"
    )


def test_installed_names_win(tmp_path):
    package = tmp_path / "cuda" / "core"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("who = 'theirs'\n")
    assert (
        run(
            f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
            "import xcuda; kept = xcuda.install_names()\n"
            "import cuda.core\n"
            "print(cuda.core.who, kept)"
        )
        == "theirs ['cuda.core']"
    )


@no_cuda_core
def test_a_folder_named_cuda_does_not_hide_the_names(tmp_path):
    (tmp_path / "cuda").mkdir()
    assert (
        run(
            f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
            "import xcuda; xcuda.install_names()\n"
            "import cuda.core\n"
            "print(cuda.core.__name__)"
        )
        == "xcuda.core"
    )


def test_numbas_names_of_default_streams():
    assert cuda.legacy_default_stream().is_default
    mine = cuda.per_thread_default_stream()
    assert mine is cuda.per_thread_default_stream() and not mine.is_default
    others = []
    thread = threading.Thread(target=lambda: others.append(cuda.per_thread_default_stream()))
    thread.start()
    thread.join()
    assert others[0] is not mine
    mine.synchronize()

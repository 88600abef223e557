"""Kernels, configured launches and device functions travel by pickle, also to a process of their own."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from frontend_source import make
from xcuda import core


@core.kernel
def of_this_module(x):
    x[0] += 1


def test_an_importable_kernel_travels_by_its_name():
    data = pickle.dumps(of_this_module)
    assert pickle.loads(data) is of_this_module and b"x[0] += 1" not in data


def local_kernel(step):
    @core.device_function
    def inner(a):
        return a + step

    @core.kernel(checked=False, fastmath=True)
    def kernel(x):
        x[0] = inner(x[0])

    return kernel


def call(kernel, value):
    x = np.array([value])
    kernel[1, 1](x)
    core.synchronize()
    return x[0]


def test_a_kernel_made_in_a_function_travels_by_value():
    pytest.importorskip("cloudpickle")
    kernel = local_kernel(5)
    once = pickle.loads(pickle.dumps(kernel))
    twice = pickle.loads(pickle.dumps(once))
    assert once is not kernel and call(once, 1) == call(twice, 1) == call(kernel, 1) == 6
    assert twice.about.options == kernel.about.options and twice.__name__ == "kernel"


def test_a_configured_launch():
    pytest.importorskip("cloudpickle")
    configured = pickle.loads(pickle.dumps(local_kernel(2)[5, 8, None, 64]))
    assert configured.griddim == (5, 1, 1) and configured.blockdim == (8, 1, 1) and configured.sharedmem == 64
    with core.stream() as stream, pytest.raises(pickle.PicklingError, match="stream"):
        pickle.dumps(of_this_module[1, 1, stream])


def test_declared_types_stay():
    pytest.importorskip("cloudpickle")
    kernel = core.kernel(make("def f(o, n):\n    o[0] = n + 1\n"), "void(int64[:], int8)")
    again = pickle.loads(pickle.dumps(kernel))
    out = np.zeros(1, "i8")
    again[1, 1](out, 127)
    core.synchronize()
    assert out[0] == -128 and again.signatures


def test_in_another_process_without_the_source_s_file(tmp_path):
    pytest.importorskip("cloudpickle")
    kernel = core.kernel(make("def helper(a):\n    return a * 3\n\ndef f(x):\n    x[0] = helper(x[0]) + 1\n"))
    file = tmp_path / "kernel.pickle"
    file.write_bytes(pickle.dumps(kernel))
    code = (
        "import pickle, sys\nimport numpy as np\nfrom xcuda import core\n"
        "kernel = pickle.load(open(sys.argv[1], 'rb'))\nx = np.array([4])\nkernel[1, 1](x)\ncore.synchronize()\n"
        "print(x[0])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.stdout.strip() == "13", ran.stderr

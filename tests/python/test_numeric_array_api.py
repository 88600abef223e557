"""What the array API standard asks of the namespace and its arrays: devices, dtypes by kind, the namespace itself."""

import numpy
import pytest
from xcuda import _runtime
from xcuda import numeric as np
from xcuda.core.devices import Device, devices


def test_the_namespace_of_an_array():
    assert np.ones(2).__array_namespace__() is np
    assert np.ones(2).__array_namespace__(api_version="2024.12") is np
    with pytest.raises(ValueError, match="1999"):
        np.ones(2).__array_namespace__(api_version="1999.01")


def test_namespace_info():
    info = np.__array_namespace_info__()
    assert info.devices() == devices() and info.default_device() == np.ones(1).device
    assert info.default_dtypes(device=devices()[0]) == numpy.__array_namespace_info__().default_dtypes()
    assert set(info.dtypes(kind=("bool", "unsigned integer"))) == {
        "bool",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    }
    most = info.capabilities()["max dimensions"]
    assert np.zeros((1,) * most).ndim == most
    with pytest.raises(ValueError):
        np.zeros((1,) * (most + 1))


@pytest.mark.parametrize(
    "make",
    [
        lambda d: np.ones(3, device=d), lambda d: np.zeros((2, 2), device=d), lambda d: np.full(3, 2, device=d),
        lambda d: np.empty(3, device=d), lambda d: np.arange(3, device=d), lambda d: np.linspace(0, 1, 3, device=d),
        lambda d: np.asarray([1, 2], device=d), lambda d: np.eye(2, device=d),
        lambda d: np.ones_like(np.ones(2), device=d), lambda d: np.ones(3).astype(int, device=d),
        lambda d: np.ones(3).to_device(d), lambda d: np.astype(np.ones(3), int, device=d),
    ],
)  # fmt: skip
def test_device_arguments(make):
    for label in _runtime.device_labels():
        assert make(label).device == Device(label)
    with pytest.raises(ValueError, match="nowhere"):
        make("nowhere")


def test_to_device_of_where_it_is_is_the_array():
    a = np.ones(3)
    assert a.to_device(a.device) is a
    with pytest.raises(ValueError, match="stream"):
        a.to_device(a.device, stream=1)


@pytest.mark.parametrize(
    "kind", ["bool", "signed integer", "integral", "real floating", "complex floating", "numeric"]
)
def test_isdtype(kind):
    for dtype in (numpy.bool, numpy.int8, numpy.float32, numpy.complex128):
        assert np.isdtype(np.ones(1, dtype).dtype, kind) == numpy.isdtype(dtype, kind)


@pytest.fixture
def own(monkeypatch, root):
    monkeypatch.syspath_prepend(str(root / "tests" / "array_api"))
    monkeypatch.setattr(np.config, "_fallback", "silent")
    import own

    return own


@pytest.mark.parametrize(
    "name", ["add", "where", "sum", "matmul", "unique_inverse", "fft.rfft", "linalg.solve", "roll"]
)
def test_a_function_of_the_standard(own, name):
    assert own.differs(name, 5) is None


def test_the_check_sees_a_wrong_function(own, monkeypatch):
    monkeypatch.setattr(np, "subtract", np.add, raising=False)
    assert "in NumPy" in own.differs("subtract", 10)

"""Values of few elements are computed by the host without a kernel: the same results, bit for bit.

That is where elements lie in the host's memory, on the CPU device. On a GPU a kernel computes them, whatever the limit is.
"""

import numpy
import pytest
from xcuda import _runtime
from xcuda import numeric as np

ON_HOST = _runtime.current_device_label() == "cpu"


@pytest.fixture
def limit():
    before = np.config.host_elements
    yield
    np.config.host_elements = before


def work(of):
    """(launches, values computed by the host) of `of()` and what it left pending, and its result."""
    np.flush()
    before = _runtime.numeric_counts()
    made = of()
    np.flush()
    after = _runtime.numeric_counts()
    return after[0] - before[0], after[3] - before[3], made


def operands(dtype):
    rng = numpy.random.default_rng(5)
    host = (rng.integers(-100, 100, (3, 4)) / (4 if dtype[0] == "f" else 1)).astype(dtype)
    if dtype[0] == "f":
        host[0, :3] = numpy.nan, numpy.inf, -0.0
    else:
        host[0, :2] = numpy.iinfo(dtype).min, numpy.iinfo(dtype).max
    return np.array(host), host


PROGRAMS = {
    "arithmetic": lambda x: x * x - x + 3,
    "quotients": lambda x: (x + 1) / 7,
    "signs": lambda x: abs(-x),
    "comparisons": lambda x: x > x[:, :1],
    "equality": lambda x: (x == x[::-1]) != (x <= 2),
    "bits": lambda x: (x > 0) & (x < 5) | (x == 7) ^ (x > 2),
    "views": lambda x: x.T[1:, ::-2] + x[:2, 1:].T[:, ::-1],
    "broadcasting": lambda x: x[:, None] * x[None, :, 1:2],
    "squares": lambda x: x**2,
    "casts": lambda x: (x > 0) + x.astype("float64"),
    "without axes": lambda x: x[1, 2] * x[0, 3],
    "choices": lambda x: np.where(x > 1, x, 2) if isinstance(x, np.ndarray) else numpy.where(x > 1, x, 2),
    "sums of elements": lambda x: x.sum(),
    "sums along one axis": lambda x: x[2, ::-1].sum(keepdims=True),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_host_and_kernels_give_the_same(limit, name, dtype):
    ours, host = operands(dtype)
    np.config.host_elements = 0
    launches, small, by_kernel = work(lambda: PROGRAMS[name](ours))
    assert launches and not small
    np.config.host_elements = 512
    launches, small, by_host = work(lambda: PROGRAMS[name](ours))
    assert (small and not launches) if ON_HOST else (launches and not small)
    with numpy.errstate(all="ignore"):
        expected = numpy.asarray(PROGRAMS[name](host))
    for made in (by_host, by_kernel):
        assert made.dtype == expected.dtype and made.shape == expected.shape
        nans = numpy.isnan(expected)
        assert (numpy.isnan(made.get()) == nans).all()
        bits = [numpy.where(nans, 0, a).astype(expected.dtype).tobytes() for a in (made.get(), expected)]
        assert bits[0] == bits[1]


def test_what_is_larger_or_of_other_operations_takes_a_kernel(limit):
    np.config.host_elements = 16
    x = np.arange(17.0)
    assert work(lambda: x + 1)[:2] == (1, 0)
    assert work(lambda: x[1:] + 1)[:2] == ((0, 1) if ON_HOST else (1, 0))
    assert work(lambda: np.sin(x[:3]) + 1)[0] == 1
    assert work(lambda: x.sum())[0] == 1
    assert work(lambda: x[:3].sum())[:2] == ((0, 1) if ON_HOST else (1, 0))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool"])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_folds_are_a_kernels_bit_for_bit(limit, name, dtype):
    """Of every length: what does not fill the parts that are added side by side, too."""
    rng = numpy.random.default_rng(6)
    for n in range(1, 33):
        host = (rng.standard_normal(n) * 10 ** rng.uniform(-8, 8, n)).astype(dtype)
        found = []
        for elements in (0, 32):
            np.config.host_elements = elements
            found.append(getattr(np.array(host), name)().get().tobytes())
        assert found[0] == found[1], (n, host)


def test_a_value_that_several_need_is_computed_once(limit):
    np.config.host_elements = 512
    x = np.arange(5.0)
    np.flush()

    def twice():
        y = x + 1
        return y * y, y - 1

    launches, small, (a, b) = work(twice)
    assert (launches, small) == ((0, 3) if ON_HOST else (1, 0)) and (a - (b + 1) ** 2 == 0).all()


def test_deep_sharing_is_left_to_a_kernel_in_bounded_time(limit):
    np.config.host_elements = 512
    x = np.ones(3)
    for _ in range(40):
        x = x + x
    assert (x == 2.0**40).all()


def test_the_limit_is_checked():
    with pytest.raises(ValueError, match="0 or more"):
        np.config.host_elements = -1
    assert "host_elements=" in repr(np.config)


STORES = {
    "a number": lambda x: x.__setitem__(1, 3),
    "a row": lambda x: x.__setitem__((slice(None), 0), x[:, 1].copy()),
    "overlapping": lambda x: x.__setitem__((slice(1, None), slice(None)), x[:-1]),
    "reversed": lambda x: x.__setitem__(..., x[::-1, ::-1]),
    "what is pending": lambda x: x.__setitem__((0, slice(None, None, 2)), x[1, ::2] + x[2, ::2]),
    "its own elements": lambda x: x.__setitem__(..., x),
    "booleans": lambda x: x.__setitem__((slice(None), 2), np.array([True, False, True])),
}


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("name", STORES)
def test_writes_of_few_elements_need_no_kernel(limit, name, dtype):
    """To views, of every dtype: where what is written is computed by the host, so is the write."""
    host = (numpy.arange(12).reshape(3, 4) - (0 if dtype in ("?", "u2", "u8") else 5)).astype(dtype)
    expected, left = host.copy(), {}
    STORES[name](expected)
    for elements in (0, 512):
        np.config.host_elements = elements
        ours = np.array(host)
        holder = ours[:, :]  # a write to a whole array that nobody else sees makes a new value
        launches, small, _ = work(lambda ours=ours: STORES[name](ours))
        left[elements] = launches
        assert bool(small or launches) == (name != "its own elements")  # what is there already is no work
        numpy.testing.assert_array_equal(ours.get(), expected)
        numpy.testing.assert_array_equal(holder.get(), expected)
    if name == "its own elements":
        return
    assert left[0]
    by_kernel = name == "what is pending" and dtype not in ("i4", "f4", "f8", "i8")
    by_kernel |= name in ("a number", "booleans") and dtype not in ("?", "i4", "f4", "f8", "i8")
    assert left[512] if not ON_HOST else by_kernel or not left[512]


def test_writes_of_more_elements_go_by_a_kernel(limit):
    np.config.host_elements = 8
    x = np.zeros((3, 4))
    assert work(lambda: x.__setitem__((slice(None), slice(1, None)), 5))[:2] == (1, 0)
    assert work(lambda: x.__setitem__((slice(2), slice(1, None)), 7))[:2] == ((0, 1) if ON_HOST else (1, 0))
    assert x.get().tolist() == [[0, 7, 7, 7], [0, 7, 7, 7], [0, 5, 5, 5]]

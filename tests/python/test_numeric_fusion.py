"""What becomes one kernel, what is never computed, and that a later write changes no earlier value. Kernels are counted."""

import numpy
import pytest
import xcuda.numeric as np
from xcuda import _runtime


@pytest.fixture(autouse=True)
def kernels_alone():
    """Small arrays take kernels too."""
    before, np.config.host_elements = np.config.host_elements, 0
    yield
    np.config.host_elements = before


def launches(work):
    """How many kernels `work` and all that it left pending take."""
    np.flush()
    before = _runtime.numeric_counts()[0]
    kept = work()
    np.flush()
    del kept
    return _runtime.numeric_counts()[0] - before


def numbers():
    made = np.arange(2.0, 3002.0)
    np.flush()
    return made


def test_a_chain_is_one_kernel():
    x = numbers()
    assert launches(lambda: np.sqrt(np.sin(x) * np.cos(x) + np.exp(-(x**2)) + np.log(x + 1))) == 1


def test_what_nobody_holds_is_not_computed():
    x = numbers()
    assert launches(lambda: (x + 1, None)[1]) == 0
    assert launches(lambda: (np.sin(x) * 2).sum() is None) == 0


def test_several_results_of_one_shape_are_one_kernel():
    x = numbers()

    def work():
        shared = np.exp(x)
        return shared + 1, shared * 2, shared

    assert launches(work) == 1


def test_casts_where_and_scalars_fuse():
    x = numbers()
    assert launches(lambda: np.where(x > 5, x.astype("float32"), 0).astype("int32") + np.int64(3)) == 1


def test_a_row_is_read_along_the_columns():
    a, row, column = np.ones((40, 50)), np.arange(50.0), np.arange(40.0).reshape(40, 1)
    np.flush()
    assert launches(lambda: a * row + column) == 1


def test_a_fold_takes_its_producers_along():
    a = np.ones((64, 40))
    np.flush()
    assert launches(lambda: (np.sin(a) * 2).sum(1)) == 1
    assert launches(lambda: np.sqrt((a * a).sum(1)) + 1) == 1


def test_lengths_do_not_compile_again():
    x = numbers()
    y = np.ones(5000)
    np.flush()
    launches(lambda: np.tanh(x) * 3 + 1)
    structures = _runtime.numeric_counts()[1]
    assert launches(lambda: np.tanh(y) * 5 + 2) == 1
    assert _runtime.numeric_counts()[1] == structures


def test_views_take_no_kernel():
    x = numbers()
    assert launches(lambda: (x[1:-1], x[::2], x.reshape(30, 100).T, x[None, ...])) == 0


def test_in_place_is_lazy_where_nobody_else_looks():
    x = numbers()
    y = x.copy()
    np.flush()

    def work():
        nonlocal y
        y += x * 2
        y *= 3

    assert launches(work) == 1
    numpy.testing.assert_array_equal(y.get(), (x.get() + x.get() * 2) * 3)


def test_a_write_changes_no_earlier_value():
    a = np.arange(6.0)
    doubled, tail = a * 2, a[3:]
    later = tail + 1
    a[4] = 100
    a += 1
    assert doubled.get().tolist() == [0, 2, 4, 6, 8, 10]
    assert later.get().tolist() == [4, 5, 6]
    assert tail.get().tolist() == [4, 101, 6]
    one = a[0]
    a[0] = -1
    assert float(one) == 1


def test_overlapping_views_are_read_before_they_are_written():
    for write in (
        "a[1:] = a[:-1]",
        "a[:-1] = a[1:]",
        "a[::-1] = a * 2",
        "a[1:] += a[:-1]",
        "a[...] = a[::-1]",
    ):
        host, ours = numpy.arange(9.0), np.arange(9.0)
        exec(write, {"a": host})
        exec(write, {"a": ours})
        assert ours.get().tolist() == host.tolist(), write


def test_what_others_may_write_is_read_at_once():
    x = numbers()
    a = np.arange(4.0)
    np.flush()
    host = numpy.asarray(a)
    b = a + 1
    if a._host_accessible:
        host[0] = 50
        assert a.get()[0] == 50
    assert b.get().tolist() == [1, 2, 3, 4]


def test_kernels_see_what_is_pending_and_their_writes_are_seen():
    from xcuda import core as cuda

    @cuda.kernel
    def double(out, a):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = a[i] * 2

    a = np.arange(5.0) + 1
    before = a + 0
    double(a, a)
    assert before.get().tolist() == [1, 2, 3, 4, 5]
    assert (a + 1).get().tolist() == [3, 5, 7, 9, 11]


def test_long_chains_are_cut():
    a = np.zeros(10)
    for _ in range(500):
        a = a + 1
    assert a.get().tolist() == [500] * 10


def test_a_kernel_is_named_like_its_expression():
    x = numbers()
    from xcuda import profiler

    with profiler.profile() as seen:
        (np.sqrt(x * x + 1) * 2).get()
    (kernel,) = seen.report.kernels
    assert kernel["name"] == "sqrt((a * a) + b) * c"
    assert kernel["place"]["file"] == __file__
    assert "np.sqrt(x * x + 1)" in open(__file__).read().splitlines()[kernel["place"]["line"] - 1]


def test_the_end_of_a_cell_computes_what_it_left():
    from xcuda.profiler import cell_begin, cell_end

    x = numbers()
    cell_begin("y = x - 1", 1)
    y = x - 1
    assert y._pending
    report = cell_end()
    assert not y._pending
    assert [k["name"] for k in report["kernels"]] == ["a - b"]


def test_values_used_twice_again_and_again_are_named_briefly():
    """As a tree each of these would have 2**60 leaves: the kernels' names follow no more of it than they show."""
    x = numpy.linspace(0, 1, 50)
    ours, theirs = np.asarray(x), x
    for _ in range(60):
        ours, theirs = ours * ours - ours, theirs * theirs - theirs
    numpy.testing.assert_allclose(ours.get(), theirs)

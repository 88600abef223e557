"""How results lie in memory on a GPU: strides as NumPy has them. Over the fake driver, whose values are nothing."""

import warnings

import numpy
import pytest
from fake_cuda import need_nvrtc, on_fake
from numeric_layouts import (
    BY_KERNELS,
    LAYOUTS,
    MOVES,
    OF_ONE,
    ROUNDED,
    expect_alike,
    folds,
    long_steps,
    moves,
    runs,
)
from xcuda import numeric as np


def texts(layout):
    """[(function, whether strides along axes of length 1 count)]."""
    ndim = 4 if layout == "four axes" else 3
    yield from ((text, layout not in ROUNDED) for text in folds(ndim))
    yield from ((text, False) for text in runs(ndim))
    if not layout.startswith("broadcast"):
        yield from ((text, False) for text in OF_ONE)
    if layout in ("C order", "four axes", *BY_KERNELS):
        yield from ((text, False) for text in moves(MOVES))


@pytest.mark.parametrize("elements", [0, 512])
@pytest.mark.parametrize("part", range(3))  # of the layouts: kernels are compiled
@on_fake()
def test_results_lie_as_numpys(part, elements):
    need_nvrtc()
    warnings.simplefilter("ignore")
    np.config.fallback, np.config.host_elements = "silent", elements
    for layout, made in [*LAYOUTS.items()][part::3]:
        for text, lengths_of_1 in texts(layout):
            expect_alike(f"x = {made}\n{text}", lengths_of_1, computed=False)


@on_fake()
def test_copies_between_host_and_gpu_keep_the_order_of_axes():
    need_nvrtc()
    for layout, text in LAYOUTS.items():
        if layout.startswith(("still", "of operands", "truth", "broadcast")):
            continue  # what kernels compute is nothing here
        expected = eval(text, {"np": numpy})
        x = np.array(expected)
        assert long_steps(x) == long_steps(expected.copy("K")), layout
        for host in (x.get(), numpy.asarray(x), x.to_device_array().copy_to_host()):
            numpy.testing.assert_array_equal(host, expected)
            assert long_steps(host) == long_steps(x), layout
        seen = x[::-1, ..., ::2]
        host = seen._host()
        assert host.strides == seen.strides or not seen.size, layout
        numpy.testing.assert_array_equal(host, expected[::-1, ..., ::2])
        assert long_steps(seen.get()) == long_steps(expected[::-1, ..., ::2].copy("K")), layout


@on_fake()
def test_what_numpy_does_on_the_host_lies_as_its_result():
    """Its operands have the strides that they have on the GPU, its result keeps its own, also those of 0."""
    np.config.fallback = "silent"
    for text in ("np.array(a)", "np.broadcast_to(np.array(a)[:, :1], (4, 3, 2))", "np.array(a)[::2, ::-1]"):
        for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
            a = numpy.arange(24.0).reshape(4, 3, 2)
            ours, theirs = (eval(text, {"np": m, "a": a}).transpose(order) for m in (np, numpy))
            for function in (lambda x: x + 1, lambda x: x.sum(1)[:, None], lambda x: x.copy("K")):
                found, expected = np._fallback.on_host("f", function, (ours,), {}), function(theirs)
                assert found.strides == expected.strides
                numpy.testing.assert_array_equal(found.get(), expected)

"""`kernel.explain(...)`: the plan in words and as a picture that reads on any ground."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from tile_kernels import expect_nvrtc
from xcuda import core, profiler, tiles


@tiles.tile_kernel(tile_size=(16, 16))
def product(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))


@tiles.tile_kernel
def softmax(X, Y, n: tiles.Constant[int]):
    i = tiles.bid(0)
    x = tiles.load(X, (i, 0), (1, n), padding=-np.inf)
    e = tiles.exp(x - tiles.max(x))
    tiles.store(Y, (i, 0), e / tiles.sum(e))


def arrays(n, dtype):
    return np.ones((n, n), dtype), np.ones((n, n), dtype), np.ones((n, n), "f")


@pytest.mark.skipif(core.Device().kind != "cpu", reason="of the CPU device")
def test_on_the_cpu_device():
    args = arrays(300, "e")
    product(*args)
    text = str(product.explain(*args))
    assert text.startswith("product: a tile kernel on cpu")
    assert "tile written: 16 x 16" in text and "one thread, in vector registers" in text
    grid = product.last_launch["grid"]
    assert f"blocks: {grid[0]} x {grid[1]}" in text


@pytest.mark.parametrize("target", ["sm_80"])
def test_for_a_gpu_that_need_not_be_here(target):
    expect_nvrtc()
    made = product.explain(*arrays(2048, "e"), target=target)
    plan = made.plan
    assert plan["unit"] == [128, 128] and plan["depth"] == 64
    tile = plan["tiles"][0]
    assert tile["down"] * tile["across"] * 32 == plan["threads"]
    assert tile["down"] * tile["rows"] == 128 and tile["across"] * tile["columns"] == 128
    text = str(made)
    assert "a block does: 8 x 8 of the tiles written" in text
    assert f"{tile['down']} x {tile['across']} warps of {tile['rows']} x {tile['columns']}" in text
    assert "mma.sync m16n8k16, float16" in text and f"{plan['shared_bytes']:,} bytes a block" in text
    assert f"registers: {plan['registers']} a thread" in text
    small = product.explain(*arrays(100, "e"), target=target).plan
    assert small["unit"] == [32, 32], "a small problem gets small tiles"


@pytest.mark.parametrize("n", [100, 2048])
def test_arrays_of_other_libraries_and_the_figures_of_that_size(n):
    expect_nvrtc()

    class Tensor:
        dtype = "float16 of its own"

        def __init__(self, held):
            self.__dlpack__, self.__dlpack_device__ = held.__dlpack__, held.__dlpack_device__

        def __dlpack__(self, **wanted):
            raise AssertionError("the instance's is asked")

        def __dlpack_device__(self):
            raise AssertionError("the instance's is asked")

    A, B, C = arrays(n, "e")
    there = product.explain(Tensor(A), Tensor(B), Tensor(C), target="sm_90")
    assert there.plan == product.explain(A, B, C, target="sm_90").plan
    assert there.plan["unit"] == ([32, 32] if n == 100 else [128, 256])
    assert (there.plan["registers"] < 100) == (n == 100), "those of the plan that is shown"


def test_constants_and_pictures():
    expect_nvrtc()
    X = np.ones((4, 1000), "f")
    for made in (
        softmax.explain(X, X, 1024, target="sm_90"),
        product.explain(*arrays(64, "e"), target="sm_90"),
    ):
        bundle = made._repr_mimebundle_()
        assert bundle["text/plain"] == str(made)
        assert "<img " in bundle["text/html"] and "data:image/svg+xml;base64," in bundle["text/html"]
        for banned in ("<script", "<style", "<svg", "currentColor", "var(--"):
            assert banned not in bundle["text/html"] and (banned == "<svg" or banned not in made.svg)
        picture = ElementTree.fromstring(made.svg)
        width, height = float(picture.get("width")), float(picture.get("height"))
        for rect in picture.iter("{http://www.w3.org/2000/svg}rect"):
            assert float(rect.get("x")) + float(rect.get("width")) <= width
            assert float(rect.get("y")) + float(rect.get("height")) <= height
        # middle greys and hues alone: they read on white and on black
        for shape in picture.iter():
            for paint in (shape.get("fill"), shape.get("stroke")):
                if paint and paint != "none":
                    red, green, blue = (int(paint[i : i + 2], 16) for i in (1, 3, 5))
                    assert 70 < 0.299 * red + 0.587 * green + 0.114 * blue < 190


def test_reports_tell_the_plan():
    args = arrays(64, "f")
    with profiler.profile() as p:
        product(*args)
        core.synchronize()
    (row,) = p.report.kernels
    assert "tiles, " in row["how"] and "float32" in row["how"]

"""Tile kernels over the fake driver: what a launch with bulk copies gives the GPU."""

import struct

import numpy as np
from fake_cuda import driver, need_nvrtc, on_fake
from xcuda import core as cuda
from xcuda import tiles


@on_fake()
def test_tensor_maps_come_with_the_arguments_and_blocks_take_tiles_in_turn():
    need_nvrtc()

    def product(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))

    asked = {"unit": (64, 128), "threads": 128, "stages": 2, "products": "wgmma", "copies": "bulk"}
    kernel = tiles.tile_kernel(product, tile_size=(16, 16), plan=asked)
    A, B, C = (cuda.zeros(s, "float16") for s in ((1000, 80), (80, 2048), (1000, 2048)))
    for _ in range(3):
        kernel(A, B, C)
        cuda.synchronize()
    assert driver.get("calls:cuTensorMapEncodeTiled") == 2, "a map is made once for an array"
    name, grid, block, _, parameters = driver.launches()[-1]
    assert (name, tuple(grid), tuple(block)) == ("product_kernel", (132, 1, 1), (160, 1, 1))
    # Three arrays of 40 bytes, up to a multiple of 64, two maps, the fault record.
    assert len(parameters) == 128 + 2 * 128 + 8
    maps = [struct.unpack_from("16Q", parameters, 128 * i) for i in (1, 2)]
    figures = {(*m[1:3], *m[6:8], m[12]) for m in maps}  # lengths, box, bytes from row to row
    assert figures == {(80, 1000, 64, 64, 160), (2048, 80, 64, 64, 4096)}
    small = cuda.zeros((64, 128), "float16")
    kernel(cuda.zeros((64, 80), "float16"), cuda.zeros((80, 128), "float16"), small)
    cuda.synchronize()
    assert tuple(driver.launches()[-1][1]) == (1, 1, 1)


@on_fake()
def test_a_map_is_made_anew_for_another_array():
    need_nvrtc()

    def product(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))

    kernel = tiles.tile_kernel(product, tile_size=(16, 16), plan={"products": "wgmma", "copies": "bulk"})
    A, B, C = (cuda.zeros((256, 256), "float16") for _ in range(3))
    kernel(A, B, C)
    kernel(np.ones((256, 256), np.float16), B, C)
    cuda.synchronize()
    assert driver.get("calls:cuTensorMapEncodeTiled") == 3


@on_fake()
def test_blocks_that_share_an_inner_dimension_are_launched_together():
    need_nvrtc()

    def product(A, B, C):
        tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))

    kernel = tiles.tile_kernel(
        product, tile_size=(16, 16), plan={"unit": (64, 64), "threads": 128, "split": 4}
    )
    A, B, C = (cuda.zeros(s, "float32") for s in ((100, 4096), (4096, 200), (100, 200)))
    kernel(A, B, C)
    cuda.synchronize()
    assert [tuple(each) for each in driver.launches()[-1][1:3]] == [(4, 2, 4), (128, 1, 1)]
    tiles.launch(None, (4, 2), kernel, (A, B, C))
    cuda.synchronize()
    assert tuple(driver.launches()[-1][1]) == (4, 2, 4), "the grid that a user gives is of programs"
    kernel = tiles.tile_kernel(product, tile_size=(16, 16), plan={"unit": (128, 128), "split": 2})
    A, B, C = (cuda.zeros(s, "float16") for s in ((1100, 4096), (4096, 2200), (1100, 2200)))
    kernel(A, B, C)
    cuda.synchronize()
    # A cluster has one tile, whose operands the copy engine brings: no block takes tiles in turn.
    assert [tuple(each) for each in driver.launches()[-1][1:3]] == [(18, 9, 2), (288, 1, 1)]

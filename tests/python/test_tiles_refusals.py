"""What tile kernels refuse at the decorator and at the call; what the compiler says to bodies: refusal_examples.TILES."""

import numpy as np
import pytest
from xcuda import core, tiles


def line_of(error):
    return error.value.text or ""


def test_without_a_tile_size_there_is_no_tile_of_the_result():
    @tiles.tile_kernel
    def copied(A, C):
        tiles.store(C, tiles.load_shared(A))

    with pytest.raises(SyntaxError, match=r"without a tile_size.*tile_size=\(16, 16\)") as error:
        copied(np.ones((4, 4)), np.ones((4, 4)))
    assert "tiles.store(C" in line_of(error)


def test_four_axes_are_too_many_for_the_grid():
    @tiles.tile_kernel(tile_size=(4, 4))
    def copied(A, C):
        tiles.store(C, tiles.load_shared(A))

    with pytest.raises(SyntaxError, match="4 axes seen through a tile"):
        copied(np.ones((2, 2, 2, 2)), np.ones((2, 2, 2, 2)))


def test_fractions_do_not_go_into_integers():
    @tiles.tile_kernel(tile_size=(4, 4))
    def halved(A, C):
        tiles.store(C, tiles.load_shared(A) * 0.5)

    with pytest.raises(SyntaxError, match=r"float64 into an array of int32 would lose.*astype\(np.int32\)"):
        halved(np.ones((2, 2)), np.ones((2, 2), np.int32))


def test_a_read_only_result():
    @tiles.tile_kernel(tile_size=(4, 4))
    def copied(A, C):
        tiles.store(C, tiles.load_shared(A))

    C = np.ones((2, 2))
    C.flags.writeable = False
    with pytest.raises(ValueError, match="'C' is read-only"):
        copied(np.zeros((2, 2)), C)
    assert C.all()


def test_a_grid_that_the_kernel_does_not_tell():
    @tiles.tile_kernel
    def counted(X, H):
        tiles.atomic_add(H, tiles.load(X, (tiles.bid(0),), (8,)), 1)

    with pytest.raises(
        TypeError, match=r"does not tell how many programs.*tiles.launch\(stream, grid, counted"
    ):
        counted(np.zeros(8, np.int32), np.zeros(8, np.int32))


@pytest.mark.parametrize("size", [0, (4, 0), (1, 2, 3, 4), ()])
def test_tile_sizes_that_are_none(size):
    with pytest.raises(ValueError, match="tile_size has 1 to 3 lengths"):
        tiles.tile_kernel(tile_size=size)(lambda A: None)


def test_options_and_things_that_are_no_kernels():
    with pytest.raises(TypeError, match="tile_size is an int or a tuple of ints, not 1.5"):
        tiles.tile_kernel(tile_size=1.5)
    with pytest.raises(TypeError, match="no option 'tile_shape'"):
        tiles.tile_kernel(tile_shape=(4, 4))
    with pytest.raises(TypeError, match="plain Python function, not from a type"):
        tiles.tile_kernel(int)
    with pytest.raises(TypeError, match="can't have '\\*rest'"):

        @tiles.tile_kernel
        def many(*rest):
            pass

    with pytest.raises(TypeError, match="launch\\(\\) takes a tile kernel"):
        tiles.launch(None, 1, print, ())


def test_the_functions_of_tiles_outside_a_tile_kernel():
    with pytest.raises(RuntimeError, match=r"cuda\.tiles\.load\(\) has a meaning inside"):
        tiles.load(np.ones(3), (0,), (2,))
    with pytest.raises(AttributeError, match="no attribute 'sin_of'"):
        _ = tiles.sin_of

    @core.kernel
    def threads(A):
        A[0] = tiles.bid(0)

    with pytest.raises(SyntaxError, match=r"tiles\.bid\(\) belongs to tile kernels.*@tiles\.tile_kernel"):
        threads[1, 1](np.zeros(3))


def test_a_misspelt_name_is_told_with_the_nearest():
    @tiles.tile_kernel(tile_size=(4, 4))
    def copied(A, C):
        tiles.store(C, tiles.load_sharde(A))

    with pytest.raises(SyntaxError, match="load_shared"):
        copied(np.ones((4, 4)), np.ones((4, 4)))

"""`tiles.autotune`: each kind of call tries the configurations once, on copies, and keeps one that fits."""

import numpy as np
import pytest
from tile_kernels import close
from xcuda import tiles
from xcuda.core import choices

RANDOM = np.random.default_rng(31)


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    kept = {}
    monkeypatch.setattr(choices, "load", kept.get)
    monkeypatch.setattr(choices, "save", lambda key, data: kept.__setitem__(key, data))
    return kept


def added(X, total, n: tiles.Constant[int], scale: tiles.Constant[int] = 1):
    """Adds to what is there: a trial on the call's own arrays would be seen."""
    i = tiles.bid(0)
    x = tiles.load(X, (i,), (n,))
    tiles.store(total, (i,), tiles.load(total, (i,), (n,)) + x * scale)


def test_ranges_are_tried_once_a_kind_of_call(nothing_remembered):
    tuned = tiles.autotune(n=(8, 16, 32), rounds=1)(tiles.tile_kernel(added))
    X = RANDOM.random(100)
    total = np.zeros(100)
    tuned(X, total)
    close(total, X, 1e-15)
    assert [set(c) for c, _ in tuned.results] == [{"n"}] * 3
    assert sorted(c["n"] for c, _ in tuned.results) == [8, 16, 32]
    times = [seconds for _, seconds in tuned.results]
    assert times == sorted(times)
    best = tuned.results[0][0]
    tuned.results = []
    tuned(X, total, scale=2)
    assert len(tuned.results) == 3, "another constant is another kind of call"
    tuned.results = []
    tuned(X[:90].copy(), total[:90])
    close(total[:90], 4 * X[:90], 1e-15)
    assert tuned.results == [], "lengths up to 128 are one kind"
    assert tuned.config(X, total) == best
    # another process finds the choice on disk
    again = tiles.autotune(n=(8, 16, 32), rounds=1)(tiles.tile_kernel(added))
    again(X, total)
    assert again.results == [] and len(nothing_remembered) == 2
    tuned(RANDOM.random(1000), np.zeros(1000))
    assert len(tuned.results) == 3


def test_grids_by_configuration_and_plans():
    @tiles.autotune([{"n": 16, "stages": 2}, {"n": 32, "threads": 64}], rounds=1)
    @tiles.tile_kernel
    def counted(X, H, n: tiles.Constant[int]):
        x = tiles.load(X, (tiles.bid(0),), (n,), padding=-1)
        tiles.atomic_add(H, x, 1, mask=x >= 0)

    X, H = RANDOM.integers(0, 7, 100).astype(np.int32), np.zeros(7, np.int32)
    counted[lambda c: -(-100 // c["n"])](X, H)
    assert np.array_equal(H, np.bincount(X, minlength=7))
    tiles.launch(None, lambda c: -(-100 // c["n"]), counted, (X, H))
    assert np.array_equal(H, 2 * np.bincount(X, minlength=7))


def test_what_does_not_fit_is_left_out():
    @tiles.autotune(n=(16, 1 << 21), rounds=1)
    @tiles.tile_kernel
    def doubled(X, n: tiles.Constant[int]):
        tiles.store(X, (tiles.bid(0),), tiles.load(X, (tiles.bid(0),), (n,)) * 2)

    X = np.ones(20)
    doubled(X)
    assert (X == 2).all()
    assert doubled.results[0][0] == {"n": 16}
    assert "a program holds at most" in doubled.results[1][1]
    never = tiles.autotune(n=(1 << 21, 1 << 22), rounds=1)(doubled.kernel)
    with pytest.raises(SyntaxError, match="a program holds at most"):
        never(X)
    assert (X == 2).all()


def test_what_autotune_is_not_for():
    with pytest.raises(TypeError, match="is for tile kernels, not for <function"):
        tiles.autotune(n=(1, 2))(lambda X: None)
    kernel = tiles.tile_kernel(added)
    with pytest.raises(TypeError, match="added has no parameter 'm', nor has a plan: there are unit, depth"):
        tiles.autotune(m=(1, 2))(kernel)
    with pytest.raises(TypeError, match=r"added has no constant 'X': annotate it as tiles.Constant\[int\]"):
        tiles.autotune(X=(1, 2))(kernel)
    with pytest.raises(TypeError, match="a list of configurations, or ranges by name"):
        tiles.autotune()
    with pytest.raises(ValueError, match="no configuration to try"):
        tiles.autotune([])

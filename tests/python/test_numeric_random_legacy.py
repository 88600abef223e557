"""The functions of numpy.random itself and RandomState: NumPy's numbers after a seed, the device's where nobody knows one."""

import pickle
import subprocess
import sys

import numpy
import pytest
import xcuda.numeric as np
from scipy import stats
from xcuda.numeric.random import _legacy

N = 5000


@pytest.fixture(autouse=True)
def fallback():
    """An error where NumPy draws on the host, unless a test says otherwise."""
    before, np.config.fallback = np.config.fallback, "error"
    yield np.config
    np.config.fallback = before


LARGE = {
    "rand": (40, 130),
    "randn": (N,),
    "random_sample": (N,),
    "random": ((2, N),),
    "randint": (3, 9, N),
    "choice": (7, N),
    "normal": (3.0, 2.0, (50, 101)),
    "uniform": (-1.0, 4.0, N),
    "exponential": (2.0, N),
    "standard_gamma": (2.5, N),
    "poisson": (4.0, N),
    "binomial": (10, 0.3, N),
    "permutation": (numpy.arange(N),),
}


def given(name):
    """The arguments, arrays as the device's."""
    return [np.array(a) if isinstance(a, numpy.ndarray) else a for a in LARGE[name]]


@pytest.mark.parametrize("name", LARGE)
def test_without_a_seed_large_arrays_are_drawn_on_the_device(name):
    state = np.random.RandomState()
    made, other = (getattr(state, name)(*given(name)) for _ in range(2))
    want = getattr(numpy.random.RandomState(), name)(*LARGE[name])
    assert isinstance(made, np.ndarray) and (made.shape, made.dtype) == (want.shape, want.dtype)
    first, second, theirs = made.get().ravel(), other.get().ravel(), want.ravel()
    assert (first != second).any()
    assert stats.ks_2samp(first, theirs).pvalue > 1e-6
    assert stats.ks_2samp(first, second).pvalue > 1e-6


@pytest.mark.parametrize("name", LARGE)
def test_after_a_seed_the_numbers_are_numpys(name, fallback):
    fallback.fallback = "silent"
    seeded = np.random.RandomState()
    seeded.seed(5)
    given_stream = np.random.RandomState(numpy.random.MT19937(5))
    for state, theirs in (
        (np.random.RandomState(5), numpy.random.RandomState(5)),
        (seeded, numpy.random.RandomState(5)),
        (given_stream, numpy.random.RandomState(numpy.random.MT19937(5))),
    ):
        numpy.testing.assert_array_equal(
            getattr(state, name)(*given(name)).get(), getattr(theirs, name)(*LARGE[name])
        )


def test_a_state_that_was_asked_for_or_set_is_known(fallback):
    fallback.fallback = "silent"
    state = np.random.RandomState()
    kept = state.get_state()
    first = state.rand(N).get()
    state.set_state(kept)
    numpy.testing.assert_array_equal(state.rand(N).get(), first)
    theirs = numpy.random.RandomState()
    theirs.set_state(kept)
    numpy.testing.assert_array_equal(theirs.rand(N), first)
    restored = pickle.loads(pickle.dumps(state))
    numpy.testing.assert_array_equal(restored.rand(N).get(), state.rand(N).get())


def test_a_state_taken_and_put_back_by_numpy_repeats_what_the_device_draws():
    state = np.random.RandomState()
    kept = state._host.get_state()
    first = state.normal(1.0, 2.0, N).get()
    state._host.set_state(kept)
    numpy.testing.assert_array_equal(state.normal(1.0, 2.0, N).get(), first)


def test_arrays_of_parameters_stay_on_the_device():
    means = np.arange(N) * 100.0
    drawn = np.random.RandomState().normal(means, 1.0)
    assert isinstance(drawn, np.ndarray) and float(abs(drawn - means).max()) < 10


def test_shuffling_moves_on_the_device():
    a = np.arange(N)
    assert np.random.RandomState().shuffle(a) is None
    host = a.get()
    assert (host != numpy.arange(N)).any() and (numpy.sort(host) == numpy.arange(N)).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.normal(1.0, -1.0, N),
        lambda m: m.standard_normal(N, dtype="float32"),
        lambda m: m.rand(-N, 3),
        lambda m: m.rand(N, size=3),
        lambda m: m.randint(5, 5, N),
        lambda m: m.randint(5, 9, N, "float64"),
        lambda m: m.uniform(0.0, 1.0, N, low=3.0),
        lambda m: m.uniform(0.0, 1.0, N, 7),
        lambda m: m.poisson(-1.0, N),
        lambda m: m.choice(0, N),
        lambda m: m.choice(3, N, p=[0.5, 0.6, 0.1]),
    ],
)
def test_what_is_wrong_is_told_as_numpys_legacy_functions_do(call, fallback):
    fallback.fallback = "silent"
    with pytest.raises(Exception) as theirs:
        call(numpy.random.RandomState())
    with pytest.raises(type(theirs.value)) as ours:
        call(np.random.RandomState())
    assert str(ours.value) == str(theirs.value)


def test_what_only_the_legacy_functions_take_is_numpys(fallback):
    """Generator wants low <= high."""
    fallback.fallback = "silent"
    made = np.random.RandomState().uniform(7.0, 5.0, N)
    assert 5 < float(made.min()) and float(made.max()) <= 7


def test_one_number_is_pythons(fallback):
    fallback.fallback = "silent"
    state = np.random.RandomState()
    assert type(state.rand()) is float and type(state.normal(1.0, 2.0)) is float


def test_names_that_draw_are_known():
    for name, method in _legacy.DRAWN.items():
        assert callable(getattr(numpy.random, name)) and callable(getattr(numpy.random.RandomState, method))


CODE = """
import numpy, xcuda.numeric as np
np.config.fallback = "error"
assert np.random.rand(100, 100).shape == (100, 100)
assert np.random.ranf(5000).shape == np.random.sample(5000).shape == (5000,)
assert np.random.randint(0, 3, size=5000).max() == 2
np.config.fallback = "silent"
numpy.random.seed(3)
want = numpy.random.rand(5000)
numpy.random.seed(3)
assert (np.random.rand(5000).get() == want).all()
np.random.seed(3)
assert (np.random.rand(5000).get() == want).all()
"""


def test_the_modules_functions_begin_without_a_seed():
    """In a process of its own: another test may have given this one's a seed."""
    subprocess.run([sys.executable, "-c", CODE], check=True, timeout=120)

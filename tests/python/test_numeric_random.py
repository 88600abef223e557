"""numeric.random against NumPy's generators: their streams number for number, and the distributions where only these are.

XCUDA_RANDOM=all pytest tests/python/test_numeric_random.py     every distribution and bit generator, some minutes
"""

import functools
import os
import pickle
import threading

import numpy
import pytest
import xcuda.numeric as np
from scipy import stats
from xcuda.numeric.random import _distributions, _fill, _streams
from xcuda.numeric.random._fill import _PIECES, _TOLD, _add_up, _kernels, _layers_on_host, fill
from xcuda.numeric.random._state import Start, stream_of

ALL = os.environ.get("XCUDA_RANDOM") == "all"
N = 3001  # more than is drawn on the host


@pytest.fixture(autouse=True)
def no_fallback():
    before, np.config.fallback = np.config.fallback, "error"
    yield
    np.config.fallback = before


def pair(kind="PCG64", seed=7):
    return np.random.Generator(getattr(np.random, kind)(seed)), numpy.random.Generator(
        getattr(numpy.random, kind)(seed)
    )


def same(ours, theirs, draw):
    """The same numbers, shapes and dtypes, and the same place in the stream afterwards."""
    got, want = draw(ours, np), draw(theirs, numpy)
    got = numpy.asarray(got)
    assert (got.shape, got.dtype) == (numpy.shape(want), numpy.asarray(want).dtype)
    tolerance = {"float64": 1e-12, "float32": 2e-5}.get(got.dtype.name, 0)
    numpy.testing.assert_allclose(got, want, rtol=tolerance, atol=0)
    assert str(ours.bit_generator.state) == str(theirs.bit_generator.state)


# Every distribution with parameters of each of its algorithms; those compiled in everyday tests are marked.
SCALARS = [
    ("standard_normal", [()], True), ("standard_exponential", [()], True), ("random", [()], True),
    ("uniform", [(-1, 3)], True), ("normal", [(3, 2)], True), ("exponential", [(3,)], False),
    ("lognormal", [(0, 0.5)], False), ("rayleigh", [(2,)], False), ("standard_gamma", [(0.3,), (1,), (4.5,), (0,)], False),
    ("gamma", [(0.3, 2), (4.5, 3)], True), ("beta", [(0.5, 0.5), (2, 3), (1e-104, 1e-104), (0.01, 0.02)], False),
    ("chisquare", [(3,)], False), ("f", [(3, 4)], False), ("noncentral_chisquare", [(3, 2), (0.5, 2), (3, 0), (1, 40)], False),
    ("noncentral_f", [(3, 4, 2)], False), ("standard_cauchy", [()], False), ("standard_t", [(3,)], False),
    ("pareto", [(3,)], False), ("weibull", [(2,), (0,)], True), ("power", [(3,)], False), ("laplace", [(1, 2)], True),
    ("gumbel", [(1, 2)], False), ("logistic", [(1, 2)], False), ("wald", [(2, 3), (2000, 0.3)], True),
    ("triangular", [(-1, 0, 3)], False), ("vonmises", [(1, 0), (1, 1e-6), (1, 4), (3, 1e7)], False),
    ("poisson", [(0,), (0.1,), (6,), (10,), (1e6,)], True), ("negative_binomial", [(5, 0.3)], False),
    ("binomial", [(10, 0.3), (10, 0.8), (1000, 0.7), (10**9, 0.2), (0, 0.5)], True),
    ("geometric", [(0.5,), (0.01,), (1,)], False), ("logseries", [(0.7,)], False), ("zipf", [(1.1,), (4,), (2000,)], False),
]  # fmt: skip


def test_every_distribution_is_listed():
    assert {name for name, _, _ in SCALARS} == set(_distributions.DISTRIBUTIONS)


@pytest.mark.parametrize("kind", ["PCG64", "Philox", "PCG64DXSM"] if ALL else ["PCG64"])
@pytest.mark.parametrize("name, parameters", [row[:2] for row in SCALARS if ALL or row[2]])
def test_numbers_are_numpy_s(name, parameters, kind):
    ours, theirs = pair(kind)
    for given in parameters:
        same(ours, theirs, lambda r, _: getattr(r, name)(*given, size=N))
        same(ours, theirs, lambda r, _: getattr(r, name)(*given, size=(3, 5)))  # on the host: the same stream
    same(ours, theirs, lambda r, _: getattr(r, name)(*parameters[0]))


@pytest.mark.parametrize("kind", ["Philox", "PCG64DXSM"])
def test_the_other_streams_are_numpy_s(kind):
    for seed in range(3):
        ours, theirs = pair(kind, seed)
        same(ours, theirs, lambda r, _, n=seed: r.random(n + 1))  # begins within a block
        same(ours, theirs, lambda r, _: r.random((N, 2)))
        same(ours, theirs, lambda r, _: r.standard_normal(N))


def test_a_counter_carries_into_its_upper_words():
    for words in ([2**64 - 3, 5, 0, 0], [2**64 - 2, 2**64 - 1, 2**64 - 1, 7]):
        counter = numpy.array(words, "uint64")
        ours = np.random.Generator(np.random.Philox(key=3, counter=counter))
        theirs = numpy.random.Generator(numpy.random.Philox(key=3, counter=counter))
        same(ours, theirs, lambda r, _: r.random(N))


@pytest.mark.parametrize(
    "name", ["random", "standard_normal", *["standard_exponential", "standard_gamma"] * ALL]
)
def test_float32_and_method_and_out(name):
    ours, theirs = pair()
    shape = (1.7,) if name == "standard_gamma" else ()
    same(ours, theirs, lambda r, _: getattr(r, name)(*shape, size=N, dtype="float32"))
    same(
        ours,
        theirs,
        lambda r, m: getattr(r, name)(*shape, out=m.zeros((30, 100), "float32"), dtype="float32"),
    )
    out = np.zeros((60, 60))
    assert getattr(ours, name)(*shape, out=out) is out
    numpy.testing.assert_allclose(out.get(), getattr(theirs, name)(*shape, size=(60, 60)), rtol=1e-12)
    if name == "standard_exponential":
        same(ours, theirs, lambda r, _: r.standard_exponential(N, method="inv"))


BOUNDS = [
    (0, 10, "int64"), (-5, 3 * 10**9, "int64"), (0, 2**32, "int64"), (7, 8, "int64"), (-(2**63), 2**63, "int64"),
    (0, 3 * 10**18, "uint64"), (0, 2**64, "uint64"), (-9, 100000, "int32"), (-(2**31), 2**31, "int32"), (0, 2**32, "uint32"),
    (0, 1000, "int16"), (-(2**15), 2**15, "int16"), (0, 200, "uint8"), (-128, 128, "int8"), (0, 2, "bool"), (1, 2, "bool"),
]  # fmt: skip


def test_integers_are_numpy_s():
    ours, theirs = pair()
    for i, (low, high, dtype) in enumerate(BOUNDS):
        draw = lambda r, _: r.integers(low, high, N + i, dtype)  # noqa: E731
        same(ours, theirs, draw)
    same(ours, theirs, lambda r, _: r.integers(5, size=N, endpoint=True))
    same(ours, theirs, lambda r, _: r.random(N, dtype="float32"))
    same(ours, theirs, lambda r, _: r.integers(10))


def test_loc_and_scale_may_be_arrays_of_the_same_stream():
    ours, theirs = pair()
    same(ours, theirs, lambda r, m: r.normal(m.arange(50.0), 2, (70, 50)))
    same(ours, theirs, lambda r, m: r.uniform(-1, m.arange(1.0, N + 1)))


def test_arrays_of_parameters_have_the_distribution():
    ours, _ = pair("Philox", 3)
    shapes = numpy.linspace(0.5, 5, 20000)
    p = stats.weibull_min.cdf(ours.weibull(np.array(shapes)).get(), shapes)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    means = numpy.repeat([0.5, 7.0, 40.0], 5000)
    seen = ours.poisson(np.array(means)).get().reshape(3, 5000)
    for row, mean in zip(seen, (0.5, 7.0, 40.0), strict=True):
        low, high = stats.poisson.ppf([0.02, 0.98], mean)
        values = numpy.arange(low, high + 1)
        wanted = numpy.array([stats.poisson.cdf(low, mean), *stats.poisson.pmf(values[1:], mean)])
        found = numpy.array([(row <= low).sum(), *((row == v).sum() for v in values[1:])])
        wanted, found = numpy.append(wanted, 1 - wanted.sum()), numpy.append(found, row.size - found.sum())
        assert stats.chisquare(found, wanted * row.size).pvalue > 0.01
    ends = np.array(numpy.arange(1, 20001))
    drawn = ours.integers(-3, ends).get()
    assert (drawn >= -3).all() and (drawn < numpy.arange(1, 20001)).all()
    assert stats.kstest((drawn + 3.5) / (numpy.arange(1, 20001) + 3), "uniform").pvalue > 0.01
    again, _ = pair("Philox", 3)
    numpy.testing.assert_allclose(stats.weibull_min.cdf(again.weibull(np.array(shapes)).get(), shapes), p)


@pytest.mark.skipif(not ALL, reason="compiles each distribution once more; XCUDA_RANDOM=all")
def test_all_distributions_of_arrays():
    law = {
        "standard_gamma": (stats.gamma, (2.5,)), "beta": (stats.beta, (2.0, 3.0)), "chisquare": (stats.chi2, (3.0,)),
        "f": (stats.f, (3.0, 4.0)), "noncentral_chisquare": (stats.ncx2, (3.0, 2.0)), "standard_t": (stats.t, (3.0,)),
        "noncentral_f": (stats.ncf, (3.0, 4.0, 2.0)), "pareto": (stats.lomax, (3.0,)), "power": (stats.powerlaw, (3.0,)),
        "laplace": (stats.laplace, (1.0, 2.0)), "gumbel": (stats.gumbel_r, (1.0, 2.0)),
        "logistic": (stats.logistic, (1.0, 2.0)),
    }  # fmt: skip
    ours, _ = pair("PCG64DXSM", 11)
    for name, (distribution, given) in law.items():
        drawn = getattr(ours, name)(*(np.full(20000, v) for v in given)).get()
        assert stats.kstest(drawn, distribution(*given).cdf).pvalue > 1e-5, name
    for name, distribution, given in (
        ("binomial", stats.binom, (30, 0.4)), ("geometric", stats.geom, (0.2,)), ("zipf", stats.zipf, (3.0,)),
        ("logseries", stats.logser, (0.6,)), ("negative_binomial", stats.nbinom, (4.0, 0.4)),
    ):  # fmt: skip
        drawn = getattr(ours, name)(*(np.full(20000, v) for v in given)).get()
        values = numpy.arange(distribution(*given).ppf(0.01), distribution(*given).ppf(0.99) + 1)
        wanted = distribution(*given).pmf(values)
        found = numpy.array([(drawn == v).sum() for v in values])
        wanted, found = numpy.append(wanted, 1 - wanted.sum()), numpy.append(found, drawn.size - found.sum())
        assert stats.chisquare(found, wanted * drawn.size).pvalue > 1e-5, name


def test_orders_and_choices_are_numpy_s():
    ours, theirs = pair()
    same(ours, theirs, lambda r, _: r.permutation(N))
    same(ours, theirs, lambda r, _: r.choice(100, N))
    same(ours, theirs, lambda r, m: r.choice(m.arange(9.0), 7, replace=False, shuffle=False))
    same(ours, theirs, lambda r, m: r.choice(m.arange(12.0).reshape(3, 4), (20, 3), axis=1))
    same(ours, theirs, lambda r, _: r.choice(5, N, p=[0.1, 0.2, 0.3, 0.3, 0.1]))
    same(ours, theirs, lambda r, m: r.permutation(m.arange(12.0).reshape(3, 4), axis=1))
    same(ours, theirs, lambda r, m: r.permuted(m.arange(12).reshape(3, 4), axis=0))
    same(ours, theirs, lambda r, _: r.choice(50))

    def shuffled(r, m):
        x = m.arange(30).reshape(10, 3)
        assert r.shuffle(x) is None
        return x

    same(ours, theirs, shuffled)
    assert ours.bytes(9) == theirs.bytes(9)


def test_vectors():
    ours, theirs = pair()
    same(ours, theirs, lambda r, _: r.dirichlet([1, 2, 3], 10))
    same(ours, theirs, lambda r, _: r.multinomial(10, [0.2, 0.3, 0.5], (4, 5)))
    covariance = numpy.array([[2, 0.5], [0.5, 1]])
    x = ours.multivariate_normal([5, 1], covariance, 20000).get()
    assert x.shape == (20000, 2)
    whitened = numpy.linalg.solve(numpy.linalg.cholesky(covariance), (x - [5, 1]).T)
    for row in whitened:
        assert stats.kstest(row, "norm").pvalue > 0.01
    assert abs(numpy.corrcoef(whitened)[0, 1]) < 0.03
    drawn = ours.multinomial(20, [0.2, 0.3, 0.5], 4000).get()
    assert (drawn.sum(1) == 20).all() and stats.chisquare(
        drawn.sum(0), 80000 * numpy.array([0.2, 0.3, 0.5])
    ).pvalue > 0.01
    if ALL:
        shares = ours.dirichlet([1, 2, 3], 20000).get()
        assert stats.kstest(shares[:, 0], stats.beta(1, 5).cdf).pvalue > 0.01
        numpy.testing.assert_allclose(shares.sum(1), 1)


ERRORS = [
    lambda r: r.normal(0, -1, 10), lambda r: r.gamma(-1, size=N), lambda r: r.integers(5, 3, 10), lambda r: r.beta(1, 0, N),
    lambda r: r.integers(0, 300, N, "uint8"), lambda r: r.random(5, dtype=int), lambda r: r.normal(0, [1, -1], (5, 2)),
    lambda r: r.choice(5, 10, replace=False), lambda r: r.choice(3, 5, p=[0.5, 0.5, 0.5]), lambda r: r.poisson(-1, N),
    lambda r: r.triangular(3, 1, 2, N), lambda r: r.multinomial(3, [0.9, 0.9, 0.1], N), lambda r: r.dirichlet([-1, 1], N),
    lambda r: r.permuted([1, 2], axis=5), lambda r: r.zipf(1, N), lambda r: r.standard_normal(-1),
]  # fmt: skip


@pytest.mark.parametrize("wrong", ERRORS)
def test_errors_are_numpy_s_and_draw_nothing(wrong):
    ours, theirs = pair()
    with pytest.raises(Exception) as want:
        wrong(theirs)
    with pytest.raises(type(want.value)) as got:
        wrong(ours)
    assert str(got.value) == str(want.value)
    assert str(ours.bit_generator.state) == str(pair()[1].bit_generator.state)


def test_generators_are_made_spawned_and_pickled_as_numpy_s():
    ours, theirs = np.random.default_rng(5), numpy.random.default_rng(5)
    same(ours.spawn(2)[1], theirs.spawn(2)[1], lambda r, _: r.random(N))
    assert np.random.default_rng(ours) is ours
    copied = pickle.loads(pickle.dumps(ours))
    numpy.testing.assert_array_equal(copied.random(N).get(), theirs.random(N))
    assert str(ours) == "Generator(PCG64)"
    sequence = np.random.SeedSequence(3)
    same(np.random.Generator(np.random.Philox(sequence)), numpy.random.Generator(numpy.random.Philox(sequence)),
         lambda r, _: r.random(N))  # fmt: skip


def test_threads_that_share_a_generator_draw_different_numbers():
    ours, theirs = pair("Philox")
    drawn = []

    def draw(n):
        for _ in range(6):
            drawn.append(ours.random(n).get())

    threads = [threading.Thread(target=draw, args=(n,)) for n in (N, 100, N)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    made = numpy.concatenate(drawn)
    numpy.testing.assert_array_equal(numpy.sort(made), numpy.sort(theirs.random(made.size)))


def test_other_streams_and_the_legacy_functions_draw_on_the_host():
    np.config.fallback = "silent"
    same(*pair("MT19937"), lambda r, _: r.standard_normal(N))
    mine, theirs = np.random.RandomState(3), numpy.random.RandomState(3)
    drawn = mine.rand(3, 4)
    assert isinstance(drawn, np.ndarray)
    numpy.testing.assert_array_equal(drawn.get(), theirs.rand(3, 4))
    np.random.seed(4)
    numpy.random.seed(4)
    want = numpy.random.randn(5)
    np.random.seed(4)
    numpy.testing.assert_array_equal(np.random.randn(5).get(), want)
    np.config.fallback = "error"
    with pytest.raises(NotImplementedError, match=r"random\.RandomState\.rand"):
        mine.rand(3)


@pytest.mark.parametrize("length", [_streams.PHILOX, _streams.PCG64])
def test_kernels_compile_for_gpus(length):
    pytest.importorskip("nvidia.cu13", reason="no NVRTC wheel")
    _, walk, gather = _kernels(length, 64, "normal")
    drawn, pieces, whole, parameters = (
        "float64[:, ::1]",
        "int64[:, ::1]",
        "int64[::1]",
        "float64, float64, float64",
    )
    more = f"uint64[::1], uint64[:, ::1], {drawn}, int64, int64, {parameters}"
    for kernel, types in (
        (walk, f"{drawn}, {pieces}, {whole}, {whole}, int64, {more}"),
        (gather, f"float64[::1], {drawn}, {pieces}, {whole}, {whole}, int64, {more}"),
        (_add_up(), f"{pieces}, {whole}, {whole}"),
    ):
        made = kernel.compile(types, target="sm_90")
        assert 0 < made["registers"] <= 255


@pytest.mark.parametrize(
    "name, method", [("standard_normal", "normal"), ("standard_gamma", "gamma"), ("random", "random")]
)
@pytest.mark.parametrize("back", [0, 8])
@pytest.mark.parametrize("chunk", [32, 64])
def test_numbers_do_not_depend_on_the_pieces(name, method, chunk, back, monkeypatch):
    """A GPU's pieces are shorter: more of them begin at a wrong place, all but surely where nothing is drawn before them."""
    monkeypatch.setattr(_fill, "_BACK", back)
    monkeypatch.setattr(_fill, "_kernels", functools.cache(_kernels.__wrapped__))
    for size in (1, 31, 5000, 40_000):
        ours, theirs = (numpy.random.Philox(5) for _ in range(2))
        out = np.empty(size)
        words = {"random": 1, "standard_normal": 1.02, "standard_gamma": 2.1}[name]
        shape = [2.5] if method == "gamma" else []
        fill(
            ours,
            stream_of(ours),
            out.to_device_array(),
            method,
            [*shape, 0.0, 0.0, 0.0][:3],
            words=words,
            chunk=chunk,
        )
        want = getattr(numpy.random.Generator(theirs), name)(*shape, size=size)
        numpy.testing.assert_allclose(out.get(), want, rtol=1e-12)
        assert ours.random_raw() == theirs.random_raw()


@pytest.mark.parametrize("kind, name, bits", [("Philox", "normal", 64), ("PCG64", "normal_single", 32)])
def test_gpus_draw_the_same_numbers(kind, name, bits):
    """The text that NVRTC gets, run on the host."""
    import host_cuda
    import host_gpu
    from fake_cuda import need_nvrtc

    need_nvrtc()
    host_cuda.need_compiler()
    launch = functools.partial(host_cuda.launch, library=host_gpu.library)
    generator = getattr(numpy.random, kind)(9)
    numpy.random.Generator(generator).random(5)
    start = Start(generator)
    _, walk, gather = _kernels(stream_of(generator), bits, name)
    kind = numpy.float32 if bits == 32 else numpy.float64
    count, piece = 70, 64  # three blocks, the last one not full
    blocks = -(-count // _PIECES)
    drawn, made = numpy.zeros((count, piece), kind), numpy.zeros(count * 60, kind)
    pieces, totals = numpy.zeros((4, count), numpy.int64), numpy.zeros(blocks, numpy.int64)
    told = numpy.zeros(_TOLD, numpy.int64)
    stream = (
        start.host_base, start.host_jumps, _layers_on_host(kind), start.position(bits), piece, 0.0, 0.0, 0.0,
    )  # fmt: skip
    for turn in range(2):
        told[:] = 0
        launch(walk, blocks, _PIECES, drawn, pieces, totals, told, turn, *stream)
    launch(_add_up(), 1, 256, pieces, totals, told)
    launch(gather, (-(-piece // 32), -(-count // 8)), (32, 8), made, drawn, pieces, totals, told, 0, *stream)
    assert told[0] == 0  # all pieces were begun at the right place by then
    assert made.size < told[1] <= count * piece
    theirs = getattr(numpy.random, type(generator).__name__)(9)
    numpy.random.Generator(theirs).random(5)
    want = numpy.random.Generator(theirs).standard_normal(made.size, dtype=kind)
    numpy.testing.assert_allclose(made, want, rtol=1e-12 if bits == 64 else 2e-5)


@pytest.mark.parametrize("draw", ["standard_normal", "standard_exponential", "random"])
def test_dtypes_are_checked_at_each_draw(draw):
    """What NumPy took once is not asked again; what it refuses is refused each time, also after a draw."""
    ours, theirs = (getattr(m.random.Generator(m.random.Philox(3)), draw) for m in (np, numpy))
    for _ in range(2):
        for dtype in ("float64", numpy.float32, numpy.dtype("f4")):
            want, got = theirs(5000, dtype=dtype), ours(5000, dtype=dtype).get()
            assert got.dtype == want.dtype
            numpy.testing.assert_array_equal(got, want)
        for dtype in ("int32", numpy.int64, "zz", 1, [1]):
            with pytest.raises(Exception) as refused:
                theirs(5000, dtype=dtype)
            with pytest.raises(refused.type) as found:
                ours(5000, dtype=dtype)
            assert str(found.value) == str(refused.value)

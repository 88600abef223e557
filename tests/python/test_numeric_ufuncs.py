"""Every ufunc over every dtype that NumPy takes there, against NumPy: values, dtypes and errors."""

import itertools
import warnings

import numpy
import pytest
import xcuda.numeric as np
from xcuda.numeric._dtypes import UFUNCS, held
from xcuda.numeric._registry import TABLE

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]  # fmt: skip
NAMES = sorted({f.__name__ for f in UFUNCS.values() if f.signature is None} - {"isnat"})  # of dates
# Off by some units in the last place: the C library's functions, and complex ones made of several.
LOOSE = {"float16": 2e-3, "float32": 4e-6, "float64": 2e-14, "complex64": 4e-6, "complex128": 1e-13}


def samples(dtype, seed=0):
    rng = numpy.random.default_rng(seed)
    kind = numpy.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, 40).astype(dtype)
    if kind in "iu":
        info = numpy.iinfo(dtype)
        edges = [info.min, info.max, 0, 1, 2, 3] + ([-1, -2] if kind == "i" else [5, 7])
        return numpy.array(edges + list(rng.integers(max(info.min, -50), 50, 32)), dtype)
    real = numpy.concatenate([[0.0, -0.0, 1, -1, 0.5, -0.5, 2, 3], rng.normal(0, 2, 32)])
    if kind == "c":
        return (real + 1j * rng.permutation(real)).astype(dtype)
    real[12:15] = [numpy.nan, numpy.inf, -numpy.inf]
    return real.astype(dtype)


def close(ours, theirs, loose=LOOSE):
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    tolerance = loose.get(theirs.dtype.name)
    if tolerance is None:
        numpy.testing.assert_array_equal(ours, theirs)
    else:
        numpy.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def reference(name, *args, **kwargs):
    with numpy.errstate(all="ignore"):
        return getattr(numpy, name)(*args, **kwargs)


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    monkeypatch.setattr(np.config, "_fallback", "silent")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


@pytest.mark.parametrize("name", NAMES)
def test_values_and_dtypes_are_numpys(name):
    function = UFUNCS[name]
    made = []  # computed together, at the end: one kernel
    pairs = (
        [(d,) for d in DTYPES]
        if function.nin == 1
        else [(d, d) for d in DTYPES]
        + [
            ("int8", "uint8"),
            ("int64", "uint64"),
            ("int32", "float32"),
            ("float32", "complex64"),
            ("bool", "float64"),
        ]
    )
    for dtypes in pairs:
        try:
            loop = function.resolve_dtypes((*map(numpy.dtype, dtypes), *(None,) * function.nout))
        except TypeError:
            args = [np.array(samples(d)) for d in dtypes]
            with pytest.raises(TypeError, match="ufunc '|numpy boolean"):
                getattr(np, name)(*args)
            continue
        if not all(map(held, loop)):
            continue
        given = [samples(d, seed) for seed, d in enumerate(dtypes)]
        if name == "power" and loop[-1].kind in "iu":
            given[1] = numpy.abs(given[1]) % 9 if given[1].dtype.kind == "i" else given[1] % 9
        if name in ("left_shift", "right_shift", "ldexp"):
            given[1] = numpy.abs(given[1].astype("int64") % 5).astype(given[1].dtype)
        if name == "lcm":
            given = [g % 13 for g in given]
        if name == "reciprocal" and loop[-1].kind in "iu":
            continue  # 1 / 0
        made.append((getattr(np, name)(*map(np.array, given)), reference(name, *given)))
    assert made
    for ours, theirs in made:
        if not isinstance(theirs, tuple):
            ours, theirs = (ours,), (theirs,)
        for o, t in zip(ours, theirs, strict=True):
            close(o.get(), t)


@pytest.mark.parametrize(
    "name", ["add", "multiply", "subtract", "divide", "less", "maximum", "power", "floor_divide", "remainder"]
)
@pytest.mark.parametrize("number", [2, -3, 1.5, 2j, True])
def test_python_numbers_are_weak(name, number):
    made = []
    for d in DTYPES:
        x = samples(d)[-20:]
        ours = np.array(x)
        for args in ((x, number), (number, x)):
            given = [ours if a is x else a for a in args]
            try:
                theirs = reference(name, *args)
            except (TypeError, OverflowError, ValueError) as error:
                with pytest.raises(type(error)) as raised:
                    getattr(np, name)(*given)
                assert str(raised.value) == str(error)
                continue
            made.append((getattr(np, name)(*given), theirs))
    for ours, theirs in made:
        close(ours.get(), theirs)


def test_numbers_of_numpy_are_strong():
    x = np.arange(5, dtype="float32")
    assert (x + numpy.float64(1)).dtype == "float64"
    assert (x + numpy.float32(1)).dtype == "float32"
    assert (numpy.float64(1) + x).dtype == "float64"
    assert isinstance(numpy.float64(1) + x, np.ndarray)


def test_out_where_dtype_casting():
    x = numpy.arange(6.0)
    out, theirs = np.zeros(6), numpy.zeros(6)
    made = np.sqrt(np.array(x), out=out, where=np.array(x > 2))
    numpy.sqrt(x, out=theirs, where=x > 2)
    assert made is out
    close(out.get(), theirs)
    close(np.add(np.array([1, 2]), 1, dtype="float32").get(), numpy.add([1, 2], 1, dtype="float32"))
    for function in (np, numpy):
        with pytest.raises(numpy._core._exceptions._UFuncOutputCastingError):
            function.add(function.arange(3.0), 1, out=function.arange(3))
        with pytest.raises(numpy._core._exceptions._UFuncInputCastingError):
            function.add(function.arange(3.0), 1, dtype="int64", casting="safe")


def test_shapes_that_do_not_broadcast():
    for a, b in itertools.permutations(((2, 3), (4,), (3, 2)), 2):
        with pytest.raises(ValueError) as theirs:
            numpy.zeros(a) + numpy.zeros(b)
        with pytest.raises(ValueError) as ours:
            np.zeros(a) + np.zeros(b)
        assert str(ours.value) == str(theirs.value)
    with pytest.raises(ValueError, match=r"non-broadcastable output operand with shape \(3,\)"):
        x = np.zeros(3)
        x += np.zeros((2, 3))


def test_operators_with_others():
    x = np.arange(3)
    assert (x == None).get().tolist() == [False] * 3  # noqa: E711
    with pytest.raises(TypeError):
        x + {}
    assert (x + [1, 2, 3]).get().tolist() == [1, 3, 5]
    assert ([1, 2, 3] - x).get().tolist() == [1, 1, 1]
    assert isinstance(numpy.arange(3) * x, np.ndarray)
    assert isinstance(numpy.sin(x), np.ndarray)
    assert divmod(x, 2)[1].get().tolist() == [0, 1, 0]


def test_outer_at_and_identity():
    a, b = numpy.arange(1, 4.0), numpy.arange(1, 5.0)
    close(np.multiply.outer(np.array(a), np.array(b)).get(), numpy.multiply.outer(a, b))
    x = np.zeros(3)
    np.add.at(x, [0, 0, 2], 1)
    assert x.get().tolist() == [2, 0, 1]
    assert np.add.identity == 0


def test_native_ufuncs_are_most():
    """The share of ufuncs with a loop of their own for float64: it must not fall."""
    from xcuda import _runtime

    names = set(_runtime.numeric_loop_names())
    assert len(names & set(NAMES)) >= 65
    assert {"add", "sin", "logaddexp", "isnan"} <= names
    assert TABLE["add"].function is np.add


PARTS = [
    0.0,
    -0.0,
    1.5,
    -2.75,
    1e-310,
    5e-324,
    -1e-45,
    1e308,
    65504.0,
    1e-7,
    numpy.inf,
    -numpy.inf,
    numpy.nan,
]


@pytest.mark.parametrize("elements", [0, 512])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "bool"])
@pytest.mark.parametrize("name", ["frexp", "modf"])
def test_parts_of_numbers_are_numpys_without_the_host(name, dtype, elements, monkeypatch):
    monkeypatch.setattr(np.config, "_fallback", "error")
    monkeypatch.setattr(np.config, "host_elements", elements)
    with numpy.errstate(all="ignore"):
        x = numpy.array(PARTS if "float" in dtype else [0, 1, 5, 100], "float64").astype(dtype)
    expected, found = reference(name, x), getattr(np, name)(np.array(x))
    for theirs, ours in zip(expected, found, strict=True):
        assert ours.dtype == theirs.dtype
        numpy.testing.assert_array_equal(ours.get(), theirs)
        if theirs.dtype.kind == "f":
            numpy.testing.assert_array_equal(numpy.signbit(ours.get()), numpy.signbit(theirs))
    given = np.zeros(x.shape, expected[1].dtype)
    assert getattr(np, name)(np.array(x), None, given)[1] is given
    numpy.testing.assert_array_equal(given.get(), expected[1])

"""Nothing public of NumPy is absent from numeric; functions about dtypes, shapes and text move no elements."""

import sys
import warnings
from pathlib import Path

import numpy
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import numeric_coverage
from xcuda import numeric as np


@pytest.mark.parametrize("module", numeric_coverage.MODULES)
def test_nothing_public_is_absent_without_a_reason(module):
    absent = [(n, why) for n, kind, why in numeric_coverage.rows(module) if kind == "absent"]
    assert [n for n, why in absent if not why] == []


def test_a_gap_in_the_module_is_seen(monkeypatch):
    monkeypatch.setattr(numeric_coverage, "public", lambda module: ["sum", "no_such_function"])
    assert numeric_coverage.rows("")[1][:2] == ("no_such_function", "absent")


@pytest.fixture
def only_native(monkeypatch):
    monkeypatch.setattr(np.config, "_fallback", "error")


def test_questions_about_dtypes_compute_nothing(only_native):
    pending = np.ones(10, np.float32) * 2
    assert np.result_type(pending, np.ones(3, int), 1.0) == numpy.float64
    assert np.can_cast(pending.dtype, np.float64) and np.common_type(pending) == numpy.float32
    assert np.iscomplexobj(pending * 1j) and np.isrealobj(pending)
    assert numpy.result_type(pending, pending) == numpy.float32  # by __array_function__
    assert pending._pending
    assert np.min_scalar_type(np.array(300)) == numpy.uint16


def test_shares_memory_is_of_addresses(only_native):
    a = np.arange(20)
    assert np.shares_memory(a[:10], a[5:]) and not np.shares_memory(a[::2], a[1::2])
    assert np.may_share_memory(a[::2], a[1::2]) and not np.may_share_memory(a, a + 1)
    assert not np.shares_memory(a[:0], a)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "c16", "?"])
def test_predicates_of_elements(only_native, dtype):
    host = (
        numpy.array([0, 1, -1, numpy.inf, -numpy.inf, numpy.nan])
        if dtype in ("f4", "f8", "c16")
        else numpy.arange(4)
    )
    host = host.astype(dtype)
    if dtype == "c16":
        host.imag[1] = 2
    ours = np.array(host)
    names = ["iscomplex", "isreal"] + (["isposinf", "isneginf"] if dtype != "c16" else [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            expected = getattr(numpy, name)(host)
            found = getattr(np, name)(ours)
            assert found.dtype == expected.dtype and (found.get() == expected).all(), name


def test_text_of_arrays(only_native):
    a = np.arange(6.0).reshape(2, 3)
    for name in ("array_repr", "array_str", "array2string"):
        assert getattr(np, name)(a) == getattr(numpy, name)(a.get())
    assert numpy.array2string(a, separator=";") == numpy.array2string(a.get(), separator=";")


def test_equivalence_and_finiteness():
    a = np.arange(3.0)
    assert np.array_equiv(a, a[None]) and not np.array_equiv(a, np.arange(4.0))
    with pytest.raises(ValueError, match="infs or NaNs"):
        np.asarray_chkfinite([1.0, numpy.nan])
    assert np.isfortran(np.ones((2, 3), order="F")) and not np.isfortran(np.ones(3))


def test_what_goes_by_numpy_says_why():
    from xcuda.numeric.random import Generator

    rows = {name: why for name, kind, why in numeric_coverage.rows("random") if kind == "host"}
    assert rows and all(rows.values())
    for name, why in rows.items():
        if "Generator." in why:
            assert callable(getattr(Generator, why.split("Generator.")[1].split("`")[0])), name

"""numeric's own kernels compiled by NVRTC for GPUs that need not be here."""

import numpy
import pytest
import xcuda.numeric as np
from xcuda import _runtime
from xcuda.core.signatures import types_from
from xcuda.numeric import _counting, _gather, _nonzero, _scans, _searching, _sort_kernels, _ufunc_methods
from xcuda.numeric._paths import as_kernels_see

pytest.importorskip("nvidia.cu13", reason="no NVRTC wheel")


def zeros(dtype, *shape):
    return as_kernels_see(np.zeros(shape, dtype))


def cases():
    places, one = zeros("i8", 9), zeros("f4", 9)
    yield "gather", _gather._gather(), (one, one, places, 0)
    yield "gather blocks", _gather._gather_blocks(), (one, one, places, 0, 1, 1, 3)
    yield "scatter", _gather._scatter(), (one, places, one, 0)
    yield "gather around", _gather._gather_around(), (one, one, places, 0, 2, 1, 1, 3)
    yield "find owners", _gather._find_owners(), (places, places)
    yield "scatter owned", _gather._scatter_owned(), (one, places, one, 0, places)
    yield "places of a mask", _nonzero._write_places(), (places, zeros("?", 9), places)
    for name, dtype in (("add", "i8"), ("maximum", "f4"), ("multiply", "c16"), ("logical_or", "?")):
        d, x = numpy.dtype(dtype), zeros(dtype, 2, 9, 3)
        yield f"scan lanes {name} {dtype}", _scans._lanes(name, d), (x, x)
        yield f"scan tiles {name} {dtype}", _scans._tiles(name, d), (x, x, x)
        yield f"earlier tiles {name} {dtype}", _scans._carry(name, d), (x, x)
        yield f"fold parts {name} {dtype}", _scans._parts(name, d), (x, x, places, places)
    for dtype in ("f4", "i8", "f2", "c16"):
        d, x, order = numpy.dtype(dtype), zeros(dtype, 2, 9), zeros("i4", 2, 9)
        yield f"sort tiles {dtype}", _sort_kernels._sort_tiles(d), (x, x)
        yield f"order tiles {dtype}", _sort_kernels._order_tiles(d, numpy.dtype("i4")), (x, order, x)
        yield f"merge {dtype}", _sort_kernels._merge(d), (x, x, 1024)
        yield f"merge order {dtype}", _sort_kernels._merge_order(d), (x, order, x, order, 1024)
        yield f"search {dtype}", _searching._kernel(d.kind, True), (places, zeros(dtype, 9), zeros(dtype, 9))
    for weighted in (False, True):
        for k, kernel in enumerate(_counting._kernels(weighted)):
            out = zeros("f8" if weighted else "i8", 9)
            yield f"count {weighted} {k}", kernel, (out, places, zeros("f8", 9) if weighted else places)
    f4 = numpy.dtype("f4")
    yield "add.at", _ufunc_methods._at_kernel("add", f4, f4, 2), (one, places, places, places, places, one)
    yield "sqrt.at", _ufunc_methods._at_kernel("sqrt", f4, f4, 1), (one, places, places, places, places)


@pytest.mark.parametrize("target", ["sm_90"])
def test_compiles(target):
    seen = 0
    for name, kernel, args in cases():
        made = _runtime.compile_for(kernel, tuple(types_from(args)), target, None)
        assert 0 < made["registers"] <= 128, (name, made["registers"])
        assert made["local_bytes"] == 0, (name, made["local_bytes"])  # nothing spilt
        seen += 1
    assert seen > 45

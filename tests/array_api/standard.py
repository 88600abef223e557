"""Arguments for each function of the array API standard, drawn by hypothesis: {name: strategy of (args, kwargs)}.

This is a check of our own, not the consortium's suite (tests/array_api/run --suite PATH runs that one).
"""

import numpy
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
KINDS = {
    "bool": ("bool",), "integer": SIGNED + UNSIGNED, "real": SIGNED + UNSIGNED + REAL, "floating": REAL + COMPLEX,
    "real floating": REAL, "complex": COMPLEX, "numeric": SIGNED + UNSIGNED + REAL + COMPLEX,
    "integer or bool": ("bool", *SIGNED, *UNSIGNED), "all": ("bool", *SIGNED, *UNSIGNED, *REAL, *COMPLEX),
    "real or bool": ("bool", *SIGNED, *UNSIGNED, *REAL),
}  # fmt: skip
UNARY = {
    "numeric": "abs conj imag real negative positive sign square isfinite isinf isnan",
    "floating": "acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p log2 log10 sin sinh sqrt tan tanh",
    "real": "ceil floor trunc round", "real floating": "signbit", "integer or bool": "bitwise_invert",
    "bool": "logical_not",
}  # fmt: skip
BINARY = {
    "numeric": "add multiply subtract", "all": "equal not_equal", "floating": "divide",
    "real floating": "atan2 copysign hypot logaddexp nextafter", "real": "less less_equal greater greater_equal",
    "integer or bool": "bitwise_and bitwise_or bitwise_xor", "bool": "logical_and logical_or logical_xor",
}  # fmt: skip


def elements(dtype):
    """Numbers of the dtype that are small enough for results to be finite, and now and then are not."""
    kind = numpy.dtype(dtype).kind
    if kind == "b":
        return st.booleans()
    if kind == "u":
        return st.integers(0, 20)
    if kind == "i":
        return st.integers(-20, 20)
    special = st.sampled_from([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan])
    real = st.one_of(st.floats(-8, 8, width=16), st.floats(-8, 8, width=16), special)
    return real if kind == "f" else st.builds(complex, st.floats(-8, 8, width=16), st.floats(-8, 8, width=16))


@st.composite
def arrays(draw, kind="numeric", shape=None, least=0, most=3, side=0, dtype=None, values=None):
    dtype = dtype or draw(st.sampled_from(KINDS[kind]))
    shape = hn.array_shapes(min_dims=least, max_dims=most, min_side=side, max_side=4) if shape is None else shape
    return draw(hn.arrays(dtype, shape, elements=values or elements(dtype)))


def _one(kind):
    return st.tuples(st.tuples(arrays(kind)), st.just({}))


@st.composite
def _two(draw, kind):
    shapes = draw(hn.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4)).input_shapes
    dtype = draw(st.sampled_from(KINDS[kind]))
    other = draw(st.sampled_from([dtype, dtype, *KINDS[kind]]))
    try:
        numpy.add(numpy.ones(1, dtype), numpy.ones(1, other)) if kind != "bool" else None
        other = other if numpy.result_type(dtype, other).kind != "f" or numpy.dtype(dtype).kind == "f" else dtype
    except TypeError:
        other = dtype
    second = draw(arrays(shape=shapes[1], dtype=other))
    if draw(st.booleans()):
        number = second.flat[0].item() if second.size else 1
        return (draw(arrays(shape=shapes[0], dtype=dtype)), number), {}
    return (draw(arrays(shape=shapes[0], dtype=dtype)), second), {}


@st.composite
def _whole(draw, kind):
    """Integers and floats by what is not zero: quotients of integers by zero are undefined."""
    (a, b), _ = draw(_two(kind))
    b = b if b is not a else b.copy()
    return (a, numpy.where(b == 0, numpy.ones((), getattr(b, "dtype", type(b))), b)), {}


@st.composite
def _shift(draw):
    dtype = draw(st.sampled_from(SIGNED + UNSIGNED))
    a = draw(arrays(dtype=dtype))
    return (a, draw(arrays(dtype=dtype, shape=a.shape, values=st.integers(0, 6)))), {}


@st.composite
def _power(draw):
    dtype = draw(st.sampled_from(KINDS["numeric"]))
    a = draw(arrays(dtype=dtype))
    return (a, draw(arrays(dtype=dtype, shape=a.shape, values=st.integers(0, 3)))), {}


@st.composite
def _fold(draw, kind, keep=True, several=True, least=0, filled=False, **more):
    a = draw(arrays(kind, least=least, side=1 if filled else 0))
    axes = [None, *range(-a.ndim, a.ndim)]
    if several and a.ndim > 1:
        axes.append((0, -1))
    how = {"axis": draw(st.sampled_from(axes))}
    if keep:
        how["keepdims"] = draw(st.booleans())
    for name, values in more.items():
        if draw(st.booleans()):
            how[name] = draw(values)
    return (a,), how


@st.composite
def _axis(draw, kind="all", least=1, name="axis", filled=False, **more):
    a = draw(arrays(kind, least=least, side=1 if filled else 0))
    how = {name: draw(st.integers(-a.ndim, a.ndim - 1))} if a.ndim else {}
    return (a,), how | {k: draw(v) for k, v in more.items()}


@st.composite
def _several(draw, stacked):
    shape = list(draw(hn.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)))
    axis, dtype, made = draw(st.integers(-len(shape), len(shape) - 1)), draw(st.sampled_from(KINDS["all"])), []
    for _ in range(draw(st.integers(1, 3))):
        if not stacked:
            shape[axis] = draw(st.integers(0, 4))
        made.append(draw(arrays(shape=tuple(shape), dtype=dtype)))
    return (made,), {"axis": axis}


@st.composite
def _reshape(draw):
    a = draw(arrays("all"))
    return (a, draw(st.sampled_from([(-1,), a.shape, a.shape[::-1], (1, *a.shape)]) if a.size else st.just(a.shape))), {}


@st.composite
def _permute(draw):
    a = draw(arrays("all"))
    return (a, tuple(draw(st.permutations(range(a.ndim))))), {}


@st.composite
def _take(draw, along=False):
    a = draw(arrays("all", least=1, side=1))
    axis = draw(st.integers(-a.ndim, a.ndim - 1))
    n = a.shape[axis]
    shape = list(a.shape)
    shape[axis] = draw(st.integers(1, 4))
    return (a, draw(arrays(dtype="int64", shape=tuple(shape) if along else (shape[axis],), values=st.integers(0, n - 1)))), {"axis": axis}


@st.composite
def _search(draw):
    x, v = draw(arrays(dtype="float64", shape=(draw(st.integers(0, 6)),), values=st.integers(-5, 5))), draw(
        arrays(dtype="float64", least=1, most=2, values=st.integers(-5, 5)))  # fmt: skip
    return (numpy.sort(x), v), {"side": draw(st.sampled_from(["left", "right"]))}


@st.composite
def _where(draw):
    shapes = draw(hn.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=4)).input_shapes
    dtype = draw(st.sampled_from(KINDS["all"]))
    return (draw(arrays("bool", shape=shapes[0])), *(draw(arrays(shape=s, dtype=dtype)) for s in shapes[1:])), {}


@st.composite
def _clip(draw):
    a = draw(arrays("real"))
    low = draw(st.integers(0, 5))
    return (a, *draw(st.sampled_from([(low, low + 3), (None, low), (low, None)]))), {}


@st.composite
def _matmul(draw, kinds="numeric"):
    m, k, n = (draw(st.integers(1, 4)) for _ in range(3))
    lead, dtype = draw(st.sampled_from([(), (2,), (3, 1)])), draw(st.sampled_from(KINDS[kinds]))
    values = st.integers(0, 5)
    return (draw(arrays(dtype=dtype, shape=(*lead, m, k), values=values)), draw(arrays(dtype=dtype, shape=(*lead, k, n), values=values))), {}


@st.composite
def _same_two(draw, kind="numeric", last=None, most=3):
    dtype = draw(st.sampled_from(KINDS[kind]))
    shape = draw(hn.array_shapes(min_dims=1, max_dims=most, min_side=1, max_side=4))
    shape = shape if last is None else (*shape[:-1], last)
    return tuple(draw(arrays(shape=shape, dtype=dtype, values=st.integers(0, 6))) for _ in "ab"), {}


@st.composite
def _square(draw, symmetric=False, definite=False, dtypes=REAL + COMPLEX, with_right=False):
    n, lead, dtype = draw(st.integers(1, 4)), draw(st.sampled_from([(), (2,), (2, 1)])), draw(st.sampled_from(dtypes))
    seed = draw(st.integers(0, 2**16))
    rng = numpy.random.default_rng(seed)
    a = rng.standard_normal((*lead, n, n)) + (1j * rng.standard_normal((*lead, n, n)) if dtype in COMPLEX else 0)
    a = a + 4 * numpy.eye(n)
    if symmetric or definite:
        a = a @ a.conj().mT + numpy.eye(n) if definite else a + a.conj().mT
    right = (rng.standard_normal((*lead, n, 2)).astype(dtype),) if with_right else ()
    return (a.astype(dtype), *right), {}


@st.composite
def _transform(draw, dtypes=COMPLEX, n_dim=False, more=True):
    a = draw(arrays(dtype=draw(st.sampled_from(dtypes)), least=1, most=3, side=2, values=st.integers(-4, 4)))
    how = {"axes": (draw(st.integers(-a.ndim, -1)),)} if n_dim else {"axis": draw(st.integers(-a.ndim, a.ndim - 1))} if more else {}
    if more:
        how["norm"] = draw(st.sampled_from(["backward", "ortho", "forward"]))
    return (a,), how


def _fixed(*calls):
    return st.sampled_from([(args, kwargs) for args, kwargs in calls])


_dtypes = st.sampled_from(["float32", "float64", "int32", "complex64", None])
FUNCTIONS = {
    **{name: _one(kind) for kind, names in UNARY.items() for name in names.split()},
    **{name: _two(kind) for kind, names in BINARY.items() for name in names.split()},
    "maximum": _two("real"), "minimum": _two("real"), "reciprocal": _one("real floating"),
    "floor_divide": _whole("real"), "remainder": _whole("real"), "pow": _power(), "clip": _clip(),
    "bitwise_left_shift": _shift(), "bitwise_right_shift": _shift(),
    "sum": _fold("numeric", dtype=_dtypes), "prod": _fold("numeric"), "max": _fold("real", filled=True),
    "min": _fold("real", filled=True), "mean": _fold("real floating", filled=True),
    "var": _fold("real floating", filled=True, correction=st.sampled_from([0, 1])),
    "std": _fold("real floating", filled=True), "all": _fold("all"), "any": _fold("all"),
    "count_nonzero": _fold("all"), "argmax": _fold("real", several=False, filled=True),
    "argmin": _fold("real", several=False, filled=True),
    "cumulative_sum": _axis("numeric"), "cumulative_prod": _axis("numeric"), "diff": _axis("numeric", n=st.integers(0, 2)),
    "sort": _axis("real", filled=True), "argsort": _axis("real", filled=True, stable=st.just(True)),
    "flip": _axis("all"), "expand_dims": _axis("all"), "repeat": _axis("all").map(lambda c: ((*c[0], 2), c[1])),
    "roll": _axis("all", shift=st.integers(-5, 5)), "unstack": _axis("all"), "concat": _several(False), "stack": _several(True),
    "tile": _one("all").map(lambda c: ((*c[0], (2, 1)), {})), "reshape": _reshape(), "permute_dims": _permute(),
    "moveaxis": _axis("all").map(lambda c: ((*c[0], c[1]["axis"], 0), {})),
    "squeeze": arrays("all").map(lambda a: ((a[None],), {"axis": 0})), "matrix_transpose": _axis("all", least=2).map(lambda c: (c[0], {})),
    "broadcast_to": arrays("all", most=2).map(lambda a: ((a, (2, 3, *a.shape)), {})),
    "broadcast_arrays": _two("numeric").map(lambda c: (tuple(map(numpy.asarray, c[0])), {})), "take": _take(), "take_along_axis": _take(True),
    "searchsorted": _search(), "nonzero": _axis("all").map(lambda c: (c[0], {})), "where": _where(),
    **{f"unique_{name}": _one("real or bool") for name in ("all", "counts", "inverse", "values")}, "isin": _same_two("real"),
    "tril": _axis("all", least=2, name="k"), "triu": _axis("all", least=2, name="k"),
    "meshgrid": _fixed(((numpy.arange(3.0), numpy.arange(2)), {"indexing": "ij"}), ((numpy.arange(3), numpy.arange(2.0)), {})),
    "arange": _fixed(((5,), {}), ((2, 9, 3), {}), ((0.0, 1.0, 0.25), {}), ((5, 0, -2), {"dtype": "float32"})),
    "linspace": _fixed(((0, 1, 5), {}), ((0, 1, 4), {"endpoint": False}), ((2, -2, 3), {"dtype": "float32"})),
    "eye": _fixed(((3,), {}), ((2, 4), {"k": 1, "dtype": "int32"})), "zeros": _fixed((((2, 3),), {}), ((3,), {"dtype": "int8"})),
    "ones": _fixed((((2, 0),), {}), ((3,), {"dtype": "bool"})), "full": _fixed((((2,), 3), {}), (((), 1.5), {"dtype": "float32"})),
    "zeros_like": _one("all"), "ones_like": _one("all"), "full_like": arrays("all").map(lambda a: ((a, 1), {})),
    "asarray": arrays("all").map(lambda a: ((a.tolist(),), {"dtype": a.dtype})), "from_dlpack": _one("all"),
    "astype": _one("real or bool").map(lambda c: ((numpy.nan_to_num(c[0][0], posinf=1, neginf=1), "float32"), {})),
    "result_type": _two("numeric"), "can_cast": _fixed((("int8", "int16"), {}), (("float64", "float32"), {})),
    "isdtype": _fixed(((numpy.dtype("int8"), "integral"), {}), ((numpy.dtype("bool"), ("bool", "numeric")), {})),
    "broadcast_shapes": _fixed((((2, 1), (3,)), {})),
    "matmul": _matmul(), "tensordot": _matmul().map(lambda c: ((c[0][0].reshape(-1, c[0][0].shape[-1]), c[0][1].reshape(-1, *c[0][1].shape[-2:])[0]), {"axes": 1})),
    "vecdot": _same_two(),
    "linalg.matmul": _matmul(), "linalg.cross": _same_two("real floating", last=3), "linalg.outer": _same_two(most=1),
    "linalg.vecdot": _same_two(), "linalg.tensordot": _same_two(most=1).map(lambda c: (c[0], {"axes": 1})),
    "linalg.matrix_transpose": _axis("all", least=2).map(lambda c: (c[0], {})),
    "linalg.diagonal": _axis("all", least=2).map(lambda c: (c[0], {})), "linalg.trace": _axis("numeric", least=2).map(lambda c: (c[0], {})),
    **{f"linalg.{n}": _square() for n in ("det", "inv", "slogdet", "matrix_norm", "matrix_rank", "pinv", "svdvals")},
    "linalg.cholesky": _square(definite=True), "linalg.eigvalsh": _square(symmetric=True),
    "linalg.solve": _square(with_right=True), "linalg.matrix_power": _square().map(lambda c: ((*c[0], 2), {})),
    "linalg.vector_norm": _fold("floating", filled=True),
    **{f"fft.{n}": _transform() for n in ("fft", "ifft", "hfft", "irfft")}, **{f"fft.{n}": _transform(REAL) for n in ("rfft", "ihfft")},
    **{f"fft.{n}": _transform(n_dim=True) for n in ("fftn", "ifftn", "irfftn")}, "fft.rfftn": _transform(REAL, n_dim=True),
    "fft.fftshift": _transform(more=False), "fft.ifftshift": _transform(more=False),
    "fft.fftfreq": _fixed(((8,), {}), ((5,), {"d": 0.5})), "fft.rfftfreq": _fixed(((8,), {}), ((5,), {"d": 0.5})),
}  # fmt: skip
# Not functions of arrays' elements, or results that are not unique: their properties are in tests/python.
ELSEWHERE = set("empty empty_like finfo iinfo linalg.eigh linalg.qr linalg.svd __array_namespace_info__".split())

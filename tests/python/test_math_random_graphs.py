"""Random expression graphs: the captured function's numbers, dtypes and shapes are NumPy's."""

import numpy as np
import pytest
import xcuda.math as nvmath

pytest.importorskip("hypothesis")
from hypothesis import given, seed, settings
from hypothesis import strategies as st

UNARY = {
    "negative": lambda np, x: -x,
    "sin": lambda np, x: np.sin(x),
    "tanh": lambda np, x: np.tanh(x),
    "sqrt": lambda np, x: np.sqrt(np.abs(x) + 1),
    "square": lambda np, x: np.tanh(x) ** 2,
    "transpose": lambda np, x: x.T,
    "reverse": lambda np, x: x[::-1],
    "float32": lambda np, x: x.astype("float32"),
    "row": lambda np, x: x[:1],
    "column": lambda np, x: x[:, -1:],
    "row sums": lambda np, x: x.sum(axis=1, keepdims=True),
    "column means": lambda np, x: x.mean(axis=0, keepdims=True),
    "largest": lambda np, x: x.max(axis=1, keepdims=True),
    "where": lambda np, x: np.where(x > 0, x, 0.1 * x),
    "flat and back": lambda np, x: x.reshape(-1).reshape(x.shape),
    "gram": lambda np, x: np.tanh(x @ x.T),
    "shifted gram": lambda np, x: np.tanh(x.T @ x + 0.5 * np.eye(x.shape[1])),
    "cumsum": lambda np, x: np.cumsum(np.tanh(x), axis=1),
}
BINARY = {
    "add": lambda np, x, y: x + y,
    "subtract": lambda np, x, y: x - 2 * y,
    "multiply": lambda np, x, y: x * np.tanh(y),
    "divide": lambda np, x, y: x / (1 + np.abs(y)),
    "maximum": lambda np, x, y: np.maximum(x, y),
    "matmul": lambda np, x, y: np.tanh(x @ y),
    "choose": lambda np, x, y: np.where(x > y, x, y),
}
STEPS = st.lists(
    st.tuples(st.sampled_from([*UNARY, *BINARY]), st.integers(0, 9), st.integers(0, 9)),
    min_size=1,
    max_size=8,
)


def fits(name, x, y):
    if name == "matmul":
        return x.shape[1] == y.shape[0]
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return True


def run(np, steps, x, y):
    """The last values of the program that the steps spell; steps whose operands don't fit are left out."""
    values = [x, y]
    for name, i, j in steps:
        a, b = values[i % len(values)], values[j % len(values)]
        if name in UNARY:
            values.append(UNARY[name](np, a))
        elif fits(name, a, b):
            values.append(BINARY[name](np, a, b))
    return tuple(values[2:][-3:])


@seed(20261202)
@settings(max_examples=25, deadline=None, database=None, derandomize=False)
@given(steps=STEPS, m=st.integers(1, 4), n=st.integers(1, 4))
def test_a_random_graph_gives_numpys_numbers(steps, m, n):
    rng = np.random.default_rng(m * 10 + n)
    x, y = rng.normal(size=(m, n)), rng.normal(size=(m, n))
    want = run(np, steps, x, y)
    f = nvmath.jit(lambda x, y: run(nvmath, steps, x, y))
    got = f(x, y)
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        tolerance = 2e-5 if other.dtype == np.float32 else 1e-10
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)

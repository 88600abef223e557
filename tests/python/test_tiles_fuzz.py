"""Random tile programs against NumPy: expressions, shapes, reductions, products and loops, under each plan."""

import linecache
import random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tile_kernels import close, compiles, plans, tile_kernel
from tile_programs import Program
from xcuda import tiles

# Each step makes of a (m, n) tile `x` another of that shape; `np_` is the same in NumPy.
STEPS = [
    ("x + y", "x + y"),
    ("x * 0.5 - y", "x * 0.5 - y"),
    ("tiles.maximum(x, y)", "np.maximum(x, y)"),
    ("tiles.where(x > y, x, -y)", "np.where(x > y, x, -y)"),
    ("tiles.tanh(x)", "np.tanh(x)"),
    ("x - tiles.max(x, axis=1, keepdims=True)", "x - x.max(1, keepdims=True)"),
    ("x + tiles.sum(y, axis=0)", "x + y.sum(0)"),
    ("x / (1 + tiles.sum(abs(x)))", "x / (1 + abs(x).sum())"),
    ("tiles.cumsum(x, axis=1) * 0.1", "x.cumsum(1) * 0.1"),
    ("tiles.cumsum(y, axis=0, reverse=True) * 0.1", "y[::-1].cumsum(0)[::-1] * 0.1"),
    ("x.T.reshape((M, N))", "x.T.reshape(M, N)"),
    ("x.reshape((N, M)).T", "x.reshape(N, M).T"),
    (
        "tiles.permute(x.reshape((2, M // 2, N)), (1, 0, 2)).reshape((M, N))",
        "x.reshape(2, M // 2, N).transpose(1, 0, 2).reshape(M, N)",
    ),
    (
        "tiles.cat((x.extract((1, 0), (M // 2, N)), y.extract((0, 0), (M // 2, N))), 0)",
        "np.concatenate((x[M // 2 :], y[: M // 2]))",
    ),
    ("(x @ y.T) @ x * 0.01", "(x @ y.T) @ x * 0.01"),
    ("tiles.mma(x, tiles.eye((N, N), tiles.float64), y)", "x + y"),
    (
        "x + tiles.arange(N)[None, :] - tiles.arange(M)[:, None]",
        "x + np.arange(N)[None, :] - np.arange(M)[:, None]",
    ),
    ("x + tiles.argmax(y, axis=1, keepdims=True)", "x + y.argmax(1)[:, None]"),
]

_count = 0


def made(steps, loop, module, decorate):
    """The program as a function: `x, y = step, x` for each, some of them in a loop."""
    global _count
    _count += 1
    lines = [f"    x, y = {step[module]}, x" for step in steps]
    if loop:
        lines = ["    for _ in range(turns):", *("    " + line for line in lines)]
    if module == 0:
        head = "def program(X, Y, out, turns, M: tiles.Constant[int], N: tiles.Constant[int]):"
        lines = ["    x = tiles.load(X, (0, 0), (M, N))", "    y = tiles.load(Y, (0, 0), (M, N))", *lines]
        lines.append("    tiles.store(out, (0, 0), x)")
    else:
        head = "def program(x, y, turns, M, N):"
        lines.append("    return x")
    text = "\n".join([head, *lines]) + "\n"
    file = f"<fuzzed tiles {_count}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np, "tiles": tiles}
    exec(compile(text, file, "exec"), space)
    return decorate(space["program"]), text


@settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
@given(
    steps=st.lists(st.sampled_from(STEPS), min_size=1, max_size=5),
    loop=st.booleans(),
    shape=st.sampled_from([(2, 2), (4, 16), (16, 4), (8, 64), (32, 32), (64, 8)]),
    seed=st.integers(0, 9),
)
def test_random_programs(steps, loop, shape, seed):
    random = np.random.default_rng(seed)
    m, n = (int(random.integers(1, length + 1)) for length in shape)  # the rest is padding
    X, Y = np.zeros(shape), np.zeros(shape)
    X[:m, :n], Y[:m, :n] = random.standard_normal((m, n)), random.standard_normal((m, n))
    reference, _ = made(steps, loop, 1, lambda f: f)
    wanted = reference(X, Y, 2, *shape)
    for plan in plans():
        kernel, text = made(steps, loop, 0, lambda f, plan=plan: tile_kernel(f, plan=plan))
        out = np.full(shape, np.nan)
        kernel[1, 1](np.ascontiguousarray(X[:m, :n]), np.ascontiguousarray(Y[:m, :n]), out, 2, *shape)
        try:
            close(out, wanted, 1e-10)
        except AssertionError as error:
            raise AssertionError(f"plan {plan or 'own'}:\n{text}") from error


@settings(
    max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
@given(chance=st.randoms(use_true_random=False))
def test_random_programs_with_control_flow(chance):
    """tests/fuzz/tiles runs as many as are wanted."""
    program = Program(chance)
    for plan in plans():
        problem = program.problem(lambda f, plan=plan: tile_kernel(f, plan=plan))
        assert not problem, f"plan {plan or 'own'}:\n{program.text(0)}\n{problem}"


@settings(
    max_examples=3, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
@given(
    steps=st.lists(st.sampled_from(STEPS), min_size=1, max_size=4),
    loop=st.booleans(),
    shape=st.sampled_from([(4, 16), (16, 4), (32, 32), (64, 8)]),
)
def test_random_programs_compile_for_each_generation(steps, loop, shape):
    kernel, _ = made(steps, loop, 0, tiles.tile_kernel)
    X = np.zeros(shape)
    compiles(kernel, (X, X, X, 2, *shape))


def test_a_wrong_program_is_found():
    program = Program(random.Random(1))
    program.body = [("x", ("x + y", "x - y"))]
    assert "instead of" in program.problem(tile_kernel)

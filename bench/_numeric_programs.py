"""Programs as people write them with NumPy: `m` is numpy or xcuda.numeric, and nothing else differs.

Each has data for a size, made by NumPy, and gives arrays that both sides must agree in.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy

TAU = 2 * math.pi


def photograph(n, rng):
    """A picture of n x n with edges, gradients and noise."""
    y, x = numpy.mgrid[0 : 1 : n * 1j, 0 : 1 : n * 1j]
    shapes = sum(
        numpy.exp(-(((x - a) ** 2 + (y - b) ** 2) / s))
        for a, b, s in rng.random((6, 3)) * [1, 1, 0.05] + 1e-3
    )
    return shapes + (numpy.hypot(x - 0.5, y - 0.5) < 0.3) + 0.1 * rng.standard_normal((n, n))


def fft_filter(m, picture):
    """The article's: frequencies under a threshold are left out."""
    spectrum = m.fft.fft2(picture)
    size = m.abs(spectrum)
    return m.fft.ifft2(m.where(size > 0.2 * size.mean(), spectrum, 0)).real


def digits(n, rng):
    """n pictures of 8 x 8, each one of ten patterns, shifted in brightness and noisy."""
    patterns = rng.random((10, 64)) * 16
    return patterns[rng.integers(0, 10, n)] * rng.uniform(0.7, 1.3, (n, 1)) + rng.standard_normal((n, 64))


def principal_components(m, x):
    """Shares of the variance, and what ten components leave of the data."""
    centred = x - x.mean(axis=0)
    u, s, vt = m.linalg.svd(centred, full_matrices=False)
    kept = (u[:, :10] * s[:10]) @ vt[:10]
    return s**2 / (s**2).sum(), ((centred - kept) ** 2).mean()


def game_of_life(m, board):
    """Twenty generations on a torus."""
    for _ in range(20):
        padded = m.pad(board, 1, mode="wrap")
        near = (
            padded[:-2, :-2] + padded[:-2, 1:-1] + padded[:-2, 2:] + padded[1:-1, :-2]
            + padded[1:-1, 2:] + padded[2:, :-2] + padded[2:, 1:-1] + padded[2:, 2:]
        )  # fmt: skip
        board = m.where((near == 3) | ((near == 2) & (board == 1)), 1, 0).astype(board.dtype)
    return board


def jacobi(m, right):
    """Fifty Jacobi steps of Poisson's equation with zeros at the border, and the residual."""
    u = m.zeros_like(right)
    for _ in range(50):
        new = m.zeros_like(u)
        new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - right[1:-1, 1:-1])
        u = new
    rest = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1] - right[1:-1, 1:-1]
    return u, m.sqrt((rest**2).sum())


def normal_distribution(m, x):
    """By Abramowitz and Stegun 26.2.17, to 7.5e-8."""
    k = 1 / (1 + 0.2316419 * m.abs(x))
    tail = ((((1.330274429 * k - 1.821255978) * k + 1.781477937) * k - 0.356563782) * k + 0.319381530) * k
    tail = tail * m.exp(-x * x / 2) / math.sqrt(TAU)
    return m.where(x > 0, 1 - tail, tail)


def black_scholes(m, spot, strike, years):
    """Prices of calls and puts."""
    rate, volatility = 0.02, 0.3
    root = volatility * m.sqrt(years)
    d1 = (m.log(spot / strike) + (rate + volatility**2 / 2) * years) / root
    d2 = d1 - root
    later = strike * m.exp(-rate * years)
    call = spot * normal_distribution(m, d1) - later * normal_distribution(m, d2)
    return call, call - spot + later


def k_means(m, points, centres):
    """Ten rounds; the centres."""
    k = centres.shape[0]
    for _ in range(10):
        distance = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distance.argmin(axis=1)
        member = (nearest[:, None] == m.arange(k)).astype(points.dtype)
        centres = member.T @ points / m.maximum(member.sum(axis=0), 1)[:, None]
    return centres


def mandelbrot(m, c):
    """After how many of 40 steps a point has left."""
    z, count = m.zeros_like(c), m.zeros(c.shape, "int32")
    for _ in range(40):
        inside = z.real * z.real + z.imag * z.imag <= 4
        z = m.where(inside, z * z + c, z)
        count += inside
    return count


def n_body(m, place, speed, mass):
    """Five steps of bodies that attract each other."""
    for _ in range(5):
        away = place[None, :, :] - place[:, None, :]
        squared = (away**2).sum(axis=2) + 1e-2
        pull = mass[None, :] * squared**-1.5
        speed = speed + 1e-3 * (away * pull[:, :, None]).sum(axis=1)
        place = place + 1e-3 * speed
    return place, 0.5 * (mass * (speed**2).sum(axis=1)).sum()


def logistic_regression(m, x, y):
    """Twenty steps down the gradient; weights and loss."""
    w = m.zeros(x.shape[1], x.dtype)
    for _ in range(20):
        p = 1 / (1 + m.exp(-(x @ w)))
        w = w - 0.5 * (x.T @ (p - y)) / x.shape[0]
    p = 1 / (1 + m.exp(-(x @ w)))
    return w, -(y * m.log(p) + (1 - y) * m.log(1 - p)).mean()


def spectrogram(m, signal):
    """Decibels of windowed frames of 512 that overlap by half."""
    half = signal.reshape(-1, 256)
    frames = m.concatenate([half[:-1], half[1:]], axis=1) * m.hanning(512)
    return 10 * m.log10(m.abs(m.fft.rfft(frames, axis=1)) ** 2 + 1e-12)


def monte_carlo(m, n, days=32):
    """An Asian option's price and its error: both sides draw the same paths."""
    steps = m.random.Generator(m.random.Philox(3)).standard_normal((n, days))
    dt, rate, volatility = 1 / days, 0.02, 0.3
    path = m.exp(m.cumsum((rate - volatility**2 / 2) * dt + volatility * math.sqrt(dt) * steps, axis=1))
    payoff = math.exp(-rate) * m.maximum(100 * path.mean(axis=1) - 100, 0)
    return payoff.mean(), payoff.std() / math.sqrt(n)


def conjugate_gradient(m, right):
    """Thirty rounds on Poisson's equation over a square."""

    def laplace(u):
        made = 4 * u
        made[1:] -= u[:-1]
        made[:-1] -= u[1:]
        made[:, 1:] -= u[:, :-1]
        made[:, :-1] -= u[:, 1:]
        return made

    x, r = m.zeros_like(right), right.copy()
    p, old = r.copy(), (r * r).sum()
    for _ in range(30):
        q = laplace(p)
        a = old / (p * q).sum()
        x, r = x + a * p, r - a * q
        new = (r * r).sum()
        p, old = r + new / old * p, new
    return x, m.sqrt(old)


def perceptron(m, x, y, w1, w2):
    """Ten steps of training 64 hidden units to tell ten classes; weights and loss."""
    wanted = (y[:, None] == m.arange(10)).astype(x.dtype)
    loss = None
    for _ in range(10):
        hidden = m.tanh(x @ w1)
        scores = hidden @ w2
        scores = scores - scores.max(axis=1, keepdims=True)
        likely = m.exp(scores)
        likely = likely / likely.sum(axis=1, keepdims=True)
        loss = -m.log((likely * wanted).sum(axis=1)).mean()
        error = (likely - wanted) / x.shape[0]
        back = (error @ w2.T) * (1 - hidden * hidden)
        w1, w2 = w1 - 0.5 * (x.T @ back), w2 - 0.5 * (hidden.T @ error)
    return w1, w2, loss


def plane(n, _):
    """Points of the complex plane around the Mandelbrot set."""
    return (numpy.linspace(-2, 1, n)[None, :] + 1j * numpy.linspace(-1.5, 1.5, n)[:, None],)


def labelled(n, rng):
    """(x, y) of two classes in 32 dimensions."""
    x = rng.standard_normal((n, 32))
    return x, (x @ rng.standard_normal(32) + rng.standard_normal(n) > 0).astype(float)


@dataclass(frozen=True)
class Program:
    """`data(size, rng)` gives the arrays that the program takes. small: size in tests; full: in the table."""

    run: Callable
    data: Callable
    small: int
    full: int


def _bodies(n, rng):
    return rng.standard_normal((n, 3)), rng.standard_normal((n, 3)) * 0.1, rng.random(n)


def _network(n, rng):
    x = digits(n, rng) / 16
    return x, rng.integers(0, 10, n), rng.standard_normal((64, 64)) / 8, rng.standard_normal((64, 10)) / 8


PROGRAMS = {
    "FFT filter": Program(fft_filter, lambda n, r: (photograph(n, r),), 48, 2000),
    "PCA of digits": Program(principal_components, lambda n, r: (digits(n, r),), 300, 20_000),
    "Game of Life": Program(game_of_life, lambda n, r: ((r.random((n, n)) < 0.3).astype("int8"),), 40, 1500),
    "Jacobi solver": Program(jacobi, lambda n, r: (r.standard_normal((n, n)),), 40, 1000),
    "Black-Scholes": Program(
        black_scholes,
        lambda n, r: (r.uniform(50, 150, n), r.uniform(50, 150, n), r.uniform(0.1, 2, n)),
        500,
        2_000_000,
    ),
    "k-means": Program(
        k_means, lambda n, r: (r.standard_normal((n, 4)), r.standard_normal((8, 4))), 500, 100_000
    ),
    "Mandelbrot": Program(mandelbrot, plane, 40, 600),
    "n-body": Program(n_body, _bodies, 40, 700),
    "logistic regression": Program(logistic_regression, labelled, 400, 100_000),
    "spectrogram": Program(
        spectrogram,
        lambda n, r: (numpy.sin(numpy.arange(n) ** 2 / n) + r.standard_normal(n),),
        256 * 12,
        256 * 8000,
    ),
    "Monte Carlo option": Program(monte_carlo, lambda n, _: (n,), 300, 60_000),
    "conjugate gradient": Program(conjugate_gradient, lambda n, r: (r.standard_normal((n, n)),), 40, 700),
    "small MLP": Program(perceptron, _network, 200, 10_000),
}


def outcome(module, program, arrays):
    """The program's results, computed, as NumPy's arrays."""
    made = program.run(module, *arrays)
    return [numpy.asarray(x) for x in (made if isinstance(made, tuple) else (made,))]

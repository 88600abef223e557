"""Black and Scholes: prices of European options."""

import math

import numpy as np
from xcuda import core as cuda

SMALL = {"n": 1000}
BENCH = {"n": 1_000_000}
GPU = {"n": 1 << 25}
RTOL = 1e-9
ATOL = 1e-9
RISK_FREE, VOLATILITY = 0.02, 0.30
A1, A2, A3, A4, A5 = 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429
INVERSE_SQRT_2PI = 0.39894228040143267


@cuda.jit(device=True)
def normal_cdf(d):
    k = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    tail = INVERSE_SQRT_2PI * math.exp(-0.5 * d * d) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))))
    return 1.0 - tail if d > 0 else tail


@cuda.jit
def black_scholes(call, put, price, strike, years, rate, volatility):
    i = cuda.grid(1)
    if i >= call.size:
        return
    root = math.sqrt(years[i])
    d1 = math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]
    d1 /= volatility * root
    d2 = d1 - volatility * root
    n1 = normal_cdf(d1)
    n2 = normal_cdf(d2)
    discounted = strike[i] * math.exp(-rate * years[i])
    call[i] = price[i] * n1 - discounted * n2
    put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1)


def inputs(rng, n):
    return {
        "call": np.zeros(n),
        "put": np.zeros(n),
        "price": rng.uniform(5, 30, n),
        "strike": rng.uniform(1, 100, n),
        "years": rng.uniform(0.25, 10, n),
        "rate": RISK_FREE,
        "volatility": VOLATILITY,
    }


def launch(k, call, put, price, strike, years, rate, volatility):
    k.black_scholes[-(-call.size // 256), 256](call, put, price, strike, years, rate, volatility)


def reference(call, put, price, strike, years, rate, volatility):
    def cdf(d):
        k = 1 / (1 + 0.2316419 * np.abs(d))
        tail = INVERSE_SQRT_2PI * np.exp(-0.5 * d * d)
        tail *= k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5))))
        return np.where(d > 0, 1 - tail, tail)

    root = np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility**2) * years) / (volatility * root)
    d2 = d1 - volatility * root
    discounted = strike * np.exp(-rate * years)
    return {
        "call": price * cdf(d1) - discounted * cdf(d2),
        "put": discounted * (1 - cdf(d2)) - price * (1 - cdf(d1)),
    }

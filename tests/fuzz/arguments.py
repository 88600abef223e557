"""Numbers for programs to compute with: edge values and plain ones, in arrays of any layout."""

from __future__ import annotations

import random

import numpy as np

from .rules import dtype_of, is_float, ml_dtypes

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e-3, 3.75, -2.5, 1.5, 100.25, 1e9, -3e10]


def values(pick: np.random.Generator, dtype: str, shape):
    """Numbers of a dtype: half of them edge values, half small ones."""
    d = dtype_of(dtype)
    if d.kind == "b":
        return pick.random(shape) < 0.5
    if is_float(d):
        limits = (ml_dtypes if d.kind == "V" else np).finfo(d)
        edges = [
            *EDGES,
            limits.max,
            -limits.max,
            limits.tiny,
            limits.smallest_subnormal,
            2.0**31,
            2.0**63,
            -(2.0**63),
            1.0 + limits.eps,
        ]
        with np.errstate(all="ignore"):
            edges = np.array(edges, np.float64).astype(d)
            small = (pick.normal(size=shape) * 20).astype(d)
            wide = np.exp2(pick.uniform(-30, 70, shape)).astype(d) * pick.choice([-1, 1], shape).astype(d)
        small = np.where(pick.random(shape) < 0.3, wide, small)
    else:
        limits = np.iinfo(d)
        edges = np.array(
            [0, 1, 2, limits.max, limits.max - 1, limits.min, limits.min + 1, 7, 8, 31, 63, 64, 100], d
        )
        if d.kind == "i":
            edges = np.append(edges, np.array([-1, -2, -7], d))
        small = pick.integers(-9 if d.kind == "i" else 0, 12, shape).astype(d)
        wide = pick.integers(limits.min, limits.max, shape, dtype=d, endpoint=True)
        small = np.where(pick.random(shape) < 0.25, wide, small)
    return np.where(pick.random(shape) < 0.4, pick.choice(edges, shape), small).astype(d)


def records(pick: random.Random, numbers: np.random.Generator, dtypes, n):
    """Records of a few fields, packed or aligned; some fields are arrays."""
    fields = []
    for name in "abcd"[: pick.randint(2, 4)]:
        dtype = pick.choice(dtypes)
        fields.append((name, dtype, (pick.randint(2, 3),)) if pick.random() < 0.2 else (name, dtype))
    made = np.zeros(n, np.dtype(fields, align=pick.random() < 0.5))
    for name in made.dtype.names:
        made[name] = values(numbers, made.dtype[name].base.name, made[name].shape)
    return made


def laid_out(pick: random.Random, array):
    """The same values in another layout."""
    how = pick.random()
    if how < 0.12:
        wide = np.zeros(tuple(2 * n for n in array.shape), array.dtype)
        part = wide[(slice(None, None, 2),) * array.ndim]
        part[...] = array
        return part
    if how < 0.2:
        return np.ascontiguousarray(array[::-1])[::-1]
    if how < 0.3 and array.ndim == 2:
        return np.asfortranarray(array)
    return array

"""The teaching kernels as numba's users write them for the CPU: njit, prange, all cores; names as in tests/teaching."""

import math

import numpy as np
from numba import njit, prange

TPB = 256


@njit(parallel=True)
def vector_add(c, a, b):
    for i in prange(c.size):
        c[i] = a[i] + b[i]


@njit(parallel=True)
def map_1d(out, a):
    for i in prange(out.size):
        out[i] = np.float32(3) * a[i] + np.float32(10)


@njit(parallel=True)
def map_2d(out, a):
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = a[i, j] + np.float32(10)


@njit(parallel=True)
def broadcast(out, a, b):
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = a[i, 0] + b[0, j]


@njit(parallel=True)
def blocks(out, a):
    for i in prange(out.size):
        out[i] = a[i] * a[i] + np.float32(10)


@njit(parallel=True)
def shared(out, a):
    for block in prange((a.size + TPB - 1) // TPB):
        first = block * TPB
        last = min(first + TPB, a.size)
        for i in range(first, last):
            out[i] = a[first + last - 1 - i] + np.float32(10)


@njit(parallel=True)
def pooling(out, a):
    out[0] = a[0]
    out[1] = a[0] + a[1]
    for i in prange(2, out.size):
        out[i] = a[i - 2] + a[i - 1] + a[i]


@njit(parallel=True)
def dot(out, a, b):
    total = 0.0
    for i in prange(a.size):
        total += a[i] * b[i]
    out[0] = total


@njit(parallel=True)
def convolution(out, a, weights):
    taps = weights.size
    for i in prange(out.size):
        total = np.float32(0)
        for k in range(min(taps, a.size - i)):
            total += a[i + k] * weights[k]
        out[i] = total


@njit(parallel=True)
def prefix_sum(out, a, sums, group_sums, total):
    parts = 64
    length = (a.size + parts - 1) // parts
    ends = np.zeros(parts + 1, np.int32)
    for p in prange(parts):
        s = np.int32(0)
        for i in range(p * length, min(a.size, (p + 1) * length)):
            s += a[i]
        ends[p + 1] = s
    for p in range(parts):
        ends[p + 1] += ends[p]
    for p in prange(parts):
        s = ends[p]
        for i in range(p * length, min(a.size, (p + 1) * length)):
            s += a[i]
            out[i] = s
    total[0] = ends[parts]


@njit(parallel=True)
def axis_sum(out, a):
    for i in prange(a.shape[0]):
        total = np.float32(0)
        for j in range(a.shape[1]):
            total += a[i, j]
        out[i] = total


@njit(parallel=True)
def matmul_tiled(C, A, B):
    for i in prange(C.shape[0]):
        C[i] = 0
        for k in range(A.shape[1]):
            for j in range(C.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


@njit(parallel=True)
def n_body(acceleration, bodies):
    n = bodies.shape[1]
    for i in prange(n):
        ax = ay = az = np.float32(0)
        for j in range(n):
            dx = bodies[0, j] - bodies[0, i]
            dy = bodies[1, j] - bodies[1, i]
            dz = bodies[2, j] - bodies[2, i]
            inverse = np.float32(1) / np.sqrt(dx * dx + dy * dy + dz * dz + np.float32(1e-2))
            s = bodies[3, j] * inverse * inverse * inverse
            ax += s * dx
            ay += s * dy
            az += s * dz
        acceleration[0, i] = ax
        acceleration[1, i] = ay
        acceleration[2, i] = az


@njit(parallel=True)
def mandelbrot(image, left, top, dx, dy, most):
    for y in prange(image.shape[0]):
        for x in range(image.shape[1]):
            cr, ci = left + x * dx, top + y * dy
            zr = zi = 0.0
            count = most
            for n in range(most):
                zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
                if zr * zr + zi * zi >= 4:
                    count = n
                    break
            image[y, x] = count


@njit
def shuffled(state):
    state = np.uint32(state ^ (state << 13))  # numba shifts in 64 bits
    state = np.uint32(state ^ (state >> 17))
    return np.uint32(state ^ (state << 5))


@njit(parallel=True)
def monte_carlo_pi(hits, seeds, throws):
    scale = np.float32(1 / 2**32)
    for i in prange(hits.size):
        state = seeds[i]
        inside = 0
        for _ in range(throws):
            state = shuffled(state)
            x = np.float32(state) * scale
            state = shuffled(state)
            y = np.float32(state) * scale
            if x * x + y * y < np.float32(1):
                inside += 1
        hits[i] = inside


@njit(parallel=True)
def generation(after, before):
    height, width = before.shape
    for i in prange(height):
        up, down = (i - 1) % height, (i + 1) % height
        for j in range(width):
            left = j - 1 if j > 0 else width - 1
            right = j + 1 if j < width - 1 else 0
            around = before[up, left] + before[up, j] + before[up, right] + before[i, left]
            around += before[i, right] + before[down, left] + before[down, j] + before[down, right]
            after[i, j] = around == 3 or (around == 2 and before[i, j] == 1)


def game_of_life(board, other):
    for _ in range(3):
        generation(other, board)
        generation(board, other)


@njit(parallel=True)
def heat_step(after, before, c):
    for i in prange(1, before.shape[0] - 1):
        for j in range(1, before.shape[1] - 1):
            here = before[i, j]
            around = before[i - 1, j] + before[i + 1, j] + before[i, j - 1] + before[i, j + 1]
            after[i, j] = here + c * (around - np.float32(4) * here)


def heat_equation(u, other, c):
    c = np.float32(c)
    for _ in range(3):
        heat_step(other, u, c)
        heat_step(u, other, c)


@njit(parallel=True)
def bitonic_step(a, step, run):
    for i in prange(a.size):
        other = i ^ step
        if other > i:
            ascending = i & run == 0
            x, y = a[i], a[other]
            if (x > y) == ascending:
                a[i], a[other] = y, x


def bitonic_sort(a):
    run = 2
    while run <= a.size:
        step = run // 2
        while step > 0:
            bitonic_step(a, step, run)
            step //= 2
        run *= 2


@njit(parallel=True)
def histogram(bins, values):
    parts = 16
    mine = np.zeros((parts, bins.size), np.int32)
    length = (values.size + parts - 1) // parts
    for p in prange(parts):
        for i in range(p * length, min(values.size, (p + 1) * length)):
            mine[p, values[i]] += 1
    bins += mine.sum(axis=0).astype(np.int32)


@njit(parallel=True)
def blelloch_scan(out, a):
    for part in prange(a.size // 1024):
        s = np.int32(0)
        for i in range(part * 1024, (part + 1) * 1024):
            out[i] = s
            s += a[i]


@njit(parallel=True)
def block_sums(sums, a):
    for block in prange(sums.size):
        s = np.float32(0)
        for i in range(block * TPB, min(a.size, (block + 1) * TPB)):
            s += a[i]
        sums[block] = s


reduce_interleaved = reduce_sequential = block_sums


@njit(parallel=True)
def reduce_grid_stride(out, a):
    total = 0.0
    for i in prange(a.size):
        total += a[i]
    out[0] = total


@njit
def normal_cdf(d):
    k = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    series = -1.821255978 + k * 1.330274429
    series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * series)))
    tail = 0.39894228040143267 * math.exp(-0.5 * d * d) * series
    return 1.0 - tail if d > 0 else tail


@njit(parallel=True)
def black_scholes(call, put, price, strike, years, rate, volatility):
    for i in prange(call.size):
        root = math.sqrt(years[i])
        d1 = math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]
        d1 /= volatility * root
        d2 = d1 - volatility * root
        n1 = normal_cdf(d1)
        n2 = normal_cdf(d2)
        discounted = strike[i] * math.exp(-rate * years[i])
        call[i] = price[i] * n1 - discounted * n2
        put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1)


@njit(parallel=True)
def spmv_csr(y, values, columns, starts, x):
    for row in prange(y.size):
        total = np.float32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


@njit
def root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit
def connected_components(labels, edges):
    """Union-find on one core, as numba has no atomics for the CPU."""
    for i in range(labels.size):
        labels[i] = i
    for e in range(edges.shape[1]):
        a, b = root(labels, edges[0, e]), root(labels, edges[1, e])
        if a < b:
            labels[b] = a
        else:
            labels[a] = b
    for i in range(labels.size):
        labels[i] = root(labels, i)


@njit(parallel=True)
def levenshtein(out, a, b):
    length = a.shape[1]
    for pair in prange(out.size):
        row = np.arange(length + 1).astype(np.int32)
        for i in range(1, length + 1):
            corner = row[0]
            row[0] = i
            for j in range(1, length + 1):
                change = corner + (a[pair, i - 1] != b[pair, j - 1])
                corner = row[j]
                row[j] = min(row[j] + 1, row[j - 1] + 1, change)
        out[pair] = row[length]


@njit
def queens_from(i, n):
    full = (1 << n) - 1
    columns, left, right = 0, 0, 0
    for _ in range(3):
        queen = 1 << (i % n)
        i //= n
        if queen & (columns | left | right):
            return 0
        columns |= queen
        left = (left | queen) << 1
        right = (right | queen) >> 1
    stack = np.empty((20, 4), np.int64)
    depth = 0
    free = full & ~(columns | left | right)
    found = 0
    while True:
        if free == 0:
            if depth == 0:
                break
            depth -= 1
            columns = stack[depth, 0]
            left = stack[depth, 1]
            right = stack[depth, 2]
            free = stack[depth, 3]
            continue
        queen = free & -free
        free ^= queen
        if columns | queen == full:
            found += 1
            continue
        stack[depth, 0] = columns
        stack[depth, 1] = left
        stack[depth, 2] = right
        stack[depth, 3] = free
        depth += 1
        columns |= queen
        left = (left | queen) << 1
        right = (right | queen) >> 1
        free = full & ~(columns | left | right)
    return found


@njit(parallel=True)
def n_queens(counts, n):
    for i in prange(counts.size):
        counts[i] = queens_from(np.int64(i), n)


@njit(parallel=True)
def floyd_step(d, k):
    for i in prange(d.shape[0]):
        for j in range(d.shape[1]):
            d[i, j] = min(d[i, j], d[i, k] + d[k, j])


def floyd_warshall(d):
    for k in range(d.shape[0]):
        floyd_step(d, k)


@njit(parallel=True)
def kmeans_assign(labels, points, centres):
    for i in prange(labels.size):
        nearest = 0
        least = np.float32(np.inf)
        for c in range(centres.shape[0]):
            distance = np.float32(0)
            for axis in range(4):
                step = points[axis, i] - centres[c, axis]
                distance += step * step
            if distance < least:
                least = distance
                nearest = c
        labels[i] = nearest

"""The Mandelbrot set: how many steps each point takes to leave a circle."""

import numpy as np
from xcuda import core as cuda

SMALL = {"height": 40, "width": 60}
BENCH = {"height": 600, "width": 900}
GPU = {"height": 4096, "width": 6144}
LEFT, TOP, EXTENT_X, EXTENT_Y, MOST = -2.0, -1.0, 3.0, 2.0, 200


@cuda.jit(device=True)
def steps(cr, ci, most):
    zr = zi = 0.0
    for n in range(most):
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        if zr * zr + zi * zi >= 4:
            return n
    return most


@cuda.jit
def mandelbrot(image, left, top, dx, dy, most):
    x, y = cuda.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        image[y, x] = steps(left + x * dx, top + y * dy, most)


def inputs(rng, height, width):
    return {
        "image": np.zeros((height, width), np.uint8),
        "left": LEFT,
        "top": TOP,
        "dx": EXTENT_X / width,
        "dy": EXTENT_Y / height,
        "most": MOST,
    }


def launch(k, image, left, top, dx, dy, most):
    height, width = image.shape
    k.mandelbrot[(-(-width // 32), -(-height // 8)), (32, 8)](image, left, top, dx, dy, most)


def agree(found, right):
    """Beside the set's edge, where an ulp grows to any number of steps, a fused multiply-add may change a count."""
    assert np.mean(found["image"] != right["image"]) < 0.01


def reference(image, left, top, dx, dy, most):
    height, width = image.shape
    cr, ci = np.meshgrid(left + np.arange(width) * dx, top + np.arange(height) * dy)
    zr, zi = np.zeros_like(cr), np.zeros_like(ci)
    count = np.full(cr.shape, most)
    with np.errstate(over="ignore", invalid="ignore"):
        for n in range(most):
            zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
            count[(zr * zr + zi * zi >= 4) & (count == most)] = n
    return {"image": count.astype(np.uint8)}

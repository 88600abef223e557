"""Conway's game of life on a torus, a launch a generation."""

import numpy as np
from xcuda import core as cuda

SMALL = {"height": 33, "width": 50}
BENCH = {"height": 1000, "width": 1000}
GPU = {"height": 8192, "width": 8192}
GENERATIONS = 6


@cuda.jit
def game_of_life(after, before):
    j, i = cuda.grid(2)
    height, width = before.shape
    if i < height and j < width:
        up, down = (i - 1) % height, (i + 1) % height
        left, right = (j - 1) % width, (j + 1) % width
        around = (
            before[up, left]
            + before[up, j]
            + before[up, right]
            + before[i, left]
            + before[i, right]
            + before[down, left]
            + before[down, j]
            + before[down, right]
        )
        after[i, j] = around == 3 or (around == 2 and before[i, j] == 1)


def inputs(rng, height, width):
    board = rng.integers(0, 2, (height, width), dtype=np.uint8)
    return {"board": board, "other": np.zeros_like(board)}


def launch(k, board, other):
    height, width = board.shape
    shape = (-(-width // 32), -(-height // 8)), (32, 8)
    for _ in range(GENERATIONS // 2):
        k.game_of_life[shape](other, board)
        k.game_of_life[shape](board, other)


def reference(board, other):
    for _ in range(GENERATIONS):
        moved = (np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        around = sum(moved)
        board = ((around == 3) | ((around == 2) & (board == 1))).astype(np.uint8)
    return {"board": board}

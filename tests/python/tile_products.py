"""Products as tile functions, by how their operands lie."""

from xcuda import tiles


def plain(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B)))


def turned(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A).T @ tiles.load_shared(B).T))


def by_columns(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A) @ tiles.load_shared(B).T))


def by_rows(A, B, C):
    tiles.store(C, tiles.compute(tiles.load_shared(A).T @ tiles.load_shared(B)))

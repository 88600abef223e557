"""The functions of tiles that have a meaning inside a tile kernel only, by name: signature and what they do."""

import functools

from xcuda.core.language import Intrinsic

_PART = "Elements outside the array are `padding`; lengths of a tile are powers of two."
_FOLD = "along `axis` (an int, a tuple, None for all: one number)"

FUNCTIONS = {
    "load_shared": ("(array)", "The array as each program sees it through its tile of the result."),
    "compute": ("(expression)", "The program's tile of an expression of arrays, as `a @ b + c`."),
    "bid": ("(axis)", "The program's place in the grid along an axis."),
    "num_blocks": ("(axis)", "Programs of the grid along an axis."),
    "num_tiles": ("(array, axis, shape)", "How many tiles of this shape the array has along an axis."),
    "load": (
        "(array, index, shape, padding=0)",
        f"The tile number `index` of the array cut into `shape`. {_PART}",
    ),
    "store": (
        "(array, index, tile)",
        "Writes tile number `index`; what lies outside the array is left. store(array, tile): the program's own tile.",
    ),
    "gather": ("(array, indices, mask=None, padding=0)", "array[indices], element by element."),
    "scatter": (
        "(array, indices, value, mask=None)",
        "array[indices] = value, element by element, inside the array.",
    ),
    "atomic_add": ("(array, indices, value, mask=None)", "Adds, element by element; gives the old values."),
    "atomic_max": (
        "(array, indices, value, mask=None)",
        "The greater, element by element; gives the old values.",
    ),
    "atomic_min": (
        "(array, indices, value, mask=None)",
        "The lesser, element by element; gives the old values.",
    ),
    "atomic_and": ("(array, indices, value, mask=None)", "Bitwise and; gives the old values."),
    "atomic_or": ("(array, indices, value, mask=None)", "Bitwise or; gives the old values."),
    "atomic_xor": ("(array, indices, value, mask=None)", "Bitwise exclusive or; gives the old values."),
    "atomic_xchg": ("(array, indices, value, mask=None)", "Puts the value there; gives the old values."),
    "full": ("(shape, fill_value, dtype=None)", "A tile of one number."),
    "zeros": ("(shape, dtype=float32)", "A tile of zeros."),
    "ones": ("(shape, dtype=float32)", "A tile of ones."),
    "eye": ("(n, dtype=float32)", "Ones on the diagonal."),
    "arange": ("(size, dtype=int32)", "0, 1, ..., size - 1."),
    "mma": ("(a, b, acc)", "a @ b + acc, summed in acc's dtype."),
    "matmul": ("(a, b)", "a @ b; float16 and bfloat16 are summed in float32, small integers in int32."),
    "sum": ("(tile, axis=None, keepdims=False)", f"The sum {_FOLD}."),
    "prod": ("(tile, axis=None, keepdims=False)", f"The product {_FOLD}."),
    "max": ("(tile, axis=None, keepdims=False)", f"The greatest {_FOLD}; nan where one is."),
    "min": ("(tile, axis=None, keepdims=False)", f"The least {_FOLD}; nan where one is."),
    "mean": ("(tile, axis=None, keepdims=False)", f"The mean {_FOLD}."),
    "argmax": ("(tile, axis=None, keepdims=False)", f"Where the greatest stands first {_FOLD}."),
    "argmin": ("(tile, axis=None, keepdims=False)", f"Where the least stands first {_FOLD}."),
    "cumsum": ("(tile, axis=0, reverse=False)", "Running sums."),
    "cumprod": ("(tile, axis=0, reverse=False)", "Running products."),
    "reduce": (
        "(x, axis, func, identity, keepdims=False)",
        f"Folds the elements by func(a, b), one associative and commutative expression, {_FOLD}.",
    ),
    "scan": (
        "(x, axis, func, identity, reverse=False)",
        "Running folds by func(a, b), one associative expression.",
    ),
    "reshape": ("(tile, shape)", "The same elements in another shape."),
    "permute": ("(tile, axes)", "The axes in another order."),
    "transpose": ("(tile, axis0=0, axis1=1)", "Two axes swapped."),
    "broadcast_to": ("(tile, shape)", "Repeated along axes of length 1 or none."),
    "expand_dims": ("(tile, axis)", "With an axis of length 1 more."),
    "cat": ("(tiles, axis)", "Tiles side by side."),
    "extract": ("(tile, index, shape)", "Part number `index` of the tile cut into `shape`."),
    "astype": ("(tile, dtype)", "The elements converted."),
    "where": ("(condition, x, y)", "x where the condition holds, y elsewhere."),
    "cdiv": ("(a, b)", "a / b, rounded up."),
    "maximum": ("(x, y)", "The greater, element by element."),
    "minimum": ("(x, y)", "The lesser, element by element."),
}


class TileFunction(Intrinsic):
    """A function of tiles; calling it outside a tile kernel raises RuntimeError."""

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            f"cuda.{self.name}() has a meaning inside a function under @tiles.tile_kernel only"
        )

    def __reduce__(self):
        return (_find, (self.__name__,))


def _find(name):
    import xcuda.tiles

    return getattr(xcuda.tiles, name)


@functools.cache
def table_names():
    """The element-wise functions of the compiler's table that have a NumPy name: exp, sqrt, tanh, ..."""
    from xcuda import _runtime

    found = {
        spelling.partition(".")[2]
        for _, spellings, _, _ in _runtime.kernel_functions()
        for spelling in spellings
        if spelling.startswith("numpy.")
    }
    return frozenset(found | _OPERATORS)


_OPERATORS = {
    *("add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "remainder", "mod", "power"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "invert", "negative"),
    *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
    *("logical_and", "logical_or", "logical_not"),
}

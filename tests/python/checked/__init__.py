"""Kernels with one mistake each, and clean twins, for xcuda.check: by kind, `PAIRS` is all of them."""

from checked import barriers, numbers, races, unset, warps

PAIRS = {
    f"{module.__name__.split('.')[-1]}: {name}": pair
    for module in (races, warps, barriers, unset, numbers)
    for name, pair in module.PAIRS.items()
}

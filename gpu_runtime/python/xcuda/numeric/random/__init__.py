"""numpy.random on the device. Native functions register here as "random.NAME"; the others run in NumPy on the host.

`default_rng(seed)` and `Generator(Philox(seed))` give NumPy's own numbers (see Generator). The functions of the module
and `RandomState` give NumPy's after a seed, on the host: their stream, MT19937, is one number after the other. Before
one they draw large arrays on the device (see _legacy).
"""

import numpy.random as _numpy

from .._fallback import to_host
from .._parts import names_of
from .._registry import native, register
from . import _integers, _orders, _vectors
from ._generator import Generator
from ._legacy import DRAWN, RandomState, of_the_module

for _module, _names in (
    (_integers, ("integers",)),
    (_orders, ("choice", "shuffle", "permutation", "permuted")),
    (_vectors, ("multinomial", "multivariate_normal", "multivariate_hypergeometric", "hypergeometric", "dirichlet")),
):  # fmt: skip
    for _name in _names:
        setattr(Generator, _name, getattr(_module, _name))

register("random.Generator", Generator, __name__, "MT19937 and SFC64 streams; hypergeometric numbers")
register("random.RandomState", RandomState, __name__, "streams that have a seed")
_shared = of_the_module()
for _name, _method in DRAWN.items():
    register(f"random.{_name}", getattr(_shared, _method), __name__, "after a seed")
for _name in ("get_state", "set_state"):
    register(f"random.{_name}", getattr(_shared, _name), __name__)
for _name in ("BitGenerator", "SeedSequence", "Philox", "PCG64", "PCG64DXSM", "MT19937", "SFC64"):
    register(f"random.{_name}", getattr(_numpy, _name), __name__)


@native("random.default_rng")
def default_rng(seed=None):
    """A generator of random arrays: NumPy's default_rng(seed), PCG64's stream."""
    if isinstance(seed, Generator):
        return seed
    return Generator(_numpy.default_rng(to_host(seed)).bit_generator)


__getattr__, __dir__ = names_of("random", _numpy, globals())

"""`RandomState` and the module's functions: MT19937 on the host, and the device where nobody can know the stream.

MT19937 draws one number after the other. Of a stream that was never given a seed, and whose state nobody asked for, any
other numbers do as well: large arrays come from Philox under a key that the stream draws. (So they are repeated, too,
where the state is taken and put back behind our back, by numpy.random's own functions.)
"""

import math
from types import MappingProxyType

import numpy as np

from .._array import ndarray
from .._fallback import on_host
from ._distributions import DISTRIBUTIONS
from ._generator import SMALL, Generator, lengths

_OF_DIMENSIONS = MappingProxyType({"rand": "random", "randn": "standard_normal"})
_ALIASES = MappingProxyType({"random_sample": "random", "randint": "integers"})
# Their parameters before the size.
_OTHERS = MappingProxyType({"integers": ("low", "high"), "choice": ("a",)})
_ORDERS = frozenset(("permutation", "shuffle"))
_PLAIN = frozenset(("seed", "bytes"))
# The module's functions that may draw on the device, and RandomState's methods by which they do.
DRAWN = MappingProxyType(
    {
        **{name: name for name in DISTRIBUTIONS if hasattr(np.random.RandomState, name)},
        **{name: name for name in (*_OF_DIMENSIONS, *_ALIASES, *_ORDERS, "choice")},
        **dict.fromkeys(("ranf", "sample"), "random_sample"),
    }
)
_FROM_THE_SYSTEM = 1 << 96  # its entropy, of 128 bits, is all but never less; a person's all but always


def _nobody_knows(host):
    """Whether the stream was begun by the system's entropy. NumPy forgets that once it is given a seed."""
    sequence = getattr(host._bit_generator, "seed_seq", None)
    entropy = getattr(sequence, "entropy", None)
    return isinstance(entropy, int) and entropy >= _FROM_THE_SYSTEM and not sequence.spawn_key


def _like_it(name, args, kwargs):
    """(Generator's method, its arguments, keywords) that draws alike on the device; None where that isn't worth it."""
    if name in _OF_DIMENSIONS:
        return (_OF_DIMENSIONS[name], (args,), {}) if args and not kwargs and _large(args) else None
    if name in _ORDERS:
        return (name, args, kwargs) if len(args) == 1 and not kwargs and _large_array(args[0]) else None
    name = _ALIASES.get(name, name)
    row = DISTRIBUTIONS.get(name)
    parameters = _OTHERS.get(name) or tuple(p for p, _ in row.parameters) if row or name in _OTHERS else None
    if parameters is None:
        return None
    taken = (
        *parameters,
        "size",
        *(("dtype",) if name == "integers" else ("replace", "p") if name == "choice" else ()),
    )
    if len(args) > len(taken) or any(key not in taken for key in kwargs):
        return None
    bound = {**dict(zip(taken, args, strict=False)), **kwargs}
    if len(bound) < len(args) + len(kwargs):
        return None  # one is given twice
    size = bound.get("size")
    arrays = [bound[key] for key in parameters if _large_array(bound.get(key))]
    return (name, (), bound) if (size is not None and _large(size)) or (arrays and name != "choice") else None


def _large(size):
    try:
        return math.prod(lengths(size)) > SMALL
    except (TypeError, ValueError):
        return False


def _large_array(value):
    return isinstance(value, ndarray) and value.size > SMALL


class RandomState:
    """NumPy's RandomState. After a seed its numbers are NumPy's, drawn on the host; without one, see _legacy."""

    def __init__(self, seed=None):
        self._begin(np.random.RandomState(seed), "random.RandomState", known=seed is not None)

    def _begin(self, host, called, known):
        self._host, self._called, self._known = host, called, known

    def set_state(self, state):
        """NumPy's: from here on the numbers are those that NumPy draws."""
        self._host.set_state(state)
        self._known = True

    def get_state(self, legacy=True):
        """NumPy's: from here on the numbers are those that NumPy draws."""
        self._known = True
        return self._host.get_state(legacy)

    def __getattr__(self, name):
        if name.startswith("__") or name in ("_host", "_called", "_known"):
            raise AttributeError(name)
        value = getattr(self._host, name)
        if not callable(value) or name in _PLAIN:
            return value

        def method(*args, **kwargs):
            if not self._known and _nobody_knows(self._host):
                alike = _like_it(name, args, kwargs)
                if alike is not None and (made := self._drawn(*alike)) is not NotImplemented:
                    return made
            return on_host(f"{self._called}.{name}", value, args, kwargs)

        method.__name__, method.__doc__ = name, value.__doc__
        return method

    def _drawn(self, name, args, kwargs):
        """By the device; NotImplemented where Generator refuses what NumPy's function may take, or words otherwise."""
        try:
            key = np.frombuffer(self._host.bytes(16), np.uint64)
            return getattr(Generator(np.random.Philox(key=key)), name)(*args, **kwargs)
        except (TypeError, ValueError):
            return NotImplemented

    def __reduce__(self):
        return _restored, (self._host,)


def _restored(host):
    made = RandomState.__new__(RandomState)
    made._begin(host, "random.RandomState", known=True)
    return made


def of_the_module():
    """The RandomState behind numpy.random's own functions."""
    made = RandomState.__new__(RandomState)
    made._begin(np.random.mtrand._rand, "random", known=False)
    return made

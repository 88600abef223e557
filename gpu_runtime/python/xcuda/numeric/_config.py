"""Settings of numeric, as attributes of `config`."""

from xcuda import _runtime

_FALLBACKS = ("warn", "silent", "error")


class Config:
    """`config.fallback`: what happens where a function has no native form and runs in NumPy on the host.

    "warn": one warning a function and call site. "silent": nothing. "error": a NotImplementedError instead.

    `config.host_elements`: what is so small that the host computes it without a kernel.
    """

    __slots__ = ("_fallback",)

    def __init__(self):
        self._fallback = "warn"

    @property
    def fallback(self):
        """ "warn", "silent" or "error"."""
        return self._fallback

    @fallback.setter
    def fallback(self, value):
        if value not in _FALLBACKS:
            raise ValueError(f"config.fallback is one of {', '.join(map(repr, _FALLBACKS))}, not {value!r}")
        self._fallback = value

    @property
    def host_elements(self):
        """The most elements of a value that is computed without a kernel, by the host, where its operands lie there.

        Only operations that are exact or correctly rounded are, so that results are a kernel's bit for bit. 0: none.
        """
        return _runtime.numeric_small_limit()

    @host_elements.setter
    def host_elements(self, value):
        if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 0:
            raise ValueError(f"config.host_elements is a number of elements, 0 or more, not {value!r}")
        _runtime.set_numeric_small_limit(value.__index__())

    def __repr__(self):
        return f"<numeric config: fallback={self._fallback!r}, host_elements={self.host_elements}>"


config = Config()

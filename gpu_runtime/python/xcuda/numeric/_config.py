"""Settings of numeric, as attributes of `config`."""

_FALLBACKS = ("warn", "silent", "error")


class Config:
    """`config.fallback`: what happens where a function has no native form and runs in NumPy on the host.

    "warn": one warning a function and call site. "silent": nothing. "error": a NotImplementedError instead.
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

    def __repr__(self):
        return f"<numeric config: fallback={self._fallback!r}>"


config = Config()

"""Random numbers on the device: numeric's functions; in a captured function they draw anew at each call."""

from __future__ import annotations

from ._namespace import Namespace

_names = Namespace("random")


def __getattr__(name):
    return _names.get(__name__, globals(), name)


def __dir__():
    return _names.names(globals())

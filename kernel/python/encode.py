"""Python values as JSON text, as Jupyter wants them: bytes in base64, NaN as text, anything else by its repr."""

import base64
import datetime
import json
import math
from collections.abc import Mapping

from ._kernel import json_text


def to_json(value) -> str:
    if (text := json_text(value)) is not None:
        return text
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (ValueError, TypeError):  # NaN, keys that are no strings, a reference to itself
        return json.dumps(_cleaned(value, ()), allow_nan=False)


def _plain(value):
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, set | frozenset | range) or hasattr(value, "__next__"):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    item = getattr(value, "item", None)  # NumPy's scalars
    if callable(item) and getattr(value, "ndim", None) == 0:
        return item()
    return repr(value)


def _cleaned(value, parents):
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if id(value) in parents:
        return "..."
    inside = (*parents, id(value))
    if isinstance(value, Mapping):
        return {str(key): _cleaned(item, inside) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item, inside) for item in value]
    plain = _plain(value)
    return plain if isinstance(plain, str) else _cleaned(plain, inside)

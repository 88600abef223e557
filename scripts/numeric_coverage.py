"""docs/NUMERIC_COVERAGE.md: every public name of NumPy and how numeric has it; ./run docs writes the page."""

import importlib
import inspect
import json
from collections import Counter
from pathlib import Path

import numpy

MODULES = ("", "linalg", "fft", "random", "polynomial")
PEERS = Path(__file__).with_name("numeric_peers.json")
KINDS = {
    "native": "runs on the device",
    "partly": "on the device, but for the cases named",
    "NumPy's": "no array's elements take part (dtypes, constants, settings, text): NumPy's own object",
    "host": "runs in NumPy on the host and says so (`config.fallback`)",
    "absent": "an AttributeError",
}
# What hosts alone can have, by the reason; everything else that is a class of NumPy's is a dtype, error or setting.
_HOST_CLASSES = {
    **dict.fromkeys(("matrix", "recarray", "record", "memmap"), "a class of host arrays"),
    **dict.fromkeys(("nditer", "ndenumerate", "flatiter", "ndindex", "broadcast"), "iterates on the host"),
    **dict.fromkeys(("vectorize", "poly1d"), "NumPy's class, on host arrays"),
}
_ABSENT = {}  # why, a name; empty: nothing is absent
ALL_HOST = "all dtypes"


def public(module):
    """Public names of a module of NumPy's, sorted."""
    names = importlib.import_module(f"numpy.{module}" if module else "numpy").__all__
    return sorted(n for n in names if not n.startswith("_"))


def rows(module):
    """(name, kind, remark) a public name."""
    return [(name, *_kind(module, name)) for name in public(module)]


# What a Generator has in place of the old functions.
_OF_GENERATOR = {
    **dict.fromkeys(("rand", "random_sample", "ranf", "sample"), "random"),
    **dict.fromkeys(("randint", "random_integers"), "integers"),
    "randn": "standard_normal",
}


def _kind(module, name):
    from xcuda import numeric
    from xcuda.numeric._fallback import Wrapped
    from xcuda.numeric._registry import TABLE

    row = TABLE.get(f"{module}.{name}" if module else name)
    if row is not None:
        remark = row.partly or _by_host(row.function)
        kind = "host" if remark == ALL_HOST else "partly" if remark else "native"
        return kind, "; ".join(filter(None, (remark, _on_cpu(row.function))))
    ours = getattr(numeric, module) if module else numeric
    try:
        value = getattr(ours, name)
    except AttributeError:
        return "absent", _ABSENT.get(f"{module}.{name}", "")
    theirs = getattr(importlib.import_module(f"numpy.{module}" if module else "numpy"), name)
    if isinstance(value, Wrapped):
        return "host", _why_by_numpy(module, name)
    if value is not theirs:
        return "native", ""
    if name in _HOST_CLASSES or inspect.ismodule(theirs) or module in ("random", "polynomial"):
        return "host", _HOST_CLASSES.get(
            name, "NumPy's module" if inspect.ismodule(theirs) else "NumPy's class"
        )
    if type(theirs).__name__ in ("MGridClass", "OGridClass", "RClass", "CClass"):
        return "host", "makes host arrays"
    return "NumPy's", ""


def _why_by_numpy(module, name):
    """Why a wrapped function goes by NumPy; of random's functions also what there is in their place."""
    if name in ("asmatrix", "bmat"):
        return "makes a class of host arrays"
    if module != "random":
        return ""
    if name == "seed":
        return "the state of NumPy's MT19937, which lies on the host"
    from xcuda.numeric.random._distributions import DISTRIBUTIONS

    other = _OF_GENERATOR.get(name, name)
    native = other in DISTRIBUTIONS or other in (
        "integers",
        "multinomial",
        "multivariate_normal",
        "dirichlet",
    )
    stream = "MT19937's stream has no kernels"
    return f"{stream}; `Generator.{other}` is native" if native else stream


def _on_cpu(function):
    """What does it on the CPU device, where that isn't what does it on a GPU."""
    other = getattr(function, "on_cpu", "")
    return other and f"on the CPU device {other}'s loop over the same memory"


def _by_host(function):
    """What of a registered function goes by NumPy: found by calling a ufunc's loops, by reading other functions."""
    from xcuda.numeric._ufuncs import ufunc

    if isinstance(function, ufunc) and function.signature is None:
        return _ufunc_gaps(function)
    try:
        source = inspect.getsource(function)
    except (TypeError, OSError):
        return ""
    return "some arguments" if "on_host(" in source or "tell(" in source else ""


def _ufunc_gaps(function):
    """The dtypes that device arrays have and the ufunc has no loop of its own for."""
    from xcuda.numeric import array, config
    from xcuda.numeric._dtypes import held

    before, config.fallback, gaps, loops = config.fallback, "error", [], 0
    try:
        for loop in function.types:
            given, _, made = loop.partition("->")
            if not all(held(numpy.dtype(c)) for c in given + made):
                continue
            loops += 1
            try:
                function(
                    *(array(numpy.ones(2, c)) for c in given)
                )  # never computed: that there is a loop is enough
            except NotImplementedError:
                gaps.append(",".join(dict.fromkeys(numpy.dtype(c).name for c in given)))
    finally:
        config.fallback = before
    return ALL_HOST if len(gaps) == loops else f"host: {', '.join(dict.fromkeys(gaps))}" if gaps else ""


def coverage_page():
    """docs/NUMERIC_COVERAGE.md as text."""
    peers = json.loads(PEERS.read_text())
    tables = {module: rows(module) for module in MODULES}
    out = ["# numeric: every public name of NumPy\n", "<!-- Generated by ./run docs. -->\n"]
    out.append(
        f"Of NumPy {'.'.join(numpy.__version__.split('.')[:2])}'s `__all__`s. A ufunc's loops were called to find "
        "which dtypes have none on the device. The peers' columns say which names the sources in the wheels of "
        + " and ".join(f"{title} {peer['version']}" for title, peer in peers.items())
        + " have (scripts/numeric_peers.py).\n"
    )
    out += [f"- **{kind}**: {meaning}." for kind, meaning in KINDS.items()]
    out.append(f"\n| module | names | {' | '.join(KINDS)} | {' | '.join(peers)} |")
    out.append("| --- " * (len(KINDS) + len(peers) + 2) + "|")
    for module, table in tables.items():
        counts = Counter(kind for _, kind, _ in table)
        has = [len(peer["has"][module or "numpy"]) for peer in peers.values()]
        figures = [len(table), *(counts[kind] for kind in KINDS), *has]
        out.append(f"| `numpy{module and '.' + module}` | {' | '.join(map(str, figures))} |")
    for module, table in tables.items():
        out.append(f"\n## numpy{module and '.' + module}\n")
        out.append(f"| name | numeric | remark | {' | '.join(peers)} |")
        out.append("| --- " * (len(peers) + 3) + "|")
        for name, kind, remark in table:
            has = ["yes" if name in peer["has"][module or "numpy"] else "" for peer in peers.values()]
            out.append(f"| `{name}` | {kind} | {remark} | {' | '.join(has)} |")
    return "\n".join(out) + "\n"

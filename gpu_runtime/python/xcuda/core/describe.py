"""A kernel in words, for `kernel?` and help()."""

import inspect


def description(function, versions, last):
    """Docstring, compiled versions with their figures, and the last launch."""
    parts = [inspect.getdoc(function) or "No docstring.", _versions(versions)]
    if last:
        how = "chosen by xcuda" if last["automatic"] else "as asked"
        parts.append(
            f"Last launch\n  grid {_dims(last['grid'])}, block {_dims(last['block'])} ({how}) on {last['device']}"
            f"; {last['launches']} launch{'es' if last['launches'] != 1 else ''} so far"
        )
    return "\n\n".join(parts)


def _versions(versions):
    if not versions:
        return "Compiled versions\n  none yet: it compiles when it is first called"
    return "\n".join(["Compiled versions", *(f"  {_version(v)}" for v in versions)])


def _version(v):
    figures = []
    if v["block"]:
        figures.append(f"block {_dims(v['block'])}")
    if v["how"]:
        figures.append(v["how"])
    if v.get("registers") is not None:
        figures.append(f"{v['registers']} registers")
    if v.get("local_bytes"):
        figures.append(f"{v['local_bytes']} bytes of local memory a thread")
    if v.get("shared_bytes"):
        figures.append(f"{v['shared_bytes']} bytes of shared memory")
    took = f"{v['seconds'] * 1e3:.1f} ms"
    origin = {"compiled": "compiled", "disk": "from the disk cache", "file": "from its file"}
    figures.append(f"{origin.get(v['source'], 'from memory')} in {took}")
    return f"{v['signature']} on {v['device']}: {', '.join(figures)}"


def _dims(dims):
    while len(dims) > 1 and dims[-1] == 1:
        dims = dims[:-1]
    return str(dims[0]) if len(dims) == 1 else str(tuple(dims))
